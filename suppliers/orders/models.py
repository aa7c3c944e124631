"""Tables of orders: the buyer's order with its lines, and what its supplier has of it."""

from decimal import Decimal
from typing import ClassVar, Final

from django.db import models
from django.db.models import F, Q
from django_fsm import FSMField

from core.lifecycle import LifecycleModel
from core.row_security import TableSecurity
from organizations.public import ReceivedDocument, ReceivedKind, ReceivedLine, TenantOwned

from .course import Course, Place
from .states import (
    RETURNED,
    ApprovalFor,
    Awaiting,
    Backorders,
    Billing,
    Fulfilment,
    OrderStatus,
    Party,
    Priority,
    Substitution,
)

MOST_LINES: Final = 500
_ZERO: Final = Decimal(0)
_CHANGING: Final = (OrderStatus.CHANGE_PROPOSED.value, OrderStatus.PENDING_APPROVAL.value)
_UNSENT: Final = (OrderStatus.DRAFT.value, OrderStatus.PENDING_APPROVAL.value, OrderStatus.CANCELLED.value)
_UNANSWERED: Final = (OrderStatus.SENT.value, OrderStatus.CHANGE_PROPOSED.value)
COUNTERS: Final = (
    "accepted", "backordered", "cancelled", "shipped", "received", "rejected", "short", "returned", "invoiced",
)  # fmt: skip


def _known(name: str, choices: type[models.TextChoices], *, blank: bool = False) -> models.CheckConstraint:
    values = [*choices.values, *([""] if blank else [])]
    return models.CheckConstraint(condition=Q(**{f"{name}__in": values}), name=f"suppliers_purchaseorder_{name}_known")


class PurchaseOrder(Course, TenantOwned, LifecycleModel):
    """An order of a buyer, from its draft on; the supplier has a copy of it since `sent_at`.

    `number` is the buyer's, `order_number` the supplier's. `authors` are the ids of whoever has made, changed or submitted
    the present `revision`; none of them approves it. `before_change` is the state that a proposed change began in. Amounts
    are in `currency`; `tax` is null where a line has no rate, and `gross` is the net then. `taxes` are its groups of
    category and rate. `submitted_at` is when it has taken its limits; `given_back` is the part of
    the gross that limits do not count any more. `return_id` is the return whose goods it replaces. `accept_by` is when the supplier is to have answered, `overdue_told_at` when
    both were alerted that it had not. Personal data: ids of members of the buyer; free
    texts of the buyer.
    """

    number = models.CharField(max_length=64)
    supplier_tenant_id = models.UUIDField()
    order_number = models.CharField(max_length=64, blank=True, default="")
    status = FSMField(default=OrderStatus.DRAFT.value, choices=OrderStatus, protected=True, max_length=16)
    approval_for = models.CharField(max_length=15, choices=ApprovalFor, blank=True, default="")
    proposed_by = models.CharField(max_length=8, choices=Party, blank=True, default="")
    before_change = models.CharField(max_length=16, choices=OrderStatus, blank=True, default="")
    fulfilment_status = models.CharField(max_length=18, choices=Fulfilment, default=Fulfilment.UNFULFILLED.value)
    billing_status = models.CharField(max_length=18, choices=Billing, default=Billing.NOT_INVOICED.value)
    currency = models.CharField(max_length=3)
    delivery_location = models.ForeignKey(
        "organizations.Location", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    delivery_address = models.JSONField(null=True)
    requested_delivery_date = models.DateField(null=True)
    price_agreement_id = models.UUIDField(null=True)
    payment_terms = models.JSONField(null=True)
    incoterm = models.CharField(max_length=3, blank=True, default="")
    priority = models.CharField(max_length=9, choices=Priority, default=Priority.ROUTINE.value)
    substitution_policy = models.CharField(max_length=10, choices=Substitution, default=Substitution.ASK.value)
    backorder_policy = models.CharField(max_length=6, choices=Backorders, default=Backorders.ACCEPT.value)
    min_remaining_shelf_life_days = models.IntegerField(null=True)
    notes_to_supplier = models.CharField(max_length=5000, blank=True, default="")
    internal_note = models.CharField(max_length=5000, blank=True, default="")
    budget_code = models.CharField(max_length=64, blank=True, default="")
    cost_center = models.CharField(max_length=64, blank=True, default="")
    budget_id = models.UUIDField(null=True)
    external_reference = models.CharField(max_length=120, blank=True, default="")
    reservation_ids = models.JSONField(default=list)
    copy_of = models.UUIDField(null=True)
    return_id = models.UUIDField(null=True)
    requester_id = models.UUIDField(null=True)
    authors = models.JSONField(default=list)
    revision = models.PositiveIntegerField(default=1)
    net = models.DecimalField(max_digits=19, decimal_places=4, default=_ZERO)
    tax = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    gross = models.DecimalField(max_digits=19, decimal_places=4, default=_ZERO)
    taxes = models.JSONField(default=list)
    lines_total = models.PositiveIntegerField(default=0)
    given_back = models.DecimalField(max_digits=19, decimal_places=4, default=_ZERO, db_default=_ZERO)
    price_differs = models.BooleanField(default=False, db_default=False)
    files = models.JSONField(default=list, db_default=[])
    submitted_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    accept_by = models.DateTimeField(null=True)
    overdue_told_at = models.DateTimeField(null=True)
    accepted_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    shared_version = models.PositiveIntegerField(default=1)

    HEADER: ClassVar = (
        "currency", "delivery_location_id", "requested_delivery_date", "price_agreement_id", "payment_terms", "incoterm",
        "priority", "substitution_policy", "backorder_policy", "min_remaining_shelf_life_days", "notes_to_supplier",
        "internal_note", "budget_code", "cost_center", "external_reference", "reservation_ids",
    )  # fmt: skip
    WRITABLE: ClassVar = (
        *HEADER, "budget_id", "delivery_address", "authors", "revision", "net", "tax", "gross", "taxes", "lines_total",
        "price_differs", "files",
    )  # fmt: skip
    unversioned: ClassVar = ("overdue_told_at",)
    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        verbose_name = "order"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "number"], name="suppliers_purchaseorder_number"),
            models.CheckConstraint(
                condition=~Q(supplier_tenant_id=F("tenant")), name="suppliers_purchaseorder_two_parties"
            ),
            _known("status", OrderStatus),
            _known("approval_for", ApprovalFor, blank=True),
            _known("proposed_by", Party, blank=True),
            _known("fulfilment_status", Fulfilment),
            _known("billing_status", Billing),
            _known("priority", Priority),
            models.CheckConstraint(
                condition=Q(status=OrderStatus.PENDING_APPROVAL) ^ Q(approval_for=""),
                name="suppliers_purchaseorder_approval",
            ),
            models.CheckConstraint(
                condition=~Q(status=OrderStatus.CHANGE_PROPOSED) | ~Q(proposed_by=""),
                name="suppliers_purchaseorder_change_of_whom",
            ),
            models.CheckConstraint(
                condition=Q(before_change="") | Q(status__in=_CHANGING), name="suppliers_purchaseorder_before_change"
            ),
            models.CheckConstraint(
                condition=Q(sent_at__isnull=False, order_number__gt="")
                | Q(sent_at__isnull=True, order_number="", status__in=_UNSENT),
                name="suppliers_purchaseorder_sent",
            ),
            models.CheckConstraint(
                condition=~Q(status=OrderStatus.ACCEPTED) | Q(accepted_at__isnull=False),
                name="suppliers_purchaseorder_accepted",
            ),
            models.CheckConstraint(
                condition=Q(lines_total__range=(1, MOST_LINES), net__gte=0, gross__gte=F("net"), revision__gte=1)
                & (Q(min_remaining_shelf_life_days__isnull=True) | Q(min_remaining_shelf_life_days__gte=0)),
                name="suppliers_purchaseorder_amounts",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="suppliers_po_by_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_po_by_updated"),
            models.Index(fields=["tenant", "status", "created_at", "id"], name="suppliers_po_by_status"),
            models.Index(fields=["tenant", "supplier_tenant_id", "created_at", "id"], name="suppliers_po_by_supplier"),
            models.Index(fields=["tenant", "delivery_location", "created_at", "id"], name="suppliers_po_by_location"),
            models.Index(
                fields=["tenant", "created_at", "id"], condition=Q(price_differs=True), name="suppliers_po_differing"
            ),
            models.Index(
                fields=["accept_by", "tenant"],
                condition=Q(status__in=_UNANSWERED, overdue_told_at__isnull=True),
                name="suppliers_po_overdue",
            ),
            models.Index(
                fields=["tenant", "supplier_tenant_id", "submitted_at"],
                condition=Q(submitted_at__isnull=False),
                name="suppliers_po_by_submitted",
            ),
        ]

    def __str__(self) -> str:
        return self.number

    @property
    def place(self) -> Place:
        """The state of the order in the table of its course."""
        if self.status == OrderStatus.PENDING_APPROVAL:
            return Place(self.status, self.approval_for)
        return Place(self.status, self.proposed_by if self.status == OrderStatus.CHANGE_PROPOSED else "")

    @property
    def was_sent(self) -> bool:
        """Tell whether the supplier knows the order."""
        return self.sent_at is not None

    def become(self, target: Place) -> None:
        """Go to a state that a step of the table leads to.

        :raises InvalidTransition: no step of the table leads there.
        """
        self.approval_for = target.detail if target.status == OrderStatus.PENDING_APPROVAL else ""
        self.proposed_by = target.detail if target.status == OrderStatus.CHANGE_PROPOSED else ""
        if target.status != self.status:
            getattr(self, f"become_{target.status}")()


class PurchaseOrderLine(TenantOwned):
    """A line of an order: what was asked for, the goods and their price as they were then, and how far it is.

    `ordered` and all counters are in base units; `tolerance` is what may be shipped above what is accepted, by the
    agreement; `over_received` was received above what was shipped, by the buyer's policy. `quantity` counts packs or base units, as `unit` says. `product_id`, `packaging_id` and `offer_id` are the
    supplier's; a line of free text has none. `agreement` names the line of the agreement that the price is from, and its
    owner; `redeemed` are promotions with what each saves. Personal data: none.
    """

    order = models.ForeignKey(
        PurchaseOrder, on_delete=models.CASCADE, related_name="lines", db_constraint=False, db_index=False
    )
    line_no = models.PositiveIntegerField()
    product_id = models.UUIDField(null=True)
    packaging_id = models.UUIDField(null=True)
    offer_id = models.UUIDField(null=True)
    substitutes_line_id = models.UUIDField(null=True)
    own_code = models.CharField(max_length=64, blank=True, default="")
    unit = models.CharField(max_length=4)
    quantity = models.PositiveBigIntegerField()
    requested_date = models.DateField(null=True)
    promised_date = models.DateField(null=True)
    first_promised_date = models.DateField(null=True)
    backorder_date = models.DateField(null=True)
    name = models.CharField(max_length=255)
    supplier_sku = models.CharField(max_length=64, blank=True, default="")
    gtin = models.CharField(max_length=14, blank=True, default="")
    category = models.CharField(max_length=64, blank=True, default="")
    packaging = models.JSONField(null=True)
    base_unit = models.CharField(max_length=3)
    units_per_pack = models.PositiveBigIntegerField(default=1)
    license_type = models.CharField(max_length=60, blank=True, default="")
    currency = models.CharField(max_length=3)
    unit_price = models.DecimalField(max_digits=19, decimal_places=6)
    price_base_quantity = models.PositiveIntegerField(default=1)
    list_price = models.DecimalField(max_digits=19, decimal_places=6, null=True)
    list_net = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    net = models.DecimalField(max_digits=19, decimal_places=4)
    tax_category = models.CharField(max_length=20, blank=True, default="")
    tax_rate = models.DecimalField(max_digits=7, decimal_places=4, null=True)
    price_source = models.CharField(max_length=10)
    price_source_id = models.UUIDField(null=True)
    agreement = models.JSONField(null=True)
    redeemed = models.JSONField(default=list)
    trace = models.JSONField(default=list)
    price_check = models.JSONField(null=True)
    ordered = models.PositiveBigIntegerField()
    accepted = models.PositiveBigIntegerField(default=0, db_default=0)
    backordered = models.PositiveBigIntegerField(default=0, db_default=0)
    cancelled = models.PositiveBigIntegerField(default=0, db_default=0)
    shipped = models.PositiveBigIntegerField(default=0, db_default=0)
    received = models.PositiveBigIntegerField(default=0, db_default=0)
    rejected = models.PositiveBigIntegerField(default=0, db_default=0)
    short = models.PositiveBigIntegerField(default=0, db_default=0)
    returned = models.PositiveBigIntegerField(default=0, db_default=0)
    invoiced = models.PositiveBigIntegerField(default=0, db_default=0)
    tolerance = models.PositiveBigIntegerField(default=0, db_default=0)
    over_received = models.PositiveBigIntegerField(default=0, db_default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "order", "line_no"], name="suppliers_orderline_number"),
            models.CheckConstraint(
                condition=Q(
                    ordered__gte=F("accepted") + F("backordered") + F("cancelled"),
                    shipped__lte=F("accepted") + F("tolerance") + F("rejected") + F("short"),
                    received__lte=F("shipped") + F("over_received"),
                    returned__lte=F("received"),
                ),
                name="suppliers_orderline_counters",
            ),
            models.CheckConstraint(
                condition=Q(invoiced__lte=F("ordered")) | Q(invoiced__lte=F("shipped")),
                name="suppliers_orderline_invoiced",
            ),
            models.CheckConstraint(
                condition=Q(quantity__gte=1, ordered__gte=1, units_per_pack__gte=1, price_base_quantity__gte=1)
                & Q(unit_price__gte=0, net__gte=0),
                name="suppliers_orderline_amounts",
            ),
            models.CheckConstraint(
                condition=Q(product_id__isnull=False, packaging_id__isnull=False)
                | Q(product_id__isnull=True, packaging_id__isnull=True, offer_id__isnull=True),
                name="suppliers_orderline_goods",
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "product_id", "order"],
                condition=Q(product_id__isnull=False),
                name="suppliers_orderline_product",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.line_no}"

    @property
    def agreed_days(self) -> int | None:
        """How many days the goods must last by the agreement that the price is from; None where it says nothing."""
        return (self.agreement or {}).get("min_remaining_shelf_life_days")

    @property
    def owed(self) -> int:
        """Base units that the buyer has kept and nobody has invoiced; nobody invoices what replaces goods that came back."""
        return 0 if self.price_source == RETURNED else self.received - self.returned - self.invoiced


class ReceivedOrder(ReceivedDocument):
    """An order as its supplier reads it. Personal data: free texts of the buyer for the supplier."""

    po_number = models.CharField(max_length=64)
    fulfilment_status = models.CharField(max_length=18, choices=Fulfilment)
    billing_status = models.CharField(max_length=18, choices=Billing)
    priority = models.CharField(max_length=9, choices=Priority)
    awaiting = models.CharField(max_length=14, choices=Awaiting, null=True)  # null as the owner's rows give it

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "received_at", "id"], name="suppliers_recorder_by_time"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_recorder_by_updated"),
            models.Index(fields=["tenant", "status", "received_at", "id"], name="suppliers_recorder_by_status"),
            models.Index(fields=["tenant", "owner_tenant_id", "received_at", "id"], name="suppliers_recorder_by_owner"),
            models.Index(fields=["tenant", "number", "id"], name="suppliers_recorder_by_number"),
        ]

    def __str__(self) -> str:
        return str(self.number)


class ReceivedOrderLine(ReceivedLine):
    """A line of a supplier's copy by its product, what of it is still to come, and from which day on. Personal data: none."""

    lot_id = None  # an order names no lot
    backorder_date = models.DateField(null=True)

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "document_id", "line_no"], name="suppliers_recorderline_number"),
            models.Index(fields=["tenant", "product_id", "document_id"], name="suppliers_recorderline_product"),
            models.Index(
                fields=["tenant", "product_id", "document_id"],
                condition=Q(backordered__gt=0),
                name="suppliers_recorderline_open",
            ),
        ]

    def __str__(self) -> str:
        return str(self.line_no)


class PriceTrace(TenantOwned):
    """How the prices of an order's lines came about, as its supplier may see it; `id` is the order's, `traces` are by line.

    Personal data: none.
    """

    traces = models.JSONField(default=dict)

    def __str__(self) -> str:
        return str(self.pk)


# Whom the order waits for, as the supplier reads it: of the buyer's approvals that there is one.
AWAITING_SQL: Final = (
    "CASE WHEN t.status = 'pending_approval' THEN 'buyer_approval'"
    " WHEN t.status = 'sent' OR t.status = 'change_proposed' AND t.proposed_by = 'buyer' THEN 'supplier'"
    " WHEN t.status = 'change_proposed' THEN 'buyer' END"
)
SHARED_STATUS_SQL: Final = "CASE WHEN t.status = 'pending_approval' THEN 'change_proposed' ELSE t.status END"

ORDERS: Final = ReceivedKind(
    document=PurchaseOrder,
    copy=ReceivedOrder,
    party="t.supplier_tenant_id",
    handed_over="t.sent_at IS NOT NULL AND n.managed_by_id IS NULL",  # nobody reads the copies of a managed supplier
    lines="lines",
    line=ReceivedOrderLine,
    columns={
        "number": "t.order_number",
        "status": SHARED_STATUS_SQL,
        "po_number": "t.number",
        "fulfilment_status": "t.fulfilment_status",
        "billing_status": "t.billing_status",
        "priority": "t.priority",
        "awaiting": AWAITING_SQL,
    },
)
