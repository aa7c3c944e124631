"""Labels that are scanned at a receipt: the goods must be the line's, and lot, date and serial number come from the label."""

from typing import Any
from uuid import UUID

import pytest

from tests.procurement.purchasing import orders
from tests.suppliers.deliveries.receiving.arrivals import EXPIRY, Dock
from tests.suppliers.deliveries.receiving.test_goods import numbered
from tests.suppliers.deliveries.receiving.test_managed import managed, received
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.products import gtin as fresh_gtin
from tests.suppliers.products import packaging

FNC1 = "\x1d"


def label() -> str:
    """Return a GTIN as labels have it."""
    return fresh_gtin().zfill(14)


def labelled(dock: Dock) -> tuple[dict[str, Any], str, str]:
    """A product in boxes of ten within cases of a hundred, each with a GTIN; return it with both."""
    box, case = label(), label()
    packagings = [
        packaging(level="inner", units_per_pack=10, gtin=box), packaging(level="case", units_per_pack=100, gtin=case),
    ]  # fmt: skip
    product = dock.shelf.product(packagings=packagings, name="Ampoules", tracking="lot", expiry_required=True)
    dock.shelf.offer(product, currency="EUR", tiers=orders.price((1, "4.90")))
    dock.shelf.stock(product, 1_000, lot="L1", expiry=EXPIRY)
    return product, box, case


def shipped(dock: Dock) -> tuple[UUID, str, str]:
    product, box, case = labelled(dock)
    return dock.ship(dock.order((product, 10)), {"units": 100, "lot": "L1"}), box, case


def test_lot_and_date_come_from_the_label_of_any_packaging(dock: Dock) -> None:
    delivery, box, case = shipped(dock)
    made = [
        dock.receive(delivery, {"accepted_quantity": 10, "scan": f"]C101{gtin}1731013110L1"}) for gtin in (box, case)
    ]
    for one in made:
        (line,) = one["lines"]
        assert (line["lot_number"], line["expiry_date"], line["differs"]) == ("L1", EXPIRY.isoformat(), False)
    assert dock.counted(delivery) == [(20, 0, 0)]


@pytest.mark.parametrize("line", [{"accepted_quantity": 1}, {"rejected_quantity": 1, "rejection_reason": "damaged"}])
def test_the_label_of_other_goods_is_refused(dock: Dock, line: dict) -> None:
    delivery, _, _ = shipped(dock)
    _, other, _ = labelled(dock)
    for gtin in (other, label()):
        body = refused(dock.post(delivery, {**line, "scan": f"01{gtin}10L1"}), 400, "validation_error")
        assert [(one["pointer"], one["code"]) for one in body["errors"]] == [("/lines/0/scan", "invalid_scan")]
    assert (dock.counted(delivery), dock.on_hand()) == ([(0, 0, 0)], [])


def test_another_lot_or_date_on_the_label_is_a_mismatch_until_it_is_confirmed(dock: Dock) -> None:
    delivery, box, _ = shipped(dock)
    for scan in (f"01{box}10L9", f"01{box}17300531{FNC1}10L1"):
        body = refused(dock.post(delivery, {"accepted_quantity": 10, "scan": scan}), 409, "lot_mismatch")
        assert [one["pointer"] for one in body["errors"]] == ["/lines/0"]
    line = {"accepted_quantity": 10, "scan": f"01{box}10L9"}
    made = dock.receive(delivery, line | {"expiry_date": "2030-05-31"}, confirm_difference=True)
    assert (made["lines"][0]["lot_number"], made["lines"][0]["differs"]) == ("L9", True)
    assert dock.on_hand() == [("L9", 10)]


@pytest.mark.parametrize("beside", [{"lot_number": "L2"}, {"expiry_date": "2030-05-31"}, {"serial_numbers": ["S2"]}])
def test_a_label_that_contradicts_the_line_is_refused(dock: Dock, beside: dict) -> None:
    delivery, box, _ = shipped(dock)
    scan = f"01{box}1731013110L1{FNC1}21S1"
    body = refused(dock.post(delivery, {"accepted_quantity": 1, "scan": scan, **beside}), 400, "validation_error")
    assert [(one["pointer"], one["code"]) for one in body["errors"]] == [("/lines/0/scan", "invalid_scan")]


def test_a_serial_number_comes_from_the_label_where_the_goods_have_one(dock: Dock) -> None:
    product, hall = numbered(dock, "S1", "S2")
    pumps = dock.send(dock.order((product, 2)), hall, quantity=2, serial_numbers=["S1", "S2"])
    refused(dock.post(pumps, {"accepted_quantity": 1, "scan": "21S9"}), 409, "wrong_serial")
    made = dock.receive(pumps, {"accepted_quantity": 1, "scan": "21S2"})
    assert made["lines"][0]["serial_numbers"] == ["S2"]
    assert dock.units(dock.buyer) == [("S2", "in_stock")]

    delivery, box, _ = shipped(dock)
    scan = f"01{box}10L1{FNC1}21S1"
    body = refused(dock.post(delivery, {"accepted_quantity": 1, "scan": scan}), 400, "validation_error")
    assert [(one["pointer"], one["code"]) for one in body["errors"]] == [("/lines/0/serial_numbers", "invalid")]


def test_the_label_of_goods_of_a_managed_supplier(dock: Dock) -> None:
    known = label()
    for text, scanned, status in (({"gtin": known}, known, 201), ({"gtin": known}, label(), 400), ({}, label(), 201)):
        answer = received(dock, managed(dock, **text), {"accepted_quantity": 1, "scan": f"01{scanned}10M1"})
        assert answer.status_code == status, answer.content
        if status == 400:
            assert [(one["pointer"], one["code"]) for one in answer.json()["errors"]] == [
                ("/lines/0/scan", "invalid_scan")
            ]
