"""HTTP of the category tree; the product operations are in `storefront`, which adds prices and stock."""

from api.listing import ORDERING_FIELDS, SortBy
from api.operations import Operation
from api.views import ApiViewSet

from .actions import create_category
from .refusals import CategoryCodeTaken
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
    }
