"""Filters of `GET /v1/locations`: a tenant's own locations, or the directory of pharmacies."""

from typing import Any

import django_filters

from api.filters import Condition, Filters
from core.conditions import TENANT
from core.text_folding import words as words_of
from organizations.models import Location, LocationStatus, LocationType, PharmacyListing

DIRECTORIES = (("pharmacy", "pharmacy"),)
_WORDS = 8
_NOTHING = Condition("false")


class LocationFilters(Filters):
    """Filters of a tenant's own locations; `search` matches beginnings of words in names and identifiers."""

    type = django_filters.ChoiceFilter(choices=LocationType.choices)
    status = django_filters.ChoiceFilter(choices=LocationStatus.choices)
    organization_id = django_filters.UUIDFilter()
    parent_id = django_filters.UUIDFilter()
    search = django_filters.CharFilter(max_length=200)
    directory = django_filters.ChoiceFilter(choices=DIRECTORIES, label="pharmacy: search the public directory instead")

    class Meta:
        model = Location
        fields: tuple[str, ...] = ()

    def condition_search(self, value: Any) -> Condition:
        """Require for every word of the search a search term of the location that begins with the word."""
        words = words_of(str(value))[:_WORDS]
        if not words:
            return _NOTHING
        return Condition(" AND ".join(_word(position) for position in range(len(words))), tuple(words))


class DirectoryFilters(Filters):
    """Filters of the directory of pharmacies, whose table is outside row security, so that any operator may be used."""

    search = django_filters.CharFilter(max_length=200)
    directory = django_filters.ChoiceFilter(choices=DIRECTORIES)

    class Meta:
        model = PharmacyListing
        fields: tuple[str, ...] = ()

    def condition_search(self, value: Any) -> Condition:
        """Require that the name contains every word of the search."""
        words = words_of(str(value))[:_WORDS]
        if not words:
            return _NOTHING
        sql = " AND ".join(f'position({{{position}}} in t."search_text") > 0' for position in range(len(words)))
        return Condition(sql, tuple(words))

    def condition_directory(self, value: Any) -> Condition:
        """Keep all rows: the view has already chosen the directory by this filter."""
        return Condition("true")


def _word(position: int) -> str:
    return (
        't."id" IN (SELECT w.location_id FROM organizations_locationword w'
        f" WHERE w.tenant_id = {TENANT} AND w.word ^@ {{{position}}})"
    )
