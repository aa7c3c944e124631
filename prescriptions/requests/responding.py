"""The prescriber's answer to a request. Source: contract, prescriptions.md "Requests of the pharmacy"."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import InvalidTransition, NotFound
from core.model_rows import lock_call, row_of, save_call
from core.pipeline import Call, ReadBack, Rows, Statement, run
from prescriptions.lifecycle.changes import Change
from prescriptions.lifecycle.targets import WITHIN, Judged, LockedPrescription, locked
from prescriptions.prescribing.drafts import Cause, create_prescription
from prescriptions.prescribing.serializers import items_of_template
from prescriptions.states import RequestKind, RequestStatus

from .models import REQUESTS, PrescriptionRequest
from .proposals import asked_item, draft_after
from .telling import answered

APPROVALS: Final = (RequestStatus.APPROVED.value, RequestStatus.APPROVED_WITH_CHANGES.value)
_QUESTION: Final = (RequestStatus.ANSWERED.value, RequestStatus.DENIED.value)
_WISH: Final = (*APPROVALS, RequestStatus.DENIED.value)
_OWN = Statement.of(
    "SELECT r.prescription_id::text FROM prescriptions_prescriptionrequest r WHERE r.id = $1 AND r.tenant_id = $2"
)


@dataclass(frozen=True, slots=True, eq=False)
class LockedRequest:
    """A locked request with its locked prescription."""

    prescription: LockedPrescription
    row: PrescriptionRequest

    @property
    def version(self) -> int:
        """The version that the caller's ETag shows."""
        found: int = self.row.version
        return found


@dataclass(frozen=True, slots=True, eq=False)
class OwnRequest(Judged):
    """The `find` of the answer: a request about one of the tenant's own prescriptions."""

    def locate(self, tenant_id: UUID, *path: Any) -> Call:
        """Return the statement that finds the request's prescription."""
        return Call(_OWN, [str(path[0]), str(tenant_id)])

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> LockedRequest:
        """Lock the prescription, then the request.

        :raises NotFound: nobody asked the tenant this, or the prescription is at a place beyond the caller's.
        """
        if not len(located):
            raise NotFound("No such request.")
        prescription = locked(actor, actor.tenant_id, UUID((located.value() or b"").decode()))
        if not WITHIN.holds(actor, prescription.row.location_id):
            raise NotFound("No such request.")
        (found,) = run([lock_call(PrescriptionRequest, actor.tenant_id, path[0])])
        row = row_of(PrescriptionRequest, found)
        if row is None:
            raise NotFound("No such request.")
        return LockedRequest(prescription, row)

    @needs_transaction
    def judge_again(self, actor: Actor, *path: Any) -> None:
        """Judge by the prescription as it is now.

        :raises NotFound: it is at a place beyond the caller's.
        """
        (located,) = run([self.locate(actor.tenant_id, *path)])
        self(actor, *path, located=located)


@needs_transaction
def respond_to_request(
    actor: Actor, target: LockedRequest, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PrescriptionRequest:
    """Answer a request; an approval makes a draft, which somebody has to sign.

    :raises InvalidTransition: it is answered already, or this is no answer to what was asked.
    :raises PatientNotFound, LocationNotFound, InvalidFields, QuotaExceeded: the draft cannot be made.
    """
    request, decision = target.row, data["decision"]
    _decide(request, decision)
    columns = ["status", "answered_at", "answered_by", "answer_reason_code", "answer_note"]
    request.answered_at, request.answered_by = at, actor.subject_id
    request.answer_reason_code, request.answer_note = data["reason_code"] or "", data["note"] or ""
    if decision in APPROVALS:
        request.draft_prescription_id = _draft(actor, target, data["items"], at)
        columns.append("draft_prescription_id")
    change = Change(target.prescription, at)
    change.calls.append(save_call(request, *columns, at=at))
    answered(change, request)
    change.commit(reading, answers=(REQUESTS, request.id), versioned=False)
    return request


def _decide(request: PrescriptionRequest, decision: str) -> None:
    """Take the decision.

    :raises InvalidTransition: with the decisions that are open.
    """
    answers = _QUESTION if request.kind == RequestKind.CLARIFICATION else _WISH
    allowed = answers if request.status == RequestStatus.OPEN else ()
    if decision not in allowed:
        raise InvalidTransition(state=request.status, action="respond", allowed=allowed)
    steps = {
        RequestStatus.APPROVED.value: request.approve,
        RequestStatus.APPROVED_WITH_CHANGES.value: request.approve_with_changes,
        RequestStatus.DENIED.value: request.deny,
        RequestStatus.ANSWERED.value: request.answer,
    }
    steps[decision]()


def _draft(actor: Actor, target: LockedRequest, items: Any, at: datetime) -> UUID:
    """Make the draft of what was asked for, or of the items that the prescriber gives instead."""
    row, request = target.prescription.row, target.row
    asked = next(item for item in target.prescription.items if item.id == request.item_id)
    wanted = items or items_of_template([asked_item(asked, request.proposed)])
    cause = Cause(prior_items=(asked.id,))
    found: UUID = create_prescription(actor, draft_after(row, wanted), at, cause=cause).id
    return found
