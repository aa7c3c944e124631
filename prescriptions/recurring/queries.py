"""The recurring treatment that a write concerns, and who may change it."""

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import Forbidden, InvalidTransition, NotFound
from core.pipeline import Call, Rows, Statement
from prescriptions.lifecycle.refusals import LEAD, SIGN
from prescriptions.lifecycle.targets import WITHIN, Judged
from prescriptions.states import TreatmentStatus

from .models import RecurringTreatment

# The words of the paths that a status admits, in the answers to a forbidden one.
_ALLOWED: Final[dict[str, tuple[str, ...]]] = {
    TreatmentStatus.ACTIVE: ("end", "pause", "update"),
    TreatmentStatus.PAUSED: ("end", "resume", "update"),
    TreatmentStatus.COMPLETED: (),
    TreatmentStatus.ENDED: (),
}
_OWN: Final = Statement.of("SELECT 1 FROM prescriptions_recurringtreatment t WHERE t.tenant_id = $1 AND t.id = $2")


class RecurringNotPermitted(Forbidden):
    """The caller may not change this treatment."""

    code = "recurring_not_permitted"
    title = "You may not change this recurring treatment."


def demand(row: RecurringTreatment, action: str) -> None:
    """Refuse an action that the status does not admit.

    :raises InvalidTransition: with the words of the paths.
    """
    allowed = _ALLOWED[row.status]
    if action not in allowed:
        raise InvalidTransition(state=row.status, action=action, allowed=allowed)


@dataclass(frozen=True, slots=True, eq=False)
class OwnTreatment(Judged):
    """The `find` of the operations that change a recurring treatment."""

    def locate(self, tenant_id: UUID, *path: Any) -> Call:
        """Return the statement that finds the treatment in the caller's tenant."""
        return Call(_OWN, [str(tenant_id), str(path[0])])

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> RecurringTreatment:
        """Lock and return the treatment.

        :raises NotFound: the tenant has no such treatment, or it is at a place beyond the caller's.
        :raises RecurringNotPermitted: the caller may not change it.
        """
        if not len(located):
            raise NotFound("No such recurring treatment.")
        return _judged(actor, path[0])

    @needs_transaction
    def judge_again(self, actor: Actor, *path: Any) -> None:
        """Judge by the treatment as it is now.

        :raises NotFound: it is at a place beyond the caller's.
        :raises RecurringNotPermitted: the caller may no longer change it.
        """
        _judged(actor, path[0])


def _judged(actor: Actor, treatment_id: UUID) -> RecurringTreatment:
    rows = WITHIN.filter(RecurringTreatment.objects.of(actor), actor).select_for_update()
    row: RecurringTreatment | None = rows.filter(pk=treatment_id).first()
    if row is None:
        raise NotFound("No such recurring treatment.")
    is_prescriber = bool(actor.practitioner_id) and actor.practitioner_id == row.prescriber_id
    if not (row.created_by == actor.subject_id or is_prescriber or actor.may(SIGN) or LEAD in actor.roles):
        raise RecurringNotPermitted
    return row
