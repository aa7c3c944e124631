"""The first of two transitions of one request, as the database demands: nothing leads from draft to signed at once."""

from core.pipeline import Call, Statement
from prescriptions.states import Status

from .models import Prescription

VALIDATED = Statement.of(
    "UPDATE prescriptions_prescription SET status = $3 WHERE tenant_id = $1 AND id = $2 AND status = $4"
)


def validated_call(row: Prescription) -> Call:
    """Return the statement that moves the stored draft to clinically validated; the change behind it raises the version."""
    states = [Status.CLINICALLY_VALIDATED.value, Status.DRAFT.value]
    return Call(VALIDATED, [str(row.tenant_id), str(row.id), *states])
