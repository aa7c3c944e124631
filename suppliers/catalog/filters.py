"""Filters of the list of products."""

from collections.abc import Iterable
from typing import Any, ClassVar

import django_filters

from api.filters import Condition, Filters
from core.arrays import array_literal
from core.errors import FieldError, InvalidFields
from core.row_security import BOUND

from .category_tree import CATEGORIES
from .models import Product
from .search_terms import FIRST, LAST, MAX_SEARCH_WORDS, words_of
from .states import Availability, Status

_BELOW = f't."category" = ANY(ARRAY{CATEGORIES.within("n.code = {0}", column="code")})'

# The ids are found first, in the keys of the search terms alone; each product is then fetched by its key. With plain
# joins PostgreSQL misjudges the row counts and may scan all products of a big tenant; hence the array and the OFFSET 0.
# A range is used rather than `^@`, because a generic plan can use an index for a range.
_FOUND = f"""t."id" IN (SELECT unnest(ARRAY(
SELECT w.product_id FROM suppliers_productword w WHERE w.tenant_id = {BOUND} AND {{range}}{{others}})))"""
_WITH = (
    " AND EXISTS (SELECT FROM suppliers_productword o WHERE o.tenant_id = w.tenant_id AND o.product_id = w.product_id"
    " AND {range} OFFSET 0)"
)
_RANGE = "{alias}.word >= {first} AND {alias}.word < {last}"


def _search(words: list[str]) -> Condition:
    """Return the condition that a product has, for each word, a search term that begins with it.

    The longest word, probably the rarest, comes first. A single letter or digit must match a whole term ("size M"):
    half the catalog has a term that begins with it.
    """
    bounds: list[str] = []
    ranges: list[str] = []
    for word in sorted(words, key=len, reverse=True):
        alias = "o" if ranges else "w"
        ranges.append(_RANGE.format(alias=alias, first=f"{{{len(bounds)}}}", last=f"{{{len(bounds) + 1}}}"))
        single = len(word) == 1 and word.isascii()
        bounds += [word, word + (FIRST if single else LAST)]
    others = "".join(_WITH.format(range=one) for one in ranges[1:])
    return Condition(_FOUND.format(range=ranges[0], others=others), tuple(bounds))


def _one_of(column: str, value: str, known: Iterable[str]) -> Condition:
    names = [part.strip() for part in value.split(",") if part.strip()]
    unknown = [name for name in names if name not in set(known)]
    if unknown or not names:
        message = f"{', '.join(unknown)[:64] or 'nothing'!r} is not among {', '.join(known)}."
        raise InvalidFields(errors=[FieldError(column, "invalid_choice", message)])
    if len(names) == 1:
        return Condition(f't."{column}" = {{0}}', (names[0],))
    return Condition(f't."{column}" = ANY({{0}}::text[])', (array_literal(names),))


class ProductFilters(Filters):
    """Filters of products.

    `category` includes its descendants; `availability` and `status` take comma-separated lists; `search` takes
    beginnings of words, all of which must match.
    """

    category = django_filters.CharFilter(max_length=64)
    availability = django_filters.CharFilter(max_length=100)
    status = django_filters.CharFilter(max_length=100)
    search = django_filters.CharFilter(max_length=200)
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    otherwise: ClassVar = {"status": 't."archived_at" IS NULL'}  # unless `status` names them

    class Meta:
        model = Product
        fields: Any = []

    def condition_category(self, value: str) -> Condition:
        """Products in the category or in one of its descendants."""
        return Condition(_BELOW, (value,))

    def condition_availability(self, value: str) -> Condition:
        """Products with one of the given availabilities."""
        return _one_of("availability", value, Availability.values)

    def condition_status(self, value: str) -> Condition:
        """Products with one of the given statuses; the conditions on `archived_at` make partial indexes usable."""
        found = _one_of("status", value, Status.values)
        names = {part.strip() for part in value.split(",")}
        if Status.ARCHIVED not in names:
            return Condition(f'{found.sql} AND t."archived_at" IS NULL', found.parameters)
        return found if len(names) > 1 else Condition(f'{found.sql} AND t."archived_at" IS NOT NULL', found.parameters)

    def condition_search(self, value: str) -> Condition:
        """Products with, for each word of the search, a search term that begins with it."""
        words = words_of(value)
        if not 1 <= len(words) <= MAX_SEARCH_WORDS:
            message = f"Search for 1 to {MAX_SEARCH_WORDS} words of letters or digits."
            raise InvalidFields(errors=[FieldError("search", "invalid", message)])
        return _search(words)
