"""Instants at the ends of the calendar are refused in filters and bodies, never an error of the server."""

import django_filters
import pytest
from django.http import QueryDict
from rest_framework.serializers import BooleanField

from api.filters import Filters, conditions
from api.serializers import InstantField, StrictSerializer, read
from config import urls  # noqa: F401  (imports every view, and with them every list)
from core.errors import InvalidFields
from tests.architecture.declared import listings

BEYOND = ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"]


class DoseIn(StrictSerializer):
    at = InstantField()
    given = BooleanField(default=True)


def filters_of_instants() -> list[tuple[type[Filters], str]]:
    """Every filter of an instant, of every list."""
    return [
        (found.filters, name)
        for found in listings()
        if found.filters
        for name, declared in found.filters.base_filters.items()
        if isinstance(declared, django_filters.IsoDateTimeFilter)
    ]


@pytest.mark.parametrize("text", BEYOND)
def test_filter_beyond_the_calendar_is_refused_by_every_list(text):
    declared = filters_of_instants()
    assert len(declared) > 10
    for filters, name in declared:
        query = QueryDict(mutable=True)
        query[name] = text
        with pytest.raises(InvalidFields) as refused:
            conditions(filters, query)
        assert [(one.field, one.code) for one in refused.value.errors] == [(name, "invalid")]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *((text, "range") for text in BEYOND),
        ("1969-12-31T23:59:59Z", "range"),
        ("2200-01-01T00:00:00Z", "range"),
        ("2026-03-02T09:00:00", "offset"),
        ("yesterday", "invalid"),
    ],
)
def test_instant_of_a_body_is_refused(text, code):
    with pytest.raises(InvalidFields) as refused:
        read(DoseIn, {"at": text})
    assert [(one.field, one.code) for one in refused.value.errors] == [("at", code)]


def test_instant_of_a_body_is_in_utc():
    assert read(DoseIn, {"at": "2026-03-02T09:00:00+01:00"})["at"].isoformat() == "2026-03-02T08:00:00+00:00"
