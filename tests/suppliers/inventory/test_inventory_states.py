"""Thousands of random steps of a supplier and two buyers: movements sum to levels, promises to allocations, copies to rows.

Lots are held back, recalled and answered for; units with serial numbers come, move and go. One of the buyers keeps stock of its
own: it receives what it is offered, moves it, uses it up, and holds lots back, until the supplier recalls them.
"""

from collections import Counter
from contextlib import suppress
from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from core import clock
from core.db import tenant_context
from core.errors import InvalidTransition
from suppliers.inventory.items.models import StockItem
from suppliers.inventory.models import Allocation, Lot, Reservation, StockLevel, StockMovement
from suppliers.inventory.recalls.walking import walk_one
from suppliers.inventory.serial_models import Serial
from suppliers.inventory.sweeping import expire_reservations, tell_levels
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.recalls import LOTS, SAID, received, walk
from tests.suppliers.inventory.recalls import answer as answer_recall
from tests.suppliers.inventory.shelf import PATH, body, broken
from tests.suppliers.inventory.test_inventory import ADJUST, MOVE, line, place

FEW = st.integers(1, 9)


class Trade(RuleBasedStateMachine):
    """One supplier with three products at two places, and two buyers."""

    @initialize()
    def begin(self):
        self.shelf = shelves.shelf()
        self.shelf.settle(reservation_cap_percent=100)
        self.buyers = [shelves.buyer(roles=("buyer", "receiving_clerk")), shelves.buyer()]
        self.products = [self.shelf.product(units=2), self.shelf.product(tracking="lot")]
        self.places = [place(self.shelf), place(self.shelf)]
        self.pump = self.shelf.product(tracking="serial")
        for one in self.products:
            self.shelf.offer(one)
        self.held: list[tuple[int, str]] = []
        self.keeper = self.buyers[0]
        self.wards = [place(self.keeper), place(self.keeper)]

    def send(self, api, method, path, json=None):
        answer = api.call(method, path, json=json)
        assert answer.status_code in (200, 201, 204, 409), answer.content
        return answer

    def goods(self, which, lot):
        return (
            {"lot_number": f"L{lot}", "expiry_date": (date.today() + timedelta(days=lot - 2)).isoformat()}
            if which
            else {}
        )

    @rule(
        which=st.integers(0, 1),
        where=st.integers(0, 1),
        lot=st.integers(1, 4),
        quantity=st.integers(-9, 30).filter(bool),
    )
    def adjust(self, which, where, lot, quantity):
        given = line(
            self.products[which], self.places[where], quantity, reason_code="correction", **self.goods(which, lot)
        )
        self.send(self.shelf.api, "POST", ADJUST, {"lines": [given]})

    @rule(which=st.integers(0, 1), where=st.integers(0, 1), lot=st.integers(1, 4), left=FEW, breaks=st.booleans())
    def count(self, which, where, lot, left, breaks):
        with tenant_context(self.shelf.id):
            rows = StockLevel.objects.filter(
                tenant_id=self.shelf.id, product_id=self.products[which]["id"], location_id=self.places[where]["id"]
            )
            rows = rows.filter(lot__lot_number=f"L{lot}") if which else rows
            now = rows.values_list("on_hand", flat=True).first() or 0
        given = line(
            self.products[which], self.places[where], left, mode="set", expected_quantity=now, reason_code="count"
        )
        given |= self.goods(which, lot) | {"on_reserved": "break" if breaks else "reject"}
        self.send(self.shelf.api, "POST", ADJUST, {"lines": [given]})

    @rule(which=st.integers(0, 1), where=st.integers(0, 1), lot=st.integers(1, 4), quantity=FEW)
    def transfer(self, which, where, lot, quantity):
        goods = {"lot_number": f"L{lot}"} if which else {}
        given = {
            "from_location_id": self.places[where]["id"], "to_location_id": self.places[1 - where]["id"],
            "lines": [{"product_id": self.products[which]["id"], "quantity": quantity} | goods],
        }  # fmt: skip
        self.send(self.shelf.api, "POST", MOVE, given)

    @rule(who=st.integers(0, 1), some=st.lists(st.tuples(st.integers(0, 1), FEW), min_size=1, max_size=3))
    def reserve(self, who, some):
        given = body(self.shelf, *((self.products[which], quantity) for which, quantity in some))
        answer = self.send(self.buyers[who].api, "POST", PATH, given)
        if answer.status_code == 201:
            self.held += [(who, one["id"]) for one in answer.json()["data"]["items"]]

    @rule(number=st.integers(0, 99), extends=st.booleans())
    def end_or_extend(self, number, extends):
        if self.held:
            who, key = self.held[number % len(self.held)]
            api = self.buyers[who].api
            self.send(
                api, *(("PATCH", f"{PATH}/{key}", {"ttl_seconds": 900}) if extends else ("DELETE", f"{PATH}/{key}"))
            )

    @rule(number=st.integers(0, 99))
    def lapse(self, number):
        if self.held:
            key, over = self.held[number % len(self.held)][1], clock.now() - timedelta(seconds=1)
            with tenant_context(self.shelf.id):
                mine = {"tenant_id": self.shelf.id}
                if Reservation.objects.filter(**mine, id=key, status="active").update(expires_at=over):
                    Allocation.objects.filter(**mine, reservation_id=key).update(expires_at=over)

    @rule(lot=st.integers(1, 4), status=st.sampled_from(["released", "quarantined", "recalled"]))
    def turn_lot(self, lot, status):
        """Hold back, release, recall, and withdraw the recall."""
        with tenant_context(self.shelf.id):
            row = Lot.objects.filter(tenant_id=self.shelf.id, lot_number=f"L{lot}").first()
        if row:
            given = {"status": status, "reason": "test"} | ({"recall": SAID} if status == "recalled" else {})
            self.send(self.shelf.api, "PATCH", f"{LOTS}/{row.id}", given)

    @rule(most=st.integers(1, 3))
    def walk(self, most):
        for _ in range(most):
            walk_one(self.shelf.id, clock.now())

    @rule(who=st.integers(0, 1), found=FEW, disposed=FEW, closed=st.booleans())
    def answer(self, who, found, disposed, closed):
        for copy in received(self.buyers[who])[-1:]:
            with suppress(InvalidTransition):  # the recall was withdrawn
                answer_recall(
                    self.buyers[who],
                    copy.id,
                    quantity_found=found + disposed,
                    quantity_disposed=disposed,
                    closed=closed,
                )

    @rule(
        which=st.integers(0, 1),
        where=st.integers(0, 1),
        lot=st.integers(1, 4),
        quantity=st.integers(-9, 9).filter(bool),
    )
    def keep(self, which, where, lot, quantity):
        """The buyer receives or uses up; nothing comes of a lot whose origin is recalled."""
        reason = "receipt" if quantity > 0 else "sample"
        given = line(self.products[which], self.wards[where], quantity, reason_code=reason, **self.goods(which, lot))
        is_recalled = which and self.status_of(self.shelf, lot) == "recalled"
        answer = self.send(self.keeper.api, "POST", ADJUST, {"lines": [given]})
        assert not (is_recalled and quantity > 0 and answer.status_code == 201)

    @rule(which=st.integers(0, 1), where=st.integers(0, 1), lot=st.integers(1, 4), quantity=FEW)
    def carry(self, which, where, lot, quantity):
        """The buyer moves goods between its places, once it holds some."""
        with tenant_context(self.keeper.id):
            if not StockItem.objects.filter(tenant_id=self.keeper.id, id=self.products[which]["id"]).exists():
                return
        goods = {"lot_number": f"L{lot}"} if which else {}
        given = {
            "from_location_id": self.wards[where]["id"], "to_location_id": self.wards[1 - where]["id"],
            "lines": [{"product_id": self.products[which]["id"], "quantity": quantity} | goods],
        }  # fmt: skip
        self.send(self.keeper.api, "POST", MOVE, given)

    @rule(lot=st.integers(1, 4), status=st.sampled_from(["released", "quarantined"]))
    def turn_own_lot(self, lot, status):
        """The buyer holds back and releases, but not what its supplier has recalled."""
        with tenant_context(self.keeper.id):
            row = Lot.objects.filter(tenant_id=self.keeper.id, lot_number=f"L{lot}").first()
        if row is None:
            return
        origin = self.status_of(self.shelf, lot) if row.origin_lot_id else "released"
        answer = self.send(self.keeper.api, "PATCH", f"{LOTS}/{row.id}", {"status": status, "reason": "test"})
        assert answer.status_code != 200 or "recalled" not in (row.status, origin) or row.status == status

    def status_of(self, side, lot):
        with tenant_context(side.id):
            found = Lot.objects.filter(tenant_id=side.id, lot_number=f"L{lot}", product_id=self.products[1]["id"])
            return found.values_list("status", flat=True).first()

    @rule(where=st.integers(0, 1), numbers=st.sets(st.sampled_from("ABCDEF"), min_size=1), leaves=st.booleans())
    def move_units(self, where, numbers, leaves):
        quantity = -len(numbers) if leaves else len(numbers)
        given = line(self.pump, self.places[where], quantity, serial_numbers=sorted(numbers), reason_code="correction")
        self.send(self.shelf.api, "POST", ADJUST, {"lines": [given]})

    @rule(where=st.integers(0, 1), numbers=st.sets(st.sampled_from("ABCDEF"), min_size=1))
    def transfer_units(self, where, numbers):
        given = {
            "from_location_id": self.places[where]["id"], "to_location_id": self.places[1 - where]["id"],
            "lines": [{"product_id": self.pump["id"], "quantity": len(numbers), "serial_numbers": sorted(numbers)}],
        }  # fmt: skip
        self.send(self.shelf.api, "POST", MOVE, given)

    @rule(where=st.integers(0, 1), numbers=st.sets(st.sampled_from("ABCDEF")))
    def count_units(self, where, numbers):
        with tenant_context(self.shelf.id):
            rows = StockLevel.objects.filter(tenant_id=self.shelf.id, product_id=self.pump["id"])
            rows = rows.filter(location_id=self.places[where]["id"])
            now = rows.values_list("on_hand", flat=True).first() or 0
        given = line(
            self.pump, self.places[where], len(numbers), mode="set", expected_quantity=now, reason_code="count"
        )
        self.send(self.shelf.api, "POST", ADJUST, {"lines": [given | {"serial_numbers": sorted(numbers)}]})

    @invariant()
    def units_are_where_they_are_counted(self):
        if not hasattr(self, "shelf"):
            return
        with tenant_context(self.shelf.id):
            mine = {"tenant_id": self.shelf.id}
            there = Counter(Serial.objects.filter(**mine, status="in_stock").values_list("level_id", flat=True))
            for row in StockLevel.objects.filter(**mine, product_id=self.pump["id"]):
                assert row.on_hand == there[row.id]
            for row in StockLevel.objects.filter(**mine):
                held = Allocation.objects.filter(**mine, level=row, status="active")
                assert 0 <= row.reserved <= row.on_hand
                assert row.reserved == sum(held.values_list("base_quantity", flat=True))

    @rule()
    def sweep(self):
        expire_reservations(at=clock.now())
        tell_levels(at=clock.now() + timedelta(seconds=2))

    @invariant()
    def levels_are_sums(self):
        if not hasattr(self, "shelf"):
            return
        for side in (self.shelf, self.keeper):
            with tenant_context(side.id):
                mine = {"tenant_id": side.id}
                moved: dict = {}
                for row in StockMovement.objects.filter(**mine):
                    moved[row.level_id] = moved.get(row.level_id, 0) + row.quantity
                for row in StockLevel.objects.filter(**mine):
                    assert row.on_hand == moved.get(row.id, 0)

    def origins_are_followed(self):
        """Once the walk is over, a buyer's lot is recalled exactly while its origin is."""
        with tenant_context(self.keeper.id):
            lots = list(Lot.objects.filter(tenant_id=self.keeper.id, origin_lot_id__isnull=False))
        with tenant_context(self.shelf.id):
            origins = {row.id: row.status for row in Lot.objects.filter(tenant_id=self.shelf.id)}
        for row in lots:
            assert (row.status == "recalled") == (origins[row.origin_lot_id] == "recalled")

    def teardown(self):
        if not hasattr(self, "shelf"):
            return
        with tenant_context(self.shelf.id):
            lapsed = set(
                Reservation.objects.filter(
                    tenant_id=self.shelf.id, status="active", expires_at__lte=clock.now()
                ).values_list("id", flat=True)
            )
        walk(self.shelf)
        self.origins_are_followed()
        found = broken(self.shelf, *self.buyers)
        assert [one for one in found if one.row_id not in lapsed] == []  # `lapse` goes round the writer of the copies


@pytest.mark.timeout(600)
def test_random_trade_keeps_its_books(long):
    run_state_machine_as_test(
        Trade,
        settings=settings(
            max_examples=60 if long else 4,
            stateful_step_count=50 if long else 25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
