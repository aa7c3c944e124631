"""Input of the webhook operations: the form of every field. Addresses and patterns are checked by the actions."""

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from api.serializers import StrictSerializer

from .egress import LONGEST_URL
from .models import Endpoint, Secret

MOST_PATTERNS = 100
MOST_INFLIGHT = 64
MOST_RPS = 1000


@extend_schema_serializer(component_name="WebhookEndpoint")
class EndpointChangeIn(StrictSerializer):
    """What of an endpoint can be changed."""

    url = serializers.CharField(max_length=LONGEST_URL)
    events = serializers.ListField(child=serializers.CharField(max_length=80), min_length=1, max_length=MOST_PATTERNS)
    active = serializers.BooleanField(required=False)
    description = serializers.CharField(max_length=500, required=False, allow_blank=True)
    payload_mode = serializers.ChoiceField(choices=Endpoint.PayloadMode.values, required=False)
    ordered = serializers.BooleanField(required=False)
    max_inflight = serializers.IntegerField(min_value=1, max_value=MOST_INFLIGHT, required=False)
    max_rps = serializers.IntegerField(min_value=1, max_value=MOST_RPS, required=False, allow_null=True)


@extend_schema_serializer(component_name="WebhookEndpoint")
class EndpointIn(EndpointChangeIn):
    """An endpoint as a client writes it; the kind of signature is changed later by a rotation."""

    signature = serializers.ChoiceField(choices=Secret.Kind.values, required=False)


@extend_schema_serializer(component_name="WebhookTest")
class SampleIn(StrictSerializer):
    """Which event to make a sample of."""

    type = serializers.CharField(max_length=80)
