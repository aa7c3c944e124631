"""Closing of open requests when their prescription is cancelled."""

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
    row = change.row
    if row.route_id is None:
        return
    (found,) = run([Call(_OPEN, [str(row.tenant_id), str(row.id)])])
    for request in rows_of(PrescriptionRequest, found):
        request.close()
        request.answered_at, request.answered_by = change.at, row.cancelled_by
        change.calls.append(save_call(request, "status", "answered_at", "answered_by", at=change.at))
        change.touched.append((REQUESTS, request.id))
        answered(change, request)
