"""Reads of the webhooks app that are more than a listing."""

from typing import Any
from uuid import UUID

from django.db import connection

from core.actor import Actor
from core.db import needs_transaction, role_context
from core.errors import NotFound
from core.row_security import DISPATCHER

from .models import Delivery, DueDelivery, Endpoint

_WAITING = """
SELECT EXISTS (SELECT 1 FROM webhooks_event_new) OR EXISTS (SELECT 1 FROM webhooks_delivery_due WHERE due_at <= now())
"""


@needs_transaction
def endpoint(actor: Actor, endpoint_id: UUID) -> Endpoint:
    """Read one of the tenant's endpoints.

    :raises NotFound: absent, deleted, or of another tenant.
    """
    return _found(Endpoint.objects.of(actor).filter(id=endpoint_id, deleted_at=None))


@needs_transaction
def locked_endpoint(actor: Actor, endpoint_id: UUID, *, deleted: bool = False) -> Endpoint:
    """Read one of the tenant's endpoints and hold it until the transaction ends; `deleted` takes those too.

    :raises NotFound: absent, deleted, or of another tenant.
    """
    rows = Endpoint.objects.of(actor).filter(id=endpoint_id)
    return _found((rows if deleted else rows.filter(deleted_at=None)).select_for_update())


@needs_transaction
def locked_delivery(actor: Actor, endpoint_id: UUID, delivery_id: UUID) -> Delivery:
    """Read one delivery and hold it, its row of the queue and its endpoint, which may be deleted, until the transaction ends.

    :raises NotFound: absent, or of another endpoint.
    """
    rows = Delivery.objects.filter(tenant_id=actor.tenant_id, id=delivery_id)
    queued = DueDelivery.objects.filter(tenant_id=actor.tenant_id, delivery_id=delivery_id)
    found: Delivery = locked_part(actor, endpoint_id, rows, name="webhook delivery", before=queued)
    return found


def locked_part(actor: Actor, endpoint_id: UUID, rows: Any, *, name: str, before: Any = None) -> Any:
    """The row of an endpoint; both are locked, the endpoint first, and the row has the locked endpoint at hand.

    `before` are rows that are locked between the two, in the order of all locks (`statements`).

    :raises NotFound: the endpoint is not the caller's, or has no such row.
    """
    endpoint = locked_endpoint(actor, endpoint_id, deleted=True)
    if before is not None:
        list(before.filter(endpoint_id=endpoint.id).select_for_update())
    found = rows.filter(endpoint=endpoint).select_for_update().first()
    if found is None:
        raise NotFound(f"No such {name}.")
    found.endpoint = endpoint
    return found


def _found(rows: Any) -> Endpoint:
    found: Endpoint | None = rows.first()
    if found is None:
        raise NotFound("No such webhook endpoint.")
    return found


def is_work_waiting() -> bool:
    """Tell whether a dispatcher would find something to do; one cheap statement for the sweep of every second."""
    with role_context(DISPATCHER), connection.cursor() as cursor:
        cursor.execute(_WAITING)
        return bool(cursor.fetchone()[0])
