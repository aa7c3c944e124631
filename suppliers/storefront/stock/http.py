"""One question for available stock: what the query string asks, the statements that answer it, and the answer."""

import hashlib
from collections.abc import Sequence
from datetime import date, datetime
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.families import CURSORS
from api.filters import check_names, conditions
from api.list_responses import asked_limit, keyset_answer, open_keyset
from core.conditions import Condition
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Rows
from suppliers.marketplace import searching
from suppliers.marketplace.queries import as_market
from suppliers.quoting.parties import country_of, place_call
from suppliers.storefront.allocation import Read, read_left

from .availability import Asked, offers_call, seen_of, written
from .filters import AvailabilityFilters

_SORT: Final = "product_id,offer_id"
_PARAMETERS: Final = ("location", "country", "needed_date", "quantity")  # of the answer, not of what is found


class Question:
    """A request for available stock; what it asks is read once the tenant is known, so that a missing right is told first."""

    def __init__(self, request: HttpRequest, at: datetime) -> None:
        self.request, self.at = request, at
        self.few = True
        self.country: str | None = None

    @property
    def needs_look(self) -> bool:
        """Whether something is to be looked up before: the country of a location, or how much the tenant may see."""
        return self._says("location") or not self._names_products

    @property
    def _names_products(self) -> bool:
        return self._says("product_id") or self._says("gtin")

    def _says(self, name: str) -> bool:
        """Tell whether a filter is given; a blank one says nothing."""
        return bool(self.request.GET.get(name, "").strip())

    def looks(self, tenant_id: UUID) -> list[Call]:
        """Return the statements that look it up.

        :raises InvalidFields, UnknownParameter, DuplicateParameter: as for any list.
        """
        given = self._given()
        place = [place_call(tenant_id, UUID(given["location"].parameters[0]))] if "location" in given else []
        return [*place, *as_market([searching.few_call(tenant_id, ())])]

    def take(self, found: Sequence[Rows]) -> None:
        """Take what was looked up.

        :raises InvalidFields: the tenant has no such location.
        """
        self.few = searching.are_few(found[-1])
        if self._says("location"):
            self.country = country_of(found[0], "location")

    def calls(self, tenant_id: UUID) -> list[Call]:
        """Return the statements that read the page.

        :raises InvalidFields, UnknownParameter, DuplicateParameter, InvalidPage, InvalidCursor: as for any list.
        """
        self.given = self._given()
        where = [one for name, one in self.given.items() if name not in _PARAMETERS]
        few = None if self._names_products or not self.few else searching.few_products(())
        self.asked = self._asked()
        self.limit = asked_limit(self.request.GET, CURSORS)
        after = open_keyset(self.request, sort=_SORT, filters=self._digest, tenant_id=tenant_id)
        return as_market([offers_call(tenant_id, self.asked, where, few=few, after=after, limit=self.limit)])

    def answer(self, tenant_id: UUID, rows: Rows, read: Read) -> HttpResponse:
        """Write the page; `read` is that of the view."""
        seen = seen_of(rows)
        shown = seen[: self.limit]
        left = read_left(read, [one.allocation for one in shown], self.at)
        after = (str(shown[-1].product_id), str(shown[-1].id)) if len(seen) > self.limit else None
        items = [written(one, self.asked, left) for one in shown]
        return keyset_answer(
            self.request, items, after=after, sort=_SORT, filters=self._digest, tenant_id=tenant_id, limit=self.limit
        )

    def _given(self) -> dict[str, Condition]:
        query = self.request.GET
        check_names(query, (*AvailabilityFilters.base_filters, "limit", "cursor"))
        given = dict(conditions(AvailabilityFilters, query))
        if not self._names_products and (alone := [name for name in ("needed_date", "quantity") if name in given]):
            message = "Name products by product_id or gtin."
            raise InvalidFields(errors=[FieldError(name, "required", message) for name in alone])
        return given

    def _asked(self) -> Asked:
        text = {name: one.parameters[0] for name, one in self.given.items() if name in _PARAMETERS}
        return Asked(
            at=self.at,
            needed_date=date.fromisoformat(text["needed_date"]) if "needed_date" in text else None,
            country=text.get("country") or self.country,
            quantity=int(text["quantity"]) if "quantity" in text else None,
        )

    @property
    def _digest(self) -> str:
        parts = [f"{name}={one.parameters}" for name, one in sorted(self.given.items())]
        return hashlib.sha256("&".join(parts).encode()).hexdigest()
