"""The first of two transitions of one request, as the database demands: nothing leads from draft to signed at once."""

from core.pipeline import Call, Statement, run
from prescriptions.states import Status

from .models import Prescription

_VALIDATED = Statement.of(
    "UPDATE prescriptions_prescription SET status = $3 WHERE tenant_id = $1 AND id = $2 AND status = $4"
)


def step_to_validated(row: Prescription) -> None:
    """Move the stored draft to clinically validated; the change that follows raises the version."""
    states = [Status.CLINICALLY_VALIDATED.value, Status.DRAFT.value]
    run([Call(_VALIDATED, [str(row.tenant_id), str(row.id), *states])])
