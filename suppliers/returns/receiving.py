"""A supplier receives goods that come back: they are set apart until somebody has inspected them.

Source: contract, supply-invoice.md 4.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from core import rows
from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.model_rows import save_all_call, save_call
from core.pipeline import ReadBack, run
from organizations.public import Part, write_together
from suppliers.deliveries.receiving.judging import base_of
from suppliers.inventory.movements.came_back import Coming, Moved, own_products, own_products_call, place_of, put_apart
from suppliers.inventory.movements.delivered import Landing, landings_call
from suppliers.inventory.movements.sent_back import reference_of
from suppliers.inventory.reservations.changes import joined
from suppliers.orders.sending import BOTH

from .course import RECEIVED, Who, require
from .finding import Returned
from .models import RETURNS, Return, ReturnLine, ReturnPrivate
from .shipping import refuse_future
from .telling import SUPPLIER, told


@needs_transaction
def receive_return(
    actor: Actor, target: Returned, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Return:
    """Record what has come back of a return; what lines do not name has come back whole.

    :raises InvalidFields: a line, a unit or the place is unknown, more has come back than was sent, or the place is for sale.
    :raises InvalidTransition: the return is not on its way.
    :raises WrongSerial: a unit is in stock already; names each line.
    """
    row, was, own = target.row, str(target.row.status), actor.tenant_id
    refuse_future(data["received_at"], "received_at", at)
    _count(target, data["lines"])
    place = data["location_id"]
    products = {one.product_id for one in target.lines if one.product_id}
    _, landings, of_products = run(
        [bind_call(own), landings_call(actor, [place], place), own_products_call(own, products)]
    )
    apart = place_of(landings.of(Landing), "location_id")
    step = require(was, "receive", Who.SUPPLIER)
    reference = reference_of(row.id, row.number)
    moved = (
        put_apart(actor, own_products(of_products), _coming(target), apart.location_id, reference, at)
        if apart
        else Moved()
    )
    private = ReturnPrivate(
        id=row.id, tenant_id=own, location_id=apart.location_id if apart else place, stock={"kept": apart is not None},
        created_at=at, updated_at=at,
    )  # fmt: skip
    row.become(RECEIVED)
    row.received_at = data["received_at"] or at
    of_buyer = [
        save_call(row, "status", "received_at", at=at, versions=BOTH),
        save_all_call([*target.lines], "received", "serial_numbers", at=at),
    ]
    # The supplier first: the counters are those of the first owner.
    parts = [Part(own, [], [*moved.calls, rows.insert(private)]), Part(row.tenant_id, [(RETURNS, row.id)], of_buyer)]
    facts = joined(told(row, step.told, target.lines, was=was, by=SUPPLIER), {own: moved.facts})
    write_together(actor, parts, row.id, told=facts, at=at, reading=reading, counts=moved.counts)
    return row


def _count(target: Returned, lines: list[Mapping[str, Any]]) -> None:
    """Say of each line what has come back of it, in memory; its units that have come stand before those that have not.

    :raises InvalidFields: a line is unknown or named twice, its units are wrong, or more has come back than was sent.
    """
    known = {one.id: one for one in target.lines}
    errors, seen = list[FieldError](), set[Any]()
    for one in target.lines:
        one.received = one.base_quantity
    for number, given in enumerate(lines):
        key = given["return_line_id"]
        line = known.get(key)
        if line is None:
            message = "The return has no such line."
            errors.append(FieldError(f"lines.{number}.return_line_id", "unknown_line", message))
            continue
        if key in seen:
            errors.append(FieldError(f"lines.{number}.return_line_id", "duplicate", "Another line names it."))
        seen.add(key)
        line.received = base_of(given["quantity"], given["unit"], line.units_per_pack)
        errors += _miscounted(number, line, given["serial_numbers"])
        line.serial_numbers = [*dict.fromkeys([*given["serial_numbers"], *line.serial_numbers])]
    if errors:
        raise InvalidFields(errors=errors)


def _miscounted(number: int, line: ReturnLine, serials: Sequence[str]) -> Iterator[FieldError]:
    """Yield what is wrong with the quantity and the units that have come of a line."""
    came, name = line.received or 0, f"lines.{number}"
    if came > line.base_quantity:
        yield FieldError(f"{name}.quantity", "more_than_sent", f"{line.base_quantity} base units were sent.")
    if unknown := set(serials) - set(line.serial_numbers):
        yield FieldError(f"{name}.serial_numbers", "unknown_serial", f"{min(unknown)} is not on the line.")
    elif serials and len(serials) != came:
        yield FieldError(f"{name}.serial_numbers", "count_mismatch", f"Name the {came} units.")
    elif line.serial_numbers and not serials and 0 < came < line.base_quantity:
        yield FieldError(f"{name}.serial_numbers", "required", f"Name the {came} units.")


def _coming(target: Returned) -> list[Coming]:
    """Return what is put on the shelves; of units of which some are missing, those that have come are the first ones."""
    return [
        Coming(
            number, one.product_id, one.received or 0, one.lot_number, one.expiry_date,
            one.serial_numbers[: one.received or 0],
        )
        for number, one in enumerate(target.lines)
        if one.product_id
    ]  # fmt: skip
