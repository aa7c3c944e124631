"""What is decided of a return before its goods move: the supplier authorizes or declines it, the buyer withdraws it.

Source: contract, supply-invoice.md 4.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.model_rows import save_all_call, save_call
from core.pipeline import ReadBack
from organizations.public import write_documents
from suppliers.deliveries.models import DELIVERIES
from suppliers.orders.sending import BOTH

from .counting import claim
from .course import AUTHORIZED, CANCELLED, DECLINED, Step, Who, require
from .finding import Returned
from .models import RETURNS, Return
from .states import Decision
from .telling import SUPPLIER, told


@needs_transaction
def authorize(
    actor: Actor, target: Returned, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Return:
    """Authorize a requested return, or decline it.

    :raises InvalidFields: the authorization would be over before it begins.
    :raises InvalidTransition: the return is not requested.
    """
    row, was = target.row, str(target.row.status)
    is_declined = data["decision"] == Decision.DECLINED
    if data["valid_until"] is not None and data["valid_until"] <= at:
        message = "Is over already."
        raise InvalidFields(errors=[FieldError("valid_until", "in_past", message)])
    step = require(was, "decline" if is_declined else "authorize", Who.SUPPLIER)
    row.decided_at = at
    if is_declined:
        row.become(DECLINED)
        row.decline_reason = data["reason"]
        return _give_up(actor, target, step, ["decided_at", "decline_reason"], at, reading)
    row.become(AUTHORIZED)
    row.valid_until, row.instructions = data["valid_until"], data["instructions"] or ""
    calls = [save_call(row, "status", "decided_at", "valid_until", "instructions", at=at, versions=BOTH)]
    facts = told(row, step.told, target.lines, was=was, by=SUPPLIER)
    write_documents(actor, row.tenant_id, [(RETURNS, row.id)], calls, told=facts, at=at, reading=reading)
    return row


@needs_transaction
def cancel_return(actor: Actor, target: Returned, at: datetime, reading: ReadBack | None = None) -> Return:
    """Withdraw a return that was not shipped.

    :raises InvalidTransition: it is shipped, declined or withdrawn already.
    """
    row = target.row
    step = require(str(row.status), "cancel", Who.BUYER)
    row.become(CANCELLED)
    row.cancelled_at = at
    return _give_up(actor, target, step, ["cancelled_at"], at, reading)


@needs_transaction
def _give_up(
    actor: Actor, target: Returned, step: Step, names: Sequence[str], at: datetime, reading: ReadBack | None
) -> Return:
    """Write a return that ends before its goods have moved; they can be on another one."""
    row = target.row
    claim(target.lines, target.delivered, -1)
    calls = [
        save_call(target.delivery, at=at, versions=BOTH),
        save_all_call([*target.delivered.values()], "returned", at=at),
        save_call(row, "status", *names, at=at, versions=BOTH),
    ]
    facts = told(
        row,
        step.told,
        target.lines,
        was=step.source,
        by=step.who.value,
        reason=row.decline_reason,
        heard=not target.is_managed,
    )
    touched = [(RETURNS, row.id), (DELIVERIES, target.delivery.id)]
    write_documents(actor, row.tenant_id, touched, calls, told=facts, at=at, reading=reading)
    return row
