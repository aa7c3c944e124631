"""What the list of appointments can be narrowed by, and what is asked of free slots."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import django_filters
from django.http import QueryDict
from rest_framework import serializers

from api.filters import Condition, Filters, check_names, one_of
from api.serializers import InstantField, StrictSerializer, read
from core.errors import FieldError, InvalidFields

from .models import Appointment
from .serializers import FHIR_ID
from .states import Status

LONGEST = timedelta(days=31)


class AppointmentFilters(Filters):
    """`from` and `to` bound the beginning, `to` exclusively; `status` takes a comma-separated list."""

    patient_id = django_filters.CharFilter(max_length=64)
    practitioner_id = django_filters.CharFilter(max_length=64)
    location_id = django_filters.UUIDFilter()
    series_id = django_filters.UUIDFilter()
    status = django_filters.CharFilter(max_length=100)

    class Meta:
        model = Appointment
        fields: Any = []

    def condition_status(self, value: str) -> Condition:
        """Appointments in one of the given statuses."""
        return one_of("status", value, Status.values)


# `from` is a word of Python, so it cannot be written as an attribute.
AppointmentFilters.base_filters["from"] = django_filters.IsoDateTimeFilter(field_name="starts_at", lookup_expr="gte")
AppointmentFilters.base_filters["to"] = django_filters.IsoDateTimeFilter(field_name="starts_at", lookup_expr="lt")


class _AvailabilityQuery(StrictSerializer):
    """The query of free slots; `from` is a word of Python."""

    since = InstantField()
    to = InstantField()
    practitioner_id = serializers.RegexField(FHIR_ID, required=False)
    location_id = serializers.UUIDField(required=False)
    minutes = serializers.IntegerField(min_value=5, max_value=1440, required=False)
    step = serializers.IntegerField(min_value=5, max_value=1440, required=False)


class Asked(NamedTuple):
    """What free slots are asked for; `minutes` None stands for the policy, `step` None for the same as `minutes`."""

    start: datetime
    end: datetime
    location_id: UUID | None
    practitioners: list[str]
    minutes: int | None
    step: int | None


NAMES = ("from", "to", "practitioner_id", "location_id", "minutes", "step")


def asked_availability(query: QueryDict) -> Asked:
    """Read the query of free slots.

    :raises UnknownParameter, DuplicateParameter: a name is unknown or given twice.
    :raises InvalidFields: a value is invalid, the time is longer than 31 days, or nobody and no location is named.
    """
    check_names(query, NAMES)
    given = {name: str(query[name]) for name in query}
    if "from" in given:
        given["since"] = given.pop("from")
    try:
        found = read(_AvailabilityQuery, given)
    except InvalidFields as error:
        renamed = [
            FieldError("from" if one.field == "since" else one.field, one.code, one.message) for one in error.errors
        ]
        raise InvalidFields("A query parameter is invalid.", errors=renamed) from error
    return _checked(found)


def _checked(found: Mapping[str, Any]) -> Asked:
    if not timedelta(0) < found["to"] - found["since"] <= LONGEST:
        message = "The time must be longer than nothing and at most 31 days."
        raise InvalidFields(message, errors=[FieldError("to", "invalid", message)])
    if "practitioner_id" not in found and "location_id" not in found:
        message = "Name a practitioner, a location, or both."
        raise InvalidFields(message, errors=[FieldError("practitioner_id", "required", message)])
    people = [found["practitioner_id"]] if "practitioner_id" in found else []
    return Asked(found["since"], found["to"], found.get("location_id"), people, found.get("minutes"), found.get("step"))
