"""Reservations as the supplier and the buyer read them."""

from rest_framework import serializers

from api.received_copies import received
from api.representations import BlankAsNull, Computed, Representation
from core.conditions import TENANT
from suppliers.inventory.models import Allocation, ReceivedReservation, Reservation

_LEVEL = f"suppliers_stocklevel v WHERE v.tenant_id = {TENANT} AND v.id = t.level_id"
_OF_LOT = (
    " FROM suppliers_stocklevel v JOIN suppliers_lot l ON l.tenant_id = v.tenant_id AND l.id = v.lot_id"
    f" WHERE v.tenant_id = {TENANT} AND l.tenant_id = {TENANT} AND v.id = t.level_id"
)
_BASE_UNIT = f"SELECT p.base_unit FROM suppliers_product p WHERE p.tenant_id = {TENANT} AND p.id = t.product_id"
_PACKS = "CASE WHEN t.base_quantity % t.units_per_pack = 0 THEN t.base_quantity / t.units_per_pack END"


class AllocationOut(Representation):
    """What a reservation holds of one level, in base units."""

    location_id = Computed(f"SELECT v.location_id FROM {_LEVEL}", serializers.UUIDField())
    lot_number = Computed(f"SELECT l.lot_number{_OF_LOT}", serializers.CharField(allow_null=True))
    expiry_date = Computed(f"SELECT l.expiry_date{_OF_LOT}", serializers.DateField(allow_null=True))

    class Meta:
        model = Allocation
        fields = ("level_id", "location_id", "lot_number", "expiry_date", "base_quantity")


class AllocationForBuyerOut(Representation):
    """A part of a reservation, by the expiry of its lot; in base units."""

    expiry_date = Computed(f"SELECT l.expiry_date{_OF_LOT}", serializers.DateField(allow_null=True))

    class Meta:
        model = Allocation
        fields = ("expiry_date", "base_quantity")


class _ReservationOut(Representation):
    supplier_id = Computed("t.tenant_id", serializers.UUIDField())
    buyer_id = serializers.UUIDField(source="buyer_tenant_id")
    quantity = Computed(_PACKS, serializers.IntegerField(allow_null=True, help_text="null: no whole number of packs"))
    base_unit = Computed(_BASE_UNIT, serializers.CharField())
    min_remaining_shelf_life_days = serializers.IntegerField(source="remaining_days")
    reason = BlankAsNull(allow_null=True)


_SHARED = (
    "id", "group_id", "line_no", "supplier_id", "buyer_id", "product_id", "packaging_id", "offer_id", "quantity",
    "unit", "units_per_pack", "base_quantity", "base_unit", "needed_date", "min_remaining_shelf_life_days", "kind",
    "status", "expires_at", "extensions", "ended_at", "purchase_order_line_id", "reason", "allocations",
)  # fmt: skip


class ReservationOut(_ReservationOut):
    """A reservation as the supplier reads it, with the levels that it holds."""

    allocations = AllocationOut(many=True, by="reservation", ordering=("id",))

    class Meta:
        model = Reservation
        name = "reservation"
        fields = (*_SHARED, "location_id", "created_at", "updated_at", "version")


class ReservationForBuyerOut(_ReservationOut):
    """A reservation as its buyer reads it: of the lots only the expiry."""

    allocations = AllocationForBuyerOut(many=True, by="reservation", ordering=("id",))

    class Meta:
        model = Reservation
        name = "reservation"
        fields = (*_SHARED, "created_at", "updated_at", "version")


ReceivedReservationOut = received(
    "ReceivedReservationOut", ReservationForBuyerOut, ReceivedReservation, name="reservation"
)
