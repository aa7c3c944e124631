"""What stock looks like on the wire."""

from api.shapes import Field, computed

STOCK_TOTALS: Field = computed(
    "stock",
    "SELECT json_build_object('on_hand', coalesce(sum(s.on_hand), 0)::bigint, 'reserved', coalesce(sum(s.reserved), 0)::bigint,"
    " 'sellable', coalesce(sum(s.on_hand - s.reserved), 0)::bigint)"
    " FROM suppliers_stocklevel s WHERE s.tenant_id = t.tenant_id AND s.product_id = t.id",
    {
        "type": "object",
        "description": "totals over all locations, in base units",
        "properties": {name: {"type": "integer"} for name in ("on_hand", "reserved", "sellable")},
    },
)
