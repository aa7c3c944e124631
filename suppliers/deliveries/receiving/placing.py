"""Where the accepted goods of a receipt lie: at the place of the receipt, where `putaway` says, or set apart.

Goods that were not kept cold go to a place that is not for sale: the one that is named, else one of quarantine beside or
below it. Where there is none, their lots are held back. Lots of suspect goods are held back wherever they lie.
Source: contract, supply-order.md 3 and 4.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.errors import FieldError, InvalidFields
from suppliers.deliveries.holding import SUSPECT as _SUSPECT
from suppliers.inventory.movements.delivered import Arrival, Delivered, Landing

from .judging import Judged, base_of

_SPOILED: Final = "Not kept cold on its way"


@dataclass(frozen=True, slots=True)
class Placed:
    """Goods by place; `held` says why lots are held back, by product and number, and `putaway` is what is kept."""

    arrivals: list[Arrival] = field(default_factory=list)
    held: dict[tuple[UUID, str], str] = field(default_factory=dict)
    putaway: list[dict[str, Any]] = field(default_factory=list)


def places_of(data: Mapping[str, Any]) -> list[UUID]:
    """Return the places that a receipt names."""
    return [data["location_id"], *(one["location_id"] for one in data["putaway"])]


def place(
    delivered: Delivered, data: Mapping[str, Any], lines: Sequence[Judged], suspect: Collection[UUID] = ()
) -> Placed:
    """Return where goods lie; `suspect` are the lines of the delivery of which suspect goods were reported.

    :raises InvalidFields: a place is unknown, more is put away than is accepted, or goods that are spoiled or suspect can
        be set apart nowhere.
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
            apart = _Apart(judged.is_spoiled, judged.line.id in suspect)
            judged.is_quarantined = judged.count.accepted > 0 and (apart.is_spoiled or apart.is_suspect)
            errors += _land(delivered, judged, [*parts[judged.line.id]], data["location_id"], apart, placed)
    if errors:
        raise InvalidFields(errors=errors)
    return placed


def _unknown(delivered: Delivered, data: Mapping[str, Any]) -> list[FieldError]:
    message = "There is no such location."
    named = [("location_id", data["location_id"])]
    named += [(f"putaway.{number}.location_id", one["location_id"]) for number, one in enumerate(data["putaway"])]
    return [FieldError(name, "unknown_location", message) for name, key in named if delivered.place(key) is None]


class _Apart(NamedTuple):
    """Why goods of a line are set apart."""

    is_spoiled: bool
    is_suspect: bool

    @property
    def reason(self) -> str:
        """What the lot says, where it is held back."""
        return _SUSPECT if self.is_suspect else _SPOILED


def _land(
    delivered: Delivered,
    one: Judged,
    parts: Sequence[tuple[UUID, int]],
    home: UUID,
    apart: _Apart,
    placed: Placed,
) -> Iterator[FieldError]:
    """Let the goods of a line come to their places, `home` for what is not put away; yield why they cannot."""
    if delivered.product(one.line.product_id) is None:
        return
    serials = [*one.serials]
    for location_id, quantity in [*parts, (home, one.count.accepted - sum(many for _, many in parts))]:
        landing = delivered.place(location_id)
        if not quantity or landing is None or not landing.tracks:
            continue
        is_held = apart.is_suspect and _hold(one, apart.reason, placed)
        if any(apart) and landing.sellable and not is_held:
            landing = delivered.quarantine or landing
            if landing.sellable and not _hold(one, apart.reason, placed):
                yield FieldError("location_id", "not_set_apart", "Name a place that is not for sale for these goods.")
                return
        units, serials = serials[:quantity], serials[quantity:]
        placed.arrivals.append(_arrival(one, landing, quantity, units, is_set_apart=apart.is_spoiled))


def _hold(one: Judged, reason: str, placed: Placed) -> bool:
    """Hold the lot of a line back; tell whether it has one."""
    if one.lot_number and one.line.product_id:
        placed.held.setdefault((one.line.product_id, one.lot_number), reason)
    return bool(one.lot_number)


def _arrival(one: Judged, landing: Landing, quantity: int, units: Sequence[str], *, is_set_apart: bool) -> Arrival:
    assert one.line.product_id is not None
    return Arrival(
        one.number, one.line.product_id, landing.location_id, quantity, one.lot_number, one.expiry_date, units, is_set_apart
    )  # fmt: skip
