"""HTTP of the buyer's catalog."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api import preconditions
from api.chosen_members import chosen_members, with_members
from api.filters import check_names
from api.operations import Operation
from api.sorts import UnknownSort
from api.views import ApiViewSet
from core import clock
from core.errors import InvalidFields, NotFound
from suppliers.marketplace.queries import as_market
from suppliers.storefront.allocation import read_left

from .filters import CatalogFilters
from .http import CatalogPage
from .representations import CatalogProductOut
from .shapes import one_call, seen_of, shared_by_supplier, written


class CatalogViewSet(ApiViewSet):
    """The products of all suppliers that are offered to the tenant."""

    family = "procurement"
    scope_prefix = "procurement."
    tenant_kind = "buyer"
    feature = "procurement"
    operation_ids = {"list": "listCatalogProducts", "retrieve": "getCatalogProduct"}
    operations = {
        "list": Operation(
            "Search the catalog",
            "What suppliers offer to the tenant, each product by the offer of its smallest packaging, with the tenant's price "
            "of one pack today: in the tenant's currency, else in the first that there is a price in.",
            items=CatalogProductOut,
            filters=CatalogFilters,
            chooses=True,
            parameters=(CatalogPage.sort_parameter(),),
            errors=(InvalidFields, UnknownSort),
        ),
        "retrieve": Operation(
            "Get a product of the catalog",
            answer=CatalogProductOut,
            chooses=True,
            errors=(NotFound,),
        ),
    }

    def list(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer a page of products."""
        page = CatalogPage(request)
        actor, (*_, rows) = self.read(page.calls)
        if page.few is None:
            page.keep(actor.tenant_id, rows)
            actor, (*_, rows) = self.read(page.calls)
        return page.answer(actor.tenant_id, rows, self.read)

    def retrieve(self, request: HttpRequest, pk: UUID, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer one product."""

        def calls(tenant_id: UUID) -> Any:
            check_names(request.GET, ("fields",))
            chosen_members(request.GET, CatalogProductOut)
            return as_market([one_call(tenant_id, pk)])

        _, (*_, rows) = self.read(calls)
        seen = seen_of(rows)
        if not seen:
            raise NotFound("No such product.")
        left = read_left(self.read, [seen[0].allocation], clock.now())
        whole = written(seen[0], shared_by_supplier(seen)[seen[0].supplier_id], left)
        content = with_members(whole, chosen_members(request.GET, CatalogProductOut))
        return self.answer(content, tag=preconditions.content_etag(content))
