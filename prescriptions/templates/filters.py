"""Filters of the list of templates."""

from typing import Any

import django_filters

from api.filters import Filters, one_of
from core.conditions import Condition
from core.errors import FieldError, InvalidFields
from core.search_terms import MAX_SEARCH_WORDS, words_of
from prescriptions.states import Visibility

from .models import PrescriptionTemplate

_HAS = 'EXISTS (SELECT 1 FROM unnest(t."words") AS w (word) WHERE w.word ^@ {{{}}})'


class TemplateFilters(Filters):
    """Filters of templates; `visibility` takes a comma-separated list.

    `search` takes beginnings of words of name, description and specialty, all of which must match.
    """

    search = django_filters.CharFilter(max_length=200)
    visibility = django_filters.CharFilter(max_length=40)

    class Meta:
        model = PrescriptionTemplate
        fields: Any = []

    def condition_search(self, value: str) -> Condition:
        """Templates with, for each word of the search, a word that begins with it; a tenant has few templates."""
        words = words_of(value)
        if not 1 <= len(words) <= MAX_SEARCH_WORDS:
            message = f"Search for 1 to {MAX_SEARCH_WORDS} words of letters or digits."
            raise InvalidFields(errors=[FieldError("search", "invalid", message)])
        return Condition(" AND ".join(_HAS.format(place) for place in range(len(words))), tuple(words))

    def condition_visibility(self, value: str) -> Condition:
        """Templates of one of the given visibilities."""
        return one_of("visibility", value, Visibility.values)
