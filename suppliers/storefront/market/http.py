"""One request for a page of the buyer's catalog: what the query string asks, the statements, and the answer."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar
from uuid import UUID

from django.http import HttpResponse

from core import clock
from core.pipeline import Call, Rows
from suppliers.marketplace import searching
from suppliers.marketplace.queries import as_market
from suppliers.storefront.allocation import Read, read_left
from suppliers.storefront.http import MarketPage

from .filters import CatalogFilters
from .representations import CatalogProductOut
from .shapes import page_call, seen_of, shared_by_supplier, written


class CatalogPage(MarketPage):
    """A request for a page of products."""

    filters = CatalogFilters
    item = CatalogProductOut
    default_sort = "-created_at"
    sorts: ClassVar[Mapping[str, tuple[str, str]]] = MappingProxyType(
        {
            "created_at": ("created_at", "timestamptz"),
            "updated_at": ("updated_at", "timestamptz"),
            "name": ("name_sort", "text"),
        }
    )

    few: bool | None = None  # whether the tenant may find few products; None: not known yet

    def calls(self, tenant_id: UUID) -> list[Call]:
        """Return the statements that read the page, or those that tell how much the tenant may find, where it is not known.

        :raises InvalidFields, UnknownParameter, DuplicateParameter, UnknownField, UnknownSort, InvalidPage, InvalidCursor: as for any list.
        """
        self.read()
        self.words = self.given["search"].parameters if "search" in self.given else ()
        after = self.begin(tenant_id)
        if self.few is None:
            self.few = searching.known_few(tenant_id, self.words)
        if self.few is None:
            return as_market([searching.few_call(tenant_id, self.words)])
        where = [one for name, one in self.given.items() if name != "search"]
        few = searching.few_products(self.words) if self.few else None
        where += [] if few else searching.with_words(self.words)
        return as_market([page_call(tenant_id, self.sort, where, few=few, after=after, limit=self.limit)])

    def keep(self, tenant_id: UUID, found: Rows) -> None:
        """Keep how much the tenant may find."""
        self.few = searching.are_few(found)
        searching.keep_few(tenant_id, self.words, self.few)

    def answer(self, tenant_id: UUID, rows: Rows, read: Read) -> HttpResponse:
        """Write the page; `read` is that of the view."""
        seen = seen_of(rows)
        after = (seen[-1].key, seen[-1].product_id) if seen and seen[0].found > len(seen) else None
        shared = shared_by_supplier(seen)
        left = read_left(read, [one.allocation for one in seen], clock.now())
        return self.written(tenant_id, [written(one, shared[one.supplier_id], left) for one in seen], after)
