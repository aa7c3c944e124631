"""The statements that read suppliers for a buyer, as the market's role: their public members alone.

Those that the buyer manages stand beside them; they are rows of its own, as is its relationship to each supplier.
Source: contract, supply-shelf.md "Supplier profile" and "Discovery", supply.md 3.6.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson

from api.shapes import Selection
from core.conditions import TENANT, Condition
from core.pipeline import Call, Rows, Statement
from core.text_folding import folded_sql
from suppliers.company.representations import rating_sql
from suppliers.company.states import Qualification
from suppliers.marketplace.queries import ACROSS
from suppliers.marketplace.searching import numbered
from suppliers.relationships.representations import RelationshipOut
from suppliers.relationships.states import MANAGED, RelationshipStatus
from suppliers.storefront.sorts import Sort

# A supplier whose tenant is suspended or leaves takes no new orders, as one whose qualification is suspended.
_STATUS: Final = (
    f"CASE WHEN n.status <> 'active' AND f.qualification_status = '{Qualification.QUALIFIED}'"
    f" THEN '{Qualification.SUSPENDED}' ELSE f.qualification_status END"
)


def _suppliers(name: str, name_sort: str, words: str, which: str) -> str:
    """Write the SQL of the suppliers with or without a legal name."""
    return f"""
SELECT f.tenant_id AS id, {name} AS legal_name, nullif(f.trade_name, '') AS trade_name, nullif(f.country, '') AS country,
       f.registrations, f.categories, f.ships_to, f.currencies, f.payment_terms, f.min_order_value,
       NULL::jsonb AS contacts, NULL::jsonb AS tax_rates, {_STATUS} AS qualification_status, f.created_at, f.updated_at,
       {words} AS words, {name_sort} AS name_sort, NULL::uuid AS merged_into, f.on_time_rate, f.fill_rate, f.quality_rate,
       f.orders_counted
FROM suppliers_supplierprofile f JOIN organizations_tenant n ON n.id = f.tenant_id
WHERE n.status <> 'closed' AND 'supplier' = ANY(n.kinds) AND {which}
"""


_NAMED: Final = _suppliers("f.legal_name", "f.name_sort", "f.words", "f.legal_name <> ''")
# The tenant's name stands for one that is missing; these are few, and begin without a stored order.
_UNNAMED: Final = _suppliers(
    "n.name", 'lower(n.name) COLLATE "C"', f"({folded_sql('n.name')}) || f.words", "f.legal_name = ''"
)
_WORDS_OF_MANAGED: Final = folded_sql(
    "f.legal_name || ' ' || jsonb_path_query_array(f.registrations, '$[*].value')::text"
)
_EVERY_MANAGED: Final = f"""
SELECT f.supplier_id AS id, f.legal_name, NULL AS trade_name, f.country, f.registrations, '[]'::jsonb AS categories,
       '[]'::jsonb AS ships_to, f.currencies, f.payment_terms, NULL::jsonb AS min_order_value, f.contacts, f.tax_rates,
       '{MANAGED}' AS qualification_status, f.created_at, f.updated_at, {_WORDS_OF_MANAGED} AS words,
       lower(f.legal_name) COLLATE "C" AS name_sort, n.merged_into_id AS merged_into,
       NULL::numeric AS on_time_rate, NULL::numeric AS fill_rate, NULL::numeric AS quality_rate, 0 AS orders_counted
FROM suppliers_managedsupplier f JOIN organizations_tenant n ON n.id = f.supplier_id
WHERE f.tenant_id = $1
"""
_MANAGED: Final = f"{_EVERY_MANAGED} AND n.status <> 'closed'"
# One that was merged is in no list, but its buyer still reads where its documents are.
_KNOWN: Final = f"{_EVERY_MANAGED} AND (n.status <> 'closed' OR n.merged_into_id IS NOT NULL)"
_LICENSES: Final = """
SELECT coalesce(json_agg(json_build_object('type', l.type, 'number', l.number, 'authority', nullif(l.authority, ''),
       'valid_from', l.valid_from, 'valid_to', l.valid_to, 'verified', l.verified_at IS NOT NULL)
       ORDER BY l.position, l.type, l.number), '[]')
FROM suppliers_supplierlicense l WHERE l.tenant_id = g.id
"""
# As long as nothing is stored; the first version that is follows this one.
_NONE_YET: Final[dict[str, Any]] = {
    "status": RelationshipStatus.ACTIVE.value, "blocks": [], "customer_number": None, "payment_terms": None,
    "spend_limit": None, "approved_categories": [], "blocked_products": [], "approved_substitutes": [], "item_aliases": [],
    "created_at": None, "updated_at": None, "version": 1,
}  # fmt: skip
_OF_BUYER: Final = "FROM suppliers_relationship t{more} WHERE t.tenant_id = $1 AND t.supplier_id = g.id"
_IN_LIST: Final = (
    "SELECT coalesce((SELECT json_build_object('status', t.status, 'blocks', t.blocks, 'customer_number',"
    f" nullif(t.customer_number, ''), 'version', t.version) {_OF_BUYER.format(more='')}),"
    """ '{"status": "active", "blocks": [], "customer_number": null, "version": 1}')"""
)
_WHOLE: Final = RelationshipOut.shape.select(Selection()).replace(TENANT, "$1")
_NOTHING: Final = orjson.dumps(_NONE_YET).decode()
_IN_FULL: Final = (
    "SELECT coalesce((SELECT row_to_json(w) "
    f"{_OF_BUYER.format(more=f' CROSS JOIN LATERAL (SELECT {_WHOLE}) w')}),"
    f" (jsonb_build_object('supplier_id', g.id) || '{_NOTHING}')::json)"
)
_INSTANT: Final = """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""


def _members(relationship: str, more: str) -> str:
    return f"""
SELECT g.id, g.legal_name, g.trade_name, g.country, g.registrations, g.categories, g.ships_to, g.currencies,
       g.payment_terms, g.min_order_value, g.contacts, g.tax_rates, ({_LICENSES}) AS licenses, g.qualification_status,
       {rating_sql("g")} AS rating, ({relationship}) AS relationship,{more}
       {_INSTANT.format("g.created_at")} AS created_at, {_INSTANT.format("g.updated_at")} AS updated_at
"""


class Seen(NamedTuple):
    """A supplier as a buyer reads it, as JSON, with its place in the order."""

    supplier: bytes
    id: UUID
    key: str


def _answer(key: str, relationship: str, more: str = "") -> str:
    return (
        f"SELECT row_to_json(r)::text AS supplier, g.id, g.{key}::text AS key FROM page g"
        f" CROSS JOIN LATERAL ({_members(relationship, more)}) r"
    )


def _one(sources: str) -> str:
    return f"WITH page AS (SELECT t.* FROM ({sources}) t) {_answer('name_sort', _IN_FULL, ' g.merged_into,')}"


_ONE: Final = Statement.of(
    _one(
        f"{_NAMED} AND f.tenant_id = $2 UNION ALL {_UNNAMED} AND f.tenant_id = $2 UNION ALL {_KNOWN} AND f.supplier_id = $2"
    ),
    row=Seen,
    across=ACROSS,
)
# The same of a managed supplier, for a transaction that writes, as the buyer's own role.
_OWN: Final = Statement.of(_one(f"{_MANAGED} AND f.supplier_id = $2"), row=Seen, across=ACROSS)


def one_call(buyer_id: UUID, supplier_id: UUID) -> Call:
    """Return the statement that reads one supplier, for the market's role; see `seen_of`."""
    return Call(_ONE, [str(buyer_id), str(supplier_id)])


def own_call(buyer_id: UUID, supplier_id: UUID) -> Call:
    """Return the statement that reads one supplier that the buyer manages, for a transaction bound to the buyer."""
    return Call(_OWN, [str(buyer_id), str(supplier_id)])


def page_call(
    buyer_id: UUID, sort: Sort, conditions: Sequence[Condition], *, after: tuple[str, ...] | None, limit: int
) -> Call:
    """Return the statement that reads a page of suppliers, and one beyond it, for the market's role; see `seen_of`.

    The buyer itself is not among them, even if it sells, too.
    """
    parameters: list[str | bytes | None] = [str(buyer_id)]
    where = [numbered(one, parameters) for one in conditions]
    if after is not None:
        key, mark = len(parameters) + 1, "<" if sort.down else ">"
        where.append(f"(t.{sort.column}, t.id) {mark} (${key}::{sort.cast}, ${key + 1}::uuid)")
        parameters += after
    parameters.append(str(limit + 1))
    return Call(Statement.composed(_page(sort, tuple(where), len(parameters)), across=ACROSS), parameters)


@lru_cache(maxsize=512)
def _page(sort: Sort, where: tuple[str, ...], last: int) -> str:
    """Write the statement. Its text is kept, not the `Statement`, which has no name the first time."""
    way = "DESC" if sort.down else "ASC"
    narrowed = "".join(f" AND {one}" for one in where)
    tail = f"ORDER BY t.{sort.column} {way}, t.id {way} LIMIT ${last}::bigint"
    # Each part in its own order: the first by an index, as far as the page goes; the others are few, and read whole (OFFSET 0).
    parts = " UNION ALL ".join(
        f"(SELECT t.* FROM ({one}) t WHERE t.id <> $1{narrowed} {tail})"
        for one in (_NAMED, f"{_UNNAMED} OFFSET 0", f"{_MANAGED} OFFSET 0")
    )
    page = f"SELECT t.* FROM ({parts}) t {tail}"
    sql = f"WITH page AS ({page}) {_answer(sort.column, _IN_LIST)} ORDER BY g.{sort.column} {way}, g.id {way}"
    return sql.replace(TENANT, "$1")


def seen_of(found: Rows) -> list[Seen]:
    """Return the suppliers that `page_call` or `one_call` has read."""
    return found.of(Seen)
