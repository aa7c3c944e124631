"""One request for a page of suppliers: what the query string asks, the statement, and the answer."""

import hashlib
from collections.abc import Mapping
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
from suppliers.company.states import Qualification
from suppliers.marketplace.queries import as_market
from suppliers.relationships.states import MANAGED
from suppliers.storefront.market.shapes import Sort

from .filters import SupplierFilters
from .shapes import page_call, seen_of

DEFAULT_SORT: Final = "name"
SORTS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {"name": ("name_sort", "text"), "created_at": ("created_at", "timestamptz")}
)
# Who takes orders: a managed supplier takes them by their being sent.
_TAKES_ORDERS: Final = Condition(f"t.qualification_status IN ('{Qualification.QUALIFIED}', '{MANAGED}')")


class SupplierPage:
    """A request for a page; what it asks is read once the tenant is known, so that a missing right is told first."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request

    def calls(self, tenant_id: UUID) -> list[Call]:
        """Return the statements that read the page.

        :raises InvalidFields, UnknownParameter, DuplicateParameter, UnknownSort, InvalidPage, InvalidCursor: as for any list.
        """
        self._read()
        self.limit = asked_limit(self.request.GET, CURSORS)
        after = open_keyset(self.request, sort=self.text, filters=self._digest, tenant_id=tenant_id)
        where = [*self.given.values(), *([] if "status" in self.given else [_TAKES_ORDERS])]
        return as_market([page_call(tenant_id, self.sort, where, after=after, limit=self.limit)])

    def answer(self, tenant_id: UUID, rows: Rows) -> HttpResponse:
        """Write the page."""
        seen = seen_of(rows)
        shown = seen[: self.limit]
        after = (shown[-1].key, str(shown[-1].id)) if len(seen) > self.limit else None
        return keyset_answer(
            self.request,
            [one.supplier for one in shown],
            after=after,
            sort=self.text,
            filters=self._digest,
            tenant_id=tenant_id,
            limit=self.limit,
        )

    def _read(self) -> None:
        query = self.request.GET
        check_names(query, (*SupplierFilters.base_filters, "sort", "limit", "cursor"))
        self.given: dict[str, Condition] = dict(conditions(SupplierFilters, query))
        self.text = query.get("sort") or DEFAULT_SORT
        found = SORTS.get(self.text.removeprefix("-"))
        if found is None:
            raise UnknownSort(f"Cannot sort by {self.text[:64]!r}.", allowed=sorted(SORTS))
        self.sort = Sort(*found, down=self.text.startswith("-"))

    @property
    def _digest(self) -> str:
        parts = [f"{name}={one.parameters}" for name, one in sorted(self.given.items())]
        return hashlib.sha256("&".join(parts).encode()).hexdigest()
