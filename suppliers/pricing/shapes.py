"""What list prices look like on the wire."""

from api.shapes import Field, computed

# Six decimals are kept; what is shown has as many as it needs, two at least.
_UNIT_PRICE = "(CASE WHEN scale(trim_scale(r.unit_price)) < 2 THEN round(r.unit_price, 2) ELSE trim_scale(r.unit_price) END)::text"

LIST_PRICES: Field = computed(
    "prices",
    "SELECT coalesce(json_agg(l), '[]') FROM (SELECT l.packaging_id, l.currency,"
    f" (SELECT coalesce(json_agg(q), '[]') FROM (SELECT r.min_quantity, {_UNIT_PRICE} AS unit_price"
    " FROM suppliers_listpricetier r WHERE r.tenant_id = l.tenant_id AND r.price_id = l.id ORDER BY r.min_quantity) q) AS tiers,"
    " l.price_base_quantity, l.valid_from, l.valid_to, false AS tax_included"
    " FROM suppliers_listprice l WHERE l.tenant_id = t.tenant_id AND l.product_id = t.id"
    " AND (l.valid_to IS NULL OR l.valid_to > (now() AT TIME ZONE 'UTC')::date)"
    " ORDER BY l.packaging_id, l.currency, l.valid_from, l.id) l",
    {
        "type": "array",
        "description": "own list prices of now and of the future",
        "items": {
            "type": "object",
            "properties": {
                "packaging_id": {"type": "string", "format": "uuid"},
                "currency": {"type": "string"},
                "tiers": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "min_quantity": {"type": "integer"},
                            "unit_price": {"type": "string", "format": "decimal"},
                        },
                    },
                },
                "price_base_quantity": {"type": "integer"},
                "valid_from": {"type": "string", "format": "date"},
                "valid_to": {"type": ["string", "null"], "format": "date"},
                "tax_included": {"type": "boolean"},
            },
        },
    },
)
