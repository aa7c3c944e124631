"""One request for a page of the buyer's catalog: what the query string asks, the statements, and the answer."""

import hashlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.families import CURSORS
from api.filters import check_names, conditions
from api.list_responses import asked_limit, keyset_answer, open_keyset
from api.listing import UnknownSort
from core.conditions import Condition
from core.pipeline import Call, Rows
from suppliers.marketplace import searching
from suppliers.marketplace.queries import as_market

from .filters import CatalogFilters
from .shapes import Sort, page_call, seen_of, written

DEFAULT_SORT: Final = "-created_at"
SORTS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "created_at": ("created_at", "timestamptz"),
        "updated_at": ("updated_at", "timestamptz"),
        "name": ("name_sort", "text"),
    }
)


class CatalogPage:
    """A request for a page; what it asks is read once the tenant is known, so that a missing right is told first."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.few = True

    def looks(self, tenant_id: UUID) -> list[Call]:
        """Return the statements that tell how much the tenant may find.

        :raises InvalidFields, UnknownParameter, DuplicateParameter, UnknownSort: as for any list.
        """
        self._read()
        return as_market([searching.few_call(tenant_id, self.words)])

    def take(self, found: Sequence[Rows]) -> None:
        """Take what was looked up."""
        self.few = searching.are_few(found[-1])

    def calls(self, tenant_id: UUID) -> list[Call]:
        """Return the statements that read the page.

        :raises InvalidPage, InvalidCursor: as for any list.
        """
        self.limit = asked_limit(self.request.GET, CURSORS)
        after = open_keyset(self.request, sort=self.text, filters=self._digest, tenant_id=tenant_id)
        where = [one for name, one in self.given.items() if name != "search"]
        few = searching.few_products(self.words) if self.few else None
        where += [] if few else searching.with_words(self.words)
        return as_market([page_call(tenant_id, self.sort, where, few=few, after=after, limit=self.limit)])

    def answer(self, tenant_id: UUID, rows: Rows) -> HttpResponse:
        """Write the page."""
        seen = seen_of(rows)
        shown = seen[: self.limit]
        after = (shown[-1].key, shown[-1].product_id) if len(seen) > self.limit else None
        items = [written(one) for one in shown]
        return keyset_answer(
            self.request,
            items,
            after=after,
            sort=self.text,
            filters=self._digest,
            tenant_id=tenant_id,
            limit=self.limit,
        )

    def _read(self) -> None:
        query = self.request.GET
        check_names(query, (*CatalogFilters.base_filters, "sort", "limit", "cursor"))
        self.given: dict[str, Condition] = dict(conditions(CatalogFilters, query))
        self.words = self.given["search"].parameters if "search" in self.given else ()
        self.text = query.get("sort") or DEFAULT_SORT
        found = SORTS.get(self.text.removeprefix("-"))
        if found is None:
            raise UnknownSort(f"Cannot sort by {self.text[:64]!r}.", allowed=sorted(SORTS))
        self.sort = Sort(*found, down=self.text.startswith("-"))

    @property
    def _digest(self) -> str:
        parts = [f"{name}={one.parameters}" for name, one in sorted(self.given.items())]
        return hashlib.sha256("&".join(parts).encode()).hexdigest()
