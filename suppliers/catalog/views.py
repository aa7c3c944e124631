"""HTTP of the category tree and of a product's attributes; the product operations are in `storefront`, which adds prices and stock."""

from api.operations import Operation
from api.sorts import ORDERING_FIELDS, SortBy
from api.views import ApiViewSet
from core.errors import InvalidFields, InvalidTransition, VersionConflict

from .actions import create_category, replace_attributes, replace_category
from .attributes.representations import ProductAttributesOut
from .attributes.serializers import ProductAttributesIn
from .queries import locked_category, locked_product
from .refusals import CategoryCodeTaken, FieldLocked
from .representations import CategoryOut
from .serializers import CategoryIn


class CategoryViewSet(ApiViewSet):
    """The platform's taxonomy with the tenant's own categories."""

    family = "supplier"
    scope_prefix = "catalog:"
    tenant_kind = "supplier"
    serializer_class = CategoryOut
    ordering_fields = (*ORDERING_FIELDS, "code", "name", SortBy("tree", "path", "text"))
    ordering = "tree"
    operations = {
        "list": Operation(
            "List categories",
            "The platform's tree and the supplier's own categories, depth first, with product counts.",
        ),
        "create": Operation(
            "Create a category",
            "Below a category of the platform or an own one, at most 8 deep. Products name it by its code, which no other "
            "category of the supplier and none of the platform has.",
            body=CategoryIn,
            run=create_category,
            errors=(CategoryCodeTaken,),
        ),
        "update": Operation(
            "Replace a category",
            "Rename, move, map, or switch an own category off or on; what is below it moves along. Its code stays, since "
            "products name it. Products of an inactive category stay, new ones are refused.",
            body=CategoryIn,
            find=locked_category,
            run=replace_category,
            errors=(InvalidFields, VersionConflict, FieldLocked),
        ),
    }


class ProductAttributesViewSet(ApiViewSet):
    """The attribute values of one product."""

    family = "supplier"
    scope_prefix = "catalog:"
    tenant_kind = "supplier"
    singleton = True
    serializer_class = ProductAttributesOut
    operation_ids = {"retrieve": "getProductAttributes", "update": "replaceProductAttributes"}
    operations = {
        "retrieve": Operation("Get a product's attributes", "Each value with its definition and its source."),
        "update": Operation(
            "Replace a product's attributes",
            "All of them at once: a value that the body leaves out ends. Each fits the definition of its code; a value "
            "without a unit has that of the definition. The product's version rises by one; if nothing differs, nothing "
            "is written.",
            body=ProductAttributesIn,
            find=locked_product,
            run=replace_attributes,
            errors=(InvalidFields, VersionConflict, InvalidTransition),
        ),
    }
