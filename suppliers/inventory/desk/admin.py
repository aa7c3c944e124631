"""The recall desk: recalls of the acting tenant with the answers of the buyers, and the button that recalls a lot."""

import csv
import io
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from organizations.staff import audit
from organizations.staff.buttons import Button, ButtonClick, ReasonForm
from organizations.staff.columns import column
from organizations.staff.exports import neutral
from organizations.staff.roles import Area, Permission
from organizations.staff.tenant_admin import TenantAdmin, link_action
from suppliers.inventory.lots import change_lot, is_anothers
from suppliers.inventory.models import Lot
from suppliers.inventory.recalls.models import Recall, RecallNotice, ReceivedRecall
from suppliers.inventory.recalls.tracing import Traced, preview, trace
from suppliers.inventory.states import LotStatus, NoticeStatus, RecallClass

_STATE_COLOURS = {"withdrawn": "info", "telling": "warning", "open": "danger", "closed": "success"}
_SAID = ("class", "reference", "authority", "instructions")


class RecallForm(ReasonForm):
    """What a recall says, with the reason."""

    recall_class = forms.ChoiceField(
        label="Class", choices=RecallClass.choices, widget=UnfoldAdminSelectWidget(), help_text="I is the gravest."
    )
    reference = forms.CharField(max_length=120, required=False, widget=UnfoldAdminTextInputWidget())
    authority = forms.CharField(max_length=120, required=False, widget=UnfoldAdminTextInputWidget())
    instructions = forms.CharField(
        max_length=2000,
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
        help_text="What buyers are to do with the goods. Every buyer concerned reads it.",
    )

    def beside(self, row: Lot) -> SafeString:
        """Show whom the recall will concern."""
        found = preview(row.tenant_id, row.id)
        shown = {"lot": row, "sku": found.stock.supplier_sku, "buyers": found.buyers}
        totals = {"on_hand": found.stock.on_hand, "reserved": found.stock.reserved}
        return render_to_string("suppliers/recall_preview.html", {**shown, **totals})


def _recall(click: ButtonClick) -> str:
    said = {name: click.data["recall_class" if name == "class" else name] for name in _SAID}
    data = {"status": LotStatus.RECALLED.value, "reason": click.data["reason"], "recall": said}
    change_lot(click.actor, click.row, data, click.at)
    return "The lot is recalled. Its buyers are being told."


RECALL_A_LOT = Button(
    name="recall",
    label="Recall this lot",
    permission=Permission.RECALL_LOTS,
    run=_recall,
    explains="Nothing of the lot can be sold from now on. What is reserved of it breaks, and each buyer concerned is told. "
    "Only an administrator of the supplier can withdraw the recall.",
    shown=lambda lot: lot.status != LotStatus.RECALLED and not is_anothers(lot),
    form=RecallForm,
    icon="report",
    danger=True,
)


def _notices(aggregate: Any) -> Coalesce:
    """Return a figure of the notices of each recall, 0 where it has none."""
    mine = RecallNotice.objects.filter(tenant_id=OuterRef("tenant_id"), recall_id=OuterRef("pk")).order_by()
    return Coalesce(Subquery(mine.values("recall_id").annotate(figure=aggregate).values("figure")), 0)


@admin.register(Recall)
class RecallAdmin(TenantAdmin):
    """The acting tenant's recalls, the newest first, with how far each is."""

    area = Area.CATALOG
    list_display = (
        "lot_number",
        "recall_class",
        "reference",
        "state",
        "told",
        "answered",
        "found",
        "disposed",
        "issued_at",
    )
    list_filter = ("recall_class",)
    search_fields = (
        "=lot_number",
        "=reference",
        "=lot__product__own_product__supplier_sku",
        "=lot__product__own_product__packagings__gtin",
    )
    search_help_text = "Lot number, reference, SKU or GTIN in full."
    ordering = ("-issued_at", "-id")
    fieldsets = (
        (None, {"fields": ("id", "tenant", "lot", "lot_number", "expiry_date", "state")}),
        ("What it says", {"fields": ("recall_class", "reference", "authority", "instructions", "reason")}),
        (
            "Course",
            {"fields": ("issued_at", "withdrawn_at", "withdrawal_reason", "told", "answered", "found", "disposed")},
        ),
        ("Buyers", {"fields": ("buyers",)}),
    )
    readonly_fields = ("state", "told", "answered", "found", "disposed", "buyers")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Count the notices and answers of each recall."""
        counted: QuerySet[Any] = (
            super()
            .get_queryset(request)
            .annotate(
                total=Coalesce(F("buyers_to_list"), _notices(Count("id"))),
                told_count=_notices(Count("told_at")),
                answered_count=_notices(Count("answered_at")),
                closed_count=_notices(Count("id", filter=Q(status=NoticeStatus.CLOSED))),
                found_sum=_notices(Sum("quantity_found")),
                disposed_sum=_notices(Sum("quantity_disposed")),
            )
        )
        return counted

    @column(description="State", label=_STATE_COLOURS)
    def state(self, row: Any) -> str:
        """Whether buyers are still being told, or still have to answer."""
        if row.withdrawn_at:
            return "withdrawn"
        if not row.is_walked:
            return "telling"
        return "closed" if row.closed_count == row.told_count else "open"

    @column(description="Buyers told", ordering="told_count")
    def told(self, row: Any) -> str:
        """How many of the buyers concerned were told."""
        return f"{row.told_count} of {row.total}"

    @column(description="Answered, closed", ordering="answered_count")
    def answered(self, row: Any) -> str:
        """How many buyers have answered, and how many have finished."""
        return f"{row.answered_count}, {row.closed_count}"

    @column(description="Found", ordering="found_sum")
    def found(self, row: Any) -> int:
        """Base units that buyers have found."""
        return int(row.found_sum)

    @column(description="Disposed", ordering="disposed_sum")
    def disposed(self, row: Any) -> int:
        """Base units that buyers have disposed of."""
        return int(row.disposed_sum)

    @column(description="Buyers and their answers")
    def buyers(self, row: Any) -> SafeString:
        """Each buyer concerned, with its answer."""
        shown = {"buyers": trace(row.tenant_id, row.pk), "unlisted": row.buyers_to_list}
        return render_to_string("suppliers/recall_buyers.html", shown)

    def links(self, request: HttpRequest, row: Any) -> list[dict[str, Any]]:
        """Offer the trace as a file."""
        return [link_action("Export trace", self._link("trace", row.pk), icon="download")]

    def further_urls(self) -> list[URLPattern]:
        """The address of the trace."""
        view = self.admin_site.admin_view(self.trace_view)
        return [path("<uuid:pk>/trace/", view, name="suppliers_recall_trace")]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, with a link to the lots, where a recall begins."""
        response = super().changelist_view(request, extra_context)
        listed = getattr(response, "context_data", None) or {}
        if "cl" in listed:
            lots = link_action("Find a lot to recall", reverse("admin:suppliers_lot_changelist"), icon="search")
            listed["actions_list"] = [*listed.get("actions_list", ()), lots]
        return response

    def trace_view(self, request: HttpRequest, pk: Any) -> HttpResponse:
        """Return buyers, quantities and answers of one recall as CSV."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = self.get_queryset(request).filter(pk=pk).first()
        if row is None:
            raise Http404
        text = _csv_of(row, trace(row.tenant_id, row.pk))
        person = str(request.user.pk)
        audit.log_security(request, "staff_exported", subject=person, tenant_id=row.tenant_id)
        response = HttpResponse(text, content_type="text/csv; charset=utf-8")
        response.headers["Content-Disposition"] = f'attachment; filename="recall-{row.pk}.csv"'
        return response


def _csv_of(recall: Any, buyers: list[Traced]) -> str:
    """Write a line for each buyer; no cell can be run as a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    same = {"lot_number": recall.lot_number, "recall_class": recall.recall_class, "reference": recall.reference}
    writer.writerow([*same, *Traced._fields])
    for one in buyers:
        writer.writerow([neutral(value) for value in (*same.values(), *one)])
    return out.getvalue()


@admin.register(ReceivedRecall)
class ReceivedRecallAdmin(TenantAdmin):
    """Notices of recalls that the acting tenant holds as a buyer, as it reads them."""

    area = Area.CATALOG
    list_display = ("number", "owner_tenant_id", "product_id", "status", "received_at")
    list_filter = ("status",)
    search_fields = ("=number",)
    search_help_text = "Lot number in full."
    ordering = ("-received_at", "-id")
    fields = (
        "id",
        "tenant",
        "owner_tenant_id",
        "number",
        "status",
        "version",
        "representation",
        "received_at",
        "updated_at",
    )
