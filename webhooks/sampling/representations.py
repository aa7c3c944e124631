"""What a receiver did with a sample, as clients read it."""

from typing import ClassVar

from rest_framework import serializers

from webhooks.representations import EVENT_ID, TimingsOut


class WebhookTestOut(serializers.Serializer[None]):
    """A receiver's answer to a signed sample."""

    delivered = serializers.BooleanField(help_text="The receiver answered 2xx.")
    webhook_id = serializers.RegexField(EVENT_ID)
    status = serializers.IntegerField(allow_null=True, help_text="Null when no answer came.")
    error = serializers.CharField(
        allow_null=True,
        help_text="Why no answer came: timeout, dns_failed, tls_failed, connection_refused, blocked_destination, …",
    )
    duration_ms = serializers.IntegerField()
    timings = TimingsOut(help_text="Milliseconds of each part that came to its end.")
    remote_ip = serializers.CharField(allow_null=True)
    response_excerpt = serializers.CharField(help_text="The first 4 KiB.")
    response_headers = serializers.DictField(child=serializers.CharField())

    class Meta:
        example: ClassVar = {"webhook_id": "evt_0199f2c05b1e7c3a9d440a6c2f1e8b93", "status": 204, "error": None}
