"""Endpoints, deliveries and events as clients read them."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q
from rest_framework import serializers

from api.representation_sql import INSTANT
from api.representations import Computed, Document, Instant, OpenChoice, Representation
from core.conditions import TENANT
from core.watermark import SETTLED

from . import states, wanted
from .models import Attempt, Delivery, Endpoint, EndpointHealth, Event, Secret

EVENT_ID = r"^evt_[0-9a-f]{32}$"
EXAMPLE_ID = "evt_0199f2c05b1e7c3a9d440a6c2f1e8b93"


class WebhookEndpointOut(Representation):
    """Where events are sent, which, and how it goes."""

    signature = Computed(
        f"SELECT s.kind FROM webhooks_secret s WHERE s.tenant_id = {TENANT} AND s.endpoint_id = t.id"
        " ORDER BY s.created_at DESC, s.id DESC LIMIT 1",
        OpenChoice(
            choices=Secret.Kind.values,
            help_text="How messages are signed: `hmac` (`v1`, a shared secret) or `ed25519` (`v1a`, a public key).",
        ),
    )

    class Meta:
        model = Endpoint
        beside = (EndpointHealth, "endpoint_id")
        where = Q(deleted_at=None)
        fields: tuple[str, ...] = (
            "id", "url", "events", "active", "description", "api_version", "payload_mode", "signature", "ordered",
            "max_inflight", "max_rps", "disabled_reason", "disabled_at", "disabled_by", "failing_since",
            "consecutive_failures", "circuit_state", "circuit_until", "paused_until", "created_at", "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("disabled_by",)
        example: Mapping[str, Any] = {
            "url": "https://hooks.example.com/platform", "events": ["product.*"], "description": "Warehouse system",
            "ordered": False, "max_inflight": 8, "max_rps": None, "disabled_reason": "", "disabled_at": None,
            "failing_since": None, "consecutive_failures": 0, "circuit_until": None, "paused_until": None,
        }  # fmt: skip


class NewWebhookEndpointOut(WebhookEndpointOut):
    """An endpoint in the answer that gives it a signing key."""

    secret = serializers.CharField(
        allow_null=True,
        help_text="The signing key, shown this once (null when an Idempotency-Key is repeated); not for ed25519.",
    )
    public_key = serializers.CharField(
        help_text="The key that receivers verify with; only for ed25519, whose private half is never shown."
    )

    class Meta(WebhookEndpointOut.Meta):
        revealed = ("secret", "public_key")
        fields = (*WebhookEndpointOut.Meta.fields, *revealed)
        example = {
            **WebhookEndpointOut.Meta.example,
            "secret": "whsec_bm90IGEgcmVhbCBrZXksIG9ubHkgYW4gZXhhbXBsZSE=",
            "public_key": "whpk_bm90IGEgcmVhbCBrZXksIG9ubHkgYW4gZXhhbXBsZSE=",
        }


class TimingsOut(serializers.Serializer[None]):
    """Milliseconds of each part of a request that came to its end."""

    dns_ms = serializers.IntegerField(required=False)
    connect_ms = serializers.IntegerField(required=False)
    tls_ms = serializers.IntegerField(required=False)
    ttfb_ms = serializers.IntegerField(required=False, help_text="Until the first byte of the answer.")

    class Meta:
        example = {"dns_ms": 4, "connect_ms": 11, "tls_ms": 24, "ttfb_ms": 20}


class WebhookAttemptOut(Representation):
    """One request to a receiver, and its answer."""

    at = Instant(source="created_at")
    timings = Document(TimingsOut(help_text="Milliseconds of each part that came to its end."))
    response_headers = Document(serializers.DictField(child=serializers.CharField()))

    class Meta:
        model = Attempt
        version = None
        fields = (
            "number", "at", "trigger", "status", "error", "duration_ms", "timings", "remote_ip", "response_excerpt",
            "response_headers",
        )  # fmt: skip
        blank_as_null = ("error",)
        extra_kwargs = {"response_excerpt": {"help_text": "The first 4 KiB."}}
        example = {
            "status": 503,
            "duration_ms": 61,
            "response_excerpt": "upstream is restarting",
            "response_headers": {"retry-after": "5"},
        }


# What is queued or done, and what the fan-out has not come to yet: events that an endpoint wanted at their time. Types are those of
# the history's columns, and its arm has no condition of its own, or PostgreSQL would read and sort all of it instead of
# walking its index; the condition on the whole reaches the arm.
_EVERY_DELIVERY = f"""(
SELECT id, created_at, tenant_id, event_id, event_type, endpoint_id, state, attempts, last_status, last_error,
 next_attempt_at, done_at FROM webhooks_delivery
UNION ALL
SELECT {wanted.DELIVERY_ID.format(event="n.id", endpoint="e.id")}, n.created_at, n.tenant_id, n.id, n.type, e.id,
 '{states.CREATED}'::varchar, 0::smallint, NULL::smallint, ''::varchar, NULL::timestamptz, NULL::timestamptz
FROM webhooks_event_new n JOIN webhooks_endpoint e
  ON e.tenant_id = {TENANT} AND e.deleted_at IS NULL AND e.id <> n.resource_id
JOIN webhooks_subscription s ON s.tenant_id = {TENANT} AND s.endpoint_id = e.id AND s.begins_at <= n.created_at
  AND (s.ends_at IS NULL OR s.ends_at > n.created_at)
WHERE n.tenant_id = {TENANT} AND {wanted.MATCHES.format(patterns="s.events", type="n.type")})"""


def _message_id(column: str) -> Computed:
    return Computed(f"'evt_' || replace(t.{column}::text, '-', '')", serializers.RegexField(EVENT_ID))


class WebhookDeliveryOut(Representation):
    """One event on its way to one endpoint, with every attempt to deliver it."""

    event_id = _message_id("event_id")
    delivered_at = Computed(
        f"CASE WHEN t.state = '{states.DELIVERED}' THEN {INSTANT.format('t.done_at')} END", Instant(allow_null=True)
    )
    attempt_log = WebhookAttemptOut(
        many=True, by="delivery_id", where="t.created_at >= parent.created_at", ordering=("created_at", "id")
    )

    class Meta:
        model = Delivery
        rows = _EVERY_DELIVERY
        version = None
        fields = (
            "id", "event_id", "event_type", "endpoint_id", "state", "attempts", "next_attempt_at", "last_status",
            "last_error", "created_at", "delivered_at", "attempt_log",
        )  # fmt: skip
        blank_as_null = ("last_error",)
        extra_kwargs = {
            "state": {
                "help_text": "`created` until the fan-out has queued it, `pending` until the first attempt has ended."
            },
            "last_error": {
                "help_text": "Why the last attempt brought no answer, or why the delivery ended without one."
            },
            "created_at": {"help_text": "When the event happened."},
        }
        example = {
            "event_id": EXAMPLE_ID,
            "event_type": "product.created",
            "state": states.RETRYING,
            "next_attempt_at": "2026-01-05T08:00:05.412Z",
            "last_status": 503,
            "delivered_at": None,
        }


def _member(name: str, form: serializers.Field) -> Computed:  # type: ignore[type-arg]
    return Computed(f"convert_from(t.\"body\", 'UTF8')::jsonb -> '{name}'", form)


class EventOut(Representation):
    """An event's envelope, as it is delivered."""

    id = _message_id("id")
    timestamp = _member("timestamp", Instant())
    sequence = _member("sequence", serializers.RegexField(r"^[0-9]{15}$"))
    test = _member("test", serializers.BooleanField())
    data = _member("data", serializers.DictField())  # type: ignore[assignment]

    class Meta:
        model = Event
        version = None
        where = f't."created_at" < {SETTLED}'
        fields = ("id", "type", "api_version", "timestamp", "tenant_id", "sequence", "request_id", "test", "data")
        example = {
            "id": EXAMPLE_ID,
            "type": "product.created",
            "sequence": "000000000000042",
            "test": False,
            "data": {"object": {"type": "product", "id": "0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b90", "version": 1}},
        }
