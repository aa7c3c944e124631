"""The report of prices: what is in force on a day, list prices and active price lists, a row for each tier.

Prices that are replaced are gone, so one statement reads all of them.
"""

from typing import Final

from .base import AS_OF, PRODUCT, Column, Source, amount, equals, given, number, text

_DAY: Final = (
    f"coalesce({given('on', 'date')}, ({AS_OF} AT TIME ZONE"
    " (SELECT n.time_zone FROM organizations_tenant n WHERE n.id = $1))::date)"
)


def _in_force(alias: str) -> str:
    return (
        f"({alias}.valid_from IS NULL OR {alias}.valid_from <= {_DAY})"
        f" AND ({alias}.valid_to IS NULL OR {alias}.valid_to > {_DAY})"
    )


_PRICES: Final = f"""(
SELECT '' AS code, l.product_id, l.packaging_id, l.currency, l.price_base_quantity, s.min_quantity, s.unit_price,
  l.valid_from, l.valid_to FROM suppliers_listprice l
JOIN suppliers_listpricetier s ON s.tenant_id = $1 AND s.price_id = l.id
WHERE l.tenant_id = $1 AND {_in_force("l")}
UNION ALL
SELECT g.code, n.product_id, n.packaging_id, g.currency, n.price_base_quantity, (q ->> 'min_quantity')::bigint,
  (q ->> 'unit_price')::numeric, g.valid_from, g.valid_to FROM suppliers_pricelist g
JOIN suppliers_pricelistentry n ON n.tenant_id = $1 AND n.price_list_id = g.id
CROSS JOIN LATERAL jsonb_array_elements(n.tiers) AS q
WHERE g.tenant_id = $1 AND g.status = 'active' AND {_in_force("g")}) c"""
_PLACES: Final = "(CASE WHEN scale(trim_scale({0})) < 2 THEN round({0}, 2) ELSE trim_scale({0}) END)::text"

PRICES: Final = Source(
    columns=(
        Column("product_id", "c.product_id"),
        text("supplier_sku", "x.supplier_sku"),
        text("name", "x.name"),
        text("price_list", "c.code"),
        Column("packaging_id", "c.packaging_id"),
        text("packaging", "coalesce(nullif(k.name, ''), k.level)"),
        number("units_per_pack", "k.units_per_pack"),
        Column("currency", "c.currency"),
        number("min_quantity", "c.min_quantity"),
        amount("unit_price", _PLACES.format("c.unit_price")),
        number("price_base_quantity", "c.price_base_quantity"),
        Column("valid_from", "c.valid_from::text"),
        Column("valid_to", "c.valid_to::text"),
    ),
    rows=(
        f"{_PRICES} {PRODUCT.format('c')} JOIN suppliers_packaging k ON k.tenant_id = $1 AND k.id = c.packaging_id"
        f" WHERE {equals('c.currency', 'currency')} AND {equals('c.product_id', 'product_id', 'uuid')}"
    ),
    row_order="x.supplier_sku, x.id, c.code, k.units_per_pack, k.id, c.currency, c.valid_from, c.min_quantity",
)
