"""Steps of a walk with goods that go back: requested, authorized, shipped, received, inspected twice, credited or replaced."""

from typing import Any

from hypothesis import strategies as st

from suppliers.invoices.models import Invoice
from tests import factories
from tests.suppliers.orders.proof.fair import INVOICES, RETURNS, asked
from tests.suppliers.orders.proof.goods_walk import PICK, WHO
from tests.suppliers.orders.proof.walking import Walk, act

KEPT = ("restock", "quarantine", "destroy", "return_to_manufacturer")


class ReturnWalk(Walk):
    """What a hospital sends back, and what the supplier makes of it."""

    @act(
        who=WHO, number=PICK, share=st.integers(1, 5), both=st.booleans(), times=3,
        resolution=st.sampled_from(["credit", "credit", "credit", "replacement", "repair"]),
        kind=st.sampled_from(["return", "return", "recall"]),
    )  # fmt: skip
    def request(self, who: int, number: int, share: int, both: bool, resolution: str, kind: str) -> None:
        """Ask to send some quarters of what is left back; five of them are too much."""
        house = self.house(who)
        found = [
            (one.id, parts)
            for one in house.deliveries("partially_received", "completed")
            if (parts := [it for it in house.goods(one.id) if it.accepted > it.returned])
        ]
        if not found:
            return
        key, parts = found[number % len(found)]
        lines = []
        for part in parts if both else parts[:1]:
            left = part.accepted - part.returned
            units = left + 1 if share == 5 else -(-left * share // 4)
            lines.append(
                {"delivery_line_id": str(part.id), "quantity": units, "unit": "base", "reason_code": "quality"}
            )
        body = {"delivery_id": str(key), "lines": lines, "resolution": resolution, "type": kind}
        expected = "return_exceeds_received" if share == 5 else ""
        made = self.send("request", lambda: house.trade.api.post(RETURNS, json=body), expected)
        if made:
            self.touched["return"] = (house, made["id"])

    @act(who=WHO, number=PICK, declines=st.integers(0, 4), times=2)
    def authorize(self, who: int, number: int, declines: int) -> None:
        house = self.house(who)
        if row := self.pick("return", house, house.returns(*(("requested",) if number % 8 else ())), number):
            body = {} if declines else {"decision": "declined", "reason": "Not ours"}
            expected = "" if row.status == "requested" else "invalid_transition"
            self.send("authorize", lambda: asked(self.fair.shelf.api, RETURNS, row.id, "authorize", **body), expected)

    @act(who=WHO, number=PICK, cancels=st.integers(0, 5), times=3)
    def hand_over(self, who: int, number: int, cancels: int) -> None:
        house, action = self.house(who), "ship" if cancels else "cancel"
        if row := self.pick("return", house, house.returns(*(("authorized",) if number % 8 else ())), number):
            fits = row.status == "authorized" or (row.status == "requested" and action == "cancel")
            # What a supplier never got may be asked to go back once more, though it has left the shelves.
            expected = None if fits and house.id in self.lost else "" if fits else "invalid_transition"
            self.send(action + " back", lambda: asked(house.trade.api, RETURNS, row.id, action), expected)

    @act(who=WHO, number=PICK, less=st.integers(0, 4), times=3)
    def take_back(self, who: int, number: int, less: int) -> None:
        house = self.house(who)
        if row := self.pick("return", house, house.returns(*(("in_transit",) if number % 8 else ())), number):
            body: dict[str, Any] = {"location_id": self.fair.apart}
            if not less:
                one = house.returned(row.id)[0]
                body["lines"] = [{"return_line_id": str(one.id), "quantity": one.base_quantity // 2, "unit": "base"}]
            expected = "" if row.status == "in_transit" else "invalid_transition"
            self.send("take back", lambda: asked(self.fair.shelf.api, RETURNS, row.id, "receive", **body), expected)

    @act(who=WHO, number=PICK, ways=st.tuples(st.sampled_from(KEPT), st.sampled_from(KEPT)), times=4)
    def inspect(self, who: int, number: int, ways: tuple[str, str]) -> None:
        """Say what becomes of goods: half of them one thing, half another; what has not come back was not received."""
        house = self.house(who)
        row = self.pick("return", house, house.returns("received"), number)
        if row is None:
            return
        lines, kept = list[dict[str, Any]](), dict[str, int]()
        for one in house.returned(row.id):
            there = one.received or 0
            parts = [(ways[0], there // 2), (ways[1], there - there // 2), ("not_received", one.base_quantity - there)]
            lines += [self._line(one, disposition, units) for disposition, units in parts if units]
            kept[str(one.order_line_id)] = kept.get(str(one.order_line_id), 0) + there
        body = {"lines": lines, "credit_note_number": f"C-{factories.suffix()}"}
        # Whatever was invoiced, paid or credited before: goods that are back are booked.
        if self.send("inspect", lambda: asked(self.fair.shelf.api, RETURNS, row.id, "inspect", **body), ""):
            if any(one["disposition"] == "not_received" for one in lines):
                self.lost.add(house.id)
            for line, units in kept.items():
                self.returned[line] = self.returned.get(line, 0) + units
            self._noted(house)

    def _line(self, one: Any, disposition: str, units: int) -> dict[str, Any]:
        found = {"return_line_id": str(one.id), "disposition": disposition, "quantity": units, "unit": "base"}
        return found | ({"location_id": self.fair.depot} if disposition == "restock" else {})

    def _noted(self, house: Any) -> None:
        """Take the credit notes in that an inspection has made."""
        known = {*self.accounts.bills, *self.accounts.notes}
        for one in self.invoices_of(house):
            if one not in known:
                self.accounts.credit(house.finance.get(f"{INVOICES}/{one}").json()["data"])

    def invoices_of(self, house: Any) -> list[str]:
        """Return all invoices and credit notes of a hospital by their ids, in the order of their numbers."""
        return [str(one.id) for one in house.rows(Invoice)]

    @act(who=WHO, number=PICK, way=st.sampled_from(["restock", "destroy"]))
    def move_on(self, who: int, number: int, way: str) -> None:
        """Goods in quarantine come to something else; nobody is credited again."""
        house = self.house(who)
        if row := self.pick("return", house, house.returns("completed"), number):
            lines = [self._line(one, way, one.quarantined) for one in house.returned(row.id) if one.quarantined]
            if lines:
                api = self.fair.shelf.api
                self.send("move on", lambda: asked(api, RETURNS, row.id, "inspect", lines=lines), "")
