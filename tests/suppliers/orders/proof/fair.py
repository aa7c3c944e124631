"""A supplier and two hospitals that trade in currencies of 0, 2, 3 and 4 decimals, down to the last payment and return."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from core.db import tenant_context
from suppliers.invoices.models import Invoice, InvoiceLine
from suppliers.payments.models import Payment
from suppliers.returns.models import Return, ReturnLine
from tests import factories
from tests.factories import Api, as_member
from tests.procurement.approvals.desk import Desk
from tests.procurement.purchasing.orders import PATH as ORDERS_OF_BUYER
from tests.procurement.purchasing.orders import Trade, price, ward
from tests.suppliers.deliveries.receiving.arrivals import place
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import Shelf
from tests.suppliers.invoices.bills import PATH as INVOICES
from tests.suppliers.orders.proof.market import EXPIRY, House, Market
from tests.suppliers.payments.tills import PATH as PAYMENTS
from tests.suppliers.returns.backs import PATH as RETURNS

MONEY = ("JPY", "EUR", "BHD", "CLF")
ISSUED = "2026-11-02"
_PRICES = {
    "JPY": ("333.5", "41"), "EUR": ("4.905", "0.333333"), "BHD": ("1.4905", "0.1115"), "CLF": ("0.11115", "0.00335"),
}  # fmt: skip


@dataclass
class Buyer(House):
    """A hospital whose members also settle invoices, pay, and send goods back."""

    finance: Api

    def rows(self, model: Any, **by: Any) -> list[Any]:
        """Return rows of the hospital, in the order in which they were made."""
        with tenant_context(self.id):
            return [*model.objects.filter(tenant_id=self.id, **by).order_by("created_at", "id")]

    def invoices(self, *states: str) -> list[Invoice]:
        """Return the invoices, without credit notes, in some states or all."""
        found = [one for one in self.rows(Invoice) if not one.is_credit_note]
        return [one for one in found if not states or str(one.status) in states]

    def payments(self, *states: str) -> list[Payment]:
        """Return the payments in some states."""
        return self.rows(Payment, **({"status__in": states} if states else {}))

    def returns(self, *states: str) -> list[Return]:
        """Return the returns in some states."""
        return self.rows(Return, **({"status__in": states} if states else {}))

    def returned(self, key: UUID) -> list[ReturnLine]:
        """Return the lines of a return."""
        with tenant_context(self.id):
            return [*ReturnLine.objects.filter(tenant_id=self.id, document_id=key).order_by("line_no")]

    def billed(self, key: Any) -> list[InvoiceLine]:
        """Return the lines of an invoice."""
        with tenant_context(self.id):
            return [*InvoiceLine.objects.filter(tenant_id=self.id, invoice_id=key).order_by("line_no")]


@dataclass
class Fair(Market):
    """The supplier with a place of quarantine, and the hospitals."""

    apart: str = ""
    buyers: list[Buyer] = field(default_factory=list)

    def goods(self, currency: str) -> list[dict[str, Any]]:
        """Return what is sold in a currency: gloves in packs of twelve, and vials in lots."""
        first = 2 * MONEY.index(currency)
        return self.products[first : first + 2]

    def order(self, house: Buyer, currency: str, *quantities: int) -> Any:
        """Let a hospital order so many packs of each of the goods, and the supplier accept it; return the last answer."""
        lines = [*zip(self.goods(currency), quantities, strict=False)]
        made = house.trade.draft(*lines, currency=currency)
        sent = house.trade.api.post(f"{ORDERS_OF_BUYER}/{made['id']}/submit", json={})
        assert sent.status_code == 200, sent.content
        return self.seller(made["id"], "accept")

    def ship(self, house: Buyer, order: UUID, *quantities: int) -> Any:
        """Let so many base units of each line leave."""
        lines = [
            {"order_line_id": str(line.id), "unit": "base", "quantity": units}
            for line, units in zip(house.lines(order), quantities, strict=False)
            if units > 0
        ]
        body = {"from_location_id": self.depot, "lines": lines, "dispatched_at": "2026-11-01T08:00:00Z"}
        return self.seller(order, "shipments", **body)

    def bill(self, order: UUID, *lines: dict[str, Any], **more: Any) -> Any:
        """Let the supplier issue an invoice or credit note."""
        body = {"invoice_number": f"I-{factories.suffix()}", "issue_date": ISSUED, "lines": [*lines]} | more
        return self.seller(order, "invoices", **body)


def billing(line: Any, units: int, **more: Any) -> dict[str, Any]:
    """Return a line of an invoice at the price of a line of an order, or of an invoice."""
    key = getattr(line, "order_line_id", line.id)
    given = {"order_line_id": str(key), "quantity": units, "unit": "base", "unit_price": f"{line.unit_price:f}"}
    return given | {"price_base_quantity": line.price_base_quantity} | more


def asked(api: Api, base: str, key: Any, action: str = "", **body: Any) -> Any:
    """Ask for an action on an invoice, a payment or a return."""
    return api.post(f"{base}/{key}/{action}", json=body)


def paying(house: Buyer, supplier: UUID, currency: str, parts: Any, sources: Any = ()) -> dict[str, Any]:
    """Return the body of a payment of invoices by amounts; with sources it uses their credit."""
    named = [[{"invoice_id": str(key), "amount": f"{amount:f}"} for key, amount in of] for of in (parts, sources)]
    body = {
        "supplier_id": str(supplier), "currency": currency, "amount": f"{sum(amount for _, amount in parts):f}",
        "allocations": named[0],
    }  # fmt: skip
    return body | ({"method": "offset", "credit_sources": named[1]} if sources else {})


def _buyer(shelf: Shelf, products: list[dict[str, Any]]) -> Buyer:
    buyer = shelves.buyer()
    made = Trade(shelf, buyer, ward(buyer), products[0], products[1])
    clerk, finance = (as_member(buyer.tenant, [role]) for role in ("receiving_clerk", "finance"))
    return Buyer(made, Desk(made), [], clerk, place(buyer)["location_id"], finance)


def fair(*, houses: int = 2, currencies: tuple[str, ...] = MONEY) -> Fair:
    """Make a supplier that has plenty of everything, and hospitals."""
    shelf = shelves.shelf()
    depot, apart = shelf.place("Depot"), shelf.place("Quarantine", sellable=False)
    products: list[dict[str, Any]] = []
    for code in MONEY:
        if code not in currencies:
            products += [{}, {}]
            continue
        made = [shelf.product(units=12), shelf.product(name="Vials", units=10, tracking="lot")]
        for product, text in zip(made, _PRICES[code], strict=True):
            shelf.offer(product, currency=code, tiers=price((1, text)))
        shelf.stock(made[0], 1_000_000, place=depot)
        shelf.stock(made[1], 1_000_000, lot="L1", expiry=EXPIRY, place=depot)
        products += made
    buyers = [_buyer(shelf, products[2 * MONEY.index(currencies[0]) :]) for _ in range(houses)]
    return Fair(shelf, products, [*buyers], str(depot), apart=str(apart), buyers=buyers)


__all__ = ["INVOICES", "PAYMENTS", "RETURNS", "Buyer", "Fair", "asked", "billing", "fair", "paying"]
