"""Mails to the administrators of a tenant about an event that needs a person's attention."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from core.db import needs_transaction
from organizations.models import Membership, OutgoingMail, Tenant
from organizations.roles import SUPPLIER_ADMIN, TENANT_ADMIN
from organizations.signin import mails


@dataclass(frozen=True, slots=True)
class Notice:
    """The content of a mail; `id` is that of the event, so that a repeated call sends no second mail."""

    id: UUID
    subject: str
    text: str


@needs_transaction
def mail_administrators(tenant_id: UUID, notice: Notice, *, at: datetime) -> int:
    """Queue a mail to each current administrator of the tenant; return their number.

    Nothing is sent inside the transaction: a worker sends the mails after the commit, as it does invitations.
    """
    tenant = Tenant.objects.get(pk=tenant_id)
    people = _administrators(tenant_id, at)
    for user_id, address in people:
        content = {"to": address, "tenant": tenant.name, "subject": notice.subject, "text": notice.text}
        mails.put(OutgoingMail.Kind.NOTICE, content, at=at, mail_id=uuid5(notice.id, str(user_id)))
    return len(people)


def _administrators(tenant_id: UUID, at: datetime) -> list[tuple[UUID, str]]:
    """List the ids and e-mail addresses of the tenant's administrators, ordered by id."""
    active = Membership.objects.filter(
        Membership.VALIDITY.holds_at(at),
        tenant_id=tenant_id,
        status=Membership.Status.ACTIVE,
        user__is_active=True,
        roles__overlap=[TENANT_ADMIN, SUPPLIER_ADMIN],
    )
    return list(active.order_by("user_id").values_list("user_id", "user__email").distinct())
