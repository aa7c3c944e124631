"""Making a sample inside a transaction, and sending it outside of any."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings

from core.actor import Actor
from core.crypto import SealBroken
from core.db import needs_transaction
from ledger import public as ledger
from webhooks import catalogue, envelope, patterns, sealing, signing
from webhooks.deliveries import USER_AGENT
from webhooks.egress import Answer, way_out
from webhooks.models import Endpoint, Secret

_OF_THE_THING = ("type", "id", "version", "href")


@dataclass(frozen=True, slots=True)
class Sample:
    """What is sent, and to whom."""

    url: str
    message_id: str
    headers: Mapping[str, str]
    body: bytes


@needs_transaction
def make_sample(actor: Actor, endpoint: Endpoint, data: Mapping[str, Any], at: datetime, mark: UUID) -> Sample:
    """Write and sign the catalogue's example of an event for one endpoint, with every key that signs now.

    `mark` becomes the event's id, by which a receiver knows a repeat.

    :raises UnknownEventPattern: the catalogue has no such type; `near_matches` names what may have been meant.
    """
    kinds = ledger.catalogue()
    kind = kinds[patterns.check_type(data["type"], kinds)]
    example = catalogue.describe(kind)["example"]
    message = envelope.Message(
        id=mark,
        type=kind.type,
        tenant_id=actor.tenant_id,
        at=at,
        request_id=actor.request_id,
        thing=envelope.Thing(kind.resource, UUID(example["id"]), example["version"], kind.href),
        payload={name: value for name, value in example.items() if name not in _OF_THE_THING},
        test=True,
    )
    body, message_id = envelope.write(message, sequence=0), envelope.message_id(mark)
    keys = _keys(actor, endpoint, at)
    signed = signing.headers(keys, message_id=message_id, at=at, body=body) if keys else {}
    return Sample(endpoint.url, message_id, signed, body)


def send_sample(sample: Sample) -> dict[str, Any]:
    """Send it in this thread, through the guard and within 15 seconds whatever the receiver does; tell what it said."""
    began = time.perf_counter()
    answer = _run(sample) if sample.headers else Answer(status=None, error="no_usable_secret")
    return {
        "delivered": answer.status is not None and 200 <= answer.status < 300,
        "webhook_id": sample.message_id,
        "status": answer.status,
        "error": answer.error or None,
        "duration_ms": int((time.perf_counter() - began) * 1000),
        "timings": answer.timings,
        "remote_ip": answer.remote_ip or None,
        "response_excerpt": answer.excerpt,
        "response_headers": answer.headers,
    }


def _keys(actor: Actor, endpoint: Endpoint, at: datetime) -> list[signing.SigningKey]:
    live = (
        Secret.objects.of(actor).filter(Secret.VALIDITY.holds_at(at), endpoint=endpoint).order_by("-created_at", "-id")
    )
    found = []
    for row in live:
        try:
            key = sealing.open_key(bytes(row.sealed_key), endpoint_id=endpoint.id, secret_id=row.id)
        except SealBroken:
            continue
        found.append(signing.SigningKey(row.kind, key))
    return found


def _run(sample: Sample) -> Answer:
    """Run the client in a loop of its own, which is left without waiting for a name server that never answers."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_post(sample))
    finally:
        loop.close()


async def _post(sample: Sample) -> Answer:
    headers = {**sample.headers, "content-type": "application/json", "user-agent": USER_AGENT}
    try:
        async with asyncio.timeout(settings.WEBHOOKS_TIMEOUT_SECONDS):
            async with way_out(connections=1) as egress:
                return await egress.post(sample.url, body=sample.body, headers=headers)
    except TimeoutError:
        return Answer(status=None, error="timeout")
