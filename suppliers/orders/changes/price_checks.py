"""Whether the price that a supplier proposes with a substitute is the one that holds between both.

Source: contract, supply-price.md 2 "Price check".
"""

from typing import Any

from suppliers.agreements.refusals import AgreementExhausted
from suppliers.inventory.states import Unit
from suppliers.orders.models import PurchaseOrderLine
from suppliers.orders.other_prices import DIFFERS, NOTHING_DIFFERS
from suppliers.orders.pricing import Terms
from suppliers.pricing.amounts import shown, unit_price
from suppliers.quoting.candidates import Good
from suppliers.quoting.lines import Asking, price_lines
from suppliers.quoting.refusals import PriceNotAvailable


def price_check(terms: Terms, line: PurchaseOrderLine, good: Good) -> dict[str, Any]:
    """Return what a line keeps of the price that a quote would answer for its goods; without one, nothing differs.

    `contract_unit_price` is for one pack, as the line's own price is.
    """
    asked = {"unit": Unit.PACK.value, "quantity": line.quantity}
    asking = Asking(terms.currency, None, apply_corrections=False, for_buyer=True)
    try:
        (priced,) = price_lines([good], [asked], asking)
    except (PriceNotAvailable, AgreementExhausted):
        return dict(NOTHING_DIFFERS)
    price = priced.price
    return {
        "result": "ok" if priced.total == line.net else DIFFERS,
        "contract_unit_price": shown(unit_price(price.unit_price / price.price_base_quantity)),
        "source_id": price.source_id,
        "trace": price.trace,
    }
