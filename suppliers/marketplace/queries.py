"""Reads of the marketplace: which offers a buyer may see. Source: contract, supply.md 3.7.

What belongs to many suppliers is read as the market's role. This module alone takes it on, as the last thing of a
transaction that writes nothing; the buyer stays bound.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.db import MARKET, take_on_call
from core.pipeline import Call, Rows, Statement
from suppliers.company.qualification import is_qualified
from suppliers.company.standing import sells_sql
from suppliers.company.today import today_sql

from .states import EVERYBODY

ACROSS: Final = "what many suppliers offer, as the market's role"
# The country of a tenant's organization; empty where it is not known, and then an offer's countries exclude nobody.
_COUNTRY = (
    "(SELECT coalesce(g.address ->> 'country', '') FROM organizations_tenant y"
    " JOIN organizations_organization g ON g.id = y.organization_id WHERE y.id = {buyer})"
)
# Of an offer `o`, its product `p` and its packaging `k`: today in the supplier's zone is {today}, the buyer is {buyer}, the
# supplier {supplier}.
_VISIBLE = (
    "o.on_market AND p.on_market AND k.state = 'current' AND k.orderable"
    f" AND {is_qualified('{supplier}')}"
    " AND (o.valid_from IS NULL OR o.valid_from <= {today}) AND (o.valid_to IS NULL OR o.valid_to > {today})"
    f" AND (o.audience_id = '{EVERYBODY}' OR EXISTS (SELECT 1 FROM suppliers_audiencemember m"
    " WHERE m.tenant_id = {supplier} AND m.audience_id = o.audience_id AND m.member_tenant_id = {buyer}))"
    " AND NOT EXISTS (SELECT 1 FROM suppliers_offerexclusion x"
    " WHERE x.tenant_id = {supplier} AND x.offer_id = o.id AND x.member_tenant_id = {buyer})"
    " AND (o.countries = '[]' OR {country} = '' OR o.countries @> to_jsonb({country}))"
)


class SeenOffer(NamedTuple):
    """An offer that a buyer may see; `days` is the shelf life that the supplier promises to be left.

    `least`, `most` and `step` are the packs that can be ordered, by packaging and offer.
    """

    id: UUID
    product_id: UUID
    packaging_id: UUID
    units_per_pack: int
    days: int
    stock_display: str
    cap: int | None
    stock_policy: str
    fixed_quantity: int | None
    least: int
    most: int | None
    step: int


class Held(NamedTuple):
    """What active reservations hold of a product."""

    product_id: UUID
    base_quantity: int


class Shop(NamedTuple):
    """A supplier as the shop window needs it; one that a buyer manages has no shelf, and is none."""

    status: str
    is_supplier: bool
    is_qualified: bool


# Which offer of a product goes first: that of the smallest packaging `k`.
FIRST_OFFER: Final = "k.position, k.id, o.id"
_TODAY = today_sql("$1", "$4::timestamptz")
_OFFERS = Statement.of(
    "SELECT o.id, o.product_id, o.packaging_id, k.units_per_pack,"
    " coalesce(o.min_remaining_shelf_life_days, p.min_remaining_shelf_life_days, 0) AS days, o.stock_display, o.cap,"
    " o.stock_policy, o.fixed_quantity, greatest(k.min_order_quantity, o.min_order_quantity) AS least,"
    " least(k.max_order_quantity, o.max_order_quantity) AS most, k.order_increment AS step"
    " FROM suppliers_offer o"
    " JOIN suppliers_product p ON p.tenant_id = o.tenant_id AND p.id = o.product_id AND p.tenant_id = $1"
    " JOIN suppliers_packaging k ON k.tenant_id = o.tenant_id AND k.id = o.packaging_id AND k.tenant_id = $1"
    " WHERE o.tenant_id = $1 AND o.product_id = ANY($2::uuid[])"
    f" AND {_VISIBLE.format(supplier='$1', buyer='$3', today=_TODAY, country=_COUNTRY.format(buyer='$3'))} ORDER BY {FIRST_OFFER}",
    row=SeenOffer,
)
_HOLD = Statement.of(
    "SELECT p.id::text FROM suppliers_product p WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[]) ORDER BY p.id FOR NO KEY UPDATE"
)
_HELD = Statement.of(
    "SELECT r.product_id, sum(r.base_quantity)::bigint AS base_quantity FROM suppliers_reservation r"
    " WHERE r.tenant_id = $1 AND r.product_id = ANY($2::uuid[])"
    " AND r.status = 'active' AND (r.kind = 'hard' OR r.expires_at > $3) GROUP BY r.tenant_id, r.product_id",
    row=Held,
)
_SHOP = Statement.of(
    f"SELECT n.status, 'supplier' = ANY(n.kinds) AND n.managed_by_id IS NULL AS is_supplier, {is_qualified('$1')} AS is_qualified"
    " FROM organizations_tenant n WHERE n.id = $1",
    row=Shop,
)


def seen_by_sql(*, supplier: str, buyer: str, at: str, country: str = "NULL") -> str:
    """Write the condition that a buyer may see an offer `o` of a packaging `k` of a product `p` of one supplier, bound to it.

    `at` is SQL for the instant, `country` for the country of delivery; null stands for that of the buyer's organization.
    """
    where = f"coalesce({country}::text, {_COUNTRY.format(buyer=buyer)})"
    return _VISIBLE.format(supplier=supplier, buyer=buyer, today=today_sql(supplier, at), country=where)


def visible_sql(*, buyer: str, country: str = "NULL", is_known: bool = False) -> str:
    """Write the condition that a buyer may see an offer `o` of a packaging `k` of a product `p` of any supplier, as the market's role.

    `country` is SQL for the country of delivery; null stands for that of the buyer's organization. With `is_known` it is never
    null for that: whoever wrote it has looked there.
    """
    where = country if is_known else f"coalesce({country}::text, {_COUNTRY.format(buyer=buyer)})"
    seen = _VISIBLE.format(supplier="o.tenant_id", buyer=buyer, today=today_sql("o.tenant_id"), country=where)
    return f"{seen} AND {sells_sql('o.tenant_id')}"


def country_sql(buyer: str) -> str:
    """Write the country of a buyer's organization; empty where it is not known."""
    return _COUNTRY.format(buyer=buyer)


def limit_sql(column: str = "limit_quantity") -> str:
    """Write what one buyer may take of an offer `o` in a shortage, or another column of its limit; null where none holds today."""
    today = today_sql("o.tenant_id")
    return f"CASE WHEN o.limit_quantity IS NOT NULL AND o.limit_until >= {today} THEN o.{column} END"


def as_market(calls: Sequence[Call]) -> list[Call]:
    """Return the statements behind the one that takes on the market's role; each has a `Statement` that no other role uses."""
    return [take_on_call(MARKET), *calls]


def shop_call(supplier_id: UUID) -> Call:
    """Return the statement that reads a supplier, for a transaction bound to it."""
    return Call(_SHOP, [str(supplier_id)])


def shop_of(found: Rows) -> Shop | None:
    """Return the supplier that `shop_call` has read; None if there is no such tenant."""
    return next(iter(found.of(Shop)), None)


def offers_call(supplier_id: UUID, products: Collection[UUID], buyer_id: UUID, at: datetime) -> Call:
    """Return the statement that reads the offers of some products that a buyer may see, the smallest packaging first."""
    return Call(_OFFERS, [str(supplier_id), array_literal(products), str(buyer_id), at.isoformat()])


def offers_of(found: Rows) -> list[SeenOffer]:
    """Return the offers that `offers_call` has read."""
    return found.of(SeenOffer)


def held_calls(supplier_id: UUID, products: Collection[UUID], at: datetime) -> list[Call]:
    """Return the statements that lock products and read what active reservations hold of them; see `held_of`."""
    given = [str(supplier_id), array_literal(sorted(products))]
    return [Call(_HOLD, given), Call(_HELD, [*given, at.isoformat()])]


def held_of(found: Rows) -> dict[UUID, int]:
    """Return the base units that are held, by product."""
    return dict(found.of(Held))
