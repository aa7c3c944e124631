"""What either party does with an accepted agreement: suspend, resume, give notice. Source: contract, supply-price.md 5."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any, Final

from core.actor import Actor, SubjectKind
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.model_rows import rows_of, save_call
from core.pipeline import Call, ReadBack, Statement, run
from ledger.public import Occurrence
from organizations.public import SharedDocument, write_documents
from suppliers.company.today import today_call, today_of

from .audience import clear_call
from .drafts import event_of
from .events import (
    PriceAgreementDeclined,
    PriceAgreementEvent,
    PriceAgreementResumed,
    PriceAgreementSuspended,
    PriceAgreementTerminated,
)
from .finding import OwnDraft, Target, require, side_of
from .force import force_call, overlaps_call, refuse_overlaps
from .models import AGREEMENTS, PriceAgreement

SYSTEM: Final = "system"
# A notice before the first day leaves no day at all: an empty range overlaps nothing.
_SHORTEN = Statement.of(
    "UPDATE suppliers_priceagreementline SET valid_to = greatest($3::date, valid_from) WHERE tenant_id = $1"
    " AND agreement_id = $2 AND valid_to > $3::date"
)
_COLUMNS = ", ".join(f'"{field.column}"' for field in PriceAgreement._meta.concrete_fields)
_LOCK_PROPOSED = Statement.of(
    f"SELECT {_COLUMNS} FROM suppliers_priceagreement WHERE tenant_id = $1 AND agreement_id = $2 AND status = 'proposed'"
    " FOR UPDATE"
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

    The day is that at the supplier. Notice that was given can be brought forward, not put off. A next version that waits for
    an answer is declined with it, so that no acceptance undoes the notice.

    :raises InvalidTransition: it is neither active nor suspended.
    :raises InvalidFields: the date is past, or the agreement ends by then anyway.
    """
    document = _accepted(target, "terminate")
    row: PriceAgreement = document.row
    (today, declined), day = _today_and_proposed(document, at), data["notice_date"]
    _check_notice(row, day, today)
    row.give_notice(day, data["reason"])
    calls = [Call(_SHORTEN, [str(row.tenant_id), str(row.id), str(day)])]
    for one in declined:
        one.decline(at, data["reason"])
        calls.append(save_call(one, "status", "reason", "ended_at", at=at, versions=document.versions))
    if day > today:
        calls.append(_saved(document, at, "terminates_on", "reason"))
    else:
        row.terminate(at)
        clear_audience([row])
        calls += [
            force_call(row.tenant_id, row.id, in_force=False),
            _saved(document, at, "terminates_on", "reason", "status", "ended_at"),
        ]
    _write(document, calls, PriceAgreementTerminated, at, reading, declined, terminates_on=str(day))
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


def _today_and_proposed(target: SharedDocument, at: datetime) -> tuple[date, list[PriceAgreement]]:
    """Return the date at the supplier, and the locked next version if one waits for an answer."""
    row: PriceAgreement = target.row
    today, proposed = run(
        [
            today_call(row.supplier_tenant_id, at),
            Call(_LOCK_PROPOSED, [str(row.tenant_id), str(row.agreement_id)]),
        ]
    )
    return today_of(today), rows_of(PriceAgreement, proposed)


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
    declined: Sequence[PriceAgreement] = (),
    **more: Any,
) -> None:
    """Write a change that both parties see, and tell both; a managed supplier is told nothing."""
    row: PriceAgreement = target.row
    by = acting(target)
    facts = [(replace(event_of(kind, row, by=by), **more), row)]
    facts += [(event_of(PriceAgreementDeclined, one, by=by), one) for one in declined]
    told = {
        tenant: [
            Occurrence(event, one.agreement_id, one.version if tenant == row.tenant_id else one.shared_version)
            for event, one in facts
        ]
        for tenant in {*target.parties, row.tenant_id}
    }
    touched = [(AGREEMENTS, one.id) for one in (row, *declined)]
    write_documents(target.actor, row.tenant_id, touched, calls, told=told, at=at, reading=reading)
