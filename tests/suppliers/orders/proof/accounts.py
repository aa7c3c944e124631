"""What every invoice owes, by arithmetic of its own: fractions and rounding, from what both parties were answered.

Nothing of the product is called here but the exponents of currencies. Source: contract, supply.md 4 and supply-invoice.md 2 to 4.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from core.money import minor_units

ENDED, RELEASED = ("rejected", "cancelled"), ("approved", "partially_paid", "paid")
HOLDING = ("pending", "processing")


def rounded(value: Fraction, currency: str) -> Decimal:
    """Round half up to what the currency has."""
    places = minor_units(currency)
    return Decimal((2 * value.numerator * 10**places + value.denominator) // (2 * value.denominator)).scaleb(-places)


def has_places(text: str, currency: str) -> bool:
    """Tell whether an amount is written with the decimals of its currency."""
    return len(text.partition(".")[2]) == minor_units(currency)


@dataclass
class Item:
    """A line of an invoice: what it bills, and what credit notes have taken off."""

    order_line: str
    delivery_line: str | None
    units: int
    price: Fraction  # of one base unit
    net: Decimal
    credited: int = 0
    credited_net: Decimal = Decimal(0)


@dataclass
class Bill:
    """An invoice with what was credited of it."""

    key: str
    house: Any
    order: str
    currency: str
    net: Decimal
    gross: Decimal
    items: list[Item]
    credited: Decimal = Decimal(0)
    noted: Decimal = Decimal(0)  # the nets of its credit notes


@dataclass
class Till:
    """A payment: what it pays, and whose credit it uses."""

    key: str
    house: Any
    currency: str
    status: str
    parts: list[tuple[str, Decimal]]
    sources: list[tuple[str, Decimal]] = field(default_factory=list)


def price_of(line: Mapping[str, Any]) -> Fraction:
    """Return what one base unit of a line of an invoice costs."""
    return Fraction(line["unit_price"]) / (line["price_base_quantity"] * line["units_per_pack"])


def added_up(found: Mapping[str, Any]) -> None:
    """Require that the totals of an invoice or credit note are the sums of its lines, and tax is of each group."""
    currency = found["currency"]
    amounts = [found[name] for name in ("net_total", "tax_total", "gross_total", "credited_total", "paid_total")]
    lines = found["lines"]
    assert all(has_places(one, currency) for one in [*amounts, *(line["line_total"] for line in lines)]), found
    net = sum((Decimal(one["line_total"]) for one in lines), Decimal(0))
    groups = defaultdict[tuple[Any, ...], Decimal](Decimal)
    for one in lines:
        groups[one["tax_category"], one["tax_rate"]] += Decimal(one["line_total"])
    for sign, name in ((1, "charges"), (-1, "allowances")):
        for entry in found[name]:
            net += sign * Decimal(entry["amount"])
            groups[entry["tax_category"] or None, entry["tax_rate"]] += sign * Decimal(entry["amount"])
    taxes = [rounded(Fraction(sum_) * Fraction(rate) / 100, currency) for (_, rate), sum_ in groups.items()]
    tax = sum(taxes, Decimal(0))
    assert [Decimal(one) for one in amounts[:3]] == [net, tax, net + tax], found


class Accounts:
    """All invoices and payments of a walk."""

    def __init__(self) -> None:
        self.bills: dict[str, Bill] = {}
        self.notes: dict[str, Mapping[str, Any]] = {}
        self.tills: dict[str, Till] = {}

    def issue(self, house: Any, found: Mapping[str, Any]) -> None:
        """Take an invoice in."""
        added_up(found)
        items = []
        for one in found["lines"]:
            price, net = price_of(one), Decimal(one["line_total"])
            assert net == rounded(price * one["base_quantity"], found["currency"]) - Decimal(one["allowance"]), one
            items.append(Item(one["order_line_id"], one["delivery_line_id"], one["base_quantity"], price, net))
        key = found["id"]
        net, gross = Decimal(found["net_total"]), Decimal(found["gross_total"])
        self.bills[key] = Bill(key, house, found["purchase_order_id"], found["currency"], net, gross, items)

    def credit(self, found: Mapping[str, Any]) -> None:
        """Take a credit note off its invoice, line by line; the last units take what is left of their line."""
        added_up(found)
        bill = self.bills[found["original_invoice_id"]]
        assert found["currency"] == bill.currency
        for one in found["lines"]:
            item = self.place(bill, one["order_line_id"], one["delivery_line_id"], price_of(one), one["base_quantity"])
            assert item is not None, one
            self._take(bill, item, price_of(one), one["base_quantity"], Decimal(one["line_total"]))
        bill.noted += Decimal(found["net_total"])
        assert bill.noted <= bill.net
        # What rounding the tax of each note has made too much is not more than the invoice asked for.
        sum_ = bill.credited + Decimal(found["gross_total"])
        bill.credited = bill.gross if bill.noted == bill.net else min(sum_, bill.gross)
        self.notes[found["id"]] = found

    def _take(self, bill: Bill, item: Item, price: Fraction, units: int, net: Decimal) -> None:
        left = item.net - item.credited_net
        asked = rounded(price * units, bill.currency)
        if price == item.price:
            item.credited += units
            assert net == (left if item.credited == item.units else min(asked, left)), (net, asked, left)
        else:
            assert net == asked <= left
        item.credited_net += net
        assert item.credited <= item.units

    def place(self, bill: Bill, order_line: str, delivery_line: str | None, price: Fraction, units: int) -> Item | None:
        """Return the line that a credit is counted in: of its own delivery and price before any other that has enough left."""
        fit = [
            one for one in bill.items
            if one.order_line == order_line and delivery_line in (None, one.delivery_line)
            and units <= one.units - one.credited
            and (price == one.price or rounded(price * units, bill.currency) <= one.net - one.credited_net)
        ]  # fmt: skip
        return min(fit, key=lambda one: (one.delivery_line != delivery_line, one.price != price), default=None)

    def sum_of(self, key: str, *states: str) -> Decimal:
        """Return what payments in some states pay of an invoice."""
        return self._sum(key, (one.parts for one in self.tills.values() if one.status in states))

    def used(self, key: str) -> Decimal:
        """Return how much credit of an invoice pays others."""
        return self._sum(key, (one.sources for one in self.tills.values() if one.status == "succeeded"))

    def _sum(self, key: str, parts: Iterable[list[tuple[str, Decimal]]]) -> Decimal:
        return sum((amount for of in parts for invoice, amount in of if invoice == key), Decimal(0))

    def balances(self, key: str) -> tuple[Decimal, Decimal, Decimal, Decimal]:
        """Return of an invoice: credited, held, paid, offset."""
        bill = self.bills[key]
        return bill.credited, self.sum_of(key, *HOLDING), self.sum_of(key, "succeeded"), self.used(key)

    def due(self, key: str) -> Decimal:
        """Return what is to be paid of an invoice; less than nothing is credit."""
        credited, _, paid, offset = self.balances(key)
        return self.bills[key].gross - credited - paid + offset

    def payable(self, key: str) -> Decimal:
        """Return how much a new payment may hold."""
        credited, held, paid, _ = self.balances(key)
        return self.bills[key].gross - credited - paid - held

    def invoiced(self, order_line: str, ended: set[str]) -> int:
        """Return how many base units of a line of an order are billed, less what was credited."""
        bills = [one for one in self.bills.values() if one.key not in ended]
        return sum(it.units - it.credited for one in bills for it in one.items if it.order_line == order_line)
