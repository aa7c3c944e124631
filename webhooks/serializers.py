"""Input of the webhook operations: the form of every field. Addresses and patterns are checked by the actions."""

from rest_framework import serializers

from api.serializers import StrictSerializer

from .egress import LONGEST_URL

DAY_SECONDS = 86_400


class EndpointIn(StrictSerializer):
    """An endpoint as a client writes it."""

    url = serializers.CharField(max_length=LONGEST_URL)
    events = serializers.ListField(child=serializers.CharField(max_length=80), min_length=1, max_length=100)
    active = serializers.BooleanField(required=False)
    description = serializers.CharField(max_length=500, required=False, allow_blank=True)


class RotationIn(StrictSerializer):
    """How long the old key goes on signing beside the new one: a day unless told, a week at most."""

    overlap_seconds = serializers.IntegerField(min_value=0, max_value=7 * DAY_SECONDS, default=DAY_SECONDS)
