"""The SQL that reads what prices are resolved from, for goods of many suppliers at once, or of one that is bound.

What belongs to a supplier (lists, agreements, rules, promotions) is found once for all its goods, by the audiences of the
buyer. Source: contract, supply-price.md 2 and supply.md 3.7.
"""

from typing import Final, NamedTuple

from suppliers.marketplace.states import EVERYBODY
from suppliers.terms.states import Scope

_HIDDEN_LISTS = 50  # of a packaging, that are told to the supplier as not assigned


class Reading(NamedTuple):
    """Who reads, and for whom: SQL of the buyer, the instant, the day (null: today) and the country of delivery.

    `supplier` is the parameter of the one supplier that is bound; "" reads all as the market's role. `whole` is a condition
    for also reading what is not for the buyer. `dated` leaves out what does not hold on the day.
    """

    buyer: str
    at: str
    day: str
    country: str
    supplier: str = ""
    whole: str = ""
    dated: bool = False

    def of(self, row: str) -> str:
        """Write the supplier of a row that has a `supplier_id`."""
        return self.supplier or f"{row}.supplier_id"


def sources_sql(goods: str, reading: Reading) -> str:
    """Write the CTEs `paths` and `sellers` of the goods, for a WITH RECURSIVE; see `JOINS`.

    `goods` names a CTE with `supplier_id`, `product_id`, `packaging_id` and `category`.
    """
    return (
        f"walk AS ({_walk(goods, reading)}), paths AS MATERIALIZED ({_PATHS}),"
        f" sellers AS MATERIALIZED ({_sellers(goods, reading)})"
    )


# The supplier `s` of a row `g` of the goods, and its category `h` with those above it, the next one first.
JOINS: Final = (
    "JOIN sellers s ON s.supplier_id = g.supplier_id"
    " LEFT JOIN paths h ON h.supplier_id = g.supplier_id AND h.category = g.category"
)


def columns_sql(reading: Reading) -> str:
    """Write the columns of one row of the goods, which `JOINS` has joined; `codes` are the categories that it is in.

    `first` of a row tells that it is the first of its supplier: it alone carries what the supplier's other rows share.
    """
    shared = ", ".join(f"CASE WHEN g.first THEN s.{one} END AS {one}" for one in _SHARED)
    return (
        f"coalesce(array_to_json(h.codes), '[]') AS codes, ({_contract_lines(reading)}) AS contracts,"
        f" ({_entries(reading)}) AS entries, ({_hidden_entries(reading)}) AS hidden_entries, ({_list_prices(reading)}) AS prices, {shared}"
    )


def tax_rate_sql(*, category: str, country: str) -> str:
    """Write the newest rate of a seller `s` in percent that has begun, of a tax category and a country; null where there is none.

    Both are given as SQL. Source: contract, supply-price.md 4.
    """
    return (
        "(SELECT x.value ->> 'rate' FROM jsonb_array_elements(s.tax_rates) x"
        f" WHERE x.value ->> 'tax_category' = {category} AND x.value ->> 'country' = {country}"
        " AND (x.value ->> 'valid_from')::date <= s.today ORDER BY (x.value ->> 'valid_from')::date DESC LIMIT 1)"
    )


# What is read once for all goods of a supplier: its lists and agreements with the buyer, and its rules and promotions.
_SHARED = ("agreements", "lists", "rules", "promotions")


def _sellers(goods: str, reading: Reading) -> str:
    """Write the suppliers of the goods, with what is shared: the day and the moment of it at which promotions are judged, too."""
    mine = f"m.tenant_id = {reading.of('b')} AND m.member_tenant_id = {reading.buyer}"
    return f"""
SELECT s.*, l.*, d.*, ({_rules(reading)}) AS rules, ({_promotions(reading)}) AS promotions
FROM (
  SELECT b.supplier_id, n.name, n.time_zone, b.products, d.today,
         (SELECT f.tax_rates FROM suppliers_supplierprofile f WHERE f.tenant_id = {reading.of("b")}) AS tax_rates,
         coalesce(h.codes, '{{}}') AS codes,
         CASE WHEN d.today = d.now THEN {reading.at} ELSE d.today::timestamp AT TIME ZONE n.time_zone END AS moment,
         ARRAY(SELECT '{EVERYBODY}'::uuid UNION ALL SELECT m.audience_id FROM suppliers_audiencemember m WHERE {mine}) AS audiences
  FROM (SELECT g.supplier_id, array_agg(g.product_id::text) AS products FROM {goods} g GROUP BY g.supplier_id) b
  JOIN organizations_tenant n ON n.id = b.supplier_id
  LEFT JOIN (SELECT w.supplier_id, array_agg(DISTINCT w.code) AS codes FROM walk w GROUP BY w.supplier_id) h
    ON h.supplier_id = b.supplier_id
  CROSS JOIN LATERAL (SELECT ({reading.at} AT TIME ZONE n.time_zone)::date AS now) t
  CROSS JOIN LATERAL (SELECT coalesce({reading.day}, t.now) AS today, t.now) d OFFSET 0) s
CROSS JOIN LATERAL ({_lists(reading)}) l
CROSS JOIN LATERAL ({_agreements(reading)}) d
"""


def _walk(goods: str, reading: Reading) -> str:
    """Write the categories of the goods with those above each, step by step; own ones are the supplier's."""
    own = f"SELECT f.code, f.parent_id FROM suppliers_category f WHERE f.tenant_id = {reading.of('c')}"
    known = "SELECT f.code, f.parent_id FROM suppliers_platformcategory f"
    return f"""
SELECT c.supplier_id, c.category, n.code::text AS code, n.parent_id, 1 AS step
FROM (SELECT DISTINCT g.supplier_id, g.category::text AS category FROM {goods} g) c
CROSS JOIN LATERAL ({known} WHERE f.code = c.category UNION ALL {own} AND f.code = c.category) n
UNION ALL
SELECT c.supplier_id, c.category, n.code::text, n.parent_id, c.step + 1 FROM walk c
CROSS JOIN LATERAL ({known} WHERE f.id = c.parent_id UNION ALL {own} AND f.id = c.parent_id) n
WHERE c.step < 16
"""


_PATHS = "SELECT w.supplier_id, w.category, array_agg(w.code ORDER BY w.step) AS codes FROM walk w GROUP BY w.supplier_id, w.category"


_PLACES = {Scope.TENANTS: 0, Scope.ORGANIZATIONS: 1, Scope.GROUPS: 2, Scope.PUBLIC: 3}
_PLACE = "CASE l.scope " + " ".join(f"WHEN '{one.value}' THEN {place}" for one, place in _PLACES.items()) + " END"
_LIST = f"l.id, l.version, l.name, l.currency, l.priority, l.valid_from, l.valid_to, {_PLACE}"


def _lists(reading: Reading) -> str:
    return f"""
SELECT array_agg(l.id) AS list_ids, coalesce(json_agg(json_build_array({_LIST})), '[]') AS lists
FROM suppliers_pricelist l
WHERE l.tenant_id = {reading.of("s")} AND l.on_market AND l.audience_id = ANY(s.audiences) AND {_holds("l", reading)}
"""


def _agreements(reading: Reading) -> str:
    return f"""
SELECT array_agg(d.id) AS agreement_ids, coalesce(json_agg(json_build_array(
  d.id, d.agreement_id, d.revision, d.number, d.currency, d.priority, d.valid_from, d.valid_to, a.distance)), '[]') AS agreements
FROM (SELECT agreement_id, distance FROM suppliers_agreementaudience
  WHERE tenant_id = {reading.of("s")} AND member_tenant_id = {reading.buyer} OFFSET 0) a
CROSS JOIN LATERAL (SELECT id, agreement_id, revision, number, currency, priority, valid_from, valid_to
  FROM suppliers_receivedagreement WHERE tenant_id = {reading.of("s")} AND id = a.agreement_id AND in_force OFFSET 0) d
WHERE {_holds("d", reading)}
"""


def _holds(row: str, reading: Reading) -> str:
    if not reading.dated:
        return "true"
    return f"({row}.valid_from IS NULL OR {row}.valid_from <= s.today) AND ({row}.valid_to IS NULL OR {row}.valid_to > s.today)"


def _contract_lines(reading: Reading) -> str:
    """Write the lines of agreements for a product, and for its category and those above, which are one step further each.

    OFFSET 0 keeps the order: each agreement in turn, by its index. An agreement may have very many lines; codes are looked
    up one by one, since PostgreSQL estimates one line for an agreement and would rather read it whole than look up a list.
    """
    of = f"FROM suppliers_receivedagreementline WHERE tenant_id = {reading.of('g')} AND document_id = a.id"
    members = "document_id, line_no, price_base_quantity, tiers, max_quantity - consumed AS remaining, packaging_id"
    return f"""
SELECT coalesce(json_agg(json_build_array(l.document_id, l.subject, l.line_no, l.price_base_quantity, l.tiers, l.remaining)), '[]')
FROM unnest(s.agreement_ids) AS a(id) CROSS JOIN LATERAL (
  SELECT * FROM (SELECT {members}, 0 AS subject {of} AND product_id = g.product_id OFFSET 0) p
  WHERE p.packaging_id IS NULL OR p.packaging_id = g.packaging_id
  UNION ALL SELECT c.* FROM (SELECT unnest(h.codes) AS code) k
  CROSS JOIN LATERAL (SELECT {members}, array_position(h.codes, k.code) AS subject {of} AND category = k.code OFFSET 0) c) l
"""


def _entries(reading: Reading) -> str:
    """Write the entries of the lists for the buyer, found from the lists: others may have many lists of the packaging."""
    return f"""
SELECT coalesce(json_agg(json_build_array(e.price_list_id, e.price_base_quantity, e.tiers)), '[]') FROM suppliers_pricelistentry e
WHERE e.tenant_id = {reading.of("g")} AND e.packaging_id = g.packaging_id AND e.price_list_id = ANY(s.list_ids)
"""


def _hidden_entries(reading: Reading) -> str:
    """Write the entries of lists for others, each with its list."""
    if not reading.whole:
        return "'[]'::json"
    return f"""
SELECT coalesce(json_agg(v.entry), '[]') FROM (
  SELECT json_build_array({_LIST}, e.price_base_quantity, e.tiers) AS entry FROM suppliers_pricelistentry e
  JOIN suppliers_pricelist l ON l.tenant_id = {reading.of("g")} AND l.id = e.price_list_id AND l.on_market
  WHERE e.tenant_id = {reading.of("g")} AND e.packaging_id = g.packaging_id AND {reading.whole} AND l.audience_id <> ALL(s.audiences)
  ORDER BY e.price_list_id LIMIT {_HIDDEN_LISTS}) v
"""


def _list_prices(reading: Reading) -> str:
    tiers = (
        "SELECT coalesce(json_agg(json_build_array(t.min_quantity, t.unit_price::text) ORDER BY t.min_quantity), '[]')"
        f" FROM suppliers_listpricetier t WHERE t.tenant_id = {reading.of('g')} AND t.price_id = l.id"
    )
    return f"""
SELECT coalesce(json_agg(json_build_array(l.id, l.version, l.currency, l.valid_from, l.valid_to, l.price_base_quantity, ({tiers}))), '[]')
FROM suppliers_listprice l
WHERE l.tenant_id = {reading.of("g")} AND l.product_id = g.product_id AND l.packaging_id = g.packaging_id AND {_holds("l", reading)}
"""


def _unnamed(condition: str) -> str:
    """Write the condition that a row `r` names none of a kind, and so is for all."""
    return f"(r.conditions -> '{condition}' <> '[]') IS NOT TRUE"


# Of the products that a row `r` names, those of the goods; null: all.
_PRODUCTS = (
    f"CASE WHEN {_unnamed('product_ids')} THEN NULL ELSE ARRAY("
    "SELECT v.id FROM jsonb_array_elements_text(r.conditions -> 'product_ids') AS v(id) WHERE v.id = ANY(s.products)) END"
)
# What rules and promotions have in common, of a row `r`.
_TERMS = (
    "r.id, r.code, r.version, r.name, r.priority, r.action_type, r.action_value::text, r.floor_price::text,"
    " r.conditions -> 'currencies', r.conditions -> 'min_quantity', r.conditions ->> 'min_amount', r.applies_to_offers,"
    " r.audience_id = ANY(s.audiences), " + _PRODUCTS + ", r.conditions -> 'categories'"
)


def _matching(reading: Reading) -> str:
    """Write the conditions that a row `r` is in force for the buyer, for the goods and for the country."""
    mine = "r.audience_id = ANY(s.audiences)"
    return f"""
WHERE r.tenant_id = {reading.of("s")} AND r.on_market AND {f"({mine} OR {reading.whole})" if reading.whole else mine}
  AND ({_unnamed("product_ids")} OR r.conditions -> 'product_ids' ?| s.products)
  AND ({_unnamed("categories")} OR r.conditions -> 'categories' ?| s.codes)
  AND ({_unnamed("countries")} OR r.conditions -> 'countries' ? {reading.country})
"""


def _rules(reading: Reading) -> str:
    return f"""
SELECT coalesce(json_agg(json_build_array({_TERMS}, r.valid_from, r.valid_to, r.exclusive)), '[]')
FROM suppliers_pricingrule r {_matching(reading)} AND {_holds("r", reading)}
"""


# $ is the moment at the supplier. Source: contract, supply-price.md 1 "Promotion".
_STATE = (
    "CASE WHEN r.starts_at > s.moment THEN 'scheduled' WHEN r.ends_at <= s.moment THEN 'ended'"
    " WHEN r.exhausted THEN 'exhausted' ELSE 'running' END"
)


def _promotions(reading: Reading) -> str:
    own = (
        f"(SELECT b.redemptions FROM suppliers_promotionbuyer b WHERE b.tenant_id = {reading.of('s')}"
        f" AND b.promotion_id = r.id AND b.buyer_tenant_id = {reading.buyer})"
    )
    mine = f"CASE WHEN r.max_per_buyer IS NOT NULL THEN r.max_per_buyer - coalesce({own}, 0) END"
    left = f"least(r.max_redemptions - r.redemptions, {mine})"
    dated = " AND r.starts_at <= s.moment AND r.ends_at > s.moment AND NOT r.exhausted" if reading.dated else ""
    window = "NULL, NULL" if reading.dated else "r.starts_at, r.ends_at"  # for until when a price holds
    return f"""
SELECT coalesce(json_agg(json_build_array({_TERMS}, {_STATE}, r.combinable, r.applies_to_contracts,
       (r.budget_amount - r.spent)::text, r.budget_currency, {left}, {window})), '[]')
FROM suppliers_promotion r {_matching(reading)}{dated}
"""
