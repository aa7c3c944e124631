"""HTTP of the test of an endpoint."""

from typing import ClassVar
from uuid import UUID, uuid5

from django.http import HttpRequest, HttpResponse

from api.deferred_writes import DeferredWriteViewSet
from api.idempotency import Claim
from api.operations import Operation
from api.writing import Answer, Command
from core.ids import uuid7
from webhooks import queries
from webhooks.parts import WRITE
from webhooks.patterns import UnknownEventPattern
from webhooks.serializers import SampleIn
from webhooks.shapes import TIMINGS_SCHEMA

from . import actions

_ANSWER = {
    "title": "WebhookTestResult",
    "type": "object",
    "required": ["delivered", "webhook_id", "status", "error", "duration_ms"],
    "properties": {
        "delivered": {"type": "boolean", "description": "The receiver answered 2xx."},
        "webhook_id": {"type": "string", "pattern": "^evt_[0-9a-f]{32}$"},
        "status": {"type": ["integer", "null"], "description": "Null when no answer came."},
        "error": {
            "type": ["string", "null"],
            "description": "Why no answer came: timeout, dns_failed, tls_failed, connection_refused, blocked_destination, …",
        },
        "duration_ms": {"type": "integer"},
        "timings": TIMINGS_SCHEMA,
        "remote_ip": {"type": ["string", "null"]},
        "response_excerpt": {"type": "string", "description": "The first 4 KiB."},
        "response_headers": {"type": "object"},
    },
    "examples": [
        {
            "delivered": True,
            "webhook_id": "evt_0199f2c05b1e7c3a9d440a6c2f1e8b93",
            "status": 204,
            "error": None,
            "duration_ms": 61,
            "timings": {"dns_ms": 4, "connect_ms": 11, "tls_ms": 24, "ttfb_ms": 20},
            "remote_ip": "203.0.113.7",
            "response_excerpt": "",
            "response_headers": {},
        }
    ],
}


class SampleViewSet(DeferredWriteViewSet):
    """The test of an endpoint."""

    family = "webhooks"
    operation_ids = {"test": "testWebhookEndpoint"}
    operations: ClassVar[dict[str, Operation]] = {
        "test": Operation(
            scope=WRITE,
            summary="Send a signed sample and show the answer",
            description="The catalogue's example of the type, marked `test: true` and signed as any message is, goes out at "
            "once and within 15 seconds; a disabled endpoint can be tested too. Nothing of it is kept: neither an event nor "
            "a delivery. With an `Idempotency-Key` a repeat gets the first answer and sends nothing; while the first is "
            "still waiting, a repeat sends the same `webhook-id` again, by which a receiver knows it. What the receiver "
            "did is told in the answer, which is 200 also where nothing was delivered. Ten a minute for a credential.",
            body=SampleIn,
            answer=_ANSWER,
            policy="samples",
            errors=(UnknownEventPattern,),
            example={"type": "product.created"},
        ),
    }

    def test(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Send a sample."""

        def prepare(command: Command, claim: Claim | None) -> actions.Sample:
            return actions.make_sample(
                actor=command.actor,
                endpoint=command.target,
                event_type=command.data["type"],
                event_id=_event_id(claim),
                at=command.at,
            )

        def act(sample: actions.Sample) -> Answer:
            return Answer.of(actions.send_sample(sample))

        return self.write_deferred(prepare, act, find=lambda actor: queries.endpoint(actor, pk))


def _event_id(claim: Claim | None) -> UUID:
    """A fresh id, or the one that this Idempotency-Key always has."""
    if claim is None:
        return uuid7()
    tenant_id, subject_id, key = claim.owner
    return uuid5(UUID(tenant_id), f"{subject_id}/{claim.fingerprint}/{key}")
