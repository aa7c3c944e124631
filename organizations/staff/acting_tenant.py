"""The acting tenant: the one tenant whose own rows a member of staff may look at now, for a stated reason and half an hour.

Source: HIPAA 45 CFR 164.312(a)(2)(ii), emergency access; contract, organizations "What breaks" (Django admin).
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
class Acting:
    """The tenant a member of staff works on, until when, and why."""

    access_id: UUID
    tenant_id: UUID
    name: str
    until: datetime
    reason: str


def begin(request: HttpRequest, tenant: Tenant, *, reason: str, at: datetime) -> Acting:
    """This function will open a tenant to this session; the tenant's ledger and the security log both hear of it."""
    if current(request) is not None:
        end(request, at=at)
    chosen = Acting(uuid7(), tenant.id, tenant.name, at + LASTS, reason)
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
    """This function will close the tenant to this session again; without one there is nothing to do."""
    chosen = current(request)
    request.session.pop(_KEY, None)
    if chosen is not None:
        _record(request, chosen, StaffAccessEnded(), "staff_access_ended", at)


def current(request: HttpRequest) -> Acting | None:
    """The acting tenant of this session, None when there is none or its time is over."""
    kept: dict[str, Any] | None = request.session.get(_KEY)
    if kept is None:
        return None
    until, tenant_id = datetime.fromisoformat(kept["until"]), parse_uuid(kept["tenant"])
    access_id = parse_uuid(kept["access"])
    if tenant_id is None or access_id is None or until <= now():
        return None
    return Acting(access_id, tenant_id, kept["name"], until, kept["reason"])


def _record(request: HttpRequest, chosen: Acting, fact: ledger.EventType, code: str, at: datetime) -> None:
    actor = audit.staff_actor(request, chosen.tenant_id)
    with transaction.atomic():
        with tenant_context(chosen.tenant_id):
            ledger.record(actor=actor, event=fact, resource_id=chosen.access_id, at=at)
        audit.log_security(request, code, subject=str(actor.subject_id), tenant_id=chosen.tenant_id)
