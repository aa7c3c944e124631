"""The admin page of suppliers that only the acting tenant knows, with the button that merges one into a supplier on the platform."""

import hashlib
from dataclasses import replace
from typing import Any

import orjson
from django import forms
from django.contrib import admin
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminTextInputWidget

from core.actor import system_actor
from core.db import tenant_context
from core.errors import NotFound
from organizations.staff import audit
from organizations.staff.buttons import Button, ButtonClick, ReasonForm
from organizations.staff.columns import column
from organizations.staff.roles import Area, Permission
from organizations.staff.tenant_admin import FoundByItsAction, TenantAdmin
from suppliers.relationships.models import ManagedSupplier

from .actions import merge_supplier
from .parties import merged_into, supplier_named
from .survey import Survey, survey

_STATE_COLOURS = {"in use": "success", "merged": "info", "closed": "danger"}


class MergeForm(ReasonForm):
    """Which supplier takes over. The first press shows what the merge does; it is confirmed by pressing again."""

    into = forms.CharField(
        label="Into the supplier",
        max_length=80,
        widget=UnfoldAdminTextInputWidget(),
        help_text="Id or slug of its tenant.",
    )
    seen = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput())

    found: Survey | None = None

    def clean(self) -> dict[str, Any]:
        """Look at what the merge would do, and require that staff have seen just that."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if "into" not in data:
            return data
        try:
            data["into_id"] = supplier_named(data["into"])
        except NotFound as refusal:
            self.add_error("into", refusal.detail)
            return data
        self.found = survey(system_actor(self.row.tenant_id), self.row, data["into_id"])
        for one in self.found.conflicts:
            self.add_error(one.field if one.field in self.fields else None, one.message)
        shown = _digest(self.found)
        if not self.found.conflicts and data.get("seen") != shown:
            self.add_error("seen", "Nothing is merged yet.")
            self.data = {**dict(self.data.items()), "seen": shown}
        return data

    def beside(self, row: ManagedSupplier) -> SafeString:
        """Show what the merge does, once the supplier is named."""
        if self.found is None:
            return SafeString("")
        return render_to_string("suppliers/merge_preview.html", {"found": self.found, "row": row})


def _digest(found: Survey) -> str:
    """Return what tells whether a merge would still do what staff have seen."""
    said = [str(found.parties.into.id), found.counts, found.notes]
    return hashlib.sha256(orjson.dumps(said)).hexdigest()


def _merge(click: ButtonClick) -> str:
    row: ManagedSupplier = click.row
    found = merge_supplier(click.actor, row, click.data["into_id"], click.at)
    into = found.parties.into
    said = f"Merged {row.supplier_id} of the buyer {row.tenant_id} into {into.id}: {found.moved}."
    for tenant_id in (row.tenant_id, into.id):
        with tenant_context(tenant_id):
            actor = replace(click.actor, tenant_id=tenant_id)
            audit.tell(actor, click.user, action="managedsupplier.merged", row=row, reason=said, at=click.at)
    return f"Merged into {found.parties.into_name}: {found.moved}."


MERGE = Button(
    name="merge",
    label="Merge into a supplier",
    permission=Permission.MERGE_SUPPLIERS,
    run=_merge,
    explains="A supplier on the platform takes over all documents of the buyer with this one, and reads them as if they had been "
    "handed to it. The managed supplier is closed. This cannot be undone. Name the supplier, and look at what the merge does "
    "before you confirm it.",
    shown=lambda row: _state(row) == "in use",
    form=MergeForm,
    icon="merge",
    danger=True,
)


def _state(row: ManagedSupplier) -> str:
    """Say in a word whether orders can still be made to the supplier."""
    status, into = merged_into(row.supplier_id)
    return "merged" if into else "closed" if status == "closed" else "in use"


@admin.register(ManagedSupplier)
class ManagedSupplierAdmin(FoundByItsAction, TenantAdmin):
    """Suppliers that are not on the platform, as the acting tenant describes them."""

    area = Area.CATALOG
    buttons = (MERGE,)
    list_display = ("legal_name", "country", "supplier_id", "updated_at")
    list_filter = ("country",)
    search_fields = ("legal_name",)
    ordering = ("legal_name", "id")
    fields = (
        "id", "tenant", "supplier_id", "state", "now_with", "legal_name", "country", "registrations", "contacts", "currencies",
        "payment_terms", "tax_rates", "created_at", "updated_at", "version",
    )  # fmt: skip
    readonly_fields = ("state", "now_with")

    @column(description="State", label=_STATE_COLOURS)
    def state(self, row: ManagedSupplier) -> str:
        """Whether it is in use, merged or closed."""
        return _state(row)

    @column(description="Merged into")
    def now_with(self, row: ManagedSupplier) -> str:
        """The supplier that has its documents."""
        return str(merged_into(row.supplier_id)[1] or "–")
