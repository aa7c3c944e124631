"""What lists of endpoints, deliveries and events can be narrowed by."""

from typing import Any

import django_filters

from api.filters import Condition, Filters
from core.ids import parse_uuid

from . import states
from .models import Delivery, Endpoint, Event


class EndpointFilters(Filters):
    """`active` narrows to the enabled or the disabled ones."""

    class Meta:
        model = Endpoint
        fields = ("active",)


class DeliveryFilters(Filters):
    """`event` is a type or an event's id; `from` and `to` bound the event's time; `undelivered` is all but delivered."""

    event = django_filters.CharFilter(max_length=80)
    state = django_filters.ChoiceFilter(choices=states.choices(states.ALL))
    undelivered = django_filters.BooleanFilter()

    class Meta:
        model = Delivery
        fields: Any = []

    def condition_undelivered(self, value: bool) -> Condition:
        """Everything a receiver has not taken, whether it is still on its way or has failed; or the opposite."""
        return Condition(f't."state" {"<>" if value else "="} {{0}}', (states.DELIVERED,))

    def condition_event(self, value: str) -> Condition:
        """The event's id as the envelope writes it, else its type."""
        found = parse_uuid(_hyphenated(value.removeprefix("evt_"))) if value.startswith("evt_") else None
        return Condition('t."event_id" = {0}', (str(found),)) if found else Condition('t."event_type" = {0}', (value,))


class EventFilters(Filters):
    """`type` is exact; `from` and `to` bound the event's time."""

    type = django_filters.CharFilter(max_length=80)

    class Meta:
        model = Event
        fields: Any = []


# `from` is a word of Python, so it cannot be written as an attribute.
for _filters in (DeliveryFilters, EventFilters):
    _filters.base_filters["from"] = django_filters.IsoDateTimeFilter(field_name="created_at", lookup_expr="gte")
    _filters.base_filters["to"] = django_filters.IsoDateTimeFilter(field_name="created_at", lookup_expr="lt")


def _hyphenated(text: str) -> str:
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
