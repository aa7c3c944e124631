"""Rows of the past, put straight into the tables by the owner, and a history that is one default partition again."""

from datetime import datetime
from uuid import UUID

from django.db import connections, transaction

from core.history.partitions import read_ranges
from core.ids import uuid7
from webhooks import states
from webhooks.history.partitions import HISTORIES
from webhooks.models import Attempt, Delivery, Event, EventBody


def owner(statement, *parameters):
    with connections["owner"].cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchall() if cursor.description else []


def flatten():
    """Undo all ranges and forget all rows: what comes lies in the default partition, as before the first run."""
    owner("DELETE FROM webhooks_delivery_due")
    owner("DELETE FROM webhooks_event_new")
    for history in HISTORIES:
        for one in read_ranges(history.table):
            owner(f"ALTER TABLE {history.table} DETACH PARTITION {one.name}")
            owner(f"DROP TABLE {one.name}")
        with transaction.atomic("owner"):
            owner(f"SELECT set_config('hp.may_change', '{history.table}', true)")
            owner(f"DELETE FROM {history.table}")


def event(world, at: datetime, **more) -> Event:
    values = {
        "id": uuid7(),
        "created_at": at,
        "tenant_id": world.tenant.id,
        "type": "product.created",
        "resource_type": "product",
        "resource_id": uuid7(),
        "sequence": 1,
        "api_version": "2026-01-01",
        "request_id": "past",
        "body": b'{"data":{"object":{"id":"x","type":"product","name":"Jane Doe"}}}',
    }
    return Event.objects.using("owner").create(**values | more)


def body(of: Event) -> EventBody:
    return EventBody.objects.using("owner").create(
        created_at=of.created_at,
        tenant_id=of.tenant_id,
        event_id=of.id,
        api_version=of.api_version,
        payload_mode="full",
        body=b'{"data":{"object":{"id":"x","type":"product","name":"Jane Doe in full"}}}',
    )


def delivery(of: Event, endpoint_id: UUID | str, state=states.DELIVERED) -> Delivery:
    return Delivery.objects.using("owner").create(
        created_at=of.created_at,
        tenant_id=of.tenant_id,
        event_id=of.id,
        event_type=of.type,
        endpoint_id=endpoint_id,
        state=state,
    )


def attempt(of: Delivery, at: datetime | None = None) -> Attempt:
    return Attempt.objects.using("owner").create(
        created_at=at or of.created_at,
        tenant_id=of.tenant_id,
        delivery_id=of.id,
        endpoint_id=of.endpoint_id,
        number=1,
        status=500,
        duration_ms=3,
        response_excerpt="said Jane Doe",
        lease=uuid7(),
    )


def lies_in(table: str, row_id: UUID) -> str:
    """Name the partition in which a row lies, "" when it is gone."""
    found = owner(f"SELECT tableoid::regclass::text FROM {table} WHERE id = %s", row_id)
    return found[0][0] if found else ""
