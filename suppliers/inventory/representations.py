"""Stock as clients read it: totals of a product, levels, movements and stock locations."""

from rest_framework import serializers

from api.representation_sql import moved_to
from api.representations import BlankAsNull, Computed, Instant, Representation
from core.conditions import TENANT

from .models import Lot, StockLevel, StockMovement, StockPlace

_LOT = f"FROM suppliers_lot l WHERE l.tenant_id = {TENANT} AND l.id = t.lot_id"
_PLACE = f"FROM organizations_location o WHERE o.tenant_id = {TENANT} AND o.id = t.location_id"
_LAPSED = (
    f"SELECT sum(a.base_quantity) FROM suppliers_allocation a WHERE a.tenant_id = {TENANT} AND a.level_id = t.id"
    " AND a.status = 'active' AND a.kind = 'soft' AND a.expires_at <= now()"
)
_TODAY = (
    "(now() AT TIME ZONE (SELECT coalesce(NULLIF(o.time_zone, ''), n.time_zone) FROM organizations_location o"
    f" JOIN organizations_tenant n ON n.id = o.tenant_id WHERE o.tenant_id = {TENANT} AND o.id = t.location_id))::date"
)
SELLABLE = (
    f"CASE WHEN EXISTS (SELECT 1 FROM suppliers_stockplace s WHERE s.tenant_id = {TENANT} AND s.location_id = t.location_id"
    f" AND NOT s.sellable) OR EXISTS (SELECT 1 {_LOT} AND (l.status <> 'released' OR l.expiry_date < {_TODAY})) THEN 0"
    f" ELSE t.on_hand - t.reserved + coalesce(({_LAPSED}), 0) END::bigint"
)


class StockTotals(serializers.Serializer[None]):
    """Stock totals of all locations, in base units."""

    on_hand = serializers.IntegerField()
    reserved = serializers.IntegerField()
    sellable = serializers.IntegerField()


def stock_totals() -> Computed:
    """Return the computed member with the stock totals of a product."""
    of_level = moved_to(SELLABLE, "v")
    return Computed(
        "SELECT json_build_object('on_hand', coalesce(sum(v.on_hand), 0)::bigint,"
        " 'reserved', coalesce(sum(v.reserved), 0)::bigint,"
        f" 'sellable', coalesce(sum({of_level}), 0)::bigint)"
        f" FROM suppliers_stocklevel v WHERE v.tenant_id = {TENANT} AND v.product_id = t.id",
        StockTotals(),
    )


class StockLevelOut(Representation):
    """What is on hand of one product at one location, of one lot where the product has lots; in base units."""

    product_id = serializers.UUIDField()
    supplier_sku = Computed(
        f"SELECT p.supplier_sku FROM suppliers_product p WHERE p.tenant_id = {TENANT} AND p.id = t.product_id",
        serializers.CharField(),
    )
    location_id = serializers.UUIDField()
    location_name = Computed(f"SELECT o.name {_PLACE}", serializers.CharField())
    lot_id = serializers.UUIDField(allow_null=True)
    lot_number = Computed(f"SELECT l.lot_number {_LOT}", serializers.CharField(allow_null=True))
    lot_status = Computed(f"SELECT l.status {_LOT}", serializers.CharField(allow_null=True))
    expiry_date = Computed(f"SELECT l.expiry_date {_LOT}", serializers.DateField(allow_null=True))
    sellable = Computed(SELLABLE, serializers.IntegerField(help_text="What can be promised today."))

    class Meta:
        model = StockLevel
        fields = (
            "id", "product_id", "supplier_sku", "location_id", "location_name", "lot_id", "lot_number", "lot_status",
            "expiry_date", "on_hand", "reserved", "sellable", "low_stock_threshold", "last_counted_at", "created_at",
            "updated_at", "version",
        )  # fmt: skip
        unversioned = f"left(md5(concat_ws(',', {SELLABLE}, (SELECT concat(l.version) {_LOT}))), 12)"


class LotOut(Representation):
    """A lot of a product; `expiry_date` is the last day of use."""

    product_id = serializers.UUIDField()

    class Meta:
        model = Lot
        fields = (
            "id", "product_id", "lot_number", "expiry_date", "manufacture_date", "status", "status_reason", "created_at",
            "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("status_reason",)


class ReferenceOut(Representation):
    """What a movement belongs to; `text` is the reference that was given with it."""

    type = serializers.CharField(source="reference_type")
    id = serializers.UUIDField(source="reference_id")
    text = BlankAsNull(source="reference_text", allow_null=True)

    class Meta:
        model = StockMovement
        version = None
        fields = ("type", "id", "text")


class StockMovementOut(Representation):
    """One change of what is on hand; `quantity` is signed, in base units, `balance_after` what the level holds then."""

    reference = ReferenceOut(source="*")
    at = Instant(source="created_at")

    class Meta:
        model = StockMovement
        version = None
        fields = (
            "id", "at", "type", "product_id", "location_id", "level_id", "lot_id", "lot_number", "quantity",
            "balance_after", "reason_code", "reference", "note", "reversal_of", "actor_id", "actor_kind",
        )  # fmt: skip
        blank_as_null = ("lot_number", "reason_code", "note")


class TemperatureOut(Representation):
    """The range of temperatures of a place, in degrees Celsius."""

    min_c = serializers.FloatField()
    max_c = serializers.FloatField()

    class Meta:
        model = StockPlace
        fields = ("min_c", "max_c")


class StockLocationOut(Representation):
    """A location that keeps stock."""

    id = Computed("t.location_id", serializers.UUIDField(help_text="The location's id."))
    name = Computed(f"SELECT o.name {_PLACE}", serializers.CharField())
    type = Computed(f"SELECT o.type {_PLACE}", serializers.CharField())
    parent_id = Computed(f"SELECT o.parent_id {_PLACE}", serializers.UUIDField(allow_null=True))
    time_zone = Computed(f"SELECT NULLIF(o.time_zone, '') {_PLACE}", serializers.CharField(allow_null=True))
    active = Computed(f"SELECT o.status = 'active' {_PLACE}", serializers.BooleanField())
    temperature = TemperatureOut(source="*")
    license_types = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = StockPlace
        name = "stock location"
        key = "location_id"
        fields = (
            "id", "name", "type", "parent_id", "time_zone", "active", "code", "sellable", "temperature", "gln",
            "tracks_stock", "license_number", "license_types", "license_valid_to", "created_at", "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("gln", "license_number")
