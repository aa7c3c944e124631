"""Stock taken by dispensing: booked behind the commit, put back by a reversal, and never in the way of a dispensation."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from core.db import tenant_context
from core.invariants import breaches
from ledger import public as ledger
from suppliers.inventory.dispensing.booking import DISPENSED, REVERSED, book_dispensing
from suppliers.inventory.dispensing.matching import line_of
from suppliers.inventory.dispensing.models import DispenseBooking
from suppliers.inventory.models import StockLevel, StockMovement
from tests.prescriptions.dispensing.counter import dispense, line, refills
from tests.prescriptions.ward import PLAIN, done, refused
from tests.prescriptions.ward import ward as new_ward
from tests.suppliers import products
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.test_inventory import PLACES, adjust
from tests.suppliers.inventory.test_inventory import line as stock_line

GTIN_SYSTEM, PZN_SYSTEM = "https://www.gs1.org/gtin", "http://fhir.de/CodeSystem/ifa/pzn"


class Counter:
    """A pharmacy with a prescription to dispense, and tablets of a supplier on its shelf."""

    def __init__(self, quantity=100, also=(), **changes):
        self.ward = new_ward(also=also)
        self.id = self.ward.pharmacy.tenant.id
        self.clerk = shelves.Buyer(self.ward.pharmacy.tenant, self.ward.pharmacy.join("pharmacy_technician"))
        self.supplier, self.gtin = shelves.shelf(), products.gtin()
        packs = [products.packaging(gtin=self.gtin)]
        self.product = self.supplier.product(**{"tracking": "lot", "packagings": packs} | changes)
        self.supplier.offer(self.product, to=[self.clerk])
        self.settle()
        if quantity:
            self.receive(quantity)

    @property
    def coding(self):
        return {"system": GTIN_SYSTEM, "code": self.gtin, "display": "Tablets"}

    def settle(self, **changes):
        """Keep stock at the place that dispenses."""
        body = {"location_id": self.ward.pharmacy_id, "code": "PH", **changes}
        answer = self.clerk.api.post(PLACES, json=body)
        assert answer.status_code in (200, 201), answer.content

    def receive(self, quantity, lot="A1", product=None):
        given = stock_line(product or self.product, {"id": self.ward.pharmacy_id}, quantity)
        adjust(self.clerk, given | ({"lot_number": lot, "expiry_date": "2031-01-31"} if lot else {}))

    def give(self, quantity="21", lot="A1", fills=3, unit="tablet", product=None, **more):
        """Dispense one line of what was prescribed, by default the tablets; return prescription and dispensation."""
        item = refills(
            fills, code={"display": "Tablets"} | (product or self.coding), quantity={"value": "21", "unit": unit}
        )
        one = self.ward.routed(item)
        return one, dispense(self.ward, one, lines=[line(one, quantity=quantity, lot_number=lot) | more])

    def reverse(self, one, given):
        path = f"/v1/prescriptions/{one['id']}/dispensations/{given['id']}/reverse"
        return done(self.ward.pharmacist.post(path, json={"reason_code": "other"}))

    def events(self, *types):
        with tenant_context(self.id):
            found = ledger.Event.objects.filter(tenant_id=self.id, type__in=types or (*DISPENSED, REVERSED))
            return list(found.order_by("occurred_at", "id"))

    def book(self):
        """Handle every fact of dispensing, as the relay does."""
        for event in self.events():
            book_dispensing(event)

    def bookings(self):
        with tenant_context(self.id):
            return list(DispenseBooking.objects.filter(tenant_id=self.id).order_by("created_at", "id"))

    def on_hand(self):
        with tenant_context(self.id):
            return sum(StockLevel.objects.filter(tenant_id=self.id).values_list("on_hand", flat=True))

    def movements(self):
        with tenant_context(self.id):
            return list(StockMovement.objects.filter(tenant_id=self.id, type="dispense").order_by("created_at", "id"))

    def unbooked(self):
        """The reason why the only line was not booked; nothing of the stock has changed."""
        (one,) = self.bookings()
        assert (one.status, one.level_id, one.movement_id, self.movements()) == ("unbooked", None, None, [])
        assert broken(self) == []
        return one.reason


def broken(counter):
    return [*breaches(counter.id)]


@pytest.fixture
def counter():
    return Counter()


def test_dispensing_takes_the_lot_from_the_shelf(counter):
    _, given = counter.give()
    assert counter.on_hand() == 100
    counter.book()
    (movement,) = counter.movements()
    assert (movement.quantity, movement.balance_after, movement.lot_number) == (-21, 79, "A1")
    assert (movement.reference_type, str(movement.reference_id)) == ("dispensation", given["id"])
    assert movement.actor_id == counter.ward.pharmacy.users["pharmacist"].id
    (booking,) = counter.bookings()
    assert (booking.status, booking.base_quantity, booking.movement_id) == ("booked", 21, movement.id)
    assert (str(booking.id), str(booking.dispensation_id)) == (given["lines"][0]["id"], given["id"])
    adjusted = counter.events("stock.adjusted")[-1]
    assert (adjusted.data["base_quantity"], adjusted.data["by"], adjusted.figures["cause"]) == (
        -21,
        "system",
        "dispense",
    )
    assert counter.on_hand() == 79
    assert broken(counter) == []


def test_booking_again_changes_nothing(counter):
    one, given = counter.give()
    counter.book()
    counter.book()
    assert (counter.on_hand(), len(counter.movements()), len(counter.bookings())) == (79, 1, 1)
    counter.reverse(one, given)
    counter.book()
    counter.book()
    assert (counter.on_hand(), len(counter.movements()), len(counter.bookings())) == (100, 2, 1)
    assert broken(counter) == []


def test_reversal_puts_the_goods_back(counter):
    one, given = counter.give()
    counter.book()
    counter.reverse(one, given)
    counter.book()
    out, back = counter.movements()
    assert (back.quantity, back.balance_after, back.reversal_of) == (21, 100, out.id)
    assert [row.status for row in counter.bookings()] == ["reversed"]
    assert broken(counter) == []


def test_reversal_that_comes_first_keeps_the_dispensation_from_being_booked(counter):
    one, given = counter.give()
    counter.reverse(one, given)
    for event in reversed(counter.events()):
        book_dispensing(event)
    assert ([row.status for row in counter.bookings()], counter.movements()) == (["reversed"], [])
    assert counter.on_hand() == 100
    assert broken(counter) == []


def test_relay_books_what_only_the_pharmacy_is_told(counter):
    from ledger import relay
    from ledger.models import Pending

    counter.give()
    for tenant, expected in ((counter.ward.clinic.tenant, 0), (counter.ward.pharmacy.tenant, 1)):
        with tenant_context(tenant.id):
            due = Pending.objects.filter(tenant_id=tenant.id, subscriber="suppliers.book_dispensing")
            assert due.count() == expected
    for _ in range(100):  # other tests have left facts, some of which no subscriber can handle
        if counter.on_hand() != 100:
            break
        relay.run_once()
    assert counter.on_hand() == 79


def test_figures_name_no_patient_and_are_not_sent(counter):
    one, given = counter.give()
    (event,) = counter.events()
    assert event.figures == {
        "dispensation_id": given["id"], "pharmacy_location_id": counter.ward.pharmacy_id,
        "lines": [
            {
                "id": given["lines"][0]["id"], "product": counter.coding, "lot_number": "A1",
                "quantity": "21", "unit": "tablet",
            }
        ],
    }  # fmt: skip
    assert not {"dispensation_id", "lines", "pharmacy_location_id"} & event.data.keys()
    assert counter.ward.patient_id not in str(event.figures)
    assert one["number"] == event.data["number"]


def test_several_lines_are_booked_each_for_itself(counter):
    counter.receive(5, lot="B2")
    one = counter.ward.routed(refills(2, code=counter.coding), refills(2, code=counter.coding))
    lines = [line(one, place, quantity="3", lot_number="B2") for place in (0, 1)]
    dispense(counter.ward, one, lines=lines)
    counter.book()
    assert sorted(row.status for row in counter.bookings()) == ["booked", "unbooked"]
    assert [row.reason for row in counter.bookings() if row.status == "unbooked"] == ["insufficient_stock"]
    assert counter.on_hand() == 102
    assert broken(counter) == []


# -- what cannot be booked ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"lot": "Z9"}, "unknown_lot"), ({"lot": None}, "no_lot"), ({"quantity": "2.5"}, "fraction"),
        ({"product": {"system": GTIN_SYSTEM, "code": "04012345678901"}}, "unknown_product"),
        ({"product": PLAIN}, "unknown_product"),
        ({"product": {"system": "http://www.whocc.no/atc", "code": "J01"}}, "unknown_product"),
        ({"unit": "mL"}, "unit_mismatch"),
    ],
)  # fmt: skip
def test_what_cannot_be_booked_is_kept_with_the_reason(counter, changes, reason):
    counter.give(**changes)
    counter.book()
    assert (counter.unbooked(), counter.on_hand()) == (reason, 100)


def test_more_than_is_there_is_not_booked_and_was_dispensed_all_the_same():
    counter = Counter(quantity=20)
    _, given = counter.give()
    assert given["status"] == "completed"
    counter.book()
    assert (counter.unbooked(), counter.on_hand()) == ("insufficient_stock", 20)


def test_reversal_of_what_was_not_booked_closes_it():
    counter = Counter(quantity=20)
    one, given = counter.give()
    counter.book()
    counter.reverse(one, given)
    counter.book()
    (row,) = counter.bookings()
    assert (row.status, counter.movements(), counter.on_hand()) == ("reversed", [], 20)
    assert broken(counter) == []


def test_place_that_keeps_no_stock_books_nothing():
    counter = Counter()
    counter.settle(tracks_stock=False)
    counter.give()
    counter.book()
    assert (counter.bookings(), counter.on_hand()) == ([], 100)


def test_units_with_serial_numbers_are_not_guessed():
    counter = Counter(quantity=0, tracking="serial", kind="consumable")
    where = {"id": counter.ward.pharmacy_id}
    adjust(counter.clerk, stock_line(counter.product, where, 30, serial_numbers=[f"S{n}" for n in range(30)]))
    counter.give(quantity="1")
    counter.book()
    assert (counter.unbooked(), counter.on_hand()) == ("serial_numbers", 30)


# -- how the product is found ------------------------------------------------------------------------------------------


def test_national_code_and_substance_find_the_product_by_its_lot():
    codes = [{"system": "PZN", "value": "01234567"}]
    counter = Counter(national_codes=codes, classifications={"atc": "J01CA04"})
    counter.give(quantity="1", product={"system": PZN_SYSTEM, "code": "01234567"})
    counter.give(quantity="2", product={"system": "http://www.whocc.no/atc", "code": "J01CA04"})
    counter.book()
    assert [row.quantity for row in counter.movements()] == [-1, -2]


def test_product_of_a_line_stands_before_what_was_prescribed(counter):
    one = counter.ward.routed(refills(code=counter.coding))
    dispense(counter.ward, one, lines=[line(one, quantity="21", lot_number="A1", product=counter.coding)])
    counter.book()
    assert (counter.on_hand(), [row.code for row in counter.bookings()]) == (79, [counter.gtin])


def test_substance_with_the_same_lot_of_two_products_is_ambiguous():
    counter = Counter(classifications={"atc": "J01CA04"})
    second = counter.supplier.product(tracking="lot", classifications={"atc": "J01CA04"})
    counter.supplier.offer(second, to=[counter.clerk])
    counter.receive(50, product=second)
    counter.give(product={"system": "http://www.whocc.no/atc", "code": "J01CA04"})
    counter.book()
    assert (counter.unbooked(), counter.on_hand()) == ("ambiguous_product", 150)


def test_goods_without_lots_are_taken_from_their_only_level():
    counter = Counter(quantity=0, tracking="none", kind="consumable")
    counter.receive(50, lot="")
    counter.give(lot="whatever")
    counter.give(lot=None)
    counter.book()
    assert (counter.on_hand(), [row.status for row in counter.bookings()]) == (8, ["booked", "booked"])


def test_volume_is_taken_of_goods_that_are_counted_by_it():
    counter = Counter(base_unit="MLT")
    counter.give(unit="mL")
    counter.give(unit="tablet")
    counter.book()
    assert [(row.status, row.reason) for row in counter.bookings()] == [("booked", ""), ("unbooked", "unit_mismatch")]


def test_own_product_of_a_pharmacy_that_sells():
    counter = Counter(quantity=0, also=("supplier",))
    own = shelves.Shelf(counter.ward.pharmacy.tenant, counter.ward.pharmacy.join("supplier_admin"))
    gtin = products.gtin()
    made = own.product(
        tracking="lot", packagings=[products.packaging(gtin=gtin)], national_codes=[{"system": "PZN", "value": "7"}]
    )
    counter.receive(40, product=made)
    counter.give(product={"system": GTIN_SYSTEM, "code": gtin})
    counter.give(quantity="9", product={"system": PZN_SYSTEM, "code": "7"})
    counter.book()
    assert (counter.on_hand(), [row.status for row in counter.bookings()]) == (10, ["booked", "booked"])
    assert broken(counter) == []


@pytest.mark.parametrize(
    ("system", "code", "keys"),
    [
        (PZN_SYSTEM, "01234567", {"PZN 01234567", f"{PZN_SYSTEM.upper()} 01234567"}),
        ("http://hl7.org/fhir/sid/ndc", "0777-3105-02", {"NDC 0777-3105-02", "HTTP://HL7.ORG/FHIR/SID/NDC 0777-3105-02"}),
        ("pzn", "1", {"PZN 1"}), ("", "", set()), ("http://www.whocc.no/atc", "J01", {"HTTP://WWW.WHOCC.NO/ATC J01"}),
    ],
)  # fmt: skip
def test_systems_have_short_names(system, code, keys):
    given = {"id": "0197b0c8-7b7e-7000-8000-000000000001", "product": {"system": system, "code": code}}
    assert set(line_of(given | {"lot_number": None, "quantity": "1", "unit": "EA"}).keys) == keys


# -- races -------------------------------------------------------------------------------------------------------------


def test_facts_that_are_handled_at_once_in_any_order_are_booked_once(counter):
    made = [counter.give(quantity="1") for _ in range(4)]
    for one, given in made[:2]:
        counter.reverse(one, given)
    events = counter.events() * 3
    random.Random(7).shuffle(events)

    def work(event):
        try:
            book_dispensing(event)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, events))
    assert sorted(row.status for row in counter.bookings()) == ["booked"] * 2 + ["reversed"] * 2
    assert counter.on_hand() == 98
    assert broken(counter) == []


# -- proof -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        "UPDATE suppliers_dispensebooking SET base_quantity = base_quantity + 1 WHERE tenant_id = %s",
        "UPDATE suppliers_dispensebooking SET status = 'reversed' WHERE tenant_id = %s",
        "UPDATE suppliers_dispensebooking SET movement_id = gen_random_uuid() WHERE tenant_id = %s",
    ],
)
def test_planted_fault_of_a_booking_is_found(counter, fault):
    counter.give()
    counter.book()
    with tenant_context(counter.id), connection.cursor() as cursor:
        cursor.execute(fault, [counter.id])
    assert {one.table for one in broken(counter)} == {"suppliers_dispensebooking"}


def test_stock_of_others_is_not_in_reach(counter):
    counter.give()
    stranger = Counter(quantity=0)
    for event in counter.events():
        book_dispensing(event)
    assert (stranger.bookings(), stranger.on_hand()) == ([], 0)
    answer = stranger.clerk.api.get(f"/v1/inventory/movements?reference={counter.movements()[0].reference_id}")
    assert answer.json()["data"]["items"] == []
    refused(stranger.clerk.api.get(f"/v1/inventory/levels/{counter.movements()[0].level_id}"), 404, "not_found")
