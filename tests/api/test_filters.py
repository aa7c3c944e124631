"""Filters of true and false: anything else is refused by every list, never taken for a filter that was not given."""

import django_filters
import pytest
from django.http import QueryDict

from api.filters import conditions
from config import urls  # noqa: F401  (imports every view, and with them every list)
from core.errors import InvalidFields
from tests.architecture.declared import listings


def flags():
    """Every filter of true and false, of every list."""
    return [
        (found.filters, name)
        for found in listings()
        if found.filters
        for name, declared in found.filters.base_filters.items()
        if isinstance(declared, django_filters.BooleanFilter)
    ]


@pytest.mark.parametrize("text", ["maybe", "yes", "null"])
def test_what_is_neither_true_nor_false_is_refused(text):
    declared = flags()
    assert len(declared) > 5
    for filters, name in declared:
        with pytest.raises(InvalidFields) as refused:
            conditions(filters, QueryDict(f"{name}={text}"))
        assert [(one.field, one.code) for one in refused.value.errors] == [(name, "invalid_choice")]


@pytest.mark.parametrize("text", ["true", "false", "True", "False"])
def test_true_and_false_are_accepted(text):
    for filters, name in flags():
        assert [found for found, _ in conditions(filters, QueryDict(f"{name}={text}"))] == [name]
