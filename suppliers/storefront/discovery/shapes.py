"""The statements that read suppliers for a buyer, as the market's role: their public members alone.

Source: contract, supply-shelf.md "Supplier profile" and "Discovery", supply.md 3.6.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

from core.conditions import TENANT, Condition
from core.pipeline import Call, Rows, Statement
from suppliers.company.folding import folded_sql
from suppliers.company.representations import RATING
from suppliers.company.states import Qualification
from suppliers.marketplace.queries import ACROSS
from suppliers.marketplace.searching import numbered
from suppliers.storefront.market.shapes import Sort

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
       {_STATUS} AS qualification_status, f.created_at, f.updated_at, {words} AS words, {name_sort} AS name_sort
FROM suppliers_supplierprofile f JOIN organizations_tenant n ON n.id = f.tenant_id
WHERE n.status <> 'closed' AND 'supplier' = ANY(n.kinds) AND {which}
"""


_NAMED: Final = _suppliers("f.legal_name", "f.name_sort", "f.words", "f.legal_name <> ''")
# The tenant's name stands for one that is missing; these are few, and begin without a stored order.
_UNNAMED: Final = _suppliers(
    "n.name", 'lower(n.name) COLLATE "C"', f"({folded_sql('n.name')}) || f.words", "f.legal_name = ''"
)
_LICENSES: Final = """
SELECT coalesce(json_agg(json_build_object('type', l.type, 'number', l.number, 'authority', nullif(l.authority, ''),
       'valid_from', l.valid_from, 'valid_to', l.valid_to, 'verified', l.verified_at IS NOT NULL)
       ORDER BY l.position, l.type, l.number), '[]')
FROM suppliers_supplierlicense l WHERE l.tenant_id = g.id
"""
_INSTANT: Final = """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""
_MEMBERS: Final = f"""
SELECT g.id, g.legal_name, g.trade_name, g.country, g.registrations, g.categories, g.ships_to, g.currencies,
       g.payment_terms, g.min_order_value, ({_LICENSES}) AS licenses, g.qualification_status, ({RATING}) AS rating,
       {_INSTANT.format("g.created_at")} AS created_at, {_INSTANT.format("g.updated_at")} AS updated_at
"""


class Seen(NamedTuple):
    """A supplier as a buyer reads it, as JSON, with its place in the order."""

    supplier: bytes
    id: UUID
    key: str


def _answer(key: str) -> str:
    return f"SELECT row_to_json(r)::text AS supplier, g.id, g.{key}::text AS key FROM page g CROSS JOIN LATERAL ({_MEMBERS}) r"


_ONE: Final = Statement.of(
    f"WITH page AS ({_NAMED} AND f.tenant_id = $1 UNION ALL {_UNNAMED} AND f.tenant_id = $1) {_answer('name_sort')}",
    row=Seen,
    across=ACROSS,
)


def one_call(supplier_id: UUID) -> Call:
    """Return the statement that reads one supplier, for the market's role; see `seen_of`."""
    return Call(_ONE, [str(supplier_id)])


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
    return Call(_page(sort, tuple(where), len(parameters)), parameters)


@lru_cache(maxsize=512)
def _page(sort: Sort, where: tuple[str, ...], last: int) -> Statement:
    way = "DESC" if sort.down else "ASC"
    narrowed = "".join(f" AND {one}" for one in where)
    tail = f"ORDER BY t.{sort.column} {way}, t.id {way} LIMIT ${last}::bigint"
    # Each half in its own order: the first by an index, as far as the page goes.
    halves = " UNION ALL ".join(
        f"(SELECT t.* FROM ({one}) t WHERE t.id <> $1{narrowed} {tail})" for one in (_NAMED, _UNNAMED)
    )
    page = f"SELECT t.* FROM ({halves}) t {tail}"
    sql = f"WITH page AS ({page}) {_answer(sort.column)} ORDER BY g.{sort.column} {way}, g.id {way}"
    return Statement.composed(sql.replace(TENANT, "$1"), across=ACROSS)


def seen_of(found: Rows) -> list[Seen]:
    """Return the suppliers that `page_call` or `one_call` has read."""
    return found.of(Seen)
