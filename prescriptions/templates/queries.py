"""Templates that a caller sees, and the one that a write concerns.

A private template is its owner's, one of a location is seen by the memberships that reach it, and one of the tenant by all.
Source: contract, prescriptions.md "Templates".
"""

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from core.actor import Actor
from core.conditions import Condition
from core.db import BOUND_SUBJECT, needs_transaction
from core.errors import Forbidden, NotFound
from core.pipeline import Call, Rows, Statement
from organizations import public as organizations
from prescriptions.lifecycle.refusals import LEAD
from prescriptions.lifecycle.targets import Judged
from prescriptions.states import Visibility

from .models import PrescriptionTemplate

AT: Final = organizations.reach("location_id")
VISIBLE: Final = Condition(
    f'(t."owner_id" = {BOUND_SUBJECT} OR t."visibility" = \'{Visibility.TENANT}\''
    f" OR (t.\"visibility\" = '{Visibility.LOCATION}' AND {AT.sql}))"
)
_OWN: Final = Statement.of("SELECT 1 FROM prescriptions_prescriptiontemplate t WHERE t.tenant_id = $1 AND t.id = $2")


class NotTheOwner(Forbidden):
    """Templates are changed by their owner; those of the tenant also by a clinical lead."""

    code = "not_the_owner"
    title = "Only the owner of the template may change it."


def visible_to(actor: Actor) -> Q:
    """Return the condition `VISIBLE` for a queryset."""
    at_location = Q(visibility=Visibility.LOCATION) & AT.q(actor)
    return Q(owner_id=actor.subject_id) | Q(visibility=Visibility.TENANT) | at_location


@dataclass(frozen=True, slots=True, eq=False)
class OwnTemplate(Judged):
    """The `find` of the operations that change a template."""

    def locate(self, tenant_id: UUID, *path: Any) -> Call:
        """Return the statement that finds the template in the caller's tenant."""
        return Call(_OWN, [str(tenant_id), str(path[0])])

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> PrescriptionTemplate:
        """Lock and return the template.

        :raises NotFound: the caller sees no such template, or it is archived.
        :raises NotTheOwner: it is another's.
        """
        return _judged(actor, path[0], Q(archived_at__isnull=True)) if len(located) else _nothing()

    @needs_transaction
    def judge_again(self, actor: Actor, *path: Any) -> None:
        """Judge by the template as it is now, archived or not.

        :raises NotFound: the caller sees it no more.
        :raises NotTheOwner: it is another's.
        """
        _judged(actor, path[0], Q())


def _judged(actor: Actor, template_id: UUID, further: Q) -> PrescriptionTemplate:
    rows = PrescriptionTemplate.objects.of(actor).select_for_update().filter(visible_to(actor), further)
    row: PrescriptionTemplate = rows.filter(pk=template_id).first() or _nothing()
    is_lead = row.visibility == Visibility.TENANT and LEAD in actor.roles
    if row.owner_id != actor.subject_id and not is_lead:
        raise NotTheOwner
    return row


def _nothing() -> Any:
    raise NotFound("No such template.")
