"""What an invoice at another price says of the lines of its order. Source: contract, supply-price.md 2 "Price check"."""

from typing import Any
from uuid import UUID

from suppliers.orders.models import PurchaseOrderLine
from suppliers.orders.other_prices import DIFFERS, has_other_price
from suppliers.pricing.amounts import shown, unit_price

from .billed import Billed
from .states import MatchResult


def check_prices(billed: Billed) -> bool:
    """Note at the lines of the order whether an invoice asks more than the price that holds; tell whether one now does, and did not.

    What a supplier's proposal has found of a line stays.
    """
    over = _over(billed)
    changed, is_new = False, False
    for line in billed.lines.values():
        differs = (line.price_check or {}).get("result") == DIFFERS
        if differs != (line.pk in over) and _is_of_invoices(line):
            line.price_check = _check(line, "ok" if differs else DIFFERS)
            changed, is_new = True, is_new or not differs
    if is_new or (changed and not billed.order.before_change):  # a change under way may have another price of its own
        billed.order.price_differs = has_other_price(billed.lines.values())
    return is_new


def _over(billed: Billed) -> set[UUID]:
    """Return the lines of the order that an invoice which counts has at too high a price."""
    lines = [line for invoice in billed.live() for line in billed.of[invoice.pk]]
    return {line.order_line_id for line in lines if line.result == MatchResult.PRICE_OVER}


def _is_of_invoices(line: PurchaseOrderLine) -> bool:
    """Tell whether a line has no check of its own by which another price holds than that of the order."""
    return (line.price_check or {}).get("contract_unit_price") in (None, _price(line))


def _check(line: PurchaseOrderLine, result: str) -> dict[str, Any]:
    """Return the check of a line against the price at which it was ordered."""
    source = str(line.price_source_id) if line.price_source_id else None
    return {"result": result, "contract_unit_price": _price(line), "source_id": source, "trace": line.trace}


def _price(line: PurchaseOrderLine) -> str:
    """Return the ordered price of one pack."""
    return shown(unit_price(line.unit_price / line.price_base_quantity))
