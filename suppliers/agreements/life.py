"""What either party does with an accepted agreement: suspend, resume, give notice. Source: contract, supply-price.md 5."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from core.actor import Actor, SubjectKind
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.model_rows import save_call
from core.pipeline import Call, ReadBack, Statement, run
from ledger.public import Occurrence
from organizations.public import SharedDocument
from suppliers.company.today import today_call, today_of

from .audience import clear_call
from .drafts import event_of
from .events import (
    PriceAgreementEvent,
    PriceAgreementResumed,
    PriceAgreementSuspended,
    PriceAgreementTerminated,
)
from .finding import OwnDraft, Target, require, side_of
from .force import force_call, overlaps_call, refuse_overlaps
from .models import PriceAgreement

SYSTEM: Final = "system"
# A notice before the first day leaves no day at all: an empty range overlaps nothing.
_SHORTEN = Statement.of(
    "UPDATE suppliers_priceagreementline SET valid_to = greatest($3::date, valid_from) WHERE tenant_id = $1"
    " AND agreement_id = $2 AND valid_to > $3::date"
)


@needs_transaction
def suspend(
    actor: Actor, target: Target, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PriceAgreement:
    """Let the prices of an active agreement rest; `data` may give a `reason`.

    :raises InvalidTransition: it is not active.
    """
    document = _accepted(target, "suspend")
    row: PriceAgreement = document.row
    row.suspend(data.get("reason") or "")
    rests = force_call(row.tenant_id, row.id, in_force=False)
    _write(document, [rests, _saved(document, at, "status", "reason")], PriceAgreementSuspended, at, reading)
    return row


@needs_transaction
def resume(actor: Actor, target: Target, at: datetime, reading: ReadBack | None = None) -> PriceAgreement:
    """Let the prices of a suspended agreement hold again.

    :raises InvalidTransition: it is not suspended.
    :raises AgreementOverlap: others have come to hold for the same meanwhile; names each line.
    """
    document = _accepted(target, "resume")
    row: PriceAgreement = document.row
    (overlaps,) = run([overlaps_call(row)])
    refuse_overlaps(overlaps)
    row.resume()
    holds = force_call(row.tenant_id, row.id, in_force=True)
    _write(document, [holds, _saved(document, at, "status", "reason")], PriceAgreementResumed, at, reading)
    return row


@needs_transaction
def terminate(
    actor: Actor, target: Target, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PriceAgreement:
    """Give notice: the agreement ends on `notice_date`, the first day on which it does not hold any more; today: at once.

    The day is that at the supplier. Notice that was given can be brought forward, not put off.

    :raises InvalidTransition: it is neither active nor suspended.
    :raises InvalidFields: the date is past, or the agreement ends by then anyway.
    """
    document = _accepted(target, "terminate")
    row: PriceAgreement = document.row
    today, day = _today(document, at), data["notice_date"]
    _check_notice(row, day, today)
    row.give_notice(day, data["reason"])
    calls = [Call(_SHORTEN, [str(row.tenant_id), str(row.id), str(day)])]
    if day > today:
        calls.append(_saved(document, at, "terminates_on", "reason"))
    else:
        row.terminate(at)
        clear_audience([row])
        calls += [
            force_call(row.tenant_id, row.id, in_force=False),
            _saved(document, at, "terminates_on", "reason", "status", "ended_at"),
        ]
    _write(document, calls, PriceAgreementTerminated, at, reading, terminates_on=str(day))
    return row


@needs_transaction
def clear_audience(ended: Sequence[PriceAgreement]) -> None:
    """Take the audience of versions away that have ended; one of their suppliers stays bound."""
    suppliers = sorted({row.supplier_tenant_id for row in ended})
    calls: list[Call] = []
    for supplier_id in suppliers:
        mine = sorted(row.id for row in ended if row.supplier_tenant_id == supplier_id)
        calls += [bind_call(supplier_id), *(clear_call(supplier_id, one) for one in mine)]
    run(calls)


def acting(target: SharedDocument) -> str:
    """Return which side acts, as events tell it; `system` where staff of the platform do."""
    return SYSTEM if target.actor.subject.kind is SubjectKind.SYSTEM else side_of(target).value


def _accepted(target: Target, action: str) -> SharedDocument:
    """Return the version that an action concerns.

    :raises InvalidTransition: its state does not allow the action.
    """
    require(target, action)
    if isinstance(target, OwnDraft):
        raise TypeError(f"no draft allows {action}")
    return target


def _saved(target: SharedDocument, at: datetime, *names: str) -> Call:
    return save_call(target.row, *names, at=at, versions=target.versions)


def _today(target: SharedDocument, at: datetime) -> date:
    """Return the date at the supplier."""
    (found,) = run([today_call(target.row.supplier_tenant_id, at)])
    return today_of(found)


def _check_notice(row: PriceAgreement, day: date, today: date) -> None:
    """Hold the day of a notice to what it can be.

    :raises InvalidFields: at `notice_date`.
    """
    last = min(filter(None, (row.valid_to, row.terminates_on)))
    if day < today:
        message = f"Is at least {today}, the date at the supplier."
        raise InvalidFields(errors=[FieldError("notice_date", "min_value", message)])
    if day >= last:
        raise InvalidFields(errors=[FieldError("notice_date", "max_value", f"The agreement ends on {last} anyway.")])


def _write(
    target: SharedDocument,
    calls: Sequence[Call],
    kind: type[PriceAgreementEvent],
    at: datetime,
    reading: ReadBack | None,
    **more: Any,
) -> None:
    """Write a change that both parties see, and tell both; a managed supplier is told nothing."""
    row: PriceAgreement = target.row
    event = replace(event_of(kind, row, by=acting(target)), **more)
    told: dict[UUID, list[Occurrence]] = {
        one: [Occurrence(event, row.agreement_id, row.shared_version)] for one in target.parties
    }
    told[row.tenant_id] = [Occurrence(event, row.agreement_id, row.version)]
    target.write(calls, told=told, at=at, reading=reading)
