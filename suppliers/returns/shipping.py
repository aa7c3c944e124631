"""A buyer hands goods over that go back: they leave its stock. Source: contract, supply-invoice.md 4."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.model_rows import save_all_call, save_call
from core.pipeline import Call, ReadBack, Statement, run
from organizations.public import write_documents
from suppliers.inventory.movements.sent_back import Going, reference_of, send_back
from suppliers.inventory.reservations.changes import joined
from suppliers.orders.sending import BOTH

from .course import IN_TRANSIT, Who, require
from .delivered import Accepted, accepted_sql, by_line
from .finding import Returned
from .models import RETURNS, Return, ReturnLine
from .refusals import ReturnWindowClosed
from .telling import BUYER, told

_ACCEPTED = Statement.of(
    accepted_sql("(SELECT v.delivery_id FROM suppliers_return v WHERE v.tenant_id = $1 AND v.id = $2)"),
    row=Accepted,
)


@needs_transaction
def ship_return(
    actor: Actor, target: Returned, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Return:
    """Hand the goods of an authorized return over.

    :raises InvalidFields: it is said to happen later.
    :raises InvalidTransition: it is not authorized.
    :raises ReturnWindowClosed: the authorization is over.
    :raises InsufficientStock, WrongSerial: goods that had come to stock are not there; name each line.
    """
    row, was = target.row, str(target.row.status)
    refuse_future(data["shipped_at"], "shipped_at", at)
    step = require(was, "ship", Who.BUYER)
    if row.valid_until is not None and (data["shipped_at"] or at) > row.valid_until:
        raise ReturnWindowClosed("The authorization is over: withdraw the return, and request another one.")
    (accepted,) = run([Call(_ACCEPTED, [str(row.tenant_id), str(row.id)])])
    going = _going(target, by_line(accepted))
    home = row.delivery_location_id
    gone = send_back(actor, going, home, reference_of(row.id, row.number), at)
    row.become(IN_TRANSIT)
    row.shipped_at = data["shipped_at"] or at
    row.carrier, row.tracking_number = data["carrier"] or "", data["tracking_number"] or ""
    for number, one in enumerate(target.lines):
        one.stock = gone.kept.get(number) if gone else None
    calls = [
        save_call(row, "status", "shipped_at", "carrier", "tracking_number", at=at, versions=BOTH),
        save_all_call([*target.lines], "stock", at=at),
        *(gone.calls if gone else []),
    ]
    facts = told(row, step.told, target.lines, was=was, by=BUYER, heard=not target.is_managed)
    if gone:
        facts = joined(facts, {row.tenant_id: gone.facts})
    write_documents(
        actor, row.tenant_id, [(RETURNS, row.id)], calls, told=facts, at=at, reading=reading,
        counts=gone.counts if gone else [],
    )  # fmt: skip
    return row


def refuse_future(said: datetime | None, name: str, at: datetime) -> None:
    """Require that what is said to have happened has.

    :raises InvalidFields: it is said to happen later.
    """
    if said is not None and said > at:
        raise InvalidFields(errors=[FieldError(name, "in_future", "Is still to come.")])


def _going(target: Returned, accepted: Mapping[UUID, Sequence[Accepted]]) -> list[Going]:
    """Return what leaves of each line whose goods came to stock; the others are in no stock."""
    found = []
    for number, one in enumerate(target.lines):
        receipts = accepted.get(one.delivery_line_id, ())
        if one.product_id and any(it.stocked for it in receipts):
            found.append(_of_line(number, one, receipts))
    return found


def _of_line(number: int, one: ReturnLine, receipts: Sequence[Accepted]) -> Going:
    assert one.product_id is not None
    beside = sum(it.quantity - it.stocked for it in receipts)  # what came to places that keep no stock
    lots = frozenset({one.lot_number, ""})
    return Going(
        number, one.product_id, lots, one.base_quantity, max(one.base_quantity - beside, 0), one.serial_numbers
    )
