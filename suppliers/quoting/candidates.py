"""What the lines of a quote may cost: one statement reads the candidates of all lines, whatever the number of suppliers.

It is read as the market's role for a buyer, and as the app's role bound to one supplier for his own quotes and for writes;
each role has a `Statement` of its own, made of one text. Source: contract, supply-price.md 2 and supply.md 3.7.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.pipeline import Call, Rows, Statement
from suppliers.marketplace.queries import ACROSS, FIRST_OFFER, country_sql, limit_sql, seen_by_sql, visible_sql
from suppliers.pricing.adjustments import Adjustments
from suppliers.pricing.candidates import Candidate, Source
from suppliers.relationships.formulary import on_formulary_sql

from .reading import Shared, candidates_of, hidden_of, shared_of, tiers_of
from .sources import JOINS, Reading, columns_sql, sources_sql, tax_rate_sql


class Asked(NamedTuple):
    """A line that asks for a price; its product is named by id, or by the code of whoever asks."""

    product_id: UUID | None = None
    code: str | None = None
    supplier_id: UUID | None = None
    packaging_id: UUID | None = None
    offer_id: UUID | None = None


class GoodRow(NamedTuple):
    """The product of line `n`, from 1, with what it may cost; offer and packaging are null where there is none.

    `suits` tells that the offer is one that the line may mean. `hidden` is an offer that the buyer does not see, for the
    supplier alone. From `agreements` on only the first row of a supplier has values. Dates are `YYYY-MM-DD`.
    """

    n: int
    supplier_id: UUID
    product_id: UUID
    supplier_sku: str
    base_unit: str
    category: str
    tax_category: str
    tax_rate: str | None
    packaging_id: UUID | None
    units_per_pack: int | None
    offer_id: UUID | None
    suits: bool | None
    least: int | None
    most: int | None
    step: int | None
    limit_quantity: int | None
    limit_days: int | None
    offer: Any
    hidden: Any
    today: str
    time_zone: str
    on_formulary: bool | None
    own_code: str | None
    codes: Any
    contracts: Any
    entries: Any
    hidden_entries: Any
    prices: Any
    agreements: bytes | None
    lists: bytes | None
    rules: bytes | None
    promotions: bytes | None


@dataclass(frozen=True, slots=True)
class Good:
    """What a line asks for, with all that its price is resolved from; `windows` are those of the promotions, by id.

    `agreements` are the ids of those in force between the buyer and the supplier.
    """

    row: GoodRow
    candidates: Sequence[Candidate]
    adjustments: Adjustments
    windows: Mapping[str, tuple[datetime, datetime]]
    agreements: Sequence[str]


_ASKED = "unnest($5::uuid[], $6::uuid[], $7::uuid[]{more}) WITH ORDINALITY AS a(product_id, packaging_id, offer_id{names}, n)"
# Of the market: a product by its id, whose supplier an offer names, or by the buyer's own code, which two suppliers may share.
_OF_MARKET = (
    "FROM "
    + _ASKED.format(more=", $8::uuid[], $9::text[]", names=", supplier_id, code")
    + """
CROSS JOIN LATERAL (
  SELECT a.product_id AS id, coalesce(a.supplier_id, (SELECT o.tenant_id FROM suppliers_offer o
    WHERE o.product_id = a.product_id AND o.on_market LIMIT 1)) AS supplier_id WHERE a.code IS NULL
  UNION ALL SELECT i.product_id, i.supplier_id FROM suppliers_itemalias i
  WHERE i.tenant_id = $1 AND i.own_code = a.code AND (a.supplier_id IS NULL OR i.supplier_id = a.supplier_id)) w
CROSS JOIN LATERAL (SELECT * FROM suppliers_product
  WHERE tenant_id = w.supplier_id AND id = w.id AND on_market AND archived_at IS NULL OFFSET 0) p
"""
)
_OF_SUPPLIER = (
    "FROM "
    + _ASKED.format(more=", $9::text[]", names=", code")
    + """
CROSS JOIN LATERAL (
  SELECT * FROM suppliers_product p WHERE p.tenant_id = $8 AND p.id = a.product_id AND p.archived_at IS NULL
  UNION ALL SELECT * FROM suppliers_product p WHERE p.tenant_id = $8 AND p.supplier_sku = a.code AND p.archived_at IS NULL) p
"""
)
_OFFER = "json_build_array(o.id, o.version, o.currency, o.price_base_quantity, o.tiers, o.valid_from, o.valid_to)"
_COUNTRY = "(SELECT v.country FROM delivery v)"


def _quote_sql(lines: str, reading: Reading, *, visible: str, own: str, hidden: str) -> str:
    """Write the statement; `own` are the columns that the buyer alone knows, `hidden` the offer that he does not see."""
    supplier = reading.supplier or "n.supplier_id"
    return f"""
WITH RECURSIVE delivery AS MATERIALIZED (SELECT coalesce($4::text, {country_sql("$1")}) AS country),
named AS MATERIALIZED (
  SELECT a.n, a.packaging_id AS asked_packaging, a.offer_id AS asked_offer, p.tenant_id AS supplier_id, p.id AS product_id,
         p.supplier_sku, p.base_unit, p.category, p.tax_category {lines}),
goods AS MATERIALIZED (
  SELECT n.*, k.id AS packaging_id, k.units_per_pack, f.offer_id, f.suits, f.least, f.most, f.step, f.limit_quantity, f.limit_days, f.offer,
         row_number() OVER (PARTITION BY n.supplier_id ORDER BY n.n) = 1 AS first
  FROM named n
  LEFT JOIN LATERAL (
    SELECT o.id AS offer_id, o.packaging_id, (n.asked_offer IS NULL OR o.id = n.asked_offer)
             AND (n.asked_packaging IS NULL OR o.packaging_id = n.asked_packaging) AS suits,
           greatest(k.min_order_quantity, o.min_order_quantity) AS least, least(k.max_order_quantity, o.max_order_quantity) AS most,
           k.order_increment AS step, {limit_sql()} AS limit_quantity, {limit_sql("limit_period_days")} AS limit_days,
           {_OFFER} AS offer
    FROM suppliers_offer o
    JOIN suppliers_packaging k ON k.tenant_id = {supplier} AND k.id = o.packaging_id
    JOIN suppliers_product p ON p.tenant_id = {supplier} AND p.id = o.product_id
    WHERE o.tenant_id = {supplier} AND o.product_id = n.product_id AND {visible}
    ORDER BY suits DESC, {FIRST_OFFER} LIMIT 1) f ON true
  LEFT JOIN LATERAL (
    SELECT k.id, k.units_per_pack FROM suppliers_packaging k
    WHERE k.tenant_id = {supplier} AND k.product_id = n.product_id AND k.state = 'current'
      AND (n.asked_packaging IS NULL AND f.offer_id IS NULL OR k.id = coalesce(n.asked_packaging, f.packaging_id))
    ORDER BY k.position, k.id LIMIT 1) k ON true),
{sources_sql("goods", reading)}
SELECT g.n, g.supplier_id, g.product_id, g.supplier_sku, g.base_unit, g.category, g.tax_category,
       {tax_rate_sql(category="g.tax_category", country=_COUNTRY)} AS tax_rate,
       g.packaging_id, g.units_per_pack, g.offer_id, g.suits, g.least, g.most, g.step, g.limit_quantity, g.limit_days, coalesce(g.offer, 'null') AS offer, {hidden},
       s.today::text, s.time_zone, {own}, {columns_sql(reading)}
FROM goods g {JOINS} ORDER BY g.n
"""


_MARKET: Final = Statement.of(
    _quote_sql(
        _OF_MARKET,
        Reading(buyer="$1", at="$2::timestamptz", day="$3::date", country=_COUNTRY),
        visible=visible_sql(buyer="$1", country=_COUNTRY, is_known=True),
        own=f"{on_formulary_sql(product='g', buyer='$1', codes='h.codes')} AS on_formulary, (SELECT a.own_code FROM suppliers_itemalias a"
        " WHERE a.tenant_id = $1 AND a.supplier_id = g.supplier_id AND a.product_id = g.product_id) AS own_code",
        hidden="'null'::json AS hidden",
    ),
    row=GoodRow,
    across=ACROSS,
)
_BOUND: Final = Statement.of(
    _quote_sql(
        _OF_SUPPLIER,
        Reading(
            buyer="$1", at="$2::timestamptz", day="$3::date", country=_COUNTRY, supplier="$8", whole="$10::boolean"
        ),
        visible=seen_by_sql(supplier="$8", buyer="$1", at="$2::timestamptz", country=_COUNTRY),
        own="NULL::boolean AS on_formulary, NULL::text AS own_code",
        hidden=f"coalesce((SELECT {_OFFER} FROM suppliers_offer o WHERE $10::boolean AND o.tenant_id = $8 AND o.product_id = g.product_id"
        " AND o.packaging_id = g.packaging_id AND (o.on_market OR o.id = g.asked_offer) AND g.offer_id IS DISTINCT FROM o.id ORDER BY o.on_market DESC, o.id LIMIT 1), 'null') AS hidden",
    ),
    row=GoodRow,
)


def market_call(
    buyer_id: UUID, lines: Sequence[Asked], at: datetime, *, day: date | None = None, country: str | None = None
) -> Call:
    """Return the statement that reads what lines may cost for a buyer, of any suppliers, for the market's role.

    `code` of a line is the buyer's own. `day` is another day than today at the supplier, `country` that of delivery, by
    default the one of the buyer's organization. See `goods_of`.
    """
    further = [array_literal(one.supplier_id for one in lines), array_literal(one.code for one in lines)]
    return Call(_MARKET, [*_shared(buyer_id, lines, at, day, country), *further])


def supplier_call(
    supplier_id: UUID,
    buyer_id: UUID,
    lines: Sequence[Asked],
    at: datetime,
    *,
    day: date | None = None,
    country: str | None = None,
    whole: bool = False,
) -> Call:
    """Return the statement that reads what lines may cost for a buyer, of one supplier, for a transaction bound to it.

    `code` of a line is the supplier's SKU. With `whole` it also reads what the supplier has for other buyers: lists, rules,
    promotions and offers, each with the reason that it is not for this one. See `market_call`.
    """
    further = [str(supplier_id), array_literal(one.code for one in lines), "t" if whole else "f"]
    return Call(_BOUND, [*_shared(buyer_id, lines, at, day, country), *further])


def _shared(
    buyer_id: UUID, lines: Sequence[Asked], at: datetime, day: date | None, country: str | None
) -> list[str | bytes | None]:
    return [
        str(buyer_id),
        at.isoformat(),
        day.isoformat() if day else None,
        country,
        array_literal(one.product_id for one in lines),
        array_literal(one.packaging_id for one in lines),
        array_literal(one.offer_id for one in lines),
    ]


def goods_of(found: Rows) -> list[Good]:
    """Return what `market_call` or `supplier_call` has read, in the order of the lines.

    A line whose product is unknown has none; one whose own code is that of several suppliers' products has several.
    """
    rows = found.of(GoodRow)
    shared = {
        one.supplier_id: shared_of(one.agreements, one.lists, one.rules, one.promotions)
        for one in rows
        if one.agreements and one.lists and one.rules and one.promotions
    }
    return [_good(row, shared[row.supplier_id]) for row in rows]


def _good(row: GoodRow, shared: Shared) -> Good:
    candidates = candidates_of(row.contracts, row.entries, row.prices, shared)
    candidates += hidden_of(row.hidden_entries)
    if row.offer is not None and row.suits and row.offer[4]:
        candidates.append(_offer(row.offer))
    if row.hidden is not None and row.hidden[4]:
        candidates.append(_offer(row.hidden)._replace(refusal="not_visible"))
    terms = shared.terms
    return Good(row, candidates, terms.of(row.product_id, row.codes), terms.windows, shared.agreement_ids)


def _offer(given: Any) -> Candidate:
    key, version, currency, base_quantity, tiers, begin, end = given
    return Candidate(Source.OFFER, key, version, currency, base_quantity, tiers_of(tiers), begin or "", end or "")
