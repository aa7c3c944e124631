"""Totals of a quote: net, tax by category and rate, gross. Source: contract, supply-price.md 4; EN 16931 BR-CO-10 to 17."""

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from core.canonical import decimal_text
from suppliers.pricing.amounts import sum_of, tax_of


class Net(NamedTuple):
    """The net of a line with what it is taxed by; `rate` is in percent, None where the supplier has named none."""

    supplier_id: UUID
    amount: Decimal
    tax_category: str
    rate: str | None


def totals_of(lines: Sequence[Net], currency: str) -> list[dict[str, Any]]:
    """Return the totals of each supplier, in the order of the lines.

    The tax of a group is rounded on the group's sum. Where a line has no rate there is no tax, and gross is net.
    """
    by_supplier: dict[UUID, list[Net]] = defaultdict(list)
    for line in lines:
        by_supplier[line.supplier_id].append(line)
    return [_totals(supplier_id, of, currency) for supplier_id, of in by_supplier.items()]


def _totals(supplier_id: UUID, lines: Sequence[Net], currency: str) -> dict[str, Any]:
    net = sum_of(line.amount for line in lines)
    groups = None if any(line.rate is None for line in lines) else _groups(lines, currency)
    tax = None if groups is None else sum_of(group["tax"] for group in groups)
    return {
        "supplier_id": supplier_id,
        "net": f"{net:f}",
        "tax": None if tax is None else f"{tax:f}",
        "gross": f"{sum_of([net] if tax is None else [net, tax]):f}",
        "taxes": [{**group, "net": f"{group['net']:f}", "tax": f"{group['tax']:f}"} for group in groups or ()],
    }


def _groups(lines: Sequence[Net], currency: str) -> list[dict[str, Any]]:
    amounts: dict[tuple[str, Decimal], list[Decimal]] = defaultdict(list)
    for line in lines:
        amounts[line.tax_category, Decimal(line.rate or 0)].append(line.amount)
    nets = {group: sum_of(of) for group, of in sorted(amounts.items())}
    return [
        {"tax_category": category, "tax_rate": decimal_text(rate), "net": net, "tax": tax_of(net, rate, currency)}
        for (category, rate), net in nets.items()
    ]
