"""Goods that an order names in words, as those of a supplier that was merged: no product, no stock, the lot as the supplier says."""

from datetime import date
from typing import Any

import pytest

from core.clock import now
from core.errors import InvalidFields
from core.ids import uuid7
from suppliers.deliveries.leaving import _line
from suppliers.deliveries.models import Delivery
from suppliers.deliveries.picking import pick
from suppliers.deliveries.stock import Stock
from suppliers.deliveries.wanting import Want, check_goods
from suppliers.orders.models import PurchaseOrderLine

NOTHING: dict[str, Any] = {"gtin": None, "scan": None, "serial_numbers": []}


def wanted(**more: Any) -> Want:
    line = PurchaseOrderLine(id=uuid7(), line_no=1, name="Curtains", base_unit="EA", gtin="04006381333931")
    return Want(0, line, "base", 5, **more)


def test_they_leave_without_stock_with_the_lot_that_the_supplier_says() -> None:
    want = wanted(lot_number="C-7", expiry_date=date(2031, 1, 31))
    check_goods([want], [{**NOTHING, "gtin": "04006381333931"}], {})

    (found,) = pick([want], Stock({}, {}, [], {}, frozenset()), {}, None, now())

    assert (found.base_quantity, found.level) == (5, None)
    line = _line(Delivery(id=uuid7(), tenant_id=uuid7(), created_at=now()), 1, found, {})
    assert (line.name, line.lot_id, line.lot_number, line.expiry_date) == ("Curtains", None, "C-7", date(2031, 1, 31))


@pytest.mark.parametrize(
    ("want", "asked", "fault"),
    [
        (wanted(serial_numbers=("A",)), NOTHING, ("lines.0.serial_numbers", "invalid")),
        (wanted(), {**NOTHING, "gtin": "04006381333948"}, ("lines.0.gtin", "invalid_gtin")),
        (wanted(), {**NOTHING, "gtin": "04006381333948", "scan": "x"}, ("lines.0.scan", "invalid_scan")),
    ],
)
def test_what_cannot_be_said_of_them(want: Want, asked: dict[str, Any], fault: tuple[str, str]) -> None:
    with pytest.raises(InvalidFields) as refusal:
        check_goods([want], [asked], {})
    assert [(one.field, one.code) for one in refusal.value.errors] == [fault]
