"""Metrics of stock agree with the naive model: levels, lots and list prices of any day, in any zone, also of ends to come."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID, uuid5
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.db import tenant_context
from core.ids import uuid7
from core.money import Money
from suppliers.inventory.models import Allocation, Lot, Reservation, StockLevel, StockMovement
from suppliers.pricing.models import ListPrice, ListPriceTier
from tests.suppliers import products
from tests.suppliers.analytics.figures import answered
from tests.suppliers.analytics.naive import Question, quarter, rate
from tests.suppliers.analytics.naive_stock import Hold, Level, Move, Price, cover, worth
from tests.suppliers.analytics.test_naive_model import NAMES, ZONES, tried
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import Shelf

NOW = datetime(2026, 11, 5, 12, 34, tzinfo=UTC)
PRICED = {"JPY": 0, "EUR": 2, "KWD": 3, "CLF": 4}


@dataclass
class Store:
    """A supplier with two products and two places, from one of which nothing is sold."""

    shelf: Shelf
    goods: list[dict[str, Any]]
    places: list[UUID]


@pytest.fixture(scope="module")
def store() -> Store:
    """Return a supplier whose products have packs of one and of three."""
    shelf = shelves.shelf()
    packs = [products.packaging(), products.packaging(level="inner", units_per_pack=3)]
    goods = [shelf.product(packagings=packs, category=name) for name in ("gloves", "gloves")]
    for one in goods:
        with tenant_context(shelf.id):
            products.hold(shelf.tenant, one["id"])
    return Store(shelf, goods, [shelf.place("Hall"), shelf.place("Yard", sellable=False)])


def times() -> st.SearchStrategy[datetime]:
    """Draw instants of the two months before, many at midnights of the zones, over the change of October."""
    near = st.integers(0, 60 * 24 * 60).map(lambda minutes: NOW - timedelta(days=60) + timedelta(minutes=minutes))
    midnights = st.builds(
        lambda days, zone: datetime(2026, 10, 20, tzinfo=ZoneInfo(zone)).astimezone(UTC) + timedelta(days=days),
        st.integers(-20, 14),
        st.sampled_from(ZONES),
    )
    return near.filter(lambda at: at < NOW) | midnights.filter(lambda at: at < NOW)


def days() -> st.SearchStrategy[date]:
    return st.integers(-70, 120).map(lambda number: NOW.date() + timedelta(days=number))


@st.composite
def holds(draw: Any) -> Hold:
    since = draw(times())
    ended = draw(st.none() | times().filter(lambda at: at >= since))
    expires = draw(st.none() | st.timedeltas(timedelta(0), timedelta(days=40)).map(lambda lasts: since + lasts))
    return Hold(since, draw(st.integers(1, 20)), ended, expires)


@st.composite
def levels(draw: Any, store: Store) -> list[Level]:
    found = []
    for number in range(draw(st.integers(1, 4))):
        good, place = draw(st.sampled_from((0, 1))), draw(st.sampled_from((0, 1)))
        moves, have = [], draw(st.integers(0, 50))
        level = Level(
            UUID(store.goods[good]["id"]), "gloves", store.places[place], place == 0, draw(st.none() | days()), draw(st.booleans()),
            have, moves, draw(st.lists(holds(), max_size=2)),
        )  # fmt: skip
        if number == 0:
            level.expiry, level.is_released = None, True
        for at in sorted(draw(st.lists(times(), max_size=4))):
            units = draw(st.integers(-have, 30).filter(bool))
            moves.append(Move(at, units, units < 0 and draw(st.booleans())))
            have += units
        found.append(level)
    return found


@st.composite
def prices(draw: Any, store: Store) -> list[Price]:
    """Draw prices whose periods do not overlap, as those of a packaging."""
    found, step = [], Decimal("0.000001")
    for good in store.goods:
        for pack in good["packagings"]:
            bounds = sorted(draw(st.lists(days(), unique=True, max_size=3)))
            for place, since in enumerate(bounds):
                end = (
                    bounds[place + 1]
                    if place + 1 < len(bounds)
                    else draw(st.none() | st.just(since + timedelta(days=9)))
                )
                amount, per = draw(st.integers(1, 10**9)) * step, draw(st.sampled_from((1, 7, 100)))
                found.append(Price(UUID(good["id"]), pack["units_per_pack"], per, amount, since, end))
    return found


@st.composite
def stock_questions(draw: Any) -> Question:
    zone = draw(st.sampled_from(ZONES))
    begin = quarter(draw(times()))
    if draw(st.booleans()):
        first = begin.astimezone(ZoneInfo(zone)).date()
        begin = datetime(first.year, first.month, first.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    end = quarter(begin + timedelta(minutes=15) + draw(st.timedeltas(timedelta(0), timedelta(days=80))))
    interval = draw(st.sampled_from(("day", "week", "month", "quarter")))
    group = draw(st.sampled_from(("", "product", "category", "location")))
    return Question(begin, end, interval, zone, group, draw(st.sampled_from([*PRICED])))


def write(store: Store, found: list[Level], listed: list[Price], currency: str) -> None:
    tenant = store.shelf.id
    packs = {(UUID(one["id"]), pack["units_per_pack"]): pack["id"] for one in store.goods for pack in one["packagings"]}
    for number, one in enumerate(found):
        lot = None
        if number:  # the first level of a product has no lot
            lot = Lot(
                id=uuid5(NAMES, f"lot {number}"),
                tenant_id=tenant,
                product_id=one.product,
                lot_number=f"L{number}",
                expiry_date=one.expiry,
            )
            if not one.is_released:
                lot.quarantine("suspect")
                lot._states_at_start["status"] = "released"
            lot.save(force_insert=True)
        key = uuid5(NAMES, f"level {number}")
        StockLevel.objects.create(
            id=key, tenant_id=tenant, product_id=one.product, location_id=one.place, lot=lot, on_hand=one.held(NOW)
        )
        StockMovement.objects.bulk_create(
            StockMovement(
                tenant_id=tenant, product_id=one.product, location_id=one.place, level_id=key, lot_id=lot and lot.id, quantity=each.units,
                type="shipment" if each.is_shipment else "adjustment", balance_after=0, reference_type="test",
                reference_id=key, actor_id=tenant, actor_kind="system", created_at=each.at,
            )
            for each in one.moves
        )  # fmt: skip
        for each in one.holds:
            _reserve(tenant, one, key, packs[one.product, 1], each)
    for price in listed:
        row = ListPrice.objects.create(
            tenant_id=tenant, product_id=price.product, packaging_id=packs[price.product, price.units_per_pack], currency=currency,
            price_base_quantity=price.per, valid_from=price.valid_from, valid_to=price.valid_to,
        )  # fmt: skip
        for least, factor in ((10, 2), (1, 1)):
            ListPriceTier.objects.create(
                id=uuid7(), tenant_id=tenant, price=row, min_quantity=least, unit_price=price.amount * factor
            )


def _reserve(tenant: UUID, level: Level, key: UUID, pack: str, hold: Hold) -> None:
    common: dict[str, Any] = {
        "tenant_id": tenant, "buyer_tenant_id": NAMES, "base_quantity": hold.units, "kind": "hard" if hold.expires is None else "soft",
        "status": "active" if hold.ended is None else "released", "expires_at": hold.expires,
    }  # fmt: skip
    row = Reservation.objects.bulk_create([
        Reservation(
            id=uuid7(), group_id=uuid7(), line_no=1, product_id=level.product, packaging_id=pack, location_id=level.place, unit="base",
            units_per_pack=1, ended_at=hold.ended, created_at=hold.since,
            updated_at=hold.ended or hold.since, **common,
        )
    ])[0]  # fmt: skip
    Allocation.objects.create(reservation_id=row.id, level_id=key, **common)


def amount(value: Fraction, currency: str) -> dict[str, str]:
    """Return a fraction as money, rounded half up."""
    exact = Context(prec=80)
    found = exact.divide(Decimal(value.numerator), Decimal(value.denominator))
    places = Decimal(1).scaleb(-PRICED[currency])
    return Money(found.quantize(places, rounding=ROUND_HALF_UP), currency).as_json()


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[*HealthCheck])
def test_stock_is_what_moved_at_the_price_of_the_day(store: Store, data: st.DataObject) -> None:
    found, listed = data.draw(levels(store)), data.draw(prices(store))
    question = data.draw(stock_questions())
    with tried(store.shelf.id):
        write(store, found, listed, question.currency)
        for metric, within in (("stock_value", None), ("expiring_value", 90)):
            expected = worth(found, listed, question, NOW, within)
            there = {name for (_, name), value in expected.items() if value}
            series = answered(store.shelf.id, metric, question, NOW)
            assert {name for _, name, _ in series} == (there if question.group else {None}), metric
            for place, name, value in series:
                wanted = expected.get((place, name), Fraction(0))
                assert value == amount(wanted, question.currency), (metric, place, name)
        covered = cover(found, question, NOW)
        for place, name, value in answered(store.shelf.id, "days_of_cover", question, NOW):
            assert value == rate(*covered.get((place, name), (0, 0))), (place, name)
