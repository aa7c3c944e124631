"""Stock as clients read it: totals of a product, levels, movements and stock locations."""

from rest_framework import serializers

from api.postal import AddressIn
from api.representations import BlankAsNull, Computed, Document, Instant, OpenChoice, Representation
from core.conditions import TENANT
from suppliers.catalog.availability import totals_sql

from .models import Lot, StockLevel, StockMovement, StockPlace
from .recalls.representations import RECALL_OF_LOT, RECALL_TAG, RecallOut
from .states import ReservationKind

_ITEM = f"FROM suppliers_stockitem i WHERE i.tenant_id = {TENANT} AND i.id = t.product_id"
_SKU = (
    f"coalesce((SELECT p.supplier_sku FROM suppliers_product p WHERE p.tenant_id = {TENANT} AND p.id = t.product_id),"
    f" (SELECT i.supplier_sku {_ITEM}))"
)
_OF_SUPPLIER = "The supplier whose product it is; of a tenant's own product the tenant itself."
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
# For how many days goods of a level must still last to be sold.
_REST = (
    f"coalesce((SELECT p.min_remaining_shelf_life_days FROM suppliers_product p WHERE p.tenant_id = {TENANT} AND p.id = t.product_id),"
    f" (SELECT i.min_remaining_shelf_life_days {_ITEM}), 0)"
)
SELLABLE = (
    f"CASE WHEN EXISTS (SELECT 1 FROM suppliers_stockplace s WHERE s.tenant_id = {TENANT} AND s.location_id = t.location_id"
    f" AND NOT s.sellable) OR EXISTS (SELECT 1 {_LOT} AND (l.status <> 'released' OR l.expiry_date - {_REST} < {_TODAY})) THEN 0"
    f" ELSE t.on_hand - t.reserved + coalesce(({_LAPSED}), 0) END::bigint"
)


class StockTotals(serializers.Serializer[None]):
    """Stock totals of all locations, in base units."""

    on_hand = serializers.IntegerField()
    reserved = serializers.IntegerField()
    sellable = serializers.IntegerField()


def stock_totals() -> Computed:
    """Return the computed member with the stock totals of a product."""
    return Computed(
        "SELECT json_build_object('on_hand', x.on_hand, 'reserved', x.reserved, 'sellable', x.sellable)"
        f" FROM ({totals_sql('t')}) x",
        StockTotals(),
    )


_NEEDED = "NULLIF(current_setting('stock.needed_date', true), '')::date"
_FREE = (
    "SELECT t.id, t.product_id, t.location_id, t.on_hand, t.reserved, t.created_at, t.updated_at,"
    " coalesce(p.supplier_sku, i.supplier_sku) AS supplier_sku, coalesce(p.base_unit, i.base_unit) AS base_unit,"
    f" l.expiry_date, CASE WHEN coalesce(s.sellable, true) AND (l.id IS NULL OR l.status = 'released' AND (l.expiry_date IS NULL OR"
    f" l.expiry_date >= greatest({_NEEDED}, {_TODAY}) + coalesce(p.min_remaining_shelf_life_days, i.min_remaining_shelf_life_days, 0)::int))"
    f" THEN t.on_hand - t.reserved + coalesce(({_LAPSED}), 0) ELSE 0 END AS sellable"
    " FROM suppliers_stocklevel t"
    f" LEFT JOIN suppliers_product p ON p.tenant_id = t.tenant_id AND p.id = t.product_id AND p.tenant_id = {TENANT}"
    f" LEFT JOIN suppliers_stockitem i ON p.id IS NULL AND i.tenant_id = t.tenant_id AND i.id = t.product_id AND i.tenant_id = {TENANT}"
    f" LEFT JOIN suppliers_stockplace s ON s.tenant_id = t.tenant_id AND s.location_id = t.location_id AND s.tenant_id = {TENANT}"
    f" LEFT JOIN suppliers_lot l ON l.tenant_id = t.tenant_id AND l.id = t.lot_id AND l.tenant_id = {TENANT}"
    f" WHERE t.tenant_id = {TENANT}"
)
# What the tenant's own accepted orders still bring to the place that they name; what was rejected or short is sent again.
_COMING = (
    "SELECT l.product_id, o.delivery_location_id AS location_id, sum(l.accepted + l.backordered - l.received)::bigint AS units"
    " FROM suppliers_purchaseorder o JOIN suppliers_purchaseorderline l ON l.tenant_id = o.tenant_id AND l.order_id = o.id"
    f" AND l.tenant_id = {TENANT} WHERE o.tenant_id = {TENANT} AND o.status IN ('accepted', 'change_proposed')"
    " AND l.accepted + l.backordered > l.received GROUP BY l.tenant_id, l.product_id, o.delivery_location_id"
)
_AVAILABLE = (
    f"(SELECT (array_agg(f.id ORDER BY f.id))[1] AS id, {TENANT}::uuid AS tenant_id, f.product_id, f.location_id, f.supplier_sku,"
    " f.base_unit, sum(f.on_hand)::bigint AS on_hand, sum(f.reserved)::bigint AS reserved, sum(f.sellable)::bigint AS sellable,"
    " min(f.expiry_date) FILTER (WHERE f.sellable > 0) AS earliest_expiry, min(f.created_at) AS created_at,"
    f" max(f.updated_at) AS updated_at, coalesce(max(c.units), 0) AS incoming FROM ({_FREE}) f"
    f" LEFT JOIN ({_COMING}) c ON c.product_id = f.product_id AND c.location_id = f.location_id"
    " GROUP BY f.product_id, f.location_id, f.supplier_sku, f.base_unit)"
)


class PromisableStockOut(Representation):
    """What buyers can be promised of one product from one location, over all its lots; in base units."""

    product_id = serializers.UUIDField()
    supplier_sku = Computed("t.supplier_sku", serializers.CharField())
    base_unit = Computed("t.base_unit", serializers.CharField())
    location_id = serializers.UUIDField()
    location_name = Computed(f"SELECT o.name {_PLACE}", serializers.CharField())
    on_hand = Computed("t.on_hand", serializers.IntegerField())
    reserved = Computed("t.reserved", serializers.IntegerField())
    sellable = Computed(
        "t.sellable",
        serializers.IntegerField(
            help_text="What can be promised for `needed_date`: of released lots that last long enough from then, at places "
            "that sell, what nobody holds."
        ),
    )
    incoming = Computed(
        "t.incoming",
        serializers.IntegerField(
            help_text="What the tenant's own accepted orders, which name the location for their delivery, still bring. A "
            "transfer is never under way: it moves stock at once."
        ),
    )
    earliest_expiry = Computed(
        "t.earliest_expiry", serializers.DateField(allow_null=True, help_text="Of what can be promised.")
    )
    updated_at = Instant(help_text="When a level of the product at the location was last changed.")

    class Meta:
        model = StockLevel
        name = "availability"
        rows = _AVAILABLE
        tenant_column = "tenant_id"
        version = None
        fields = (
            "product_id", "supplier_sku", "base_unit", "location_id", "location_name", "on_hand", "reserved", "sellable",
            "incoming", "earliest_expiry", "updated_at",
        )  # fmt: skip


# What accepted orders still bring of a level's product to its place, over all lots: a lot is known when the goods come.
_COMING_TO_LEVEL = (
    "(SELECT coalesce(sum(l.accepted + l.backordered - l.received), 0)::bigint FROM suppliers_purchaseorderline l"
    " CROSS JOIN LATERAL (SELECT o.status, o.delivery_location_id FROM suppliers_purchaseorder o"
    f" WHERE o.tenant_id = {TENANT} AND o.id = l.order_id OFFSET 0) o"
    f" WHERE l.tenant_id = {TENANT} AND l.product_id = t.product_id AND l.accepted + l.backordered > l.received"
    " AND o.status IN ('accepted', 'change_proposed') AND o.delivery_location_id = t.location_id)"
)


class StockLevelOut(Representation):
    """What is on hand of one product at one location, of one lot where the product has lots; in base units."""

    product_id = serializers.UUIDField()
    supplier_id = Computed(f"SELECT i.product_tenant_id {_ITEM}", serializers.UUIDField(help_text=_OF_SUPPLIER))
    supplier_sku = Computed(_SKU, serializers.CharField())
    location_id = serializers.UUIDField()
    location_name = Computed(f"SELECT o.name {_PLACE}", serializers.CharField())
    lot_id = serializers.UUIDField(allow_null=True)
    lot_number = Computed(f"SELECT l.lot_number {_LOT}", serializers.CharField(allow_null=True))
    lot_status = Computed(f"SELECT l.status {_LOT}", serializers.CharField(allow_null=True))
    expiry_date = Computed(f"SELECT l.expiry_date {_LOT}", serializers.DateField(allow_null=True))
    sellable = Computed(SELLABLE, serializers.IntegerField(help_text="What can be promised today."))
    incoming = Computed(
        _COMING_TO_LEVEL,
        serializers.IntegerField(
            help_text="What the tenant's own accepted orders still bring of the product to the location, of whatever lot."
        ),
    )

    class Meta:
        model = StockLevel
        fields: tuple[str, ...] = (
            "id", "product_id", "supplier_id", "supplier_sku", "location_id", "location_name", "lot_id", "lot_number", "lot_status",
            "expiry_date", "on_hand", "reserved", "sellable", "incoming", "low_stock_threshold", "last_counted_at",
            "created_at", "updated_at", "version",
        )  # fmt: skip
        unversioned = (
            f"left(md5(json_build_array({SELLABLE}, {_COMING_TO_LEVEL}, (SELECT l.version {_LOT}),"
            f" (SELECT o.name {_PLACE}), {_SKU})::text), 12)"
        )


_HOLDS = f"""(
SELECT coalesce(json_agg(json_build_object('type', h.type, 'reason', h.reason) ORDER BY h.type), '[]') FROM (
  SELECT 'lot_' || l.status AS type, nullif(l.status_reason, '') AS reason {_LOT} AND l.status <> 'released'
  UNION ALL SELECT 'lot_expired', NULL {_LOT} AND l.expiry_date < {_TODAY}
  UNION ALL SELECT 'shelf_life_too_short', NULL {_LOT} AND l.expiry_date >= {_TODAY} AND l.expiry_date - {_REST} < {_TODAY}
  UNION ALL SELECT 'place_not_sellable', NULL FROM suppliers_stockplace s
    WHERE s.tenant_id = {TENANT} AND s.location_id = t.location_id AND NOT s.sellable) h)"""
SHOWN_RESERVATIONS = 100
_OPEN = f"""(
SELECT coalesce(json_agg(json_build_object('id', r.id, 'buyer_id', r.buyer_id, 'kind', r.kind, 'base_quantity', r.base_quantity,
    'expires_at', r.expires_at, 'purchase_order_line_id', r.purchase_order_line_id) ORDER BY r.ends, r.id), '[]')
FROM (SELECT a.reservation_id AS id, a.buyer_tenant_id AS buyer_id, a.kind, a.base_quantity, a.expires_at AS ends,
    to_char(a.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS expires_at, (SELECT r.purchase_order_line_id
      FROM suppliers_reservation r WHERE r.tenant_id = {TENANT} AND r.id = a.reservation_id) AS purchase_order_line_id
  FROM suppliers_allocation a WHERE a.tenant_id = {TENANT} AND a.level_id = t.id AND a.status = 'active'
    AND (a.expires_at IS NULL OR a.expires_at > now()) ORDER BY a.expires_at, a.reservation_id LIMIT {SHOWN_RESERVATIONS}) r)"""


_HOLD_TYPES = ("lot_quarantined", "lot_recalled", "lot_expired", "shelf_life_too_short", "place_not_sellable")


class HoldOut(serializers.Serializer[None]):
    """Why nothing of a level can be promised."""

    type = OpenChoice(choices=[*((one, one) for one in _HOLD_TYPES)])
    reason = serializers.CharField(allow_null=True, help_text="What was said when the lot was quarantined or recalled.")


class OpenReservationOut(serializers.Serializer[None]):
    """What an active reservation holds of a level, in base units; `id` is the reservation's."""

    id = serializers.UUIDField()
    buyer_id = serializers.UUIDField()
    kind = OpenChoice(choices=ReservationKind.choices)
    base_quantity = serializers.IntegerField()
    expires_at = serializers.DateTimeField(allow_null=True, help_text="null: held for an order, until it is shipped.")
    purchase_order_line_id = serializers.UUIDField(allow_null=True)


class StockLevelInFullOut(StockLevelOut):
    """A level with what keeps it from being sold, and what is reserved of it."""

    holds = Computed(_HOLDS, HoldOut(many=True))
    reservations = Computed(
        _OPEN,
        OpenReservationOut(
            many=True, help_text=f"The first {SHOWN_RESERVATIONS} that end; the list of reservations has all of them."
        ),
    )

    class Meta(StockLevelOut.Meta):
        fields = (*StockLevelOut.Meta.fields, "holds", "reservations")
        unversioned = f"left(md5({StockLevelOut.Meta.unversioned} || {_HOLDS}::text || {_OPEN}::text), 12)"


class LotOut(Representation):
    """A lot of a product; `expiry_date` is the last day of use."""

    product_id = serializers.UUIDField()
    origin_lot_id = serializers.UUIDField(
        allow_null=True, help_text="The supplier's lot from which a buyer's comes; null where the supplier has none."
    )
    recall = Computed(RECALL_OF_LOT, RecallOut(allow_null=True))

    class Meta:
        model = Lot
        fields = (
            "id", "product_id", "lot_number", "expiry_date", "manufacture_date", "status", "status_reason", "origin_lot_id",
            "recall", "created_at", "updated_at", "version",
        )  # fmt: skip
        unversioned = RECALL_TAG
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
    address = Computed(f"SELECT o.address {_PLACE}", Document(AddressIn()), allow_null=True)
    time_zone = Computed(f"SELECT NULLIF(o.time_zone, '') {_PLACE}", serializers.CharField(allow_null=True))
    active = Computed(f"SELECT o.status = 'active' {_PLACE}", serializers.BooleanField())
    temperature = TemperatureOut(source="*")
    license_types = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = StockPlace
        name = "stock location"
        key = "location_id"
        fields = (
            "id", "name", "type", "parent_id", "address", "time_zone", "active", "code", "sellable", "temperature", "gln",
            "tracks_stock", "license_number", "license_types", "license_valid_to", "created_at", "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("gln", "license_number")
