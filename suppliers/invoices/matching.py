"""Holding an invoice against its order and what was received, line by line; nothing is read or written here.

Source: contract, supply-invoice.md 2 "Match per line".
"""

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, NamedTuple
from uuid import UUID

from suppliers.orders.models import PurchaseOrderLine
from suppliers.pricing.amounts import line_total, tax_of

from .billed import Billed
from .models import Invoice, InvoiceLine
from .states import InvoiceType, MatchResult, MatchStatus

_WHOLE: Final = 10_000  # basis points


class Found(NamedTuple):
    """The result of a line, with how many base units more than billable, and how much more a unit price than ordered."""

    result: MatchResult
    quantity: int
    price: Decimal


def is_by_order(invoice: Invoice, line: InvoiceLine) -> bool:
    """Tell whether a line is held against what was ordered: a service, or paid before it comes; else what was received."""
    return line.is_service or str(invoice.type) == InvoiceType.PREPAYMENT.value


def match(billed: Billed, invoice: Invoice) -> None:
    """Match an invoice of an order in memory: the results of its lines, and its own."""
    lines, results = billed.of[invoice.pk], list[MatchResult]()
    before = _invoiced_before(billed, invoice)
    taxed = _tax_differs(billed, lines, invoice.currency)
    for line in lines:
        found = _line(billed, invoice, line, before)
        before[line.order_line_id] += line.base_quantity - line.credited
        result = MatchResult.TAX_DIFFERS if found.result == MatchResult.OK and line.pk in taxed else found.result
        line.result, line.quantity_variance, line.price_variance = result.value, found.quantity, found.price
        results.append(result)
    is_right = all(one == MatchResult.OK for one in results)
    invoice.match_status = (MatchStatus.MATCHED if is_right else MatchStatus.MISMATCHED).value


def _invoiced_before(billed: Billed, invoice: Invoice) -> dict[UUID, int]:
    """Return by the lines of the order what older invoices bill of them, less what was credited."""
    found: dict[UUID, int] = defaultdict(int)
    for one in billed.live():
        if (one.issued_at, one.pk) < (invoice.issued_at, invoice.pk):
            for line in billed.of[one.pk]:
                found[line.order_line_id] += line.base_quantity - line.credited
    return found


def _line(billed: Billed, invoice: Invoice, line: InvoiceLine, before: dict[UUID, int]) -> Found:
    of = billed.lines[line.order_line_id]
    kept, by_order = line.base_quantity - line.credited, is_by_order(invoice, line)
    base = of.ordered - of.cancelled if by_order else billed.kept(of)
    billable = max(0, base - before[of.pk])
    quantity, price = kept - billable, price_variance(line, of)
    if not kept:
        return Found(MatchResult.OK, quantity, price)
    if of.cancelled >= of.ordered and not of.received:
        return Found(MatchResult.NOT_ORDERED, quantity, price)
    if not by_order and not of.received:
        return Found(MatchResult.NOT_RECEIVED, quantity, price)
    if kept * _WHOLE > billable * (_WHOLE + _bp(of, "qty_tolerance_bp", billed.rules.quantity_bp)):
        return Found(MatchResult.QUANTITY_OVER, quantity, price)
    is_dear = _is_dear(billed, line, of, kept)
    return Found(MatchResult.PRICE_OVER if is_dear else MatchResult.OK, quantity, price)


def _bp(of: PurchaseOrderLine, name: str, policy: int) -> int:
    """Return a tolerance in basis points: the agreement's own, else the policy's."""
    found = (of.agreement or {}).get(name)
    return policy if found is None else int(found)


def price_variance(line: InvoiceLine, of: PurchaseOrderLine) -> Decimal:
    """Return by how much a unit price is above that of the order, for as many packs as the line's is."""
    ordered = Fraction(of.unit_price) * line.price_base_quantity / of.price_base_quantity
    over = Fraction(line.unit_price) - ordered
    return (Decimal(over.numerator) / Decimal(over.denominator)).quantize(Decimal("0.000001"))


def _is_dear(billed: Billed, line: InvoiceLine, of: PurchaseOrderLine, kept: int) -> bool:
    """Tell whether a line is dearer than the tolerances admit, less what credit notes have taken off its price."""
    currency, rules = line.currency, billed.rules
    packs = Fraction(kept, line.units_per_pack)
    asked = line_total(line.unit_price, packs, line.price_base_quantity, currency)
    ordered = line_total(of.unit_price, packs, of.price_base_quantity, currency)
    credited = line_total(
        line.unit_price, Fraction(line.credited, line.units_per_pack), line.price_base_quantity, currency
    )
    taken_off = max(Decimal(0), line.credited_net - credited)
    bp = _WHOLE + _bp(of, "price_tolerance_bp", rules.price_bp)
    if not taken_off:
        over = (
            Fraction(line.unit_price) / line.price_base_quantity * _WHOLE
            > Fraction(of.unit_price) / of.price_base_quantity * bp
        )
    else:
        over = Fraction(asked - taken_off) * _WHOLE > Fraction(ordered) * bp
    if over or not rules.price_amount:
        return over
    # An amount in another currency is not converted: any difference is more than it admits.
    bound = rules.price_amount if currency == rules.currency else Decimal(0)
    is_over: bool = asked - taken_off - ordered > bound
    return is_over


def _tax_differs(billed: Billed, lines: Sequence[InvoiceLine], currency: str) -> set[UUID]:
    """Return the lines with another rate than ordered, in groups whose tax differs by more than the tolerance."""
    groups: dict[tuple[str, Any], list[InvoiceLine]] = defaultdict(list)
    for line in lines:
        if line.tax_rate is not None:
            groups[line.tax_category, line.tax_rate].append(line)
    found: set[UUID] = set()
    for (_, rate), of in groups.items():
        by_order: dict[Any, Decimal] = defaultdict(Decimal)
        for line in of:
            ordered = billed.lines[line.order_line_id].tax_rate
            by_order[rate if ordered is None else ordered] += line.net
        theirs = tax_of(sum((one.net for one in of), Decimal(0)), rate, currency)
        ours = sum((tax_of(net, one, currency) for one, net in by_order.items()), Decimal(0))
        if abs(theirs - ours) > billed.rules.tax_amount:
            found |= {line.pk for line in of if billed.lines[line.order_line_id].tax_rate not in (None, rate)}
    return found
