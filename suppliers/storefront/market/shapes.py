"""The statement that reads a page of the market for one buyer, and the products as the buyer reads them.

A product is told by the first offer of it that the buyer sees: the smallest packaging. Source: contract, supply-shelf.md
"Catalog product".
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

import orjson

from api.shapes import Selection
from core.conditions import TENANT, Condition
from core.pipeline import Call, Rows, Statement
from suppliers.catalog.representations import ProductOut
from suppliers.catalog.states import Availability, SubstituteType
from suppliers.marketplace.queries import ACROSS, FIRST_OFFER, country_sql, limit_sql, visible_sql
from suppliers.marketplace.searching import numbered
from suppliers.marketplace.states import StockPolicy
from suppliers.quoting.sources import JOINS, Reading, columns_sql, sources_sql, tax_rate_sql
from suppliers.relationships.formulary import on_formulary_sql
from suppliers.storefront.allocation import Allocation
from suppliers.storefront.sorts import Sort

from .prices import Seller, Sources, Terms, members_of

# What every buyer may know of a product; the supplier's own matters are left out.
PUBLIC: Final = (
    "id", "supplier_sku", "name", "description", "category", "kind", "brand", "manufacturer_name",
    "manufacturer_part_number", "base_unit", "packagings", "udi", "national_codes", "classifications", "tracking",
    "expiry_required", "shelf_life_days", "min_remaining_shelf_life_days", "storage", "controlled", "hazardous",
    "prescription_only", "tax_category", "country_of_origin", "attributes", "media", "created_at", "updated_at",
)  # fmt: skip
_PLAIN = tuple(one for one in PUBLIC if one != "packagings")


def _members(*names: str) -> str:
    return ProductOut.shape.select(Selection(names)).replace(TENANT, 't."tenant_id"')


_COUNTRY = "(SELECT v.country FROM delivery v)"  # deliveries are to the buyer's country
_OFFER = f"""
SELECT o.id AS offer_id, o.packaging_id, k.units_per_pack, o.stock_policy, {limit_sql()} AS limit_quantity, o.limit_period_days,
       o.limit_until, o.lead_time_days,
       CASE WHEN o.tiers <> '[]' THEN json_build_array(o.id, o.version, o.currency, o.price_base_quantity, o.tiers) END AS priced
FROM suppliers_offer o
JOIN suppliers_packaging k ON k.tenant_id = o.tenant_id AND k.id = o.packaging_id
WHERE o.tenant_id = p.tenant_id AND o.product_id = p.id AND {visible_sql(buyer="$1", country=_COUNTRY, is_known=True)}
ORDER BY {FIRST_OFFER} LIMIT 1
"""
_BAND = f"""
CASE f.stock_policy WHEN '{StockPolicy.FIXED}' THEN '{Availability.AVAILABLE}'
  WHEN '{StockPolicy.MADE_TO_ORDER}' THEN CASE p.availability WHEN '{Availability.UNAVAILABLE}' THEN '{Availability.BACKORDER}'
    ELSE p.availability END
  ELSE p.availability END
"""
_WALK = "suppliers_product p"
# OFFSET 0 keeps the order: first the keys, then each product by its key.
_LOOK_UP = (
    " CROSS JOIN LATERAL (SELECT * FROM suppliers_product WHERE tenant_id = ids.tenant_id AND id = ids.product_id"
    " AND on_market OFFSET 0) p"
)


def _seen(source: str) -> str:
    """Write the SQL of the products of a source, with the offer by which the buyer is told of each."""
    return f"""
SELECT p.id AS product_id, p.tenant_id AS supplier_id, p.category, p.created_at, p.updated_at, p.name_sort,
       {_BAND} AS availability, coalesce(f.lead_time_days, p.lead_time_days) AS lead_days, f.*
FROM {source} CROSS JOIN LATERAL ({_OFFER}) f
WHERE p.on_market AND p.archived_at IS NULL
"""


_READING = Reading(buyer="$1", at="now()", day="NULL::date", country=_COUNTRY, dated=True)
_TAX_RATE = tax_rate_sql(category="t.tax_category", country=_COUNTRY)
_APPROVED = """
SELECT s.product_id, s.substitute_product_id FROM suppliers_approvedsubstitute s
WHERE s.tenant_id = $1 AND s.supplier_id = g.supplier_id AND s.product_id = g.product_id
"""
# The product's equivalents, and what the buyer takes in its place; each once, if the buyer sees an offer of it.
_LISTED = f"""
SELECT coalesce(json_agg(json_build_object('product_id', u.id, 'type', u.type, 'ratio', u.ratio, 'approved', u.approved)
       ORDER BY u.approved DESC, u.place, u.id), '[]')
FROM (SELECT coalesce(e.id, a.substitute_product_id) AS id, e.type, e.ratio, a.product_id IS NOT NULL AS approved, e.place
      FROM (SELECT (v.value ->> 'product_id')::uuid AS id, v.value ->> 'type' AS type, v.value ->> 'ratio' AS ratio,
                   v.ordinality AS place
            FROM jsonb_array_elements(t.substitutes) WITH ORDINALITY v) e
      FULL JOIN ({_APPROVED}) a ON a.substitute_product_id = e.id) u
WHERE (u.approved OR u.type = '{SubstituteType.EQUIVALENT}')
  AND EXISTS (
    SELECT 1 FROM suppliers_offer o
    JOIN suppliers_product p ON p.tenant_id = o.tenant_id AND p.id = o.product_id AND p.archived_at IS NULL
    JOIN suppliers_packaging k ON k.tenant_id = o.tenant_id AND k.id = o.packaging_id
    WHERE o.tenant_id = t.tenant_id AND o.product_id = u.id AND {visible_sql(buyer="$1", country=_COUNTRY, is_known=True)})
"""
_SUBSTITUTES = f"""
CASE WHEN t.substitutes = '[]' AND NOT EXISTS ({_APPROVED}) THEN '[]'::json ELSE ({_LISTED}) END
"""
_OWN_CODE = """
SELECT a.own_code FROM suppliers_itemalias a
WHERE a.tenant_id = $1 AND a.supplier_id = g.supplier_id AND a.product_id = g.product_id
"""


def _answer(page: str, key: str, shown: str = "page") -> str:
    """Write the SQL of the products of a page; `key` is the column by which they are sorted.

    `shown` are those of the page that are told: the others tell that more follow. The document of a product has all that the
    buyer reads but its allocation, its packagings and its price, which `written` puts into it. It is looked up by the time
    of its creation, too: an index of the supplier's products by it then leads to one row, as that by the id does (decision
    129).
    """
    return f"""
WITH RECURSIVE delivery AS MATERIALIZED (SELECT {country_sql("$1")} AS country), page AS MATERIALIZED ({page}),
goods AS MATERIALIZED (SELECT g.*, row_number() OVER (PARTITION BY g.supplier_id ORDER BY g.product_id) = 1 AS first
  FROM {shown} g),
{sources_sql("goods", _READING)}
SELECT row_to_json(r) AS document, k.packagings, g.packaging_id::text AS packaging_id,
       g.offer_id, g.units_per_pack, g.limit_quantity, g.limit_period_days, g.limit_until::text AS limit_until,
       g.product_id::text AS product_id, {key}::text AS key, g.supplier_id::text AS supplier_id, coalesce(g.priced, 'null') AS offer,
       s.today::text AS today, (SELECT b.currency FROM organizations_tenant b WHERE b.id = $1) AS preferred,
       (SELECT count(*) FROM page) AS found, {columns_sql(_READING)}
FROM goods g {JOINS}
JOIN suppliers_product t ON t.tenant_id = g.supplier_id AND t.created_at = g.created_at AND t.id = g.product_id
CROSS JOIN LATERAL (SELECT {_members("packagings")}) k
CROSS JOIN LATERAL (SELECT {_members(*_PLAIN)}, g.supplier_id AS supplier_id, s.name AS supplier_name, g.offer_id AS offer_id,
  g.availability AS availability, g.lead_days AS lead_time_days, {_TAX_RATE} AS tax_rate,
  ({_SUBSTITUTES}) AS substitutes, ({_OWN_CODE}) AS own_code, {on_formulary_sql(product="g", buyer="$1", codes="h.codes")} AS on_formulary) r
"""


class Seen(NamedTuple):
    """A product of the market, as JSON, with what its page goes on behind, and what its price is resolved from.

    `found` are the products of the page with the one beyond it, where there is one. `offer` is the one by which the product is told, where it has a price of its own. From `agreements` on only the first
    row of a supplier has values.
    """

    document: bytes
    packagings: bytes
    packaging_id: str
    offer_id: UUID
    units_per_pack: int
    limit_quantity: int | None
    limit_period_days: int | None
    limit_until: str | None
    product_id: str
    key: str
    supplier_id: str
    offer: bytes
    today: str
    preferred: str
    found: int
    codes: bytes
    contracts: bytes
    entries: bytes
    hidden_entries: bytes
    prices: bytes
    agreements: bytes | None
    lists: bytes | None
    rules: bytes | None
    promotions: bytes | None

    @property
    def allocation(self) -> Allocation | None:
        """What the buyer may take in a shortage; None if there is none."""
        if self.limit_quantity is None or self.limit_period_days is None or self.limit_until is None:
            return None
        return Allocation(
            self.offer_id,
            UUID(self.supplier_id),
            self.units_per_pack,
            self.limit_quantity,
            self.limit_period_days,
            self.limit_until,
        )


# An offer names the supplier: by its id alone no index finds a product.
_NAMED = (
    "(SELECT n.tenant_id, n.product_id FROM suppliers_offer n WHERE n.product_id = $2 AND n.on_market LIMIT 1) ids"
    + _LOOK_UP
)
_ONE: Final = Statement.of(_answer(f"SELECT t.* FROM ({_seen(_NAMED)}) t", "g.created_at"), row=Seen, across=ACROSS)


def one_call(buyer_id: UUID, product_id: UUID) -> Call:
    """Return the statement that reads one product of the market, for the market's role; see `seen_of`."""
    return Call(_ONE, [str(buyer_id), str(product_id)])


def page_call(
    buyer_id: UUID,
    sort: Sort,
    conditions: Sequence[Condition],
    *,
    few: Condition | None = None,
    after: tuple[str, ...] | None,
    limit: int,
) -> Call:
    """Return the statement that reads a page of products, and whether more follow, for the market's role; see `seen_of`.

    It begins at `few` products (`searching.few_products`), else walks all in their order.
    """
    parameters: list[str | bytes | None] = [str(buyer_id)]
    source = numbered(few, parameters) + _LOOK_UP if few else _WALK
    where = [numbered(one, parameters) for one in conditions]
    if after is not None:
        key, mark = len(parameters) + 1, "<" if sort.down else ">"
        where.append(f"(t.{sort.column}, t.product_id) {mark} (${key}::{sort.cast}, ${key + 1}::uuid)")
        parameters += after
    parameters.append(str(limit))
    return Call(Statement.composed(_page(sort, source, tuple(where), len(parameters)), across=ACROSS), parameters)


@lru_cache(maxsize=512)
def _page(sort: Sort, source: str, where: tuple[str, ...], last: int) -> str:
    """Write the statement. Its text is kept, not the `Statement`, which has no name the first time."""
    way = "DESC" if sort.down else "ASC"
    narrowed = f" WHERE {' AND '.join(where)}" if where else ""
    page = f"SELECT t.* FROM ({_seen(source)}) t{narrowed} ORDER BY t.{sort.column} {way}, t.product_id {way} LIMIT ${last}::bigint + 1"
    order = f"{sort.column} {way}, product_id {way}"
    shown = f"(SELECT * FROM page ORDER BY {order} LIMIT ${last}::bigint)"
    sql = f"{_answer(page, f'g.{sort.column}', shown)} ORDER BY g.{sort.column} {way}, g.product_id {way}"
    return sql.replace(TENANT, "$1")


def seen_of(found: Rows) -> list[Seen]:
    """Return the products that `page_call` or `one_call` has read."""
    return found.of(Seen)


def shared_by_supplier(seen: Sequence[Seen]) -> dict[str, Seller]:
    """Return what the products of each supplier of a page have in common, by the suppliers' ids."""
    return {
        one.supplier_id: Seller(Terms(one.agreements, one.lists, one.rules, one.promotions))
        for one in seen
        if one.agreements and one.lists and one.rules and one.promotions
    }


def written(seen: Seen, seller: Seller, left: Mapping[UUID, int]) -> bytes:
    """Write a product as the buyer reads it, as JSON; `left` are the packs of offers that are short."""
    sources = Sources(
        seen.product_id, seen.packaging_id, seen.packagings, seen.offer, seen.today, seen.preferred, seen.codes, seen.contracts,
        seen.entries, seen.prices, seller.terms,
    )  # fmt: skip
    members = members_of(sources, seller)
    allocation = orjson.dumps(seen.allocation.told(left) if seen.allocation else None)
    return b"".join(
        (seen.document[:-1], b',"allocation":', allocation, b',"packagings":', seen.packagings, b",", members[1:])
    )
