"""HTTP of the suppliers that buyers find."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api import preconditions
from api.chosen_members import chosen_members, with_members
from api.filters import check_names
from api.operations import Operation
from api.sorts import UnknownSort
from api.views import ApiViewSet
from api.writing import Answer, Command
from core.errors import InvalidFields, NotFound, VersionConflict
from core.pipeline import run
from suppliers.marketplace.queries import as_market
from suppliers.relationships.actions import replace_relationship
from suppliers.relationships.managed import create_managed_supplier
from suppliers.relationships.queries import locked_relationship
from suppliers.relationships.refusals import RegistrationTaken
from suppliers.relationships.representations import RelationshipOut
from suppliers.relationships.serializers import BODY_BYTES, ManagedSupplierIn, RelationshipIn

from .filters import SupplierFilters
from .http import SupplierPage
from .representations import FoundSupplierOut, SupplierOut
from .shapes import one_call, own_call, seen_of


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
            "Suppliers that have a profile on the platform, and those that the tenant itself has described; without `status` "
            "those that take new orders: qualified and managed ones.",
            items=FoundSupplierOut,
            filters=SupplierFilters,
            chooses=True,
            parameters=(SupplierPage.sort_parameter(),),
            errors=(InvalidFields, UnknownSort),
        ),
        "create": Operation(
            "Describe a supplier that is not on the platform",
            "Nobody but the tenant sees it, and nobody can sign in to it. Its `qualification_status` is `managed`: it needs no "
            "qualification. The same registration cannot be that of two suppliers which the tenant manages.",
            scope="procurement.suppliers",
            body=ManagedSupplierIn,
            answer=SupplierOut,
            run=create_managed_supplier,
            errors=(InvalidFields, RegistrationTaken),
        ),
        "retrieve": Operation(
            "Get a supplier",
            "In whatever state it is, so that what was ordered of it can be understood; not once its tenant is closed. "
            "A managed supplier that was merged names the supplier that has its documents in `merged_into`. "
            "`relationship` is the tenant's own.",
            answer=SupplierOut,
            chooses=True,
            errors=(NotFound,),
        ),
    }

    def list(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer a page of suppliers."""
        page = SupplierPage(request)
        actor, (*_, rows) = self.read(page.calls)
        return page.answer(actor.tenant_id, rows)

    def create(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Create a managed supplier, and answer it as it is read."""
        return self.write(self._create)

    def _create(self, command: Command) -> Answer:
        made = create_managed_supplier(command.actor, command.data, command.at)
        (rows,) = run([own_call(command.actor.tenant_id, made.supplier_id)])
        content = seen_of(rows)[0].supplier
        headers = {"Location": f"{self.request.path.rstrip('/')}/{made.supplier_id}"}
        return Answer(content, headers=headers, tag=preconditions.content_etag(content))

    def retrieve(self, request: HttpRequest, pk: UUID, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer one supplier."""

        def calls(tenant_id: UUID) -> Any:
            check_names(request.GET, ("fields",))
            chosen_members(request.GET, SupplierOut)
            return as_market([one_call(tenant_id, pk)])

        _, (*_, rows) = self.read(calls)
        seen = seen_of(rows)
        if not seen:
            raise NotFound("No such supplier.")
        content = with_members(seen[0].supplier, chosen_members(request.GET, SupplierOut))
        return self.answer(content, tag=preconditions.content_etag(content))


class RelationshipViewSet(ApiViewSet):
    """How the tenant stands to one supplier."""

    family = "procurement"
    scope_prefix = "procurement."
    tenant_kind = "buyer"
    feature = "procurement"
    tag = "Procurement"
    singleton = True
    serializer_class = RelationshipOut
    operation_ids = {"update": "replaceSupplierRelationship"}
    operations = {
        "update": Operation(
            "Replace the relationship to a supplier",
            "What is left out takes its default. `blocked` stops orders, invoices and payments, `blocks` some of them. Products "
            "are those that this supplier offers to the tenant, and those that the relationship has named before; categories "
            "are those of the platform and of the supplier, and hold what stands below them. Each product has one own code, and "
            "each own code one product.",
            scope="procurement.suppliers",
            body=RelationshipIn,
            body_limit=BODY_BYTES,
            find=locked_relationship,
            run=replace_relationship,
            errors=(InvalidFields, NotFound, VersionConflict),
        ),
    }
