"""Filters of what suppliers have in stock, and their conditions on an offer `t` of the market."""

from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

import django_filters

from api.filters import Filters
from api.periods import DateFilter
from core.arrays import array_literal
from core.conditions import Condition
from core.errors import FieldError, InvalidFields
from core.identifiers import gtin14
from core.ids import parse_uuid
from suppliers.catalog.states import Availability
from suppliers.catalog.vocabularies import COUNTRIES
from suppliers.marketplace.models import Offer
from suppliers.marketplace.searching import WITHIN_CATEGORY

MOST_NAMED: Final = 50
QUANTITY_MAX: Final = 1_000_000_000
WITH_GTIN: Final = (
    "t.product_id IN (SELECT unnest(ARRAY(SELECT g.product_id FROM suppliers_packaging g"
    " WHERE g.on_market AND g.state = 'current' AND g.gtin IS NOT NULL AND g.gtin = ANY({0}::text[]))))"
)


def listed(name: str, value: str, read: Callable[[str], Any], code: str, message: str) -> list[Any]:
    """Read a comma-separated list of at most `MOST_NAMED` values.

    :raises InvalidFields: a value is none of its kind, or there are none or too many.
    """
    parts = [part.strip() for part in value.split(",") if part.strip()]
    found = [read(part) for part in parts]
    if not 1 <= len(parts) <= MOST_NAMED:
        message, code = f"Name 1 to {MOST_NAMED}.", "invalid"
    if not 1 <= len(parts) <= MOST_NAMED or None in found:
        raise InvalidFields(errors=[FieldError(name, code, message)])
    return found


def with_gtin(value: str) -> Condition:
    """Products that have a packaging with one of the GTINs.

    :raises InvalidFields: one is no GTIN.
    """
    found = listed("gtin", value, gtin14, "invalid_gtin", "This is no GTIN: length or check digit is wrong.")
    return Condition(WITH_GTIN, (array_literal(found),))


def of_country(value: str) -> Condition:
    """Check a country; its code is the parameter of a condition without text.

    :raises InvalidFields: it is none.
    """
    if value not in COUNTRIES:
        error = FieldError("country", "invalid_choice", "This is no country code of ISO 3166-1.")
        raise InvalidFields(errors=[error])
    return Condition("", (value,))


class AvailabilityFilters(Filters):
    """Filters of what is in stock; those without a text are parameters of the answer rather than conditions."""

    product_id = django_filters.CharFilter(max_length=2_000, help_text="Comma-separated ids of products, at most 50.")
    gtin = django_filters.CharFilter(max_length=1_000, help_text="Comma-separated GTINs of packagings, at most 50.")
    supplier_id = django_filters.UUIDFilter()
    category = django_filters.CharFilter(
        max_length=64, help_text="A category's code; what stands below it is found, too."
    )
    availability = django_filters.CharFilter(
        max_length=100, help_text="Comma-separated list of `available`, `limited`, `backorder`, `unavailable`."
    )
    location = django_filters.UUIDFilter(help_text="A location of the tenant to be delivered to; its country counts.")
    country = django_filters.CharFilter(
        max_length=2, help_text="The country of delivery; by default that of the tenant's organization."
    )
    needed_date = DateFilter(help_text="The day that the goods must be usable on; by default today.")
    quantity = django_filters.CharFilter(max_length=10, help_text="Packs that `orderable_quantity` shall answer for.")

    class Meta:
        model = Offer
        fields: Any = []

    def condition_product_id(self, value: str) -> Condition:
        """Offers of one of the products."""
        found: list[UUID] = listed("product_id", value, parse_uuid, "invalid", "This is no id.")
        return Condition("t.product_id = ANY({0}::uuid[])", (array_literal(found),))

    def condition_gtin(self, value: str) -> Condition:
        """Offers of products that have a packaging with one of the GTINs."""
        return with_gtin(value)

    def condition_supplier_id(self, value: UUID) -> Condition:
        """Offers of one supplier."""
        return Condition("t.supplier_id = {0}::uuid", (str(value),))

    def condition_category(self, value: str) -> Condition:
        """Offers of products in the category or in one below it."""
        return Condition(WITHIN_CATEGORY, (value,))

    def condition_availability(self, value: str) -> Condition:
        """Offers in one of the states."""
        known = {one.value: one.value for one in Availability}
        text = f"Choose among {', '.join(known)}."
        found = listed("availability", value, known.get, "invalid_choice", text)
        return Condition("q.status = ANY({0}::text[])", (array_literal(found),))

    def condition_location(self, value: UUID) -> Condition:
        """The location's id."""
        return Condition("", (str(value),))

    def condition_country(self, value: str) -> Condition:
        """The country's code."""
        return of_country(value)

    def condition_needed_date(self, value: Any) -> Condition:
        """The date."""
        return Condition("", (value.isoformat(),))

    def condition_quantity(self, value: str) -> Condition:
        """The number of packs."""
        if not (value.isascii() and value.isdigit() and 1 <= int(value) <= QUANTITY_MAX):
            error = FieldError("quantity", "invalid", f"Must be a whole number from 1 to {QUANTITY_MAX}.")
            raise InvalidFields(errors=[error])
        return Condition("", (value,))
