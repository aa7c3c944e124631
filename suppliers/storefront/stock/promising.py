"""What an offer promises beside the stock on the shelf: the packs that can be ordered, a fixed quantity, nothing in stock.

Source: contract, supply-shelf.md "Marketplace".
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from core.db import needs_transaction
from core.errors import FieldError
from core.pipeline import run
from suppliers.inventory.refusals import InsufficientStock
from suppliers.inventory.reservations.reserving import Line
from suppliers.inventory.states import Unit
from suppliers.marketplace import queries as market
from suppliers.marketplace.quantities import Orderable, corrected
from suppliers.marketplace.queries import SeenOffer
from suppliers.marketplace.refusals import OrderQuantityInvalid
from suppliers.marketplace.states import StockPolicy


def check_quantities(lines: Sequence[Line], offers: Sequence[SeenOffer]) -> None:
    """Hold each line to the least, the most and the step of its offer, which are packs; see `marketplace.quantities`.

    :raises OrderQuantityInvalid: names each line that does not fit, with what would.
    """
    errors = []
    for number, (line, offer) in enumerate(zip(lines, offers, strict=True)):
        wanted = corrected(line.base_quantity, offer.units_per_pack, Orderable(offer.least, offer.most, offer.step))
        if wanted is not None:
            in_base = f"{wanted * offer.units_per_pack} base units"
            asked = in_base if line.unit == Unit.BASE else f"{wanted} packs"
            message = f"Ask for {asked}." if wanted else "No quantity of this offer can be ordered."
            errors.append(FieldError(f"items.{number}.quantity", OrderQuantityInvalid.code, message))
    if errors:
        raise OrderQuantityInvalid(errors=errors)


@needs_transaction
def check_policies(supplier_id: UUID, lines: Sequence[Line], offers: Sequence[SeenOffer], at: datetime) -> None:
    """Refuse what an offer does not promise; products of a fixed quantity are locked, so that it is promised once.

    :raises InsufficientStock: an offer is made to order, or reservations hold too much of its fixed quantity.
    """
    fixed = {one.product_id for one in offers if one.stock_policy == StockPolicy.FIXED}
    held = market.held_of(run(market.held_calls(supplier_id, fixed, at))[1]) if fixed else {}
    asked: dict[UUID, int] = defaultdict(int)
    for line, offer in zip(lines, offers, strict=True):
        asked[offer.product_id] += line.base_quantity
    errors = []
    for number, (line, offer) in enumerate(zip(lines, offers, strict=True)):
        if offer.stock_policy == StockPolicy.LIVE:
            continue
        free = max(0, (offer.fixed_quantity or 0) * offer.units_per_pack - held.get(offer.product_id, 0))
        if offer.stock_policy == StockPolicy.MADE_TO_ORDER:
            message = "It is made to order: nothing of it is kept in stock."
        elif asked[offer.product_id] > free:
            message = f"Available: {line.shown(free // offer.units_per_pack)}."
        else:
            continue
        errors.append(FieldError(f"items.{number}.quantity", InsufficientStock.code, message))
    if errors:
        raise InsufficientStock(errors=errors)
