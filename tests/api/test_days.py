"""Days are read as YYYY-MM-DD alone, in bodies and in filters: no other form of ISO 8601, no form of a country."""

from collections.abc import Iterator

import django_filters
import pytest
from django.http import QueryDict
from rest_framework import serializers

from api.filters import Filters, conditions
from api.periods import MomentFilter
from api.serializers import DateField, StrictSerializer, read
from config import urls  # noqa: F401  (imports every view, and with them every body and list)
from core.errors import InvalidFields
from tests.architecture.declared import listings

FORMS = ["2026-1-31", "20260131", "2026-W05-6", "01/31/2026", "31.01.2026", "2026-02-29", "٢٠٢٦-٠١-٣١", "tomorrow"]
FEWEST_BODIES, FEWEST_FILTERS = 20, 10


class TermIn(StrictSerializer):
    begins_on = DateField()


def bodies(kind: type[StrictSerializer] = StrictSerializer) -> Iterator[type[StrictSerializer]]:
    """Every serializer of a body, but those of the tests."""
    for found in kind.__subclasses__():
        if not found.__module__.startswith("tests"):
            yield found
        yield from bodies(found)


@pytest.mark.parametrize("text", FORMS)
def test_other_form_in_a_body_is_refused(text: str) -> None:
    with pytest.raises(InvalidFields) as refused:
        read(TermIn, {"begins_on": text})
    assert [(one.field, one.code) for one in refused.value.errors] == [("begins_on", "invalid")]


def test_slip_of_the_year_is_refused() -> None:
    with pytest.raises(InvalidFields) as refused:
        read(TermIn, {"begins_on": "0026-01-31"})
    assert [(one.field, one.code) for one in refused.value.errors] == [("begins_on", "range")]


@pytest.mark.parametrize("text", ["1900-01-01", "2026-01-31", "2028-02-29", "9999-12-31"])
def test_day_of_a_body_is_read(text: str) -> None:
    assert read(TermIn, {"begins_on": text})["begins_on"].isoformat() == text


def test_bodies_read_days_by_the_field_of_the_house() -> None:
    days = [
        (kind, name) for kind in bodies() for name, one in kind._declared_fields.items() if isinstance(one, DateField)
    ]
    lax = [
        (kind, name)
        for kind in bodies()
        for name, one in kind._declared_fields.items()
        if isinstance(one, serializers.DateField) and not isinstance(one, DateField)
    ]
    assert len(days) >= FEWEST_BODIES
    assert not lax


@pytest.mark.parametrize("text", FORMS)
def test_other_form_in_a_filter_is_refused_by_every_list(text: str) -> None:
    declared: list[tuple[type[Filters], str]] = [
        (found.filters, name)
        for found in listings()
        if found.filters
        for name, one in found.filters.base_filters.items()
        if isinstance(one, MomentFilter | django_filters.DateFilter)
    ]
    assert len(declared) >= FEWEST_FILTERS
    for filters, name in declared:
        query = QueryDict(mutable=True)
        query[name] = text
        with pytest.raises(InvalidFields) as refused:
            conditions(filters, query)
        assert [(one.field, one.code) for one in refused.value.errors] == [(name, "invalid")]
