"""Whether an order has a line at another price than the one that holds for it. Source: contract, supply-price.md 2 "Price check"."""

from collections.abc import Iterable
from typing import Any, Final

from .models import PurchaseOrderLine

DIFFERS: Final = "differs"
NOTHING_DIFFERS: Final[dict[str, Any]] = {"result": "ok", "contract_unit_price": None, "source_id": None, "trace": []}


def has_other_price(lines: Iterable[PurchaseOrderLine]) -> bool:
    """Tell whether a line that counts has another price than the one that holds."""
    return any(
        (one.price_check or NOTHING_DIFFERS)["result"] == DIFFERS and one.cancelled < one.ordered for one in lines
    )
