"""What owner and pharmacy are told of a request, and its entry in the history of the prescription."""

from ledger import public as ledger
from prescriptions.lifecycle.chain import Act
from prescriptions.lifecycle.changes import Change

from .events import PrescriptionRequestAnswered, PrescriptionRequestCreated
from .models import PrescriptionRequest


def asked(change: Change, request: PrescriptionRequest) -> None:
    """Enter that a pharmacy asks, and tell both sides."""
    _tell(change, request, "requested", PrescriptionRequestCreated)


def answered(change: Change, request: PrescriptionRequest) -> None:
    """Enter that a request was answered or closed, and tell both sides."""
    _tell(change, request, "request_answered", PrescriptionRequestAnswered)


def _tell(
    change: Change,
    request: PrescriptionRequest,
    action: str,
    kind: type[PrescriptionRequestCreated] | type[PrescriptionRequestAnswered],
) -> None:
    row = change.row
    details = {"request_id": str(request.id), "kind": request.kind, "status": request.status}
    change.acts.append(Act(action, row.status, row.status, details))
    event = kind(number=row.number, kind=request.kind, status=request.status, by=change.side)
    for tenant_id in {row.tenant_id, request.dispenser_tenant_id}:
        change.others.setdefault(tenant_id, []).append(ledger.Occurrence(event, request.id, request.version))
