"""HTTP of the five product operations."""

from api.listing import ORDERING_FIELDS, SortBy
from api.operations import Operation
from api.views import ApiViewSet
from core.errors import InvalidTransition, VersionConflict
from suppliers.catalog.actions import create_product, replace_product
from suppliers.catalog.filters import ProductFilters
from suppliers.catalog.queries import locked_product
from suppliers.catalog.refusals import FieldLocked, GtinTaken, ProductInUse, SkuTaken
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
            "What the body leaves out takes its default; without `status` the status stays.",
            body=ProductIn,
            find=locked_product,
            run=replace_product,
            errors=(VersionConflict, InvalidTransition, SkuTaken, GtinTaken, FieldLocked),
        ),
        "destroy": Operation(
            "Archive a product",
            find=locked_product,
            run=archive_product,
            errors=(VersionConflict, InvalidTransition, ProductInUse),
        ),
    }
