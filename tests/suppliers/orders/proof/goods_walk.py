"""Steps of a walk with goods and bills: ordering, shipping, receiving, invoicing and crediting."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.suppliers.orders.proof.accounts import ENDED, Item, rounded
from tests.suppliers.orders.proof.fair import MONEY, Buyer, billing
from tests.suppliers.orders.proof.market import buy, receive
from tests.suppliers.orders.proof.walking import Walk, act

WHO, PICK, FEW = st.integers(0, 1), st.integers(0, 99), st.integers(1, 9)
TAXES = ("19", "7.7", "0")
UNDER_WAY = ("in_transit", "delivered", "partially_received")


class GoodsWalk(Walk):
    """What both do with goods, and with the bills of them."""

    @act(who=WHO, code=st.sampled_from(MONEY), much=FEW, more=FEW, times=2)
    def order(self, who: int, code: str, much: int, more: int) -> None:
        house = self.house(who)
        self.send("order", lambda: self.fair.order(house, code, much, more), "")

    @act(who=WHO, number=PICK, share=st.integers(1, 4), times=2)
    def ship(self, who: int, number: int, share: int) -> None:
        house = self.house(who)
        open_ = [
            (one.id, rests)
            for one in house.orders("accepted")
            if any(rests := [it.accepted - it.shipped + it.rejected + it.short for it in house.lines(one.id)])
        ]
        if open_:
            key, rests = open_[number % len(open_)]
            parts = [-(-rest * share // 4) for rest in rests]
            self.send("ship", lambda: self.fair.ship(house, key, *parts), "")

    @act(who=WHO, number=PICK, share=st.integers(1, 3), bad=st.integers(0, 5), gone=st.integers(0, 2), times=3)
    def receive(self, who: int, number: int, share: int, bad: int, gone: int) -> None:
        house = self.house(who)
        found = house.deliveries(*UNDER_WAY)
        if not found:
            return
        lines, one = list[dict[str, Any]](), found[number % len(found)]
        for part in house.goods(one.id):
            rest = part.base_quantity - part.accepted - part.rejected - part.short
            if rest > 0:
                spoiled = min(max(0, bad - 3), rest)
                lost = min(max(0, gone - 1), rest - spoiled)
                said = {"rejection_reason": "damaged"} if spoiled else {}
                lines.append({"delivery_line_id": str(part.id), "accepted_quantity": -(-(rest - spoiled - lost) * share // 3),
                              "rejected_quantity": spoiled, "short_quantity": lost, **said})  # fmt: skip
        self.send("receive", lambda: receive(house, one.id, *lines), "")

    @act(who=WHO, number=PICK)
    def reverse(self, who: int, number: int) -> None:
        house = self.house(who)
        if found := house.receipts():
            one = found[number % len(found)]
            self.send("reverse", lambda: receive(house, one.delivery_id, reverses=str(one.id)))

    @act(who=WHO, number=PICK, how=st.sampled_from(["remainder", "close"]))
    def end(self, who: int, number: int, how: str) -> None:
        house = self.house(who)
        found = house.orders("accepted")
        if found and number % 4 == 0:
            key = found[number // 4 % len(found)].id
            action, body = ("close", {"reason": "Enough"}) if how == "close" else ("cancel", {"remainder": True})
            self.send(how, lambda: buy(house, key, action, **body))

    @act(
        who=WHO, number=PICK, times=4,
        kind=st.sampled_from(["all", "all", "less", "dear", "split", "named", "extra", "prepayment", "over"]),
    )  # fmt: skip
    def issue(self, who: int, number: int, kind: str) -> None:
        house = self.house(who)
        found = [
            (one.id, lines)
            for one in house.orders("accepted", "closed")
            if (lines := self._asked(house, house.lines(one.id), number, kind))
        ]
        if not found:
            return
        key, lines = found[number % len(found)]
        body: dict[str, Any] = {"type": "prepayment"} if kind == "prepayment" else {}
        if kind == "extra":
            rate = {"reason": "Freight", "tax_category": "S", "tax_rate": lines[0]["tax_rate"]}
            body = {"charges": [{"amount": "7", **rate}], "allowances": [{"amount": "8", **rate}]}
            worth = sum(self._worth(house, one) for one in lines if one["tax_rate"] == rate["tax_rate"])
            if worth < 1:
                return
        most = {
            str(one.id): one.ordered - one.cancelled if body.get("type") else one.shipped for one in house.lines(key)
        }
        sums: dict[str, int] = {}
        for one in lines:
            sums[one["order_line_id"]] = sums.get(one["order_line_id"], 0) + one["quantity"]
        ended = self.ended()
        is_over = any(self.accounts.invoiced(name, ended) + units > most[name] for name, units in sums.items())
        made = self.send(
            "issue " + kind, lambda: self.fair.bill(key, *lines, **body), "over_invoiced" if is_over else ""
        )
        if made:
            self.accounts.issue(house, made)

    def _worth(self, house: Buyer, line: dict[str, Any]) -> Fraction:
        of = next(it for one in house.orders() for it in house.lines(one.id) if str(it.id) == line["order_line_id"])
        return Fraction(line["unit_price"]) * line["quantity"] / (of.units_per_pack * line["price_base_quantity"])

    def _asked(self, house: Buyer, lines: list[Any], number: int, kind: str) -> list[dict[str, Any]]:
        """Return lines of an invoice for what is not billed yet."""
        asked = list[dict[str, Any]]()
        for place, one in enumerate(lines):
            left = (one.ordered - one.cancelled if kind == "prepayment" else one.shipped) - one.invoiced
            units = {"less": left * (1 + number % 3) // 4, "over": left + 1}.get(kind, left)
            tax = {"tax_category": "S", "tax_rate": TAXES[(number + place) % 3]}
            if kind == "named":
                part = next((it for it in self._parts(house, one) if it.base_quantity <= units), None)
                units = part.base_quantity if part else 0
                tax |= {"delivery_line_id": str(part.id)} if part else {}
            if units < 1:
                continue
            price = one.unit_price * 2 if kind == "dear" else one.unit_price
            first = units * 2 // 3 if kind == "split" else units
            if first:
                asked.append(billing(one, first, **tax | {"unit_price": f"{price:f}"}))
            if units > first:
                asked.append(billing(one, units - first, **tax | {"unit_price": f"{price * Decimal('0.9'):.6f}"}))
        return asked

    def _parts(self, house: Buyer, line: Any) -> list[Any]:
        found = [
            house.goods(one.id) for one in house.deliveries(*UNDER_WAY, "completed") if one.order_id == line.order_id
        ]
        return [part for parts in found for part in parts if part.order_line_id == line.id]

    @act(
        who=WHO, number=PICK, part=st.integers(1, 4), kind=st.sampled_from(["units", "units", "price", "both"]), times=3
    )
    def credit(self, who: int, number: int, part: int, kind: str) -> None:
        """Credit units, or a part of a price, of one line or two; a part of 4 is all."""
        house = self.house(who)
        row = self.pick("invoice", house, house.invoices(), number)
        if row is None:
            return
        found = house.billed(row.id)
        lines = found if kind == "both" else [found[number % len(found)]]
        asked = []
        for one in lines:
            units = max(1, (one.base_quantity - one.credited) * part // 4)
            price = one.unit_price / 8 if kind == "price" else one.unit_price
            asked.append(billing(
                one, units, unit_price=f"{price:.6f}", tax_category=one.tax_category, tax_rate=f"{one.tax_rate:f}",
                **({"delivery_line_id": str(one.delivery_line_id)} if one.delivery_line_id else {}),
            ))  # fmt: skip
        expected = self._judged(row, lines, asked)
        named = {"type": "credit_note", "original_invoice_id": str(row.id)}
        if made := self.send("credit " + kind, lambda: self.fair.bill(row.order_id, *asked, **named), expected):
            self.accounts.credit(made)

    def _judged(self, row: Any, lines: list[Any], asked: list[dict[str, Any]]) -> str:
        """Return the refusal of a credit note: its invoice has ended, or has less left."""
        if str(row.status) in ENDED:
            return "invalid_transition"
        bill, sum_ = self.accounts.bills[str(row.id)], Decimal(0)
        held = {id(it): (it.credited, it.credited_net) for it in bill.items}
        try:
            for of, one in zip(lines, asked, strict=True):
                price = Fraction(one["unit_price"]) / (one["price_base_quantity"] * of.units_per_pack)
                net = self._counted(bill, one, price)
                if net is None:
                    return "credit_exceeds_invoice"
                sum_ += net
        finally:
            for it in bill.items:
                it.credited, it.credited_net = held[id(it)]
        return "credit_exceeds_invoice" if bill.noted + sum_ > bill.net else ""

    def _counted(self, bill: Any, one: dict[str, Any], price: Fraction) -> Decimal | None:
        """Count a line of a credit note for a moment; return what it takes off, None where no line has as much left."""
        units = one["quantity"]
        item: Item | None = self.accounts.place(bill, one["order_line_id"], one.get("delivery_line_id"), price, units)
        if item is None:
            return None
        net, left = rounded(price * units, bill.currency), item.net - item.credited_net
        if price == item.price:
            item.credited += units
            net = left if item.credited == item.units else min(net, left)
        item.credited_net += net
        return net
