"""Transfers between places of the tenant. Source: contract, supply-shelf.md "Transfer"."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.ids import uuid7
from ledger.public import Occurrence
from suppliers.catalog import availability
from suppliers.inventory.events import StockTransferred
from suppliers.inventory.levels import changed
from suppliers.inventory.reservations import changes
from suppliers.inventory.reservations.breaking import free_levels
from suppliers.inventory.states import MovementType

from .finding import find_goods
from .goods import check_lines, check_storage
from .serials import Units, move_serials
from .shelving import Shelves, Spot, check_lots, open_shelves
from .writing import check_on_hand, finish, moved_of, refuse_reserved, side_of

_CAUSE = "transfer"


@dataclass(frozen=True, slots=True)
class Transferred:
    """What a transfer has done: its id, and each line with where it came from, where it went, and how much."""

    id: UUID
    lines: Sequence[tuple[Spot, Spot, int]]
    shelves: Shelves


@needs_transaction
def transfer(actor: Actor, data: Mapping[str, Any], at: datetime) -> Transferred:
    """Move goods from one place to another, all lines or none.

    A recalled lot may be set apart: moved to a place that is not sellable, and to no other.

    :raises InvalidFields: a product, lot or place is unknown.
    :raises LotRecalled, StorageMismatch, WrongSerial: as named.
    :raises InsufficientStock, StockReserved: less is there, or free, than a line moves.
    """
    lines, source, target = data["lines"], data["from_location_id"], data["to_location_id"]
    goods = find_goods(actor, lines, {source, target})
    products = check_lines(goods, lines, lambda _: [("/from_location_id", source), ("/to_location_id", target)])
    lots = [line["lot_number"] or "" for line in lines]
    outs = [Spot(product, source, lot) for product, lot in zip(products, lots, strict=True)]
    ins = [Spot(product, target, lot) for product, lot in zip(products, lots, strict=True)]
    check_storage(goods, [(number, product, target) for number, product in enumerate(products)])
    shelves = open_shelves(actor, [*outs, *ins], at)
    check_on_hand(shelves, outs, [-line["quantity"] for line in lines])
    check_lots(shelves, ins, set(range(len(lines))) if goods.places[target].sellable else ())
    done = Transferred(uuid7(), list(zip(outs, ins, (line["quantity"] for line in lines), strict=True)), shelves)
    facts = [fact for one in done.lines for fact in _move(actor, shelves, *one, note=data["note"] or "")]
    serials = move_serials(actor.tenant_id, _units(lines, done), at)
    freed = free_levels(actor.tenant_id, shelves.levels, at, (), reason=_CAUSE)
    refuse_reserved([(f"lines.{number}.quantity", shelves.spots[spot.key]) for number, spot in enumerate(outs)])
    moved, news = changed(actor.tenant_id, shelves.levels.values(), at, by=side_of(actor))
    reference = {"reference_type": "transfer", "reference_id": str(done.id), "reference_text": ""}
    written = [*moved, *serials, *freed.calls, *shelves.movement_calls(actor, at, reference)]
    own = {product.id for product in products if product.owner_id == actor.tenant_id}
    written += availability.refresh_calls(actor.tenant_id, own, at)
    told = changes.joined({actor.tenant_id: [*facts, *news]}, freed.told)
    finish(actor, written, told, freed, at, shelves.count_calls(actor, at))
    return done


def _units(lines: Sequence[Mapping[str, Any]], done: Transferred) -> list[Units]:
    """Return the units that the lines name by their serial numbers."""
    spots = done.shelves.spots
    return [
        Units(number, out.product, line["serial_numbers"], source=spots[out.key], target=spots[into.key])
        for number, (line, (out, into, _)) in enumerate(zip(lines, done.lines, strict=True))
    ]


def _move(actor: Actor, shelves: Shelves, out: Spot, into: Spot, quantity: int, *, note: str) -> list[Occurrence]:
    found = []
    for spot, signed, kind in (
        (out, -quantity, MovementType.TRANSFER_OUT),
        (into, quantity, MovementType.TRANSFER_IN),
    ):
        level = shelves.move(spot, signed, type=kind.value, note=note)
        found.append(
            Occurrence(StockTransferred(**moved_of(spot, level, signed, _CAUSE, side_of(actor))), level.row.id)
        )
    return found
