"""What holds of invoices, payments and returns after every step of a walk. Source: contract, supply.md 6 and supply-invoice.md."""

from collections import defaultdict
from decimal import Decimal
from typing import Any

from core.invariants import breaches
from core.money import minor_units
from suppliers.invoices.models import Invoice, InvoiceLine
from suppliers.returns.models import ReturnLine
from tests.suppliers.orders.proof.accounts import ENDED, RELEASED, has_places
from tests.suppliers.orders.proof.books import amounts_are_exact, counters_are_sums, stock_is_promised_once
from tests.suppliers.orders.proof.fair import INVOICES, PAYMENTS, RETURNS, Buyer
from tests.suppliers.orders.proof.walking import Walk

_KEPT = ("restocked", "quarantined", "destroyed", "to_manufacturer")
_TOTALS = ("gross_total", "credited_total", "held_total", "paid_total", "offset_total")
_SHARED = {
    "invoice": (
        "invoice_number", "type", "status", "currency", "net_total", "tax_total", *_TOTALS, "balance_due",
        "credit_available", "approved_at", "paid_at", "reason",
    ),
    "payment": (
        "payment_number", "status", "method", "amount", "currency", "allocations", "credit_sources", "value_date", "failure",
    ),
    "return": (
        "return_number", "status", "type", "resolution", "authorization", "credit_note_id", "replacement_order_id", "lines",
    ),
}  # fmt: skip
_PATHS = {"invoice": INVOICES, "source": INVOICES, "payment": PAYMENTS, "return": RETURNS}


def check(walk: Walk) -> None:
    """Require every rule that `prove_invariants` knows, and those below."""
    assert [breach for side in walk.fair.sides for breach in breaches(side.id)] == []
    stock_is_promised_once(walk.fair)
    ended = walk.ended()
    for house in walk.fair.buyers:
        counters_are_sums(house)
        amounts_are_exact(house)
        _balances_are_exact(walk, house)
        _orders_are_billed(walk, house, ended)
        _goods_come_back_once(house)
    for kind, (house, key) in walk.touched.items():
        _views_agree(walk, house, kind, str(key))
    walk.touched.clear()


def _is_exact(amount: Decimal | None, currency: str) -> bool:
    return amount is None or amount == round(amount, minor_units(currency))


def _balances_are_exact(walk: Walk, house: Buyer) -> None:
    """Every invoice owes what the test's own accounts say, in the decimals of its currency, and stands where that leads."""
    rows, own = house.rows(Invoice), walk.accounts
    known = {key for key, one in own.bills.items() if one.house is house}
    assert {str(one.id) for one in rows if not one.is_credit_note} == known
    assert {str(one.id) for one in rows if one.is_credit_note} <= set(own.notes)
    for row in rows:
        amounts = [getattr(row, name) for name in ("net_total", "tax_total", *_TOTALS)]
        assert all(_is_exact(one, row.currency) for one in amounts), (row.number, amounts)
        if row.is_credit_note:
            assert (row.status, amounts[3:]) == ("issued", [0] * 4)
            continue
        key, bill = str(row.id), own.bills[str(row.id)]
        assert amounts[3:] == [*own.balances(key)], (row.number, amounts, own.balances(key))
        assert (row.gross_total, row.balance_due) == (bill.gross, own.due(key))
        assert row.credited_total <= row.gross_total
        assert row.held_total + row.paid_total <= row.gross_total
        if str(row.status) in RELEASED and row.gross_total:
            is_paid, has_paid = own.due(key) <= 0, own.sum_of(key, "succeeded") > 0
            assert row.status == ("paid" if is_paid else "partially_paid" if has_paid else "approved"), row.number
        else:
            assert amounts[4:] == [0] * 3


def _orders_are_billed(walk: Walk, house: Buyer, ended: set[str]) -> None:
    """Lines of orders count what is invoiced and returned, and never more than was shipped or ordered, and received."""
    invoices, lines = house.invoices(), {str(one.id): one for one in house.rows(InvoiceLine)}
    for order in house.orders():
        of, bills = house.lines(order.id), [one for one in invoices if one.order_id == order.id]
        for one in of:
            assert one.invoiced == walk.accounts.invoiced(str(one.id), ended)
            assert 0 <= one.invoiced <= max(one.ordered, one.shipped)
            assert one.returned == walk.returned.get(str(one.id), 0) <= one.received
        live = [one for one in bills if str(one.status) not in ENDED]
        assert order.billing_status == _billing(of, live), (order.number, [(one.number, one.status) for one in live])
    for line in lines.values():
        assert 0 <= line.credited <= line.base_quantity
        assert Decimal(0) <= line.credited_net <= line.net
        assert _is_exact(line.net, line.currency)
        assert _is_exact(line.credited_net, line.currency)


def _billing(lines: list[Any], live: list[Invoice]) -> str:
    if not any(one.invoiced for one in lines):
        return "not_invoiced"
    if any(one.invoiced < one.ordered - one.cancelled - one.returned for one in lines):
        return "partially_invoiced"
    return "paid" if all(str(one.status) in RELEASED and one.balance_due <= 0 for one in live) else "invoiced"


def _goods_come_back_once(house: Buyer) -> None:
    """Deliveries count what is on returns; a return is credited for what was kept, by exactly what its credit notes say."""
    returns = {one.id: one for one in house.returns()}
    on_return, credited = defaultdict[Any, int](int), defaultdict[Any, Decimal](Decimal)
    units, notes = defaultdict[Any, int](int), defaultdict[Any, list[Any]](list)
    for line in house.rows(ReturnLine):
        of = returns[line.document_id]
        kept = sum(getattr(line, name) for name in _KEPT)
        assert line.credited <= kept <= line.base_quantity - line.not_received
        assert _is_exact(line.credited_amount, of.currency), (of.number, line.credited_amount)
        if str(of.status) not in ("declined", "cancelled"):
            on_return[line.delivery_line_id] += line.base_quantity - line.not_received
        credited[of.id] += line.credited_amount or 0
        units[of.id] += line.credited
    for note in house.rows(Invoice, return_id__isnull=False):
        notes[note.return_id].append(note)
    for key, of in returns.items():
        billed = [line for note in notes[key] for line in house.billed(note.id)]
        assert units[key] == sum(one.base_quantity for one in billed)
        assert credited[key] == sum((one.net for one in billed), Decimal(0)), of.number
        assert of.credit_note_id == (notes[key][0].id if notes[key] else None)
    for delivery in house.deliveries("in_transit", "delivered", "partially_received", "completed", "lost"):
        for part in house.goods(delivery.id):
            assert part.returned == on_return[part.id] <= part.accepted


def _views_agree(walk: Walk, house: Buyer, kind: str, key: str) -> None:
    """Both sides read the same document, and its amounts have the decimals of its currency."""
    apis = (house.finance, walk.fair.shelf.api)
    mine, theirs = (api.get(f"{_PATHS[kind]}/{key}").json()["data"] for api in apis)
    names = _SHARED["invoice" if kind == "source" else kind]
    assert [mine[name] for name in names] == [theirs[name] for name in names]
    if kind in ("invoice", "source"):
        currency, balances = mine["currency"], walk.accounts.balances(key)
        shown = [mine[name] for name in (*_TOTALS, "balance_due", "credit_available")]
        assert all(has_places(one, currency) for one in shown), shown
        due = walk.accounts.due(key)
        assert [Decimal(one) for one in shown[1:]] == [*balances, due, max(Decimal(0), -due)]
        for one, other in zip(mine["lines"], theirs["lines"], strict=True):
            assert {**one, **other} == one
    elif kind == "return":
        shown = [one["credited_amount"] for one in mine["lines"] if one["credited_amount"] is not None]
        assert all(has_places(one, mine["currency"]) for one in shown), shown
    else:
        assert has_places(mine["amount"], mine["currency"])
