"""Webhook endpoints as clients read them."""

from typing import Any

from rest_framework import serializers

from api.representation_sql import INSTANT
from api.representations import Computed, Instant, OpenChoice, Representation

from . import states
from .models import Endpoint, Secret

_HEALTH = 'FROM webhooks_endpoint_health h WHERE h.tenant_id = t."tenant_id" AND h.endpoint_id = t."id"'


def _health(name: str, text: str) -> Computed:
    return Computed(f"SELECT {INSTANT.format(f'h.{name}')} {_HEALTH}", Instant(allow_null=True, help_text=text))


class WebhookEndpointOut(Representation):
    """Where events are sent, which, and how it goes."""

    payload_mode = OpenChoice(
        choices=("thin", "full"),
        help_text="`thin` names the resource; `full` carries its representation as of the event, up to 64 KiB.",
    )
    signature = Computed(
        "SELECT s.kind FROM webhooks_secret s WHERE s.tenant_id = t.tenant_id AND s.endpoint_id = t.id"
        " ORDER BY s.created_at DESC, s.id DESC LIMIT 1",
        OpenChoice(
            choices=Secret.Kind.values,
            help_text="How messages are signed: `hmac` (`v1`, a shared secret) or `ed25519` (`v1a`, a public key).",
        ),
    )
    failing_since = _health("failing_since", "Null unless it fails now.")
    consecutive_failures = Computed(
        f"coalesce((SELECT h.consecutive_failures {_HEALTH}), 0)", serializers.IntegerField()
    )
    circuit_state = Computed(
        f"coalesce((SELECT h.circuit_state {_HEALTH}), '{states.CLOSED}')",
        OpenChoice(
            choices=states.CIRCUIT,
            help_text="`closed` lets messages through; `open` holds them back; `half_open` sends one to see.",
        ),
    )
    circuit_until = _health("circuit_until", "When it is tried again.")
    paused_until = _health("paused_until", "The receiver's own Retry-After.")

    class Meta:
        model = Endpoint
        name = "webhook endpoint"
        fields: tuple[str, ...] = (
            "id", "url", "events", "active", "description", "api_version", "payload_mode", "signature", "ordered",
            "max_inflight", "max_rps", "disabled_reason", "disabled_at", "disabled_by", "failing_since",
            "consecutive_failures", "circuit_state", "circuit_until", "paused_until", "created_at", "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("disabled_by",)
        where = 't."deleted_at" IS NULL'
        unversioned = (
            "(SELECT left(md5(concat_ws('/', h.failing_since, h.consecutive_failures, h.circuit_state, h.circuit_until,"
            f" h.paused_until)), 12) {_HEALTH} AND (h.consecutive_failures > 0 OR h.failing_since IS NOT NULL"
            f" OR h.circuit_state <> '{states.CLOSED}' OR h.paused_until IS NOT NULL))"
        )
        extra_kwargs: Any = {
            "url": {"help_text": "Where events are sent; https, public."},
            "events": {"help_text": "Exact types, families (`product.*`) or `*`."},
            "active": {"help_text": "False stops delivery and keeps everything else."},
            "api_version": {"help_text": "The version of the envelope, pinned at creation."},
            "ordered": {"help_text": "One message of a resource at a time, in the order of its events."},
            "max_inflight": {"help_text": "Most messages that wait for an answer at once."},
            "max_rps": {"help_text": "Most messages in a second; null is no limit of its own."},
            "disabled_reason": {
                "help_text": "Why it is not active: by_user, gone (the receiver said 410), failing (72 hours of failures), "
                "…; empty while active."
            },
            "disabled_by": {"help_text": "Who disabled it: `key:<id>`, `user:<id>`, `service:<id>` or `platform`."},
        }


class NewWebhookEndpointOut(WebhookEndpointOut):
    """An endpoint in the answer that gives it a signing key."""

    secret = serializers.CharField(
        allow_null=True,
        help_text="The signing key, shown this once (null when an Idempotency-Key is repeated); not for ed25519.",
    )
    public_key = serializers.CharField(
        help_text="With which receivers verify; only for ed25519, whose private half is never shown."
    )

    class Meta(WebhookEndpointOut.Meta):
        revealed = ("secret", "public_key")
        fields = (*WebhookEndpointOut.Meta.fields, *revealed)
