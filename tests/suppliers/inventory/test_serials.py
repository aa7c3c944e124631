"""Serial numbers: as many lie at a level as it holds, and each moves with its unit."""

from collections import Counter

import pytest

from core.db import tenant_context
from suppliers.inventory.serial_models import Serial
from tests import factories
from tests.races import race
from tests.suppliers import products
from tests.suppliers.inventory.shelf import broken, refused, reserve
from tests.suppliers.inventory.test_inventory import ADJUST, LEVELS, MOVE, adjust, line, listed, place


def serials(shelf):
    """The status of each serial number, and the place where it lies."""
    with tenant_context(shelf.id):
        rows = Serial.objects.filter(tenant_id=shelf.id).select_related("level")
        return {row.serial_number: (row.status, str(row.level.location_id) if row.level else None) for row in rows}


def units(product, where, quantity, *numbers, **changes):
    return line(product, where, quantity, serial_numbers=list(numbers), **changes)


@pytest.fixture
def pump(shelf):
    return shelf.product(tracking="serial")


@pytest.fixture
def hall(shelf):
    return place(shelf)


def test_units_come_move_and_go(shelf, pump, hall):
    yard = place(shelf)
    adjust(shelf, units(pump, hall, 3, "A", "B", "C"))
    move = {"from_location_id": hall["id"], "to_location_id": yard["id"]}
    moved = shelf.api.post(
        MOVE, json=move | {"lines": [{"product_id": pump["id"], "quantity": 1, "serial_numbers": ["B"]}]}
    )
    assert moved.status_code == 201, moved.content
    adjust(shelf, units(pump, hall, -1, "A", reason_code="damaged"))
    assert serials(shelf) == {
        "A": ("disposed", None), "B": ("in_stock", yard["id"]), "C": ("in_stock", hall["id"]),
    }  # fmt: skip
    adjust(shelf, units(pump, yard, 1, "A", reason_code="found"))
    assert serials(shelf)["A"] == ("in_stock", yard["id"])
    assert {one["location_id"]: one["on_hand"] for one in listed(shelf, LEVELS)} == {hall["id"]: 1, yard["id"]: 2}
    assert broken(shelf) == []


def test_serials_of_lots_lie_with_their_lot(shelf, hall):
    product = shelf.product(tracking="lot_and_serial")
    adjust(shelf, units(product, hall, 2, "A", "B", lot_number="L1"), units(product, hall, 1, "C", lot_number="L2"))
    wrong = units(product, hall, -1, "A", lot_number="L2", reason_code="lost")
    refused(shelf.api.post(ADJUST, json={"lines": [wrong]}), 409, "wrong_serial")
    with tenant_context(shelf.id):
        rows = Serial.objects.filter(tenant_id=shelf.id).select_related("lot")
        assert {row.serial_number: row.lot.lot_number for row in rows} == {"A": "L1", "B": "L1", "C": "L2"}
    assert broken(shelf) == []


def test_count_says_which_units_are_there(shelf, pump, hall):
    adjust(shelf, units(pump, hall, 3, "A", "B", "C"))
    counted = units(pump, hall, 2, "A", "D", mode="set", expected_quantity=3, reason_code="count")
    adjust(shelf, counted)
    assert {number: status for number, (status, _) in serials(shelf).items()} == {
        "A": "in_stock", "B": "disposed", "C": "disposed", "D": "in_stock",
    }  # fmt: skip
    adjust(shelf, units(pump, hall, 2, "A", "B", mode="set", expected_quantity=2, reason_code="count"))
    assert {number for number, (status, _) in serials(shelf).items() if status == "in_stock"} == {"A", "B"}
    adjust(shelf, units(pump, hall, 0, mode="set", expected_quantity=2, reason_code="count"))
    assert {status for status, _ in serials(shelf).values()} == {"disposed"}
    assert broken(shelf) == []


def test_label_of_a_unit_is_scanned(shelf, hall):
    gtin = products.gtin()
    product = shelf.product(tracking="lot_and_serial", packagings=[products.packaging(gtin=gtin)])
    given = line(product, hall, 1)
    del given["product_id"]
    adjust(shelf, given | {"scan": f"]d201{gtin:0>14}1730050010L1\x1d21SN-1"})
    assert set(serials(shelf)) == {"SN-1"}
    refused(
        shelf.api.post(ADJUST, json={"lines": [given | {"scan": f"]d201{gtin:0>14}10L1\x1d21SN-2", "serial_numbers": ["SN-3"]}]}),
        400, "validation_error",
    )  # fmt: skip
    assert set(serials(shelf)) == {"SN-1"}


def test_reservation_takes_units_by_quantity(shelf, buyer, pump, hall):
    adjust(shelf, units(pump, hall, 3, "A", "B", "C"))
    shelf.offer(pump)
    shelf.settle(reservation_cap_percent=100)
    reserve(buyer, shelf, (pump, 2))
    (level,) = listed(shelf, LEVELS)
    assert (level["on_hand"], level["reserved"]) == (3, 2)
    two = units(pump, hall, -2, "A", "B", reason_code="lost")
    refused(shelf.api.post(ADJUST, json={"lines": [two]}), 409, "stock_reserved")
    assert {status for status, _ in serials(shelf).values()} == {"in_stock"}
    assert broken(shelf, buyer) == []


@pytest.mark.parametrize(
    ("quantity", "numbers", "code"),
    [
        (2, [], "required"), (2, ["X"], "count_mismatch"), (-1, ["A", "B"], "count_mismatch"), (2, ["X", "X"], "duplicate"),
        (1, ["x" * 21], "max_length"), (1, [""], "blank"),
    ],
)  # fmt: skip
def test_bad_numbers_change_nothing(shelf, pump, hall, quantity, numbers, code):
    adjust(shelf, units(pump, hall, 2, "A", "B"))
    before = serials(shelf)
    answer = shelf.api.post(ADJUST, json={"lines": [units(pump, hall, quantity, *numbers, reason_code="correction")]})
    assert code in {found for _, found in products.field_errors(answer)}, answer.content
    assert serials(shelf) == before
    assert broken(shelf) == []


def test_number_is_named_once_in_a_request(shelf, pump, hall):
    yard = place(shelf)
    answer = shelf.api.post(ADJUST, json={"lines": [units(pump, hall, 1, "A"), units(pump, yard, 1, "A")]})
    assert products.field_errors(answer) == {("lines.1.serial_numbers", "duplicate")}
    assert serials(shelf) == {}


def test_products_without_serials_take_none(shelf, hall):
    answer = shelf.api.post(ADJUST, json={"lines": [units(shelf.product(), hall, 1, "A")]})
    assert products.field_errors(answer) == {("lines.0.serial_numbers", "invalid")}


@pytest.mark.parametrize("named", ["there already", "elsewhere", "unknown", "gone"])
def test_unit_that_is_not_there_is_refused(shelf, pump, hall, named):
    yard = place(shelf)
    adjust(shelf, units(pump, hall, 2, "A", "B"), units(pump, yard, 1, "Y"))
    adjust(shelf, units(pump, hall, -1, "B", reason_code="lost"))
    before = serials(shelf)
    wrong = {
        "there already": units(pump, yard, 1, "A"), "elsewhere": units(pump, hall, -1, "Y", reason_code="lost"),
        "unknown": units(pump, hall, -1, "X", reason_code="lost"), "gone": units(pump, hall, -1, "B", reason_code="lost"),
    }[named]  # fmt: skip
    found = refused(shelf.api.post(ADJUST, json={"lines": [wrong]}), 409, "wrong_serial")
    assert [one["pointer"] for one in found["errors"]] == ["/lines/0/serial_numbers"]
    assert serials(shelf) == before
    assert broken(shelf) == []


def test_unit_comes_to_one_place_however_many_say_so(shelf, pump):
    places = [place(shelf) for _ in range(8)]

    def receiving(where):
        api = factories.Api()
        api.headers = shelf.api.headers
        return api.post(ADJUST, json={"lines": [units(pump, where, 1, "A")]})

    answers = race(*[lambda one=one: receiving(one) for one in places])
    assert Counter(one.status_code for one in answers) == {201: 1, 409: 7}
    assert {one.json()["code"] for one in answers if one.status_code == 409} == {"wrong_serial"}
    assert broken(shelf) == []
