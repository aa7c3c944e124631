"""Audit of changes by staff: an event in the tenant's ledger, an entry of Django's history, and the security log."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import Model
from django.http import HttpRequest

from core.actor import Actor, Subject, SubjectKind
from core.db import needs_transaction
from core.ids import uuid7
from ledger import public as ledger
from organizations.events import StaffActionPerformed
from organizations.models import SecurityLogEntry
from organizations.origins import address_of, origin_of

from .roles import role_of

PLATFORM = UUID(int=0)
REASON_LENGTH = 300


def staff_actor(request: HttpRequest, tenant_id: UUID | None = None) -> Actor:
    """Return the member of staff as an actor: the platform acts, and the ledger names the person by id."""
    user: Any = request.user
    subject = Subject(id=user.pk, kind=SubjectKind.SYSTEM, credential=f"staff:{role_of(user)}")
    request_id = str(getattr(request, "request_id", ""))
    return Actor(
        subject=subject,
        tenant_id=tenant_id or PLATFORM,
        membership_id=None,
        request_id=request_id,
        origin=origin_of(request),
    )


@needs_transaction
def tell(actor: Actor, user: Any, *, action: str, row: Model, reason: str, at: datetime) -> None:
    """Record in the ledger of the actor's tenant, which is bound, what staff have done, and why."""
    fact = StaffActionPerformed(
        action=action,
        target_type=str(row._meta.model_name),
        target_id=str(row.pk),
        staff_role=role_of(user),
        reason=reason,
    )
    ledger.record(actor=actor, event=fact, resource_id=uuid7(), at=at)


@needs_transaction
def note(request: HttpRequest, actor: Actor, *, action: str, row: Model, reason: str, at: datetime) -> None:
    """Record a change by staff with its reason, in the transaction of the change."""
    tell(actor, request.user, action=action, row=row, reason=reason, at=at)
    user: Any = request.user
    LogEntry.objects.log_actions(user.pk, [row], CHANGE, change_message=f"{action}: {reason}", single_object=True)


def log_security(request: HttpRequest, code: str, *, subject: str = "", tenant_id: UUID | None = None) -> None:
    """Add an entry to the security log."""
    SecurityLogEntry.objects.create(
        code=code,
        subject=subject,
        credential=f"staff:{role_of(request.user)}" if subject else "",
        tenant_id=tenant_id,
        route=f"{request.method} {request.path}"[:200],
        address=address_of(request),
        request_id=str(getattr(request, "request_id", ""))[:128],
    )
