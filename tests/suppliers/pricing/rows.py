"""Worlds as rows of real tables, in a transaction that is rolled back, and the statements that read them back.

The supplier, its products and the buyers stay; what may price a line lives as long as the block that prices it. Agreements
are written as the supplier's copies, which prices are resolved from.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction

from core.clock import now
from core.db import bind_tenant, tenant_context
from core.ids import uuid7
from core.pipeline import Call, run
from core.rows import insert, insert_values
from organizations.models import Organization
from suppliers.agreements.models import AgreementAudience, ReceivedAgreement, ReceivedAgreementLine
from suppliers.catalog.market import market_calls
from suppliers.catalog.models import Category, PlatformCategory
from suppliers.marketplace.models import AudienceMember, Offer
from suppliers.marketplace.queries import as_market
from suppliers.marketplace.states import EVERYBODY
from suppliers.pricing.candidates import Line
from suppliers.pricing.models import ListPrice, ListPriceTier
from suppliers.pricing.resolution import Resolution, resolve_price
from suppliers.quoting.candidates import Asked, Good, goods_of, market_call, supplier_call
from suppliers.terms.models import PriceList, PriceListEntry, PricingRule
from suppliers.terms.promotions.models import Promotion, PromotionBuyer
from tests.suppliers.inventory.shelf import Buyer, Shelf
from tests.suppliers.inventory.shelf import buyer as new_buyer
from tests.suppliers.inventory.shelf import shelf as new_shelf
from tests.suppliers.products import packaging

from . import worlds as w

# The root of the path is a category of the platform, the others are the supplier's own.
CODES = {"goods": "gloves", "gloves": "own-gloves", "nitrile": "own-nitrile", "masks": "own-masks"}
UNITS = (1, 10)


@dataclass(frozen=True)
class Side:
    """A supplier with a product of each number of units in a pack; `number` tells its ids from those of others."""

    shelf: Shelf
    number: int
    products: Mapping[int, Mapping[str, Any]]
    mine: UUID
    others: UUID

    def key(self, one: Any) -> UUID:
        """Return the id of a source, rule or promotion; ids have the order of the names."""
        return UUID(int=one.id.int | self.number)

    def names(self, world: w.World) -> dict[str, str]:
        """Return the names by id."""
        return {str(self.key(one)): one.name for one in (*world.sources, *world.rules, *world.promotions)}

    def product(self, world: w.World) -> UUID:
        """Return the product that is asked for."""
        return UUID(self.products[world.units]["id"])

    def packaging(self, world: w.World) -> UUID:
        """Return the packaging that is asked for."""
        return UUID(self.products[world.units]["packagings"][0]["id"])


@dataclass(frozen=True)
class Market:
    """A buyer in an organization with one above it, another buyer, and suppliers."""

    buyer: Buyer
    other: Buyer
    sides: Sequence[Side]


def market(suppliers: int = 2) -> Market:
    """Set up a market."""
    buyer, other = new_buyer(), new_buyer()
    Organization.objects.filter(pk=buyer.tenant.organization_id).update(address={"country": w.COUNTRY})
    return Market(buyer, other, [_side(number, buyer, other) for number in range(1, suppliers + 1)])


def _side(number: int, buyer: Buyer, other: Buyer) -> Side:
    shelf, mine, others = new_shelf(), uuid7(), uuid7()
    with tenant_context(shelf.id):
        above = PlatformCategory.objects.get(code=CODES["goods"]).id
        for code in ("gloves", "nitrile", "masks"):
            row = Category(tenant_id=shelf.id, code=CODES[code], name=code, parent_id=above)
            row.save(force_insert=True)
            above = row.id if code == "gloves" else above
        for audience, member in ((mine, buyer), (others, other)):
            AudienceMember.objects.create(tenant_id=shelf.id, audience_id=audience, member_tenant_id=member.id)
    made = {units: _product(shelf, units) for units in UNITS}
    return Side(shelf, number, made, mine, others)


def _product(shelf: Shelf, units: int) -> Mapping[str, Any]:
    """Make a product whose second packaging is offered to everybody without a price, so that buyers know the product."""
    packagings = [packaging(units_per_pack=units), packaging(level="case", units_per_pack=units * 100)]
    product = shelf.product(category=CODES["nitrile"], packagings=packagings)
    shelf.offer(product, packaging_id=product["packagings"][1]["id"])
    return product


@dataclass(frozen=True)
class Priced:
    """A line as the market reads it, as its supplier reads it, and as its supplier reads it with what is not the buyer's."""

    market: Resolution
    bound: Resolution
    whole: Resolution


@contextmanager
def written(market: Market, given: Sequence[w.World], *, today: date) -> Iterator[None]:
    """Write a world for each supplier, as if the day that it is asked on were today; all is gone at the end."""
    with transaction.atomic():
        for side, world in zip(market.sides, given, strict=False):
            bind_tenant(side.shelf.id)
            run(_Writer(market, side, world, today).calls())
        try:
            yield
        finally:
            transaction.set_rollback(True)


def priced(
    market: Market, given: Sequence[w.World], *, at: datetime | None = None, day: date | None = None
) -> list[Priced]:
    """Write worlds, one for each supplier, and price the lines by the statements; all is gone at the end.

    The lines are asked at `at`, which is the worlds' day, or for another `day`, which then is the worlds'.
    """
    at = at or now()
    sides = [*zip(market.sides, given, strict=False)]
    asked = [Asked(product_id=side.product(world), packaging_id=side.packaging(world)) for side, world in sides]
    with written(market, given, today=day or at.date()):
        mark = transaction.savepoint()
        bind_tenant(market.buyer.id)
        (*_, found) = run(as_market([market_call(market.buyer.id, asked, at, day=day)]))
        of_market = goods_of(found)
        transaction.savepoint_rollback(mark)
        bound = [
            _bound(market, side, [line], at, day, whole=False) for (side, _), line in zip(sides, asked, strict=True)
        ]
        whole = [
            _bound(market, side, [line], at, day, whole=True) for (side, _), line in zip(sides, asked, strict=True)
        ]
    read = zip(of_market, bound, whole, (world for _, world in sides), strict=True)
    return [Priced(*(_resolved(good, world) for good in goods)) for *goods, world in read]


def _bound(market: Market, side: Side, asked: list[Asked], at: datetime, day: date | None, *, whole: bool) -> Good:
    bind_tenant(side.shelf.id)
    (found,) = run([supplier_call(side.shelf.id, market.buyer.id, asked, at, day=day, whole=whole)])
    (good,) = goods_of(found)
    return good


def _resolved(good: Good, world: w.World) -> Resolution:
    row = good.row
    assert row.units_per_pack == world.units
    line = Line(world.quantity, world.currency, row.today, row.units_per_pack)
    return resolve_price(good.candidates, line, good.adjustments)


@dataclass(frozen=True)
class _Writer:
    """Writes one world; its dates are moved so that its day is `today`."""

    market: Market
    side: Side
    world: w.World
    today: date

    def calls(self) -> list[Call]:
        """Return the statements that write all rows."""
        world = self.world
        return [
            *(call for one in world.contracts for call in self._contract(one)),
            *(call for one in world.offers or [None] for call in self._offer(one)),
            *(call for one in world.lists for call in self._list(one)),
            *(call for one in world.prices for call in self._list_price(one)),
            *(self._insert(PricingRule, **self._rule(one)) for one in world.rules),
            *(call for one in world.promotions for call in self._promotion(one)),
            *market_calls(self.side.shelf.id, [self.side.product(world)]),
        ]

    def _insert(self, model: Any, **values: Any) -> Call:
        return insert_values(model, {"tenant_id": self.side.shelf.id} | values)

    def _day(self, day: date | None) -> date | None:
        return None if day is None else day + (self.today - self.world.on)

    def _period(self, one: Any) -> dict[str, date | None]:
        return {"valid_from": self._day(one.valid_from), "valid_to": self._day(one.valid_to)}

    def _contract(self, one: w.Contract) -> list[Call]:
        key, distance, at = self.side.key(one), w.DISTANCES[one.audience], now()
        document = {
            "id": key, "owner_tenant_id": self.market.buyer.id, "number": one.name, "status": "active", "version": 1,
            "representation": {}, "received_at": at, "updated_at": at, "agreement_id": key, "revision": 1,
            "currency": one.currency, "priority": one.priority, "scope": "tenant",
            "scope_id": self.market.buyer.id, **self._period(one),
        }  # fmt: skip
        line = {
            "id": uuid7(), "document_id": key, "line_no": 1, "category": CODES.get(one.category or ""),
            "product_id": None if one.category else self.side.product(self.world),
            "packaging_id": None if one.category or one.any_packaging else self.side.packaging(self.world),
            "price_base_quantity": one.per, "tiers": _tiers(one), "max_quantity": one.cap, "consumed": one.used,
        }  # fmt: skip
        member = (self.market.other if distance is None else self.market.buyer).id
        return [
            self._insert(ReceivedAgreement, **document),
            self._insert(ReceivedAgreementLine, **line),
            self._insert(AgreementAudience, agreement_id=key, member_tenant_id=member, distance=distance or 0),
        ]

    def _offer(self, one: w.Offer | None) -> Iterator[Call]:
        """Write an offer; where the world has none, one without a price, so that the product is shown in this packaging."""
        seen = one is None or one.visible
        row = Offer(
            id=self.side.key(one) if one else uuid7(), tenant_id=self.side.shelf.id,
            product_id=self.side.product(self.world), packaging_id=self.side.packaging(self.world),
            audience_id=UUID(EVERYBODY) if seen else self.side.others, visibility_mode="public" if seen else "tenants",
            stock_display="exact", tiers=_tiers(one) if one else [],
            currency=one.currency if one else "", price_base_quantity=one.per if one else 1,
        )  # fmt: skip
        row.publish()
        yield insert(row)

    def _list(self, one: w.PriceList) -> list[Call]:
        key = self.side.key(one)
        public = one.scope == "public"
        audience = EVERYBODY if public else self.side.mine if one.mine else self.side.others
        values = {
            "id": key, "code": one.name, "name": one.name, "currency": one.currency, "status": "active",
            "priority": one.priority, "scope": one.scope, "audience_id": audience, "entry_count": 1, **self._period(one),
        }  # fmt: skip
        entry = {
            "price_list_id": key, "product_id": self.side.product(self.world),
            "packaging_id": self.side.packaging(self.world), "price_base_quantity": one.per, "tiers": _tiers(one),
        }  # fmt: skip
        return [self._insert(PriceList, **values), self._insert(PriceListEntry, **entry)]

    def _list_price(self, one: w.ListPrice) -> list[Call]:
        key = self.side.key(one)
        values = {
            "id": key, "product_id": self.side.product(self.world), "packaging_id": self.side.packaging(self.world),
            "currency": one.currency, "price_base_quantity": one.per, **self._period(one),
        }  # fmt: skip
        tiers = [
            self._insert(ListPriceTier, price_id=key, min_quantity=tier.least, unit_price=tier.price)
            for tier in one.tiers
        ]
        return [self._insert(ListPrice, **values), *tiers]

    def _terms(self, one: w.Rule | w.Promotion) -> dict[str, Any]:
        asked = one.conditions
        product = {None: [], True: [self.side.product(self.world)], False: [uuid7()]}[asked.product]
        buyers = {None: [], True: [self.market.buyer.id], False: [self.market.other.id]}[asked.buyer]
        conditions = {
            "product_ids": [str(key) for key in product],
            "categories": [CODES[asked.category]] if asked.category else [],
            "buyer_ids": [str(key) for key in buyers],
            "groups": [],
            "countries": [asked.country] if asked.country else [],
            "min_quantity": asked.least_quantity,
            "min_amount": None if asked.least_amount is None else f"{asked.least_amount:f}",
            "currencies": [asked.currency] if asked.currency else [],
        }
        audience = {None: EVERYBODY, True: self.side.mine, False: self.side.others}[asked.buyer]
        return {
            "id": self.side.key(one), "code": one.name, "name": one.name, "status": "active", "priority": one.priority,
            "conditions": conditions, "audience_id": audience, "action_type": one.action, "action_value": one.value,
            "floor_price": one.floor, "applies_to_offers": one.on_offers,
        }  # fmt: skip

    def _rule(self, one: w.Rule) -> dict[str, Any]:
        return {**self._terms(one), "exclusive": one.exclusive, **self._period(one)}

    def _promotion(self, one: w.Promotion) -> Iterator[Call]:
        begin = datetime.combine(self.today, time(), UTC)
        starts, ends = (begin, begin + timedelta(days=2)) if one.running else (begin - timedelta(days=1), begin)
        yield self._insert(
            Promotion, **self._terms(one), applies_to_contracts=one.on_contracts, combinable=one.combinable,
            starts_at=starts, ends_at=ends, budget_amount=one.budget, spent=one.spent, budget_currency=one.budget_currency,
            max_redemptions=one.most, redemptions=one.redeemed, max_per_buyer=one.most_per_buyer,
        )  # fmt: skip
        if one.redeemed_by_buyer:
            yield self._insert(
                PromotionBuyer, promotion_id=self.side.key(one), buyer_tenant_id=self.market.buyer.id,
                redemptions=one.redeemed_by_buyer,
            )  # fmt: skip


def _tiers(one: w.Source) -> list[dict[str, Any]]:
    return [{"min_quantity": tier.least} | _amount(tier) for tier in one.tiers]


def _amount(tier: w.Tier) -> dict[str, str]:
    if tier.percent is not None:
        return {"discount_percent": _text(tier.percent)}
    assert tier.price is not None
    return {"unit_price": _text(tier.price)}


def _text(amount: Decimal) -> str:
    return f"{amount:f}"
