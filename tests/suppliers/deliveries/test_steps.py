"""Picking and packing take steps in proportion to lines and lots, not to their product. Steps are counted, not timed."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import FrameType
from typing import Any
from uuid import UUID

import pytest

from core.ids import uuid7
from suppliers.deliveries.models import Delivery, DeliveryLine
from suppliers.deliveries.packing import package_calls
from suppliers.deliveries.picking import pick
from suppliers.deliveries.stock import Goods, Stock
from suppliers.deliveries.wanting import Want
from suppliers.inventory.levels import Level, LevelRow
from suppliers.inventory.models import Allocation, Reservation
from suppliers.orders.models import PurchaseOrderLine

pytestmark = pytest.mark.untraced

AT = datetime(2026, 11, 26, 8, tzinfo=UTC)
FEW, MANY = 40, 160
PLACE = uuid7()


def steps(work: Callable[[], Any]) -> int:
    """Count the instructions of Python that a piece of work takes."""
    count, before = 0, sys.gettrace()

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def goods(product: UUID) -> Goods:
    return Goods(product, "medicine", "lot", 0, False, (), {})


def level(product: UUID, number: int, on_hand: int, reserved: int) -> Level:
    """A level of a lot at the place."""
    expiry = (AT + timedelta(days=400 + number)).date().isoformat()
    row = LevelRow(
        uuid7(), product, PLACE, uuid7(), f"L{number}", expiry, False, True, "UTC", 0, on_hand, reserved, None, None, AT
    )  # fmt: skip
    return Level(row, on_hand, reserved)


def line(product: UUID, number: int) -> PurchaseOrderLine:
    return PurchaseOrderLine(id=uuid7(), line_no=number + 1, product_id=product, units_per_pack=1)


def world(number: int, *, products: int, lots: int) -> tuple[list[Want], Stock, dict[UUID, Goods]]:
    """Lines that want two units, and each has one allocated at the last lot of its product; every lot has two units."""
    keys = [uuid7() for _ in range(products)]
    levels = {key: [level(key, one, 2 * number, 0) for one in range(lots)] for key in keys}
    wants, reservations, held = list[Want](), dict[UUID, Reservation](), list[Allocation]()
    for one in range(number):
        of = line(keys[one % products], one)
        wants.append(Want(one, of, "base", 2))
        reservation = Reservation(id=uuid7(), purchase_order_line_id=of.id)
        there = levels[keys[one % products]][-1]
        there.reserved += 1
        held.append(Allocation(id=uuid7(), reservation_id=reservation.id, level_id=there.row.id, base_quantity=1))
        reservations[reservation.id] = reservation
    all_levels = {one.row.id: one for some in levels.values() for one in some}
    return wants, Stock(all_levels, reservations, held, {}, frozenset([PLACE])), {key: goods(key) for key in keys}


@pytest.mark.parametrize(
    ("products", "lots"),
    [(1, 1), (FEW, 1)],
    ids=["many lines of one product", "each line of a product of its own"],
)
def test_lines_with_lots_of_their_own_take_steps_by_line(products: int, lots: int) -> None:
    def work(times: int) -> int:
        wants, stock, known = world(FEW * times, products=products * times if products > 1 else 1, lots=lots)
        return steps(lambda: pick(wants, stock, known, 0, AT))

    few, many = work(1), work(MANY // FEW)

    assert many < few * (MANY // FEW) * 1.5


def test_many_lines_of_one_product_in_many_lots_take_steps_by_line_and_lot() -> None:
    def work(number: int) -> tuple[int, int]:
        key = uuid7()
        levels = [level(key, one, 1, 0) for one in range(2 * number)]
        wants = [Want(one, line(key, one), "base", 2) for one in range(number)]
        stock = Stock({one.row.id: one for one in levels}, {}, [], {}, frozenset([PLACE]))
        picks = list[Any]()
        count = steps(lambda: picks.extend(pick(wants, stock, {key: goods(key)}, 0, AT)))
        return count, len(picks)

    (few, of_few), (many, of_many) = work(FEW), work(MANY)

    assert (of_few, of_many) == (2 * FEW, 2 * MANY)
    assert many < few * (MANY // FEW) * 1.5


def test_lines_that_name_their_lots_take_steps_by_line() -> None:
    def work(number: int) -> int:
        key = uuid7()
        levels = [level(key, one, 1, 0) for one in range(number)]
        wants = [Want(one, line(key, one), "base", 1, f"L{one}") for one in range(number)]
        stock = Stock({one.row.id: one for one in levels}, {}, [], {}, frozenset([PLACE]))
        return steps(lambda: pick(wants, stock, {key: goods(key)}, 0, AT))

    assert work(MANY) < work(FEW) * (MANY // FEW) * 1.5


def test_a_line_that_is_allocated_in_many_lots_takes_steps_by_lot() -> None:
    def work(number: int) -> tuple[int, int]:
        key = uuid7()
        levels = [level(key, one, 2, 1) for one in range(number)]
        of = line(key, 0)
        reservation = Reservation(id=uuid7(), purchase_order_line_id=of.id)
        held = [
            Allocation(id=uuid7(), reservation_id=reservation.id, level_id=one.row.id, base_quantity=1)
            for one in levels
        ]
        stock = Stock({one.row.id: one for one in levels}, {reservation.id: reservation}, held, {}, frozenset([PLACE]))
        picks = list[Any]()
        count = steps(lambda: picks.extend(pick([Want(0, of, "base", number)], stock, {key: goods(key)}, 0, AT)))
        return count, sum(one.base_quantity for one in picks)

    (few, of_few), (many, of_many) = work(FEW), work(MANY)

    assert (of_few, of_many) == (FEW, MANY)
    assert many < few * (MANY // FEW) * 1.5


def test_packages_take_steps_by_package_and_line() -> None:
    def work(number: int) -> int:
        lines = [(one, DeliveryLine(id=uuid7(), line_no=one + 1, base_quantity=3)) for one in range(number)]
        lines = [(one // 4, of) for one, of in lines]  # each line was picked of four lots
        packages = [
            {"sscc": str(one), "parent_sscc": None, "level": "case", "lines": [{"line_no": one // 2 + 1, "base_quantity": 5}]}
            for one in range(number // 2)
        ]  # fmt: skip
        row = Delivery(id=uuid7(), tenant_id=uuid7())
        return steps(lambda: package_calls(row, packages, lines, AT))

    assert work(MANY) < work(FEW) * (MANY // FEW) * 1.5
