"""Tables of the inventory: places that keep stock, lots, levels, and reservations with what they hold of each level."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django_fsm import FSMField

from core.clock import now
from core.ids import uuid7
from core.lifecycle import LifecycleModel, transition
from core.row_security import Market, TableSecurity
from core.tenant_rows import TenantRow
from organizations.public import ReceivedDocument, ReceivedKind, TenantOwned
from suppliers.catalog.models import Packaging, Product

from .items.models import StockItem
from .refusals import StockPlaceCodeTaken, StockPlaceTaken
from .states import LotStatus, MovementType, ReasonCode, ReservationKind, ReservationStatus, Unit

_ACTIVE = Q(status=ReservationStatus.ACTIVE.value)
_SOFT = Q(kind=ReservationKind.SOFT.value)
_LINE = Q(purchase_order_line_id__isnull=False)


class StockPlace(TenantOwned):
    """A location that keeps stock, at degrees Celsius; where not `sellable`, nothing is promised. Personal data: none."""

    location = models.ForeignKey(
        "organizations.Location", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    code = models.CharField(max_length=40)
    sellable = models.BooleanField(default=True)
    min_c = models.DecimalField(max_digits=4, decimal_places=1, null=True)
    max_c = models.DecimalField(max_digits=4, decimal_places=1, null=True)
    gln = models.CharField(max_length=13, blank=True, default="")
    tracks_stock = models.BooleanField(default=True)
    license_number = models.CharField(max_length=80, blank=True, default="")
    license_types = models.JSONField(default=list)
    license_valid_to = models.DateField(null=True)

    WRITABLE: ClassVar = (
        "code", "sellable", "min_c", "max_c", "gln", "tracks_stock", "license_number", "license_types",
        "license_valid_to",
    )  # fmt: skip
    security: ClassVar = TableSecurity(market=Market(columns=("tenant_id", "location_id", "sellable")))
    refusals: ClassVar = {
        "suppliers_stockplace_code_taken": StockPlaceCodeTaken,
        "suppliers_stockplace_taken": StockPlaceTaken,
    }

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "code"], name="suppliers_stockplace_code_taken"),
            models.UniqueConstraint(fields=["tenant", "location"], name="suppliers_stockplace_taken"),
            models.CheckConstraint(
                condition=Q(min_c__isnull=True) | Q(max_c__isnull=True) | Q(min_c__lt=F("max_c")),
                name="suppliers_stockplace_temperature",
            ),
        ]

    def __str__(self) -> str:
        return self.code


class Lot(TenantOwned, LifecycleModel):
    """A lot of a product as a tenant holds it.

    `expiry_date` is the last day of use. `origin_tenant_id` and `origin_lot_id` name the supplier's lot that a buyer's came
    from. `expiry_told`: the threshold in days that was told of last, 0 once the lot was told expired. Personal data: none.
    """

    product = models.ForeignKey(
        StockItem, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    lot_number = models.CharField(max_length=20)
    expiry_date = models.DateField(null=True)
    manufacture_date = models.DateField(null=True)
    status = FSMField(default=LotStatus.RELEASED.value, choices=LotStatus, protected=True, max_length=11)
    status_reason = models.CharField(max_length=500, blank=True, default="")
    origin_tenant_id = models.UUIDField(null=True)
    origin_lot_id = models.UUIDField(null=True)
    expiry_told = models.PositiveSmallIntegerField(null=True)

    WRITABLE: ClassVar = ("expiry_date",)
    unversioned: ClassVar = ("expiry_told",)
    security: ClassVar = TableSecurity(
        dispatcher=True, market=Market(columns=("tenant_id", "id", "product_id", "expiry_date", "status"))
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "product", "lot_number"], name="suppliers_lot_once"),
            models.CheckConstraint(condition=Q(status__in=LotStatus.values), name="suppliers_lot_status_known"),
            models.CheckConstraint(
                condition=Q(origin_tenant_id__isnull=True, origin_lot_id__isnull=True)
                | Q(origin_tenant_id__isnull=False, origin_lot_id__isnull=False) & ~Q(origin_tenant_id=F("tenant_id")),
                name="suppliers_lot_origin_is_anothers",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "expiry_date"], name="suppliers_lot_by_expiry"),
            models.Index(
                fields=["origin_lot_id", "tenant"],
                condition=Q(origin_lot_id__isnull=False),
                name="suppliers_lot_of_origin",
            ),
            models.Index(
                fields=["product", "lot_number"], condition=Q(origin_lot_id__isnull=True), name="suppliers_lot_by_name"
            ),
            models.Index(
                fields=["expiry_date", "tenant", "product"],
                condition=Q(status=LotStatus.RELEASED.value, expiry_date__isnull=False),
                name="suppliers_lot_expiring",
            ),
        ]

    def __str__(self) -> str:
        return self.lot_number

    @transition(field=status, source=LotStatus.RELEASED.value, target=LotStatus.QUARANTINED.value)
    def quarantine(self, reason: str) -> None:
        """Keep the lot from being sold."""
        self.status_reason = reason

    @transition(
        field=status, source=[LotStatus.RELEASED.value, LotStatus.QUARANTINED.value], target=LotStatus.RECALLED.value
    )
    def recall(self, reason: str) -> None:
        """Take the lot off the market."""
        self.status_reason = reason

    @transition(field=status, source=LotStatus.RECALLED.value, target=LotStatus.QUARANTINED.value)
    def withdraw_recall(self, reason: str) -> None:
        """Keep the lot from being sold, but no longer recall it."""
        self.status_reason = reason

    @transition(field=status, source=LotStatus.QUARANTINED.value, target=LotStatus.RELEASED.value)
    def release(self, reason: str) -> None:
        """Let the lot be sold again."""
        self.status_reason = reason


class StockLevel(TenantOwned):
    """On-hand and reserved base units of one product at one location, of one lot where the product has lots.

    `told_at`: when `stock.level_changed` was last told; `is_untold`: the level has changed since. Personal data: none.
    """

    product = models.ForeignKey(
        StockItem, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    location = models.ForeignKey(
        "organizations.Location", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    lot = models.ForeignKey(
        Lot, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False, null=True
    )
    on_hand = models.PositiveBigIntegerField(default=0)
    reserved = models.PositiveBigIntegerField(default=0)
    low_stock_threshold = models.PositiveBigIntegerField(null=True)
    last_counted_at = models.DateTimeField(null=True)
    told_at = models.DateTimeField(null=True)
    is_untold = models.BooleanField(default=False, db_default=False)

    unversioned: ClassVar = ("told_at", "is_untold")
    security: ClassVar = TableSecurity(
        dispatcher=True,
        market=Market(
            columns=(
                "tenant_id",
                "id",
                "product_id",
                "location_id",
                "lot_id",
                "on_hand",
                "reserved",
                "low_stock_threshold",
            )
        ),
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "product", "location", "lot"], nulls_distinct=False, name="suppliers_stocklevel_once"
            ),
            models.CheckConstraint(
                condition=Q(reserved__gte=0, reserved__lte=F("on_hand")), name="suppliers_stocklevel_reserved"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "id"], condition=Q(is_untold=True), name="suppliers_stocklevel_untold"),
        ]

    def __str__(self) -> str:
        return f"{self.on_hand - self.reserved} of {self.on_hand}"


class StockMovement(TenantRow):
    """One change of what is on hand at a level; never changed, cut into months by `created_at`.

    `level_id`, `reversal_of` and the others are plain ids, so that months can be moved away. Personal data: the mover's id.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = models.DateTimeField(default=now, db_default=Now())
    tenant_id = models.UUIDField()
    product_id = models.UUIDField()
    location_id = models.UUIDField()
    level_id = models.UUIDField()
    lot_id = models.UUIDField(null=True)
    lot_number = models.CharField(max_length=20, blank=True)
    type = models.CharField(max_length=12, choices=MovementType)
    quantity = models.BigIntegerField()
    balance_after = models.BigIntegerField()
    reason_code = models.CharField(max_length=11, choices=ReasonCode, blank=True)
    reference_type = models.CharField(max_length=20)
    reference_id = models.UUIDField()
    reference_text = models.CharField(max_length=120, blank=True)
    note = models.CharField(max_length=500, blank=True)
    reversal_of = models.UUIDField(null=True)
    actor_id = models.UUIDField()
    actor_kind = models.CharField(max_length=10)

    security: ClassVar = TableSecurity(append_only=True)
    partitioned: ClassVar = True

    class Meta:
        indexes = [
            models.Index(fields=["tenant_id", "created_at", "id"], name="suppliers_movement_by_time"),
            models.Index(fields=["tenant_id", "product_id", "created_at", "id"], name="suppliers_movement_by_product"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.quantity}"


class Reservation(TenantOwned, LifecycleModel):
    """Stock of a supplier that is promised to a buyer; the row is the supplier's, the buyer holds a received copy.

    Those of one request or order have one `group_id`. `location` is where all of it lies, null where at several. Quantities
    are in base units. Personal data: none.
    """

    group_id = models.UUIDField()
    line_no = models.PositiveSmallIntegerField()
    buyer_tenant_id = models.UUIDField()
    product = models.ForeignKey(
        Product, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    packaging = models.ForeignKey(
        Packaging, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    location = models.ForeignKey(
        "organizations.Location", models.PROTECT, related_name="+", db_constraint=False, db_index=False, null=True
    )
    offer_id = models.UUIDField(null=True)
    unit = models.CharField(max_length=4, choices=Unit)
    units_per_pack = models.PositiveBigIntegerField()
    base_quantity = models.PositiveBigIntegerField()
    needed_date = models.DateField(null=True)
    remaining_days = models.PositiveIntegerField(default=0)
    kind = models.CharField(max_length=4, choices=ReservationKind, default=ReservationKind.SOFT.value)
    status = FSMField(default=ReservationStatus.ACTIVE.value, choices=ReservationStatus, protected=True, max_length=8)
    expires_at = models.DateTimeField(null=True)
    extensions = models.PositiveSmallIntegerField(default=0)
    ended_at = models.DateTimeField(null=True)
    purchase_order_line_id = models.UUIDField(null=True)
    reason = models.CharField(max_length=40, blank=True, default="")

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        verbose_name = "reservation"
        constraints = [
            models.CheckConstraint(
                condition=~Q(buyer_tenant_id=F("tenant_id")), name="suppliers_reservation_two_parties"
            ),
            models.CheckConstraint(
                condition=Q(kind=ReservationKind.SOFT, expires_at__isnull=False)
                | Q(kind=ReservationKind.HARD, expires_at__isnull=True),
                name="suppliers_reservation_soft_expires",
            ),
            models.CheckConstraint(
                condition=Q(base_quantity__gte=1, units_per_pack__gte=1), name="suppliers_reservation_quantities"
            ),
            models.CheckConstraint(
                condition=Q(status__in=ReservationStatus.values), name="suppliers_reservation_status_known"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="suppliers_reservation_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_reservation_updated"),
            models.Index(fields=["tenant", "status", "created_at", "id"], name="suppliers_reservation_status"),
            models.Index(fields=["tenant", "product", "created_at", "id"], name="suppliers_reservation_product"),
            models.Index(fields=["tenant", "buyer_tenant_id", "created_at", "id"], name="suppliers_reservation_buyer"),
            models.Index(
                fields=["tenant", "expires_at", "id"], condition=_ACTIVE & _SOFT, name="suppliers_reservation_expiry"
            ),
            models.Index(
                fields=["tenant", "purchase_order_line_id"], condition=_LINE, name="suppliers_reservation_line"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.base_quantity} of {self.product_id}"

    @transition(field=status, source=ReservationStatus.ACTIVE.value, target=None)
    def extend(self) -> None:
        """Let the reservation last longer."""

    @transition(field=status, source=ReservationStatus.ACTIVE.value, target=ReservationStatus.RELEASED.value)
    def release(self) -> None:
        """Give the stock back."""

    @transition(field=status, source=ReservationStatus.ACTIVE.value, target=ReservationStatus.CONSUMED.value)
    def consume(self) -> None:
        """End the reservation, because its goods have left."""

    @transition(field=status, source=ReservationStatus.ACTIVE.value, target=ReservationStatus.BROKEN.value)
    def break_off(self, reason: str) -> None:
        """End the reservation, because its goods are not there or may not be sold."""
        self.reason = reason

    @transition(field=status, source=ReservationStatus.ACTIVE.value, target=ReservationStatus.EXPIRED.value)
    def expire(self) -> None:
        """End the reservation, because its time is over."""


class Allocation(TenantOwned):
    """What a reservation holds of one level; buyer, kind, status, expiry are the reservation's. Personal data: none."""

    reservation = models.ForeignKey(
        Reservation, on_delete=models.PROTECT, related_name="allocations", db_constraint=False, db_index=False
    )
    level = models.ForeignKey(
        StockLevel, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    buyer_tenant_id = models.UUIDField()
    base_quantity = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=4, choices=ReservationKind)
    status = models.CharField(max_length=8, choices=ReservationStatus)
    expires_at = models.DateTimeField(null=True)

    # Whose it is, the market never reads.
    security: ClassVar = TableSecurity(
        market=Market(columns=("tenant_id", "level_id", "base_quantity", "kind", "status", "expires_at"))
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "reservation", "level"], name="suppliers_allocation_once"),
            models.CheckConstraint(condition=Q(base_quantity__gte=1), name="suppliers_allocation_quantity"),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "level", "expires_at"], condition=_ACTIVE, name="suppliers_allocation_of_level"
            ),
        ]

    def __str__(self) -> str:
        return str(self.base_quantity)


class ReceivedReservation(ReceivedDocument):
    """A reservation as its buyer reads it. Personal data: none."""

    group_id = models.UUIDField()
    product_id = models.UUIDField()
    expires_at = models.DateTimeField(null=True)

    security: ClassVar = TableSecurity(market=Market(of="tenant_id"))

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "received_at", "id"], name="suppliers_recres_by_time"),
            models.Index(fields=["tenant", "group_id"], name="suppliers_recres_by_group"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_recres_by_updated"),
            models.Index(fields=["tenant", "status", "received_at", "id"], name="suppliers_recres_by_status"),
            models.Index(fields=["tenant", "product_id", "received_at", "id"], name="suppliers_recres_by_product"),
            models.Index(fields=["tenant", "owner_tenant_id", "received_at", "id"], name="suppliers_recres_by_owner"),
        ]

    def __str__(self) -> str:
        return str(self.id)


RESERVATIONS = ReceivedKind(
    document=Reservation,
    copy=ReceivedReservation,
    party="t.buyer_tenant_id",
    handed_over="true",
    version="version",
    columns={"number": "''", "group_id": "t.group_id", "product_id": "t.product_id", "expires_at": "t.expires_at"},
)
