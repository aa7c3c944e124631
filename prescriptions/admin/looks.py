"""Access records of what staff look at: no record, no page."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from fhir_api.public import Access, record_read
from organizations.staff import acting_tenant
from organizations.staff.acting_tenant import ActingTenant
from organizations.staff.audit import staff_actor

PRESCRIPTION = "Prescription"


def chosen_tenant(request: HttpRequest) -> ActingTenant:
    """Return the acting tenant.

    :raises PermissionDenied: its time ended while the page was made.
    """
    chosen = acting_tenant.current(request)
    if chosen is None:
        raise PermissionDenied
    return chosen


def note_look(
    request: HttpRequest,
    patients: Iterable[str],
    *,
    key: str = "",
    kind: str = PRESCRIPTION,
    count: int = 1,
    parameters: Sequence[str] = (),
    tenant_id: UUID | None = None,
) -> None:
    """Record what is shown, with the reason that was given for the access.

    `tenant_id` is another tenant whose rows are shown, too; it must be bound.
    """
    chosen = chosen_tenant(request)
    read = Access("staff", kind, key, parameters=parameters, count=count, reason=chosen.reason)
    record_read(staff_actor(request, tenant_id or chosen.tenant_id), patients, read)
