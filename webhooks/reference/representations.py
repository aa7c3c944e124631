"""The catalogue of events and the document about deliveries, as clients read them."""

from rest_framework import serializers

from api.representations import OpenChoice
from ledger import public as ledger


class EventTypeOut(serializers.Serializer[None]):
    """A kind of event, with the form of its `data.object`."""

    type = serializers.CharField()
    version = serializers.IntegerField()
    resource = serializers.CharField()
    data_class = OpenChoice(
        choices=list(ledger.DATA_CLASSES),
        help_text="What the resource holds, which a thin payload does not: none, personal, phi.",
    )
    description = serializers.CharField()
    schema = serializers.DictField(help_text="JSON Schema of `data.object`.")
    example = serializers.DictField(help_text="An example of `data.object`.")

    class Meta:
        example = {
            "type": "product.created",
            "resource": "product",
            "description": "A product was created.",
            "schema": {"type": "object"},
            "example": {"type": "product", "id": "0199f2c0-5b1e-7c3a-9d44-0a6c2f1e8b90", "version": 1},
        }


class RetriesOut(serializers.Serializer[None]):
    """How often and when a delivery is tried again."""

    schedule_seconds = serializers.ListField(child=serializers.FloatField(), help_text="Waits between attempts.")
    jitter = serializers.FloatField(help_text="Each wait is longer or shorter by up to this share.")
    attempts = serializers.IntegerField()
    retry_after_statuses = serializers.ListField(
        child=serializers.IntegerField(), help_text="Answers whose `Retry-After` is heeded."
    )
    longest_wait_seconds = serializers.IntegerField()

    class Meta:
        example = {
            "schedule_seconds": [5, 20, 80],
            "jitter": 0.2,
            "attempts": 4,
            "retry_after_statuses": [429, 503],
            "longest_wait_seconds": 43200,
        }


class TimeoutsOut(serializers.Serializer[None]):
    """How long a receiver may take."""

    connect_seconds = serializers.FloatField()
    total_seconds = serializers.FloatField()

    class Meta:
        example = {"connect_seconds": 5, "total_seconds": 15}


class SignatureSchemeOut(serializers.Serializer[None]):
    """One kind of signature."""

    signature = serializers.CharField(help_text="Its name in an endpoint's `signature`.")
    mark = serializers.CharField(help_text="What it begins with in `webhook-signature`.")
    algorithm = serializers.CharField()
    key_prefix = serializers.CharField()

    class Meta:
        example = {"signature": "hmac", "mark": "v1", "algorithm": "HMAC-SHA256", "key_prefix": "whsec_"}


class SignatureOut(serializers.Serializer[None]):
    """How messages are signed."""

    specification = serializers.CharField()
    headers = serializers.ListField(child=serializers.CharField())
    signed_content = serializers.CharField()
    schemes = SignatureSchemeOut(many=True)

    class Meta:
        example = {
            "specification": "Standard Webhooks 1.0.0",
            "headers": ["webhook-id", "webhook-timestamp", "webhook-signature"],
            "signed_content": "{webhook-id}.{webhook-timestamp}.{body}",
        }


class WebhookMetaOut(serializers.Serializer[None]):
    """From where, when and how the platform sends."""

    egress_cidrs = serializers.ListField(
        child=serializers.CharField(), help_text="The addresses we send from; empty where none are fixed."
    )
    retries = RetriesOut()
    timeouts = TimeoutsOut()
    limits = serializers.DictField(child=serializers.IntegerField())
    signature = SignatureOut()
    api_versions = serializers.ListField(child=serializers.CharField())
    payload_modes = serializers.ListField(child=serializers.CharField())

    class Meta:
        example = {
            "egress_cidrs": ["203.0.113.0/28"],
            "limits": {"endpoints": 100},
            "api_versions": ["2026-01-01"],
            "payload_modes": ["thin", "full"],
        }
