"""HTTP of the product operations."""

from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api.operations import Operation
from api.sorts import ORDERING_FIELDS, SortBy
from api.views import ApiViewSet
from core.errors import InvalidTransition, VersionConflict
from suppliers.catalog.actions import create_product, replace_product
from suppliers.catalog.bulk.actions import write_products
from suppliers.catalog.bulk.serializers import BODY_BYTES, ProductsIn
from suppliers.catalog.filters import ProductFilters
from suppliers.catalog.queries import locked_product
from suppliers.catalog.refusals import FieldLocked, GtinTaken, ModerationHold, ProductInUse, SkuTaken
from suppliers.catalog.serializers import ProductCreateIn, ProductIn

from .actions import archive_product
from .representations import ProductOut


class ProductViewSet(ApiViewSet):
    """The products of a supplier. An archived product can still be read; it can never be written again."""

    family = "supplier"
    scope_prefix = "catalog:"
    tenant_kind = "supplier"
    serializer_class = ProductOut
    filterset_class = ProductFilters
    ordering_fields = (*ORDERING_FIELDS, SortBy("name", "name_sort"), "supplier_sku")
    count_sql = (
        "SELECT coalesce((SELECT draft + active + discontinued FROM suppliers_productcounter WHERE tenant_id = $1), 0)"
    )
    operations = {
        "list": Operation(
            "List products",
            "Archived products are left out unless `status` asks for them. `search` finds beginnings of words of name, "
            "SKU, brand and GTIN.",
        ),
        "create": Operation(
            "Create a product",
            body=ProductCreateIn,
            run=create_product,
            errors=(SkuTaken, GtinTaken),
        ),
        "retrieve": Operation("Get a product"),
        "update": Operation(
            "Replace a product",
            "What the body leaves out takes its default; without `status` the status stays. A product that the platform "
            "holds (`hold`) is not made active.",
            body=ProductIn,
            find=locked_product,
            run=replace_product,
            errors=(VersionConflict, InvalidTransition, SkuTaken, GtinTaken, FieldLocked, ModerationHold),
        ),
        "bulk": Operation(
            "Write many products",
            "Rows whose `supplier_sku` is unknown are created, the others replaced or merged. Each row is judged by itself, "
            "in the order of the request, and has its own result; with `atomic`, one failure refuses all. In the mode "
            "`merge` a row needs no more than its `supplier_sku` and the members that change.",
            body=ProductsIn,
            body_limit=BODY_BYTES,
            run=write_products,
            status=200,
            policy="bulk",
            errors=(SkuTaken, GtinTaken),
        ),
        "destroy": Operation(
            "Archive a product",
            find=locked_product,
            run=archive_product,
            errors=(VersionConflict, InvalidTransition, ProductInUse, ModerationHold),
        ),
    }

    @action(detail=False, methods=["post"])
    def bulk(self, request: HttpRequest) -> HttpResponse:
        """Create and replace many products."""
        return self.write()
