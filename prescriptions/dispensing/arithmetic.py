"""The arithmetic of fills: what remains of an item, what a line may give, and how items stand afterwards.

It reads and writes nothing. Quantities are exact decimals in the item's unit. A fill is `quantity`; an item has
`fills_allowed` of them, which are given one after the other, each in one or several parts. Source: contract,
prescriptions.md "Dispensing", Quantities.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from typing import Final
from uuid import UUID

from core.canonical import decimal_text
from core.clock import rfc3339
from prescriptions.lifecycle.refusals import UnknownItem
from prescriptions.states import DispenseStatus, ItemStatus

from .refusals import OverDispensed, TooEarly, UnitMismatch

_NOTHING: Final = Decimal(0)
_MILLISECONDS_OF_A_DAY: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class ItemState:
    """How one item stands.

    `dispensed` is the sum of its lines that were not reversed, `last_given_at` the latest handing over among them. `closed`
    is the reason for which the rest is not dispensed. `interval_days` is the time between two fills, None for none.
    """

    id: UUID
    quantity: Decimal
    unit: str
    fills_allowed: int
    dispensed: Decimal = _NOTHING
    closed: str = ""
    interval_days: int | None = None
    is_controlled: bool = False
    last_given_at: datetime | None = None

    @property
    def whole_fills(self) -> int:
        """The number of fills that were given in full."""
        return int(self.dispensed // self.quantity)

    @property
    def given_in_fill(self) -> Decimal:
        """What was given of the current fill."""
        return self.dispensed - self.whole_fills * self.quantity

    @property
    def fills_used(self) -> int:
        """The number of fills that were begun."""
        return int((self.dispensed / self.quantity).to_integral_value(ROUND_CEILING))

    @property
    def fill_number(self) -> int:
        """The number of the fill that the next line belongs to."""
        return self.whole_fills + 1

    @property
    def is_complete(self) -> bool:
        """Tell whether every fill was given in full."""
        return self.dispensed >= self.quantity * self.fills_allowed

    @property
    def is_open(self) -> bool:
        """Tell whether something may still be given."""
        return not self.is_complete and not self.closed

    @property
    def remaining(self) -> Decimal:
        """What one line may still give: the rest of the current fill."""
        return self.quantity - self.given_in_fill if self.is_open else _NOTHING

    @property
    def status(self) -> ItemStatus:
        """The item's status; one that was given in part and then closed stays partial."""
        if self.is_complete:
            return ItemStatus.COMPLETE
        if self.dispensed > 0:
            return ItemStatus.PARTIAL
        return ItemStatus.NOT_DISPENSED if self.closed else ItemStatus.PENDING

    def earliest_at(self, ratio: Decimal) -> datetime | None:
        """Return from when on the next line may be given; None for any time.

        Only a new fill has to wait, for the interval times `ratio` since the former fill; that of a controlled item
        waits for the whole interval.
        """
        begins = self.is_open and self.whole_fills > 0 and not self.given_in_fill
        if not begins or self.interval_days is None or self.last_given_at is None:
            return None
        days = self.interval_days * (Decimal(1) if self.is_controlled else ratio)
        return self.last_given_at + timedelta(milliseconds=int(days * _MILLISECONDS_OF_A_DAY))


@dataclass(frozen=True, slots=True)
class Line:
    """What is to be given of an item; without a quantity, the reason for which the rest is not."""

    item_id: UUID
    quantity: Decimal | None = None
    unit: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What lines come to: the number of each line's fill, and the items afterwards, in their order."""

    fill_numbers: tuple[int, ...]
    items: tuple[ItemState, ...]


def lines_of_rest(items: Iterable[ItemState]) -> list[Line]:
    """Return lines that give the rest of the current fill of every open item."""
    return [Line(item.id, item.remaining, item.unit) for item in items if item.is_open]


def give(items: Sequence[ItemState], lines: Sequence[Line], *, at: datetime, ratio: Decimal) -> Outcome:
    """Check lines one after the other and return what they come to; `at` is the instant of handing over.

    :raises UnknownItem, UnitMismatch, OverDispensed, TooEarly: as named, in this order whatever the order of the lines.
    """
    held = {item.id: item for item in items}
    if any(line.item_id not in held for line in lines):
        raise UnknownItem
    if any(line.unit and line.unit != held[line.item_id].unit for line in lines):
        raise UnitMismatch
    numbers, early = [], None
    for line in lines:
        item = held[line.item_id]
        wanted = line.quantity if line.quantity is not None else _NOTHING
        if not item.is_open or wanted > item.remaining:
            raise OverDispensed(item_id=str(item.id), remaining=decimal_text(item.remaining))
        earliest = item.earliest_at(ratio) if line.quantity is not None else None
        if early is None and earliest is not None and at < earliest:
            early = TooEarly(item_id=str(item.id), earliest_at=rfc3339(earliest))
        numbers.append(item.fill_number)
        held[line.item_id] = _after(item, line, at)
    if early is not None:
        raise early
    return Outcome(tuple(numbers), tuple(held[item.id] for item in items))


def _after(item: ItemState, line: Line, at: datetime) -> ItemState:
    if line.quantity is None:
        return replace(item, closed=line.reason)
    last = max(item.last_given_at or at, at)
    return replace(item, dispensed=item.dispensed + line.quantity, last_given_at=last)


def take_back(items: Sequence[ItemState], lines: Iterable[Line]) -> tuple[ItemState, ...]:
    """Return the items as they stand without lines that were given before; what such a line closed is open again."""
    held = {item.id: item for item in items}
    for line in lines:
        item = held[line.item_id]
        if line.quantity is None:
            held[line.item_id] = replace(item, closed="")
        else:
            held[line.item_id] = replace(item, dispensed=item.dispensed - line.quantity)
    return tuple(held[item.id] for item in items)


def dispense_status(items: Iterable[ItemState]) -> DispenseStatus:
    """Return what was given of a prescription: nothing, a part, or all."""
    states = list(items)
    if all(item.is_complete for item in states):
        return DispenseStatus.COMPLETE
    return DispenseStatus.PARTIAL if any(item.dispensed > 0 for item in states) else DispenseStatus.NONE


def is_finished(items: Iterable[ItemState]) -> bool:
    """Tell whether every item is complete or closed."""
    return all(not item.is_open for item in items)


def counters(item: ItemState) -> Mapping[str, object]:
    """Return the columns of an item that dispensing counts."""
    return {
        "dispensed_quantity": item.dispensed,
        "fills_used": item.fills_used,
        "status": item.status,
        "not_dispensed_reason": item.closed,
    }
