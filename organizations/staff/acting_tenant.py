"""The acting tenant: the one tenant whose rows a member of staff may read for 30 minutes, for a stated reason.

Source: HIPAA 45 CFR 164.312(a)(2)(ii), emergency access.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest

from core.clock import now, rfc3339
from core.db import tenant_context
from core.ids import parse_uuid, uuid7
from ledger import public as ledger
from organizations.events import StaffAccessEnded, StaffAccessStarted
from organizations.models import Tenant

from . import audit
from .roles import role_of

LASTS = timedelta(minutes=30)
_KEY = "acting_tenant"


@dataclass(frozen=True, slots=True)
class ActingTenant:
    """The tenant that a member of staff works in, with the end of the access and its reason."""

    access_id: UUID
    tenant_id: UUID
    name: str
    until: datetime
    reason: str


def begin(request: HttpRequest, tenant: Tenant, *, reason: str, at: datetime) -> ActingTenant:
    """Open a tenant to this session, and record the access in the tenant's ledger and in the security log."""
    if current(request) is not None:
        end(request, at=at)
    chosen = ActingTenant(uuid7(), tenant.id, tenant.name, at + LASTS, reason)
    fact = StaffAccessStarted(staff_role=role_of(request.user), reason=reason, expires_at=rfc3339(chosen.until))
    _record(request, chosen, fact, "staff_access_started", at)
    request.session[_KEY] = {
        "access": str(chosen.access_id),
        "tenant": str(tenant.id),
        "name": tenant.name,
        "until": chosen.until.isoformat(),
        "reason": reason,
    }
    return chosen


def end(request: HttpRequest, *, at: datetime) -> None:
    """End this session's access to its acting tenant, if it has one."""
    chosen = current(request)
    request.session.pop(_KEY, None)
    if chosen is not None:
        _record(request, chosen, StaffAccessEnded(), "staff_access_ended", at)


def current(request: HttpRequest) -> ActingTenant | None:
    """Return the acting tenant of this session; None if there is none or its time is over."""
    kept: dict[str, Any] | None = request.session.get(_KEY)
    if kept is None:
        return None
    until, tenant_id = datetime.fromisoformat(kept["until"]), parse_uuid(kept["tenant"])
    access_id = parse_uuid(kept["access"])
    if tenant_id is None or access_id is None or until <= now():
        return None
    return ActingTenant(access_id, tenant_id, kept["name"], until, kept["reason"])


def _record(request: HttpRequest, chosen: ActingTenant, fact: ledger.EventType, code: str, at: datetime) -> None:
    actor = audit.staff_actor(request, chosen.tenant_id)
    with transaction.atomic():
        with tenant_context(chosen.tenant_id):
            ledger.record(actor=actor, event=fact, resource_id=chosen.access_id, at=at)
        audit.log_security(request, code, subject=str(actor.subject_id), tenant_id=chosen.tenant_id)
