"""Closing of requests that nobody will answer: the prescription is cancelled, or another pharmacy holds it."""

from uuid import UUID

from core.model_rows import rows_of, save_call
from core.pipeline import Call, Statement, run
from prescriptions.lifecycle.changes import Change

from .models import REQUESTS, PrescriptionRequest
from .telling import answered

_OPEN = Statement.of(
    f"SELECT {', '.join(str(field.column) for field in PrescriptionRequest._meta.concrete_fields)}"
    " FROM prescriptions_prescriptionrequest WHERE tenant_id = $1 AND prescription_id = $2 AND status = 'open'"
    " ORDER BY id FOR UPDATE"
)


def close_open_requests(change: Change) -> None:
    """Close what the pharmacy has asked about a prescription that is being cancelled, as part of the change."""
    if change.row.route_id is None:
        return
    for request in open_requests(change.row.tenant_id, change.row.id):
        close(change, request, by=change.row.cancelled_by)


def open_requests(tenant_id: UUID, prescription_id: UUID) -> list[PrescriptionRequest]:
    """Lock and return the open requests about a locked prescription of the bound tenant."""
    (found,) = run([Call(_OPEN, [str(tenant_id), str(prescription_id)])])
    return rows_of(PrescriptionRequest, found)


def close(change: Change, request: PrescriptionRequest, *, by: UUID | None = None) -> None:
    """Close a request as part of a change of its prescription, and tell both sides."""
    request.close()
    request.answered_at, request.answered_by = change.at, by
    change.calls.append(save_call(request, "status", "answered_at", "answered_by", at=change.at))
    change.touched.append((REQUESTS, request.id))
    answered(change, request)
