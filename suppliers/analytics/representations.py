"""Metrics and insights as the API answers them."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.representations import OpenChoice

from .insights import INSIGHTS, SEVERITIES
from .measures import INTERVALS, MEASURES


@extend_schema_field(
    {
        "oneOf": [
            {"type": "integer"},
            {"type": "string", "description": "A rate or a number of hours or days."},
            {
                "type": "object",
                "properties": {"amount": {"type": "string"}, "currency": {"type": "string"}},
                "required": ["amount", "currency"],
            },
            {"type": "null"},
        ]
    }
)
class MetricValueField(serializers.JSONField):
    """A count, a decimal as a text, an amount of money, or null where there is nothing to divide by."""


class BucketOut(serializers.Serializer[Any]):
    """The value of a bucket; amounts are objects with their currency, rates texts with four places."""

    start = serializers.DateTimeField()
    value = MetricValueField()
    group = serializers.CharField(allow_null=True, help_text="The id or code of the group; null without `group_by`.")

    class Meta:
        example: ClassVar = {"value": "0.9850"}


class MetricOut(serializers.Serializer[Any]):
    """A metric over time; `previous` is the span of the same length before it, where it was asked for."""

    metric = OpenChoice(choices=tuple(MEASURES))
    interval = OpenChoice(choices=INTERVALS)
    timezone = serializers.CharField()
    currency = serializers.CharField(allow_null=True)
    buckets = BucketOut(many=True)
    previous = BucketOut(many=True, allow_null=True)


class InsightSubjectOut(serializers.Serializer[Any]):
    """What an insight is about."""

    type = serializers.CharField()
    id = serializers.UUIDField()
    name = serializers.CharField()


class InsightOut(serializers.Serializer[Any]):
    """Something that needs a look, with the numbers that show it."""

    type = OpenChoice(choices=INSIGHTS)
    severity = OpenChoice(choices=SEVERITIES)
    subject = InsightSubjectOut()
    evidence = serializers.DictField(child=serializers.JSONField())
    recommended_action = serializers.CharField()
    detected_at = serializers.DateTimeField()
