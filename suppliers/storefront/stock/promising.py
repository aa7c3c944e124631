"""What an offer promises beside the stock on the shelf: the packs that can be ordered, a fixed quantity, nothing in stock.

Source: contract, supply-shelf.md "Marketplace".
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from core.db import needs_transaction
from core.errors import FieldError
from core.pipeline import run
from suppliers.inventory.refusals import InsufficientStock
from suppliers.inventory.reservations.reserving import Line
from suppliers.inventory.states import Unit
from suppliers.marketplace import queries as market
from suppliers.marketplace.queries import SeenOffer
from suppliers.marketplace.refusals import OrderQuantityInvalid
from suppliers.marketplace.states import StockPolicy


class Orderable(NamedTuple):
    """The packs that can be ordered at once: the least, the most, and the step."""

    least: int
    most: int | None
    step: int


def check_quantities(lines: Sequence[Line], offers: Sequence[SeenOffer]) -> None:
    """Hold each line to the least, the most and the step of its offer, which are packs.

    A line in base units is held to what they come to in base units. With a step of one pack it may break a pack, above the
    least and below the most (decision 92).

    :raises OrderQuantityInvalid: names each line that does not fit, with what would.
    """
    errors = []
    for number, (line, offer) in enumerate(zip(lines, offers, strict=True)):
        packs, rest = divmod(line.base_quantity, offer.units_per_pack)
        wanted = fitting(packs + bool(rest), offer)
        off_step = offer.step > 1 and line.base_quantity % (offer.step * offer.units_per_pack)
        too_much = offer.most is not None and packs + bool(rest) > offer.most
        if packs < offer.least or too_much or off_step:
            in_base = f"{wanted * offer.units_per_pack} base units"
            asked = in_base if line.unit == Unit.BASE else f"{wanted} packs"
            message = f"Ask for {asked}." if wanted else "No quantity of this offer can be ordered."
            errors.append(FieldError(f"items.{number}.quantity", OrderQuantityInvalid.code, message))
    if errors:
        raise OrderQuantityInvalid(errors=errors)


def fitting(packs: int, offer: "SeenOffer | Orderable") -> int:
    """Return the packs nearest to those asked for that can be ordered, rounded up where that is possible; 0 if none can."""
    step = offer.step
    up = -(-max(packs, offer.least) // step) * step
    if offer.most is None or up <= offer.most:
        return up
    down = offer.most // step * step
    return down if down >= offer.least else 0


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
