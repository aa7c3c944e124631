"""Admin pages of price agreements: the buyer's versions, the supplier's copies, and drafts. Only state buttons change them."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminDateWidget

from core.errors import NotFound
from core.pipeline import run
from organizations.public import SharedDocument
from organizations.staff import columns
from organizations.staff.buttons import Button, ButtonClick, ReasonForm
from organizations.staff.columns import column
from organizations.staff.names import Names
from organizations.staff.roles import Area, Permission
from organizations.staff.tenant_admin import TenantAdmin, link_action
from suppliers.agreements import life
from suppliers.agreements.finding import OF_ACCEPTED, AgreementAt, OwnDraft
from suppliers.agreements.models import AGREEMENTS, AgreementDraft, PriceAgreement, ReceivedAgreement
from suppliers.agreements.states import ALLOWED
from suppliers.pricing.admin import LeadsToWhy

from . import reading
from .differences import names_of

STATUS_COLOURS = {
    "proposed": "info", "active": "success", "suspended": "warning", "declined": "danger", "superseded": "info",
    "terminated": "danger", "expired": "danger",
}  # fmt: skip
_REASON = "Both parties are told; the buyer and the supplier read the reason."


class NoticeForm(ReasonForm):
    """The day of a notice, with the reason."""

    notice_date = forms.DateField(
        label="Ends on",
        widget=UnfoldAdminDateWidget(),
        help_text="The first day on which it does not hold any more, by the date at the supplier; today: at once.",
    )


def _document(click: ButtonClick) -> SharedDocument:
    """Find and lock the agreement as the API's own actions have it."""
    find = AgreementAt(AGREEMENTS, order=OF_ACCEPTED, is_serial=True)
    (located,) = run([find.locate(click.row.tenant_id, click.row.pk)])
    found = find(click.actor, click.row.pk, located=located)
    if isinstance(found, OwnDraft):
        raise NotFound(f"No such {AGREEMENTS.name}.")
    return found


def _suspend(click: ButtonClick) -> None:
    life.suspend(click.actor, _document(click), {"reason": click.data["reason"]}, click.at)


def _resume(click: ButtonClick) -> None:
    life.resume(click.actor, _document(click), click.at)


def _terminate(click: ButtonClick) -> None:
    life.terminate(click.actor, _document(click), click.data, click.at)


def _button(name: str, label: str, run_: Any, explains: str, **more: Any) -> Button:
    return Button(
        name=name, label=label, permission=Permission.SETTLE_AGREEMENTS, run=run_, explains=explains,
        shown=lambda row: name in ALLOWED[row.status], **more,
    )  # fmt: skip


class _Looking:
    """A page whose columns name persons, with links to whatever the role of the member of staff sees."""

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Return the row of a page, and note who looks."""
        row = super().get_object(request, *args, **kwargs)  # type: ignore[misc]
        if row is not None:
            row.looking = request.user
        return row


@admin.register(PriceAgreement)
class PriceAgreementAdmin(_Looking, TenantAdmin):
    """Versions of the acting tenant's agreements as a buyer."""

    area = Area.CATALOG
    list_display = (
        "__str__", "title", "standing", "supplier_tenant_id", "currency", "valid_from", "valid_to", "lines_total", "updated_at",
    )  # fmt: skip
    list_filter = ("status", "scope")
    search_fields = ("=number", "=agreement_id", "=id")
    search_help_text = "Number or id in full."
    ordering = ("-updated_at", "-id")
    fieldsets = (
        (None, {"fields": ("id", "agreement_id", "tenant", "number", "revision", "title", "standing", "supplier_tenant_id")}),
        ("For whom", {"fields": ("scope", "scope_id", "group_code", "priority")}),
        (
            "Terms",
            {
                "fields": (
                    "currency", "valid_from", "valid_to", "payment_terms", "min_order_value", "free_freight_from",
                    "qty_tolerance_bp", "price_tolerance_bp", "cancellation_policy", "all_files",
                )
            },
        ),
        (
            "Course",
            {
                "fields": (
                    "author", "proposed_at", "accepted_by_buyer_at", "accepted_by_supplier_at", "terminates_on", "reason",
                    "ended_at", "all_decisions",
                )
            },
        ),
        ("Versions", {"fields": ("all_versions", "all_differences")}),
        ("Lines", {"fields": ("lines_total", "all_lines")}),
        ("The supplier's copy", {"fields": ("the_copy",)}),
        ("History", {"fields": ("expiring_at", "created_at", "updated_at", "version", "shared_version")}),
    )  # fmt: skip
    readonly_fields = (
        "standing",
        "all_files",
        "all_decisions",
        "all_versions",
        "all_differences",
        "all_lines",
        "the_copy",
    )
    buttons = (
        _button("suspend", "Suspend", _suspend, f"The prices rest until it is resumed. {_REASON}", icon="pause_circle", danger=True),
        _button("resume", "Resume", _resume, "The prices hold again. Both parties are told.", icon="play_circle"),
        _button(
            "terminate", "Give notice", _terminate, f"The agreement ends on the day that you name. {_REASON}", icon="event_busy",
            danger=True, form=NoticeForm,
        ),
    )  # fmt: skip

    @column(description="Status", ordering="status", label=STATUS_COLOURS)
    def standing(self, row: PriceAgreement) -> str:
        """The status as a coloured label."""
        return str(row.status)

    @column(description="Files")
    def all_files(self, row: PriceAgreement) -> str:
        """The names of the files that it hands over."""
        return names_of(row.files)

    @column(description="Who did what")
    def all_decisions(self, row: PriceAgreement) -> SafeString:
        """Who proposed, accepted and ended it, and when; persons of the acting tenant alone."""
        return _decided(row)

    @column(description="All versions")
    def all_versions(self, row: PriceAgreement) -> SafeString:
        """The versions, with links to the others."""
        found = [
            {"of": one, "link": "" if one.pk == row.pk else self._link("change", one.pk)}
            for one in reading.versions(row)
        ]
        return render_to_string("suppliers/agreement_versions.html", {"versions": found})

    @column(description="What this version changed")
    def all_differences(self, row: PriceAgreement) -> SafeString:
        """What differs from the version before."""
        before, found, more = reading.changed_since(row)
        shown = {"before": before and before.revision, "after": row.revision, "differences": found, "more": more}
        return render_to_string("suppliers/agreement_differences.html", shown)

    @column(description="First lines, with what orders have taken")
    def all_lines(self, row: PriceAgreement) -> SafeString:
        """The first lines: what was taken beside the cap, and beside what the copy says."""
        found = reading.shown_lines(row)
        more = max(row.lines_total - len(found), 0)
        return render_to_string("suppliers/agreement_lines.html", {"lines": found, "more": more})

    @column(description="Beside this row")
    def the_copy(self, row: PriceAgreement) -> SafeString | str:
        """The supplier's copy beside the owner's row."""
        found = reading.beside_copy(row)
        if not found:
            return "None: nobody reads copies of a supplier that its buyer manages."
        return render_to_string("suppliers/agreement_copy.html", {"rows": found})


@admin.register(ReceivedAgreement)
class ReceivedAgreementAdmin(_Looking, LeadsToWhy, TenantAdmin):
    """Copies of agreements that the acting tenant holds as a supplier, as it reads them."""

    area = Area.CATALOG
    list_display = (
        "__str__", "standing", "owner_tenant_id", "currency", "valid_from", "valid_to", "scope", "received_at",
    )  # fmt: skip
    list_filter = ("status", "scope")
    search_fields = ("=number", "=agreement_id", "=id")
    search_help_text = "Number or id in full."
    ordering = ("-received_at", "-id")
    fieldsets = (
        (None, {"fields": ("id", "agreement_id", "tenant", "owner_tenant_id", "number", "revision", "standing", "version")}),
        ("In force", {"fields": ("in_force", "currency", "valid_from", "valid_to", "priority", "all_members")}),
        ("Course", {"fields": ("received_at", "updated_at", "all_decisions")}),
        ("As it is served", {"fields": ("served", "all_lines")}),
    )  # fmt: skip
    readonly_fields = ("standing", "all_members", "all_decisions", "served", "all_lines")

    def links(self, request: HttpRequest, row: Any) -> list[dict[str, Any]]:
        """To the buyer's own page, which opens once the member of staff acts in the buyer's tenant, and to the prices."""
        page = reverse("admin:suppliers_priceagreement_change", args=[row.pk])
        query = urlencode({"tenant": str(row.owner_tenant_id), "next": page})
        owner = link_action("At its owner", f"{reverse('admin:acting_tenant')}?{query}", icon="visibility")
        return [*super().links(request, row), owner]

    def why_of(self, row: ReceivedAgreement) -> dict[str, Any]:
        """Begin with the buyer."""
        return {**super().why_of(row), "buyer": row.owner_tenant_id}

    @column(description="Status", ordering="status", label=STATUS_COLOURS)
    def standing(self, row: ReceivedAgreement) -> str:
        """The status as a coloured label."""
        return str(row.status)

    @column(description="For whom it holds")
    def all_members(self, row: ReceivedAgreement) -> SafeString | str:
        """The buyers of its audience, the nearest first."""
        found, total = reading.audience(row)
        shown = {"members": found, "more": total - len(found)}
        return render_to_string("suppliers/agreement_members.html", shown)

    @column(description="Who did what")
    def all_decisions(self, row: ReceivedAgreement) -> SafeString:
        """Who proposed, accepted and ended it, and when; persons of the acting tenant alone."""
        return _decided(row)

    @column(description="The agreement")
    def served(self, row: ReceivedAgreement) -> SafeString:
        """The agreement as the supplier reads it."""
        return columns.json_lines(row.representation)

    @column(description="First lines, with what orders have taken")
    def all_lines(self, row: ReceivedAgreement) -> SafeString:
        """The first lines: what was taken beside the cap."""
        found, total = reading.copied_lines(row)
        return render_to_string("suppliers/agreement_lines.html", {"lines": found, "more": total - len(found)})


@admin.register(AgreementDraft)
class AgreementDraftAdmin(TenantAdmin):
    """Drafts of the acting tenant, which the other party does not know of; read-only: they are their author's own matter."""

    area = Area.CATALOG
    list_display = (
        "title",
        "number",
        "revision",
        "author",
        "buyer_tenant_id",
        "supplier_tenant_id",
        "lines_total",
        "updated_at",
    )
    list_filter = ("author", "scope")
    search_fields = ("=number", "=agreement_id", "=id")
    search_help_text = "Number or id in full."
    ordering = ("-updated_at", "-id")
    fields = (
        "id", "agreement_id", "tenant", "number", "revision", "base_revision", "title", "author", "buyer_tenant_id",
        "supplier_tenant_id", "scope", "group_code", "currency", "valid_from", "valid_to", "priority", "payment_terms",
        "min_order_value", "free_freight_from", "qty_tolerance_bp", "price_tolerance_bp", "cancellation_policy",
        "all_files", "lines_total", "first_lines", "created_at", "updated_at", "version",
    )  # fmt: skip
    readonly_fields = ("all_files", "first_lines")

    @column(description="Files")
    def all_files(self, row: AgreementDraft) -> str:
        """The names of the files that it is to hand over."""
        return names_of(row.files)

    @column(description="First lines")
    def first_lines(self, row: AgreementDraft) -> SafeString:
        """The first lines."""
        return columns.json_lines(row.lines[: reading.MOST_LINES])


def _decided(row: Any) -> SafeString:
    """Show what the acting tenant's ledger tells of an agreement."""
    found = reading.decisions(row.tenant_id, row.agreement_id)
    names = Names(row.looking, [one.ids for one in found])
    shown = [{"of": one, "who": names.subject(one.ids), "with": names.credential(one.ids)} for one in found]
    return render_to_string("suppliers/agreement_decisions.html", {"decisions": shown})
