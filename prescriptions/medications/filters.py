"""Filters of the list of medications."""

from typing import Any

import django_filters

from api.filters import Filters, one_of
from core.conditions import Condition
from core.errors import FieldError, InvalidFields
from core.search_terms import MAX_SEARCH_WORDS, words_of

from .columns import token
from .models import TenantMedication
from .schedules import SCHEDULES
from .search_index import of_class, with_terms
from .systems import uri_of


class MedicationFilters(Filters):
    """Filters of medications; `class` is a name of the tables, `schedule` a comma-separated list."""

    search = django_filters.CharFilter(
        max_length=200, help_text="Beginnings of words of display and code, all of which must match."
    )
    system = django_filters.CharFilter(
        max_length=255, help_text="Only medications of this code system: rxnorm, atc, ndc, snomed, or its address."
    )
    code = django_filters.CharFilter(max_length=100)
    vars()["class"] = django_filters.CharFilter(
        max_length=200, help_text="Only medications of this class, for example penicillins."
    )
    schedule = django_filters.CharFilter(
        max_length=100, help_text="Only medications of these schedules, separated by commas: I to V, none."
    )

    class Meta:
        model = TenantMedication
        fields: Any = []

    def condition_search(self, value: str) -> Condition:
        """Medications with, for each word of the search, a search term that begins with it."""
        words = words_of(value)
        if not 1 <= len(words) <= MAX_SEARCH_WORDS:
            message = f"Search for 1 to {MAX_SEARCH_WORDS} words of letters or digits."
            raise InvalidFields(errors=[FieldError("search", "invalid", message)])
        return with_terms(words)

    def condition_system(self, value: str) -> Condition:
        """Medications of a code system, given by its address or its short name."""
        return Condition('t."system" = {0}', (uri_of(value),))

    def condition_class(self, value: str) -> Condition:
        """Medications of a class."""
        return of_class(token(value))

    def condition_schedule(self, value: str) -> Condition:
        """Medications with one of the given schedules."""
        return one_of("schedule", value, SCHEDULES)
