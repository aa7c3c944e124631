"""Tables of invoices, which are the buyer's, and what their suppliers have of them. Source: contract, supply-invoice.md 2."""

from decimal import Decimal
from typing import Any, ClassVar, Final

from django.db import models
from django.db.models import F, Q
from django_fsm import FSMField

from core.lifecycle import LifecycleModel
from core.row_security import TableSecurity
from organizations.public import ReceivedDocument, ReceivedKind, TenantOwned

from .course import Course
from .refusals import InvoiceNumberTaken
from .states import RELEASED, WAITING, DisputeReason, InvoiceStatus, InvoiceType, MatchResult, MatchStatus

MOST_LINES: Final = 500
_ZERO: Final = Decimal(0)
_NOTE: Final = Q(type=InvoiceType.CREDIT_NOTE)


def _amount(**more: Any) -> "models.DecimalField[Any, Any]":
    return models.DecimalField(max_digits=19, decimal_places=4, **more)


def _total() -> "models.DecimalField[Any, Any]":
    return _amount(default=_ZERO, db_default=_ZERO)


class Invoice(Course, TenantOwned, LifecycleModel):
    """An invoice, prepayment or credit note of a supplier, as a document of its buyer; both know it from its first moment.

    `number` is the supplier's. `taxes` are the groups of category and rate; `tax_total` is null where a line has no rate, and
    `gross_total` is the net then. `charges` and `allowances` are amounts of the whole document. `credited_total` is what
    credit notes have taken off it, `held_total` what payments under way will pay, `paid_total` what is paid,
    `offset_total` what of its credit has paid other invoices. A credit note names its `original`.
    The buyer's alone: how it was matched, `recorded_by_id`, `approved_by_id`, `override_reason`, `reason` of a rejection is
    told to both. Personal data: ids of members of the buyer; free texts of both parties.
    """

    number = models.CharField(max_length=64)
    supplier_tenant_id = models.UUIDField()
    type = models.CharField(max_length=11, choices=InvoiceType)
    order = models.ForeignKey(
        "suppliers.PurchaseOrder", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    po_number = models.CharField(max_length=64)
    order_number = models.CharField(max_length=64)
    delivery_location = models.ForeignKey(
        "organizations.Location", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    delivery_ids = models.JSONField(default=list)
    status = FSMField(default=InvoiceStatus.ISSUED.value, choices=InvoiceStatus, protected=True, max_length=14)
    issue_date = models.DateField()
    due_date = models.DateField(null=True)
    currency = models.CharField(max_length=3)
    charges = models.JSONField(default=list)
    allowances = models.JSONField(default=list)
    discount = models.JSONField(null=True)
    original = models.ForeignKey(
        "self", on_delete=models.PROTECT, related_name="credit_notes", db_constraint=False, db_index=False, null=True
    )
    return_id = models.UUIDField(null=True)
    file_ids = models.JSONField(default=list)
    stated_totals = models.JSONField(null=True)
    net_total = _amount()
    tax_total = _amount(null=True)
    gross_total = _amount()
    taxes = models.JSONField(default=list)
    lines_total = models.IntegerField()
    credited_total = _total()
    held_total = _total()
    paid_total = _total()
    offset_total = _total()
    issued_at = models.DateTimeField()
    match_status = models.CharField(max_length=10, choices=MatchStatus, blank=True, default="")
    match_checked_at = models.DateTimeField(null=True)
    dispute_reason = models.CharField(max_length=12, choices=DisputeReason, blank=True, default="")
    dispute_note = models.CharField(max_length=2000, blank=True, default="")
    disputed_at = models.DateTimeField(null=True)
    approved_at = models.DateTimeField(null=True)
    approved_by_id = models.UUIDField(null=True)
    override_reason = models.CharField(max_length=2000, blank=True, default="")
    reason = models.CharField(max_length=2000, blank=True, default="")
    ended_at = models.DateTimeField(null=True)
    paid_at = models.DateTimeField(null=True)
    recorded_by_id = models.UUIDField(null=True)
    shared_version = models.IntegerField(default=1)

    security: ClassVar = TableSecurity(dispatcher=True)
    AMOUNTS: ClassVar = ("credited_total", "held_total", "paid_total", "offset_total")
    refusals: ClassVar = {"suppliers_invoice_number": InvoiceNumberTaken}

    class Meta:
        verbose_name = "invoice"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "supplier_tenant_id", "number"], name="suppliers_invoice_number"),
            models.CheckConstraint(condition=~Q(supplier_tenant_id=F("tenant")), name="suppliers_invoice_two_parties"),
            models.CheckConstraint(
                condition=Q(
                    status__in=InvoiceStatus.values,
                    type__in=InvoiceType.values,
                    match_status__in=[*MatchStatus.values, ""],
                    dispute_reason__in=[*DisputeReason.values, ""],
                ),
                name="suppliers_invoice_known",
            ),
            models.CheckConstraint(
                condition=(_NOTE & Q(original__isnull=False, status=InvoiceStatus.ISSUED))
                | (~_NOTE & Q(original__isnull=True, return_id__isnull=True)),
                name="suppliers_invoice_credit_note",
            ),
            models.CheckConstraint(
                condition=Q(lines_total__range=(1, MOST_LINES), net_total__gte=0, gross_total__gte=F("net_total")),
                name="suppliers_invoice_amounts",
            ),
            models.CheckConstraint(
                condition=Q(credited_total__gte=0, held_total__gte=0, paid_total__gte=0, offset_total__gte=0),
                name="suppliers_invoice_no_less_than_nothing",
            ),
            models.CheckConstraint(
                condition=Q(credited_total__lte=F("gross_total"), offset_total__lte=F("credited_total")),
                name="suppliers_invoice_credited",
            ),
            models.CheckConstraint(
                condition=Q(held_total__lte=F("gross_total") - F("paid_total")), name="suppliers_invoice_paid_once"
            ),
            models.CheckConstraint(
                condition=Q(held_total=0, paid_total=0, offset_total=0) | Q(status__in=RELEASED),
                name="suppliers_invoice_paid_if_approved",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=RELEASED) | Q(approved_at__isnull=False), name="suppliers_invoice_approved"
            ),
            models.CheckConstraint(
                condition=Q(status=InvoiceStatus.DISPUTED, dispute_reason__gt="", disputed_at__isnull=False)
                | (~Q(status=InvoiceStatus.DISPUTED) & Q(dispute_reason="", dispute_note="", disputed_at__isnull=True)),
                name="suppliers_invoice_disputed",
            ),
            models.CheckConstraint(
                condition=Q(status__in=("rejected", "cancelled")) ^ Q(ended_at__isnull=True),
                name="suppliers_invoice_ended",
            ),
            models.CheckConstraint(
                condition=Q(status=InvoiceStatus.PAID) ^ Q(paid_at__isnull=True), name="suppliers_invoice_paid_at"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "issue_date", "id"], name="suppliers_invoice_by_date"),
            models.Index(fields=["tenant", "created_at", "id"], name="suppliers_invoice_by_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_invoice_by_updated"),
            models.Index(fields=["tenant", "status", "created_at", "id"], name="suppliers_invoice_by_status"),
            models.Index(fields=["tenant", "supplier_tenant_id", "created_at", "id"], name="suppliers_invoice_supplier"),
            models.Index(fields=["tenant", "delivery_location", "created_at", "id"], name="suppliers_invoice_location"),
            models.Index(fields=["tenant", "order", "id"], name="suppliers_invoice_of_order"),
            models.Index(  # of all tenants, for staff
                fields=["updated_at", "id"], condition=Q(status__in=WAITING), name="suppliers_invoice_to_settle"
            ),
            models.Index(
                fields=["tenant", "original", "id"], condition=Q(original__isnull=False), name="suppliers_invoice_credits"
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.number

    @property
    def is_credit_note(self) -> bool:
        """Tell whether it is a credit note, which has no course of its own."""
        return str(self.type) == InvoiceType.CREDIT_NOTE.value

    @property
    def balance_due(self) -> Decimal:
        """What is still to be paid; less than nothing is credit. A credit note owes nothing itself."""
        if self.is_credit_note:
            return _ZERO
        due: Decimal = self.gross_total - self.credited_total - self.paid_total + self.offset_total
        return due

    @property
    def credit_available(self) -> Decimal:
        """What of its credit may pay other invoices."""
        return max(_ZERO, -self.balance_due)


class InvoiceLine(TenantOwned):
    """A line of an invoice or credit note, with the goods as the order names them.

    `base_quantity` is in base units; `unit_price` is for `price_base_quantity` packs; `allowance` is taken off the line.
    `credited` is how many base units credit notes have taken back, `credited_net` their net. Of a credit note
    `frees` says that the line takes units back, and not only a part of their price. The buyer's alone: the match
    with its variances; its result both read. Personal data: none.
    """

    invoice = models.ForeignKey(
        Invoice, on_delete=models.PROTECT, related_name="lines", db_constraint=False, db_index=False
    )
    line_no = models.IntegerField()
    order_line = models.ForeignKey(
        "suppliers.PurchaseOrderLine", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    order_line_no = models.IntegerField()
    delivery_line = models.ForeignKey(
        "suppliers.DeliveryLine", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False, null=True
    )  # fmt: skip
    product_id = models.UUIDField(null=True)
    packaging_id = models.UUIDField(null=True)
    name = models.CharField(max_length=255)
    supplier_sku = models.CharField(max_length=64, blank=True, default="")
    gtin = models.CharField(max_length=14, blank=True, default="")
    category = models.CharField(max_length=64, blank=True, default="")
    is_service = models.BooleanField(default=False)
    base_unit = models.CharField(max_length=3)
    units_per_pack = models.BigIntegerField(default=1)
    unit = models.CharField(max_length=4)
    base_quantity = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    unit_price = models.DecimalField(max_digits=19, decimal_places=6)
    price_base_quantity = models.IntegerField(default=1)
    allowance = _total()
    net = _amount()
    tax_category = models.CharField(max_length=20, blank=True, default="")
    tax_rate = models.DecimalField(max_digits=7, decimal_places=4, null=True)
    frees = models.BooleanField(default=True)
    credited = models.BigIntegerField(default=0, db_default=0)
    credited_net = _total()
    result = models.CharField(max_length=13, choices=MatchResult, blank=True, default="")
    quantity_variance = models.BigIntegerField(null=True)
    price_variance = models.DecimalField(max_digits=19, decimal_places=6, null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "invoice", "line_no"], name="suppliers_invoiceline_number"),
            models.CheckConstraint(
                condition=Q(result__in=[*MatchResult.values, ""]), name="suppliers_invoiceline_result_known"
            ),
            models.CheckConstraint(
                condition=Q(line_no__gte=1, base_quantity__gte=1, units_per_pack__gte=1, price_base_quantity__gte=1)
                & Q(unit_price__gte=0, allowance__gte=0, net__gte=0)
                & (Q(tax_rate__isnull=True) | Q(tax_rate__gte=0)),
                name="suppliers_invoiceline_amounts",
            ),
            models.CheckConstraint(
                condition=Q(credited__gte=0, credited__lte=F("base_quantity"))
                & Q(credited_net__gte=0, credited_net__lte=F("net")),
                name="suppliers_invoiceline_credited",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "order_line", "id"], name="suppliers_invoiceline_ordered"),
            models.Index(
                fields=["tenant", "delivery_line", "id"],
                condition=Q(delivery_line__isnull=False),
                name="suppliers_invoiceline_shipped",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.line_no}"


class ReceivedInvoice(ReceivedDocument):
    """An invoice as its supplier reads it. Personal data: free texts of both parties."""

    order_id = models.UUIDField()
    type = models.CharField(max_length=11, choices=InvoiceType)
    order_number = models.CharField(max_length=64)
    po_number = models.CharField(max_length=64)
    issue_date = models.DateField()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "issue_date", "id"], name="suppliers_recinvoice_by_date"),
            models.Index(fields=["tenant", "received_at", "id"], name="suppliers_recinvoice_by_time"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_recinvoice_updated"),
            models.Index(fields=["tenant", "status", "received_at", "id"], name="suppliers_recinvoice_status"),
            models.Index(fields=["tenant", "owner_tenant_id", "received_at", "id"], name="suppliers_recinvoice_owner"),
            models.Index(fields=["tenant", "order_id", "id"], name="suppliers_recinvoice_of_order"),
        ]

    def __str__(self) -> str:
        return str(self.number)


INVOICES: Final = ReceivedKind(
    document=Invoice,
    copy=ReceivedInvoice,
    party="t.supplier_tenant_id",
    handed_over="n.managed_by_id IS NULL",  # nobody reads the copies of a managed supplier
    lines="lines",
    columns={
        "order_id": "t.order_id",
        "type": "t.type",
        "order_number": "t.order_number",
        "po_number": "t.po_number",
        "issue_date": "t.issue_date",
    },
)
