"""A trade brought to where something is to meet: received goods, invoices, payments, returns; every round has an order of its own."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from uuid import UUID

from core.db import tenant_context
from core.invariants import breaches
from suppliers.inventory.models import StockLevel
from suppliers.invoices.models import Invoice
from tests import factories
from tests.factories import Api
from tests.suppliers.orders.proof.fair import INVOICES, PAYMENTS, RETURNS, Buyer, Fair, asked, billing, fair, paying
from tests.suppliers.orders.proof.market import receive
from tests.suppliers.orders.proof.meeting import client

UNITS = 120  # ten packs of twelve, at 4.905
GROSS = Decimal("49.05")
PER_UNIT = Decimal("0.40875")


def done(answer: Any) -> dict[str, Any]:
    """Return the object of an answer that is no refusal."""
    assert answer.status_code in (200, 201), answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


@dataclass
class Stage:
    """The parties, and short ways to bring an order somewhere."""

    fair: Fair
    house: Buyer

    def payer(self) -> Api:
        """Return a further client of the member that settles invoices and pays."""
        return client(self.house.finance)

    def seller(self) -> Api:
        """Return a further client of the supplier."""
        return client(self.fair.shelf.api)

    def shipped(self) -> tuple[UUID, UUID]:
        """Order eleven packs and let ten leave, so that the order stays open; return the order and the delivery."""
        order = UUID(done(self.fair.order(self.house, "EUR", 11))["id"])
        done(self.fair.ship(self.house, order, UNITS))
        return order, self.house.deliveries("in_transit")[-1].id

    def received(self) -> tuple[UUID, UUID]:
        """The same, and all of it accepted."""
        order, delivery = self.shipped()
        self.take(delivery, UNITS)
        return order, delivery

    def take(self, delivery: UUID, *units: int) -> None:
        """Accept so many base units of each line of a delivery."""
        lines = [
            {"delivery_line_id": str(line.id), "accepted_quantity": many}
            for line, many in zip(self.house.goods(delivery), units, strict=True)
        ]
        done(receive(self.house, delivery, *lines))

    def part(self, delivery: UUID) -> str:
        """Return the line of a delivery."""
        return str(self.house.goods(delivery)[0].id)

    def line(self, order: UUID, units: int = UNITS) -> dict[str, Any]:
        """Return a line of an invoice or credit note at the ordered price, without tax."""
        return billing(self.house.lines(order)[0], units, tax_category="Z", tax_rate="0")

    def invoiced(self, order: UUID, *acts: str) -> str:
        """Issue an invoice for all, and take acts of the hospital; return its id."""
        key: str = done(self.fair.bill(order, self.line(order)))["id"]
        for one in acts:
            done(asked(self.house.finance, INVOICES, key, one))
        return key

    def approved(self) -> tuple[UUID, str]:
        """Return an order that was received, and its invoice, which is released."""
        order, _ = self.received()
        return order, self.invoiced(order, "approve")

    def note(self, order: UUID, invoice: str, units: int) -> dict[str, Any]:
        """Return the body of a credit note."""
        return {
            "invoice_number": f"C-{factories.suffix()}", "issue_date": "2026-11-03", "type": "credit_note",
            "original_invoice_id": invoice, "lines": [self.line(order, units)],
        }  # fmt: skip

    def pays(self, *parts: tuple[str, Decimal], sources: Any = ()) -> dict[str, Any]:
        """Return the body of a payment."""
        return paying(self.house, self.fair.shelf.id, "EUR", parts, sources)

    def paid(self, *parts: tuple[str, Decimal], outcome: str = "succeeded") -> str:
        """Pay; return the payment's id."""
        key: str = done(self.house.finance.post(PAYMENTS, json=self.pays(*parts)))["id"]
        if outcome:
            done(asked(self.house.finance, PAYMENTS, key, "confirm", status=outcome))
        return key

    def back(self, delivery: UUID, units: int, *, to: str = "received") -> str:
        """Let goods go back to the supplier, as far as a state; return the return's id."""
        line = {"delivery_line_id": self.part(delivery), "quantity": units, "unit": "base", "reason_code": "quality"}
        key: str = done(self.house.trade.api.post(RETURNS, json={"delivery_id": str(delivery), "lines": [line]}))["id"]
        buyer, seller = self.house.trade.api, self.fair.shelf.api
        steps = [(seller, "authorize", {}), (buyer, "ship", {}), (seller, "receive", {"location_id": self.fair.apart})]
        for api, action, body in steps[: ("requested", "authorized", "in_transit", "received").index(to)]:
            done(asked(api, RETURNS, key, action, **body))
        return key

    def inspected(self, key: str, disposition: str = "destroy") -> dict[str, Any]:
        """Return the body of an inspection of all goods of a return."""
        (line,) = self.house.returned(UUID(key))
        given = {"return_line_id": str(line.id), "disposition": disposition}
        return {"lines": [given], "credit_note_number": f"C-{factories.suffix()}"}

    def money(self, key: str) -> tuple[str, Decimal, Decimal, Decimal, Decimal]:
        """Return of an invoice: status, credited, held, paid, due."""
        with tenant_context(self.house.id):
            row = Invoice.objects.get(tenant_id=self.house.id, pk=key)
        return str(row.status), row.credited_total, row.held_total, row.paid_total, row.balance_due

    def apart(self) -> int:
        """Return what the supplier has set apart."""
        with tenant_context(self.fair.shelf.id):
            held = StockLevel.objects.filter(tenant_id=self.fair.shelf.id, location_id=self.fair.apart)
            return sum(one.on_hand for one in held)

    def sound(self) -> None:
        """Require that every rule holds on both sides."""
        for side in self.fair.sides:
            assert [*breaches(side.id)] == []


def worth(units: int) -> Decimal:
    """Return the net of so many base units, half up."""
    return (PER_UNIT * units).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def stage() -> Stage:
    """Make parties that trade in euros."""
    made = fair(houses=1, currencies=("EUR",))
    return Stage(made, made.buyers[0])
