"""Cancelling a prescription, or what is left of it. Source: contract, prescriptions.md "Lifecycle" and "Who may"."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from core.actor import Actor, SubjectKind
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.pipeline import ReadBack
from prescriptions.lifecycle.changes import Change
from prescriptions.lifecycle.models import Prescription
from prescriptions.lifecycle.refusals import LEAD, SIGN, CancelNotPermitted
from prescriptions.lifecycle.targets import LockedPrescription, demand
from prescriptions.lifecycle.tokens import forget_call
from prescriptions.states import Schedule, Status
from prescriptions.vocabularies import UNSPECIFIED

_DRAFTS = (Status.DRAFT, Status.CLINICALLY_VALIDATED)

_followed_by: list[Callable[[Change], None]] = []


def follow_cancelling(follow: Callable[[Change], None]) -> None:
    """Name what belongs to a cancellation, as part of the same change; to be called while the app is made ready."""
    if follow not in _followed_by:
        _followed_by.append(follow)


def may_cancel(actor: Actor, target: LockedPrescription) -> None:
    """Refuse who may not cancel: drafts are their author's, signed ones their signer's.

    :raises CancelNotPermitted: as named.
    """
    row = target.row
    if LEAD in actor.roles or actor.subject.kind is SubjectKind.SYSTEM:
        return
    if row.status in _DRAFTS:
        permitted = row.created_by == actor.subject_id or actor.may(SIGN)
    else:
        covering = actor.may(SIGN) and target.policies["covering_prescriber_may_cancel"]
        permitted = row.signed_by == actor.subject_id or covering
    if not permitted:
        raise CancelNotPermitted


@needs_transaction
def cancel_prescription(
    actor: Actor, target: LockedPrescription, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Prescription:
    """Cancel the prescription; what was dispensed stays dispensed.

    :raises InvalidFields: the tenant's policies ask for a reason.
    :raises InvalidTransition: it is dispensed, or cancelled already.
    """
    row: Prescription = target.row
    if not data["reason_code"] and _needs_reason(target):
        raise InvalidFields(errors=[FieldError("reason_code", "required", "This tenant asks for a reason.")])
    demand(row, "cancel")
    before = row.status
    row.cancel(at)
    row.cancelled_by = actor.subject_id
    row.cancel_reason_code, row.cancel_reason_text = data["reason_code"] or UNSPECIFIED, data["reason_text"] or ""
    change = Change(target, at)
    change.save("status", "cancelled_at", "cancelled_by", "cancel_reason_code", "cancel_reason_text")
    change.calls.append(forget_call(row))
    change.enter("cancelled", before=before, to_pharmacy=row.is_routed_live, reason_code=row.cancel_reason_code)
    for follow in _followed_by:
        follow(change)
    return change.commit(reading)


def _needs_reason(target: LockedPrescription) -> bool:
    rule = target.policies["require_cancel_reason"]
    controlled = any(item.effective_schedule != Schedule.NONE for item in target.items)
    return bool(rule == "all" or (rule == "controlled" and controlled))
