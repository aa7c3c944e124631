"""Which levels a shipment takes its goods from, and what it uses of what the order holds. In memory, on locked levels.

Lines that name no lot take what is allocated to them, what expires first at first, then what is free. A lot that is named
must be free or held by the same order. What the order holds elsewhere of goods that have left is let go. Source: contract,
supply-order.md 3 "What may be shipped".
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from itertools import takewhile
from typing import Final
from uuid import UUID

from core.errors import FieldError
from suppliers.inventory.levels import Level
from suppliers.inventory.movements.serials import SerialRow
from suppliers.inventory.refusals import InsufficientStock, LotConflict, WrongSerial
from suppliers.inventory.states import SerialStatus

from .refusals import LotNotShippable
from .stock import Goods, Stock
from .wanting import Want, wrong_serials

_NEVER: Final = "9999-12-31"


class Reason(StrEnum):
    """Why a lot may not leave."""

    EXPIRED = "expired"
    QUARANTINED = "quarantined"
    RECALLED = "recalled"
    SHORT = "shelf_life_too_short"


@dataclass(frozen=True, slots=True)
class Pick:
    """So many base units of one level for a line; `level` is None for a service, and for goods in words."""

    want: Want
    base_quantity: int
    level: Level | None = None
    serials: Sequence[SerialRow] = ()


def reason_of(level: Level, days: int, at: datetime) -> Reason | None:
    """Return why the goods of a level may not leave today, to last for so many days; None: they may."""
    row = level.row
    if row.is_recalled:
        return Reason.RECALLED
    if not row.is_open:
        return Reason.QUARANTINED
    if row.expiry_date is None:
        return None
    left = (date.fromisoformat(row.expiry_date) - level.today(at)).days
    if left < 0:
        return Reason.EXPIRED
    return Reason.SHORT if left < days else None


def _by_expiry(level: Level) -> tuple[str, datetime, UUID]:
    """Return what levels are sorted by: what expires first at first."""
    return level.row.expiry_date or _NEVER, level.row.created_at, level.row.id


def pick(
    wants: Sequence[Want], stock: Stock, goods: Mapping[UUID, Goods], days: int | None, at: datetime
) -> list[Pick]:
    """Take the goods of all lines off their levels; `days` is what the order asks for, else offer and product say it.

    Goods in words are no product, and lie on no level.

    :raises WrongSerial: a serial number is not in stock at the place, or of another lot than its line names.
    :raises LotConflict: a lot has another expiry date than its line says.
    :raises LotNotShippable: a lot that is named, or allocated with no other to take its place, may not leave.
    :raises InsufficientStock: too little is free at the place or held by the order.
    """
    picker = Picker(stock, at)
    for want in wants:
        if want.line.product_id is None:
            picker.picks.append(Pick(want, want.base_quantity))
            continue
        product = goods[want.line.product_id]
        picker.take(want, product, product.days_of(want.line, days))
    picker.refuse()
    return picker.picks


class Picker:
    """Picks line after line, and keeps what is wrong, so that one answer names all of it."""

    def __init__(self, stock: Stock, at: datetime) -> None:
        self.stock, self.at = stock, at
        self.picks: list[Pick] = []
        self._usable: dict[tuple[UUID, int], dict[UUID, Level]] = {}
        self.errors: dict[type[WrongSerial | LotConflict | LotNotShippable | InsufficientStock], list[FieldError]] = (
            defaultdict(list)
        )

    def refuse(self) -> None:
        """Raise the first kind of what is wrong, with all lines of it.

        :raises WrongSerial, LotConflict, LotNotShippable, InsufficientStock: as `pick`.
        """
        for kind in (WrongSerial, LotConflict, LotNotShippable, InsufficientStock):
            if self.errors[kind]:
                raise kind(errors=self.errors[kind])

    def take(self, want: Want, product: Goods, days: int) -> None:
        """Take the goods of one line."""
        if product.is_service:
            self.picks.append(Pick(want, want.base_quantity))
        elif product.has_serials:
            self._take_numbered(want, product, days)
        elif want.lot_number or not product.has_lots:
            self._take_named(want, product, days)
        else:
            self._take_first_expiring(want, product, days)

    def _take_numbered(self, want: Want, product: Goods, days: int) -> None:
        """Take the units whose numbers the line names, wherever they lie."""
        found, wrong = defaultdict[UUID, list[SerialRow]](list), list[str]()
        for number in want.serial_numbers:
            row = self.stock.serials.get((product.id, number))
            level = self.stock.level_here(row.level_id) if row else None
            fits = level is not None and want.lot_number in ("", level.row.lot_number or "")
            if row is None or level is None or not fits or row.status != SerialStatus.IN_STOCK:
                wrong.append(number)
            else:
                found[level.row.id].append(row)
        if wrong:
            self.errors[WrongSerial] += wrong_serials(want, wrong)
            return
        for key, units in found.items():
            level = self.stock.levels[key]
            if self._may_leave(want, [level], days):
                rest = self._use(want, level, len(units), units)
                self._short(want, rest, level.on_hand)

    def _take_named(self, want: Want, product: Goods, days: int) -> None:
        """Take goods of the lot that the line names, or of a product without lots."""
        levels = [one for one in self.stock.lot_here(product.id, want.lot_number) if one.on_hand]
        usable = {one.row.id: one for one in sorted(levels, key=_by_expiry) if reason_of(one, days, self.at) is None}
        if self._may_leave(want, [*usable.values()] or levels, days):
            self._fill(want, self._own_first(want, product, usable))

    def _take_first_expiring(self, want: Want, product: Goods, days: int) -> None:
        """Take what is allocated to the line, then what is free."""
        usable = self._usable_of(product, days)
        rest = self._fill(want, self._own_first(want, product, usable), refuses=False)
        if not rest:
            return
        here = self.stock.here(product.id)
        void = [one for one in here if self.stock.held_at(one.row.id) and reason_of(one, days, self.at)]
        if void:
            self._may_leave(want, void, days)
        else:
            self._short(want, rest, want.base_quantity - rest)

    def _usable_of(self, product: Goods, days: int) -> dict[UUID, Level]:
        """Return the levels of a product that may leave, by expiry, without those at the front that are empty by now."""
        key = (product.id, days)
        if key not in self._usable:
            ordered = sorted(self.stock.here(product.id), key=_by_expiry)
            self._usable[key] = {one.row.id: one for one in ordered if reason_of(one, days, self.at) is None}
        levels = self._usable[key]
        for empty in [*takewhile(lambda one: not levels[one].on_hand, levels)]:
            del levels[empty]
        return levels

    def _own_first(self, want: Want, product: Goods, levels: Mapping[UUID, Level]) -> Iterator[Level]:
        """Yield levels in the order in which they are taken from: those of the line first, each by expiry, as `levels` are."""
        held = {one.level_id for one in self.stock.held_for(product.id, want.line.id)}
        yield from sorted((levels[key] for key in held if key in levels), key=_by_expiry)
        yield from (one for key, one in levels.items() if key not in held)

    def _may_leave(self, want: Want, levels: Sequence[Level], days: int) -> bool:
        """Tell whether lots may leave, and keep what is wrong with them."""
        dates = {level.row.expiry_date for level in levels}
        if want.expiry_date and dates and dates != {want.expiry_date.isoformat()}:
            message = f"The lot expires on {next(iter(dates))}."
            self.errors[LotConflict].append(want.fault("expiry_date", LotConflict.code, message))
            return False
        for level in levels:
            if reason := reason_of(level, days, self.at):
                message = f"The lot {level.row.lot_number or '-'} may not leave: {reason.value}."
                fault = want.fault("lot_number", LotNotShippable.code, message, reason=reason.value)
                self.errors[LotNotShippable].append(fault)
                return False
        return True

    def _fill(self, want: Want, levels: Iterable[Level], *, refuses: bool = True) -> int:
        """Take from levels, one after the other, until it is enough; return what is missing."""
        rest = want.base_quantity
        for level in levels:
            rest -= (part := min(rest, self._available(level)))
            if part:
                self._use(want, level, part)
            if not rest:
                break
        if refuses:
            self._short(want, rest, want.base_quantity - rest)
        return rest

    def _available(self, level: Level) -> int:
        """Return what may be taken of a level: what is free, and what the order holds there."""
        return max(0, min(level.on_hand, level.free + self.stock.held_at(level.row.id)))

    def _use(self, want: Want, level: Level, quantity: int, serials: Sequence[SerialRow] = ()) -> int:
        """Take goods off a level, and off what the order holds, there at first; return what is missing."""
        missing = quantity - min(quantity, self._available(level))
        if missing:
            return missing
        key, line, stock = level.row.id, want.line.id, self.stock
        unheld = level.free  # before what is the line's own is let go, which becomes free too
        rest = quantity - stock.let_go(stock.mine(key, line), quantity)
        free = min(rest, unheld)
        if free:
            held = stock.held_for(level.row.product_id, line)
            stock.let_go((one for one in held if one.level_id != key), free)
        if rest > free:
            stock.let_go(stock.others(key, line), rest - free)
        level.on_hand -= quantity
        self.picks.append(Pick(want, quantity, level, serials))
        return 0

    def _short(self, want: Want, missing: int, available: int) -> None:
        if missing:
            message = f"{available} base units are there for the line."
            self.errors[InsufficientStock].append(
                want.fault("quantity", InsufficientStock.code, message, available=available)
            )
