"""Where the accepted goods of a receipt lie: at the place of the receipt, where `putaway` says, or set apart.

Goods that were not kept cold go to a place that is not for sale: the one that is named, else one of quarantine beside or
below it. Where there is none, their lots are held back. Source: contract, supply-order.md 4.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from core.errors import FieldError, InvalidFields
from suppliers.inventory.movements.delivered import Arrival, Delivered, Landing

from .judging import Judged, base_of


@dataclass(frozen=True, slots=True)
class Placed:
    """Goods by place; `held` are products and lots that are held back where they lie, and `putaway` is what is kept."""

    arrivals: list[Arrival] = field(default_factory=list)
    held: list[tuple[UUID, str]] = field(default_factory=list)
    putaway: list[dict[str, Any]] = field(default_factory=list)


def places_of(data: Mapping[str, Any]) -> list[UUID]:
    """Return the places that a receipt names."""
    return [data["location_id"], *(one["location_id"] for one in data["putaway"])]


def place(delivered: Delivered, data: Mapping[str, Any], lines: Sequence[Judged]) -> Placed:
    """Return where goods lie.

    :raises InvalidFields: a place is unknown, more is put away than is accepted, or goods that were not kept cold can be
        set apart nowhere.
    """
    errors = _unknown(delivered, data)
    by_line = {one.line.id: one for one in lines}
    parts: dict[UUID, list[tuple[UUID, int]]] = {key: [] for key in by_line}
    placed = Placed()
    for number, one in enumerate(data["putaway"]):
        judged = by_line.get(one["delivery_line_id"])
        if judged is None:
            message = "The receipt has no such line."
            errors.append(FieldError(f"putaway.{number}.delivery_line_id", "unknown_line", message))
            continue
        quantity = base_of(one["quantity"], one["unit"], judged.line.units_per_pack)
        parts[judged.line.id].append((one["location_id"], quantity))
        kept = {"delivery_line_id": str(judged.line.id), "location_id": str(one["location_id"])}
        placed.putaway.append({**kept, "base_quantity": quantity})
        if sum(many for _, many in parts[judged.line.id]) > judged.count.accepted:
            message = "More is put away than is accepted."
            errors.append(FieldError(f"putaway.{number}.quantity", "more_than_accepted", message))
    if not errors:
        for judged in lines:
            errors += _land(delivered, data, judged, parts[judged.line.id], placed)
    if errors:
        raise InvalidFields(errors=errors)
    return placed


def _unknown(delivered: Delivered, data: Mapping[str, Any]) -> list[FieldError]:
    message = "There is no such location."
    named = [("location_id", data["location_id"])]
    named += [(f"putaway.{number}.location_id", one["location_id"]) for number, one in enumerate(data["putaway"])]
    return [FieldError(name, "unknown_location", message) for name, key in named if delivered.place(key) is None]


def _land(
    delivered: Delivered, data: Mapping[str, Any], one: Judged, parts: Sequence[tuple[UUID, int]], placed: Placed
) -> Iterator[FieldError]:
    """Let the goods of a line come to their places; yield why they cannot."""
    is_spoiled = one.line.cold_chain and data["temperature_ok"] is False
    one.is_quarantined = is_spoiled and one.count.accepted > 0
    product = delivered.product(one.line.product_id)
    if product is None:
        return
    left, serials = one.count.accepted, [*one.serials]
    for location_id, quantity in [*parts, (data["location_id"], left - sum(many for _, many in parts))]:
        landing = delivered.place(location_id)
        if not quantity or landing is None or not landing.tracks:
            continue
        if is_spoiled and landing.sellable:
            landing = delivered.quarantine or landing
            if landing.sellable and not _hold(one, placed):
                yield FieldError("location_id", "not_set_apart", "Name a place that is not for sale for these goods.")
                return
        units, serials = serials[:quantity], serials[quantity:]
        placed.arrivals.append(_arrival(one, landing, quantity, units, is_set_apart=is_spoiled))


def _hold(one: Judged, placed: Placed) -> bool:
    """Hold the lot of a line back; tell whether it has one."""
    if one.lot_number and one.line.product_id:
        placed.held.append((one.line.product_id, one.lot_number))
    return bool(one.lot_number)


def _arrival(one: Judged, landing: Landing, quantity: int, units: Sequence[str], *, is_set_apart: bool) -> Arrival:
    assert one.line.product_id is not None
    return Arrival(
        one.number, one.line.product_id, landing.location_id, quantity, one.lot_number, one.expiry_date, units, is_set_apart
    )  # fmt: skip
