"""Input of the operations on signing keys."""

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from api.serializers import StrictSerializer
from webhooks.models import Secret

DAY_SECONDS = 86_400


@extend_schema_serializer(component_name="WebhookSecretRotation")
class RotationIn(StrictSerializer):
    """How long the old key goes on signing beside the new one: a day unless told, a week at most."""

    overlap_seconds = serializers.IntegerField(min_value=0, max_value=7 * DAY_SECONDS, default=DAY_SECONDS)
    signature = serializers.ChoiceField(choices=Secret.Kind.values, required=False)
