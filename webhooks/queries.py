"""Reads of the webhooks app that are more than a listing."""

from uuid import UUID

from django.db import connection

from core.actor import Actor
from core.db import needs_transaction, role_context
from core.errors import NotFound
from core.row_security import DISPATCHER

from .models import Endpoint

_WAITING = (
    "SELECT EXISTS (SELECT FROM webhooks_event_new) OR EXISTS (SELECT FROM webhooks_delivery_due WHERE due_at <= now())"
)


@needs_transaction
def locked_endpoint(actor: Actor, endpoint_id: UUID) -> Endpoint:
    """Read one of the tenant's endpoints and hold it until the transaction ends.

    :raises NotFound: absent, deleted, or of another tenant.
    """
    found: Endpoint | None = (
        Endpoint.objects.of(actor).filter(id=endpoint_id, deleted_at=None).select_for_update().first()
    )
    if found is None:
        raise NotFound("No such webhook endpoint.")
    return found


def is_work_waiting() -> bool:
    """Tell whether a dispatcher would find something to do; one cheap statement for the sweep of every second."""
    with role_context(DISPATCHER), connection.cursor() as cursor:
        cursor.execute(_WAITING)
        return bool(cursor.fetchone()[0])
