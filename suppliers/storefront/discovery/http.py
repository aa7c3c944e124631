"""One request for a page of suppliers: what the query string asks, the statement, and the answer."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final
from uuid import UUID

from django.http import HttpResponse

from core.conditions import Condition
from core.pipeline import Call, Rows
from suppliers.company.states import Qualification
from suppliers.marketplace.queries import as_market
from suppliers.relationships.states import MANAGED
from suppliers.storefront.http import MarketPage

from .filters import SupplierFilters
from .representations import FoundSupplierOut
from .shapes import page_call, seen_of

# Who takes orders: a managed supplier takes them by their being sent.
_TAKES_ORDERS: Final = Condition(f"t.qualification_status IN ('{Qualification.QUALIFIED}', '{MANAGED}')")


class SupplierPage(MarketPage):
    """A request for a page of suppliers."""

    filters = SupplierFilters
    item = FoundSupplierOut
    default_sort = "name"
    sorts: ClassVar[Mapping[str, tuple[str, str]]] = MappingProxyType(
        {
            "name": ("name_sort", "text"),
            "created_at": ("created_at", "timestamptz"),
            "updated_at": ("updated_at", "timestamptz"),
        }
    )

    def calls(self, tenant_id: UUID) -> list[Call]:
        """Return the statements that read the page.

        :raises InvalidFields, UnknownParameter, DuplicateParameter, UnknownField, UnknownSort, InvalidPage, InvalidCursor: as for any list.
        """
        self.read()
        after = self.begin(tenant_id)
        where = [*self.given.values(), *([] if "status" in self.given else [_TAKES_ORDERS])]
        return as_market([page_call(tenant_id, self.sort, where, after=after, limit=self.limit)])

    def answer(self, tenant_id: UUID, rows: Rows) -> HttpResponse:
        """Write the page."""
        seen = seen_of(rows)
        shown = seen[: self.limit]
        after = (shown[-1].key, str(shown[-1].id)) if len(seen) > self.limit else None
        return self.written(tenant_id, [one.supplier for one in shown], after)
