"""What a supplier decides about goods that came back, held against the lines of the return. Source: contract, supply-invoice.md 4.

At the first inspection every line gets a disposition for all of its goods; later, goods in quarantine move on.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from core.errors import FieldError, InvalidFields
from suppliers.deliveries.receiving.judging import base_of

from .models import COUNTED, ReturnLine
from .states import Disposition

QUARANTINE: Final = Disposition.QUARANTINE.value
RESTOCK: Final = Disposition.RESTOCK.value
DESTROY: Final = Disposition.DESTROY.value
TO_MANUFACTURER: Final = Disposition.RETURN_TO_MANUFACTURER.value
NOT_RECEIVED: Final = Disposition.NOT_RECEIVED.value
ONWARD: Final = (RESTOCK, DESTROY, TO_MANUFACTURER)  # what goods in quarantine may come to


@dataclass(frozen=True, slots=True)
class Disposed:
    """One line of an inspection: its place in the body, the line of the return, and what becomes of so many base units."""

    number: int
    line: ReturnLine
    disposition: str
    quantity: int
    serials: Sequence[str]
    location_id: UUID | None
    witness: UUID | None
    file_ids: Sequence[UUID]


def disposed(lines: Sequence[ReturnLine], asked: Sequence[Mapping[str, Any]], *, again: bool) -> list[Disposed]:
    """Return what becomes of the goods; with `again` it is about what lies in quarantine.

    :raises InvalidFields: a line is unknown, has no disposition or has more of them than goods, or its units are missing.
    """
    known = {one.id: one for one in lines}
    left = {one.id: one.quarantined if again else one.base_quantity for one in lines}
    units = {one.id: [*one.serial_numbers] for one in lines}
    errors, found = list[FieldError](), list[Disposed]()
    for number, given in enumerate(asked):
        line = known.get(given["return_line_id"])
        if line is None:
            message = "The return has no such line."
            errors.append(FieldError(f"lines.{number}.return_line_id", "unknown_line", message))
            continue
        if again and (fault := _fault(line, given["disposition"])):
            errors.append(FieldError(f"lines.{number}.{fault[0]}", *fault[1:]))
            continue
        one = _of(number, line, given, left[line.id], units[line.id])
        left[line.id] -= one.quantity
        found.append(one)
        errors += _miscounted(one, left[line.id])
    if errors := errors or [*_missing(lines, left, found, again=again)]:
        raise InvalidFields(errors=errors)
    return found


def _of(number: int, line: ReturnLine, given: Mapping[str, Any], left: int, units: list[str]) -> Disposed:
    """Return one line of an inspection; its units are taken out of those that are left."""
    quantity = left if given["quantity"] is None else base_of(given["quantity"], given["unit"], line.units_per_pack)
    serials = given["serial_numbers"] or ([*units] if quantity == len(units) else [])
    units[:] = [one for one in units if one not in serials]
    return Disposed(
        number, line, given["disposition"], quantity, serials, given["location_id"], given["witness"], given["file_ids"]
    )


def _fault(line: ReturnLine, disposition: str) -> tuple[str, str, str] | None:
    """Return what keeps a line from a second disposition."""
    if not line.quarantined:
        return "return_line_id", "not_in_quarantine", "Nothing of the line is in quarantine."
    if disposition not in ONWARD:
        return "disposition", "invalid_choice", f"Goods in quarantine come to one of {', '.join(ONWARD)}."
    return None


def _miscounted(one: Disposed, left: int) -> Iterator[FieldError]:
    name = f"lines.{one.number}"
    if left < 0:
        yield FieldError(f"{name}.quantity", "more_than_returned", f"That is {-left} base units too many.")
    if one.quantity < 1:
        yield FieldError(f"{name}.quantity", "invalid", "Nothing is left of the line.")
    unknown = set(one.serials) - set(one.line.serial_numbers)
    if unknown:
        yield FieldError(f"{name}.serial_numbers", "unknown_serial", f"{min(unknown)} is not on the line.")
    if (one.line.serial_numbers or one.serials) and len(one.serials) != one.quantity:
        code = "count_mismatch" if one.serials else "required"
        yield FieldError(f"{name}.serial_numbers", code, f"Name the {one.quantity} units.")


def _missing(
    lines: Sequence[ReturnLine], left: Mapping[UUID, int], found: Sequence[Disposed], *, again: bool
) -> Iterator[FieldError]:
    """Yield what the first inspection says nothing of, and lines of which more, or other units, are there than came back."""
    if again:
        return
    for one in lines:
        if left[one.id]:
            message = f"Line {one.line_no}: {left[one.id]} base units have no disposition."
            yield FieldError("lines", "required", message)
        there = sum(it.quantity for it in found if it.line is one and it.disposition != NOT_RECEIVED)
        if not left[one.id] and there > (one.received or 0):
            message = f"Line {one.line_no}: {one.received} base units have come back."
            yield FieldError("lines", "more_than_received", message)
        missing = set(one.serial_numbers[one.received or 0 :])
        for it in found:
            if it.line is one and it.disposition != NOT_RECEIVED and (absent := missing & set(it.serials)):
                message = f"{min(absent)} has not come back."
                yield FieldError(f"lines.{it.number}.serial_numbers", "not_received", message)


def count(found: Sequence[Disposed], *, again: bool) -> None:
    """Count dispositions in the lines, in memory."""
    for one in found:
        name = COUNTED[one.disposition]
        setattr(one.line, name, getattr(one.line, name) + one.quantity)
        if again:
            one.line.quarantined -= one.quantity
        one.line.file_ids = [*dict.fromkeys([*one.line.file_ids, *(str(key) for key in one.file_ids)])]
