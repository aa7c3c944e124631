"""HTTP of the suppliers that buyers find."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api import preconditions
from api.filters import check_names
from api.listing import UnknownSort
from api.operations import Operation
from api.views import ApiViewSet
from core.errors import InvalidFields, NotFound
from suppliers.marketplace.queries import as_market

from .filters import SupplierFilters
from .http import DEFAULT_SORT, SORTS, SupplierPage
from .representations import SupplierOut
from .shapes import one_call, seen_of

_SORT = {
    "name": "sort",
    "in": "query",
    "description": f"One of {', '.join(f'`{name}`' for name in SORTS)}, `-` before it for descending.",
    "schema": {"type": "string", "default": DEFAULT_SORT},
}


class SupplierViewSet(ApiViewSet):
    """The suppliers on the platform."""

    family = "procurement"
    scope_prefix = "procurement."
    tenant_kind = "buyer"
    feature = "procurement"
    tag = "Procurement"
    operation_ids = {"list": "listSuppliers", "retrieve": "getSupplier"}
    operations = {
        "list": Operation(
            "Find suppliers",
            "Suppliers that have a profile on the platform; without `status` those that are qualified, which take new orders.",
            items=SupplierOut,
            filters=SupplierFilters,
            parameters=(_SORT,),
            errors=(InvalidFields, UnknownSort),
        ),
        "retrieve": Operation(
            "Get a supplier",
            "In whatever state it is, so that what was ordered of it can be understood; not once its tenant is closed.",
            answer=SupplierOut,
            errors=(NotFound,),
        ),
    }

    def list(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer a page of suppliers."""
        page = SupplierPage(request)
        actor, (*_, rows) = self.read(page.calls)
        return page.answer(actor.tenant_id, rows)

    def retrieve(self, request: HttpRequest, pk: UUID, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer one supplier."""

        def calls(tenant_id: UUID) -> Any:
            check_names(request.GET, ())
            return as_market([one_call(pk)])

        _, (*_, rows) = self.read(calls)
        seen = seen_of(rows)
        if not seen:
            raise NotFound("No such supplier.")
        return self.answer(seen[0].supplier, tag=preconditions.content_etag(seen[0].supplier))
