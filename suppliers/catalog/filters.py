"""What the list of products can be narrowed by."""

from collections.abc import Iterable
from typing import Any, ClassVar

import django_filters

from api.filters import Condition, Filters
from core.arrays import array_literal
from core.errors import FieldError, InvalidFields
from core.row_security import BOUND

from .category_tree import CATEGORIES
from .models import Product
from .search_terms import FIRST, LAST, MOST_OF_A_QUESTION, words_of
from .states import Availability, Status

_BELOW = f't."category" = ANY(ARRAY{CATEGORIES.within("n.code = {0}", column="code")})'

# The ids are found once, in the posting table's keys alone, and each product is then fetched by key. Written as plain joins,
# PostgreSQL guesses at the numbers and may walk all rows of a big tenant instead; hence the array and the OFFSET 0. A range
# rather than `^@`, because a plan made without knowing the parameters can use it.
_FOUND = f"""t."id" IN (SELECT unnest(ARRAY(
SELECT w.product_id FROM suppliers_productword w WHERE w.tenant_id = {BOUND} AND {{range}}{{others}})))"""
_WITH = (
    " AND EXISTS (SELECT FROM suppliers_productword o WHERE o.tenant_id = w.tenant_id AND o.product_id = w.product_id"
    " AND {range} OFFSET 0)"
)
_RANGE = "{alias}.word >= {first} AND {alias}.word < {last}"


def _search(words: list[str]) -> Condition:
    """Products that have, for each word, one that begins with it; the longest word, likely the rarest, leads.

    A single letter or digit is a word of its own ("size M"), since as a beginning it would find half the catalog.
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
    """`category` holds its descendants, `availability` and `status` take comma lists, `search` word beginnings (all of them)."""

    category = django_filters.CharFilter(max_length=64)
    availability = django_filters.CharFilter(max_length=100)
    status = django_filters.CharFilter(max_length=100)
    search = django_filters.CharFilter(max_length=200)
    updated_since = django_filters.IsoDateTimeFilter(field_name="updated_at", lookup_expr="gte")

    otherwise: ClassVar = {"status": 't."archived_at" IS NULL'}  # archived products only when they are asked for

    class Meta:
        model = Product
        fields: Any = []

    def condition_category(self, value: str) -> Condition:
        """The category itself or one below it."""
        return Condition(_BELOW, (value,))

    def condition_availability(self, value: str) -> Condition:
        """One availability or several."""
        return _one_of("availability", value, Availability.values)

    def condition_status(self, value: str) -> Condition:
        """One status or several; the conditions on `archived_at` say nothing new, but open the partial indexes."""
        found = _one_of("status", value, Status.values)
        names = {part.strip() for part in value.split(",")}
        if Status.ARCHIVED not in names:
            return Condition(f'{found.sql} AND t."archived_at" IS NULL', found.parameters)
        return found if len(names) > 1 else Condition(f'{found.sql} AND t."archived_at" IS NOT NULL', found.parameters)

    def condition_search(self, value: str) -> Condition:
        """Products with, for each word of the question, a word that begins with it."""
        words = words_of(value)
        if not 1 <= len(words) <= MOST_OF_A_QUESTION:
            message = f"Search for 1 to {MOST_OF_A_QUESTION} words of letters or digits."
            raise InvalidFields(errors=[FieldError("search", "invalid", message)])
        return _search(words)
