"""Input of the operations on replays."""

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from api.serializers import StrictSerializer
from webhooks import states
from webhooks.serializers import MOST_PATTERNS


@extend_schema_serializer(component_name="WebhookReplay")
class ReplayIn(StrictSerializer):
    """Which stretch of the past, and what of it. `until` is now unless told, `types` is everything."""

    since = serializers.DateTimeField()
    until = serializers.DateTimeField(required=False)
    types = serializers.ListField(child=serializers.CharField(max_length=80), max_length=MOST_PATTERNS, required=False)
    only = serializers.ChoiceField(choices=list(states.REPLAY_ONLY), default=states.FAILED)
