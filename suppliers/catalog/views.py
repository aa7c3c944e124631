"""HTTP of the category tree; the product operations are in `storefront`, which adds prices and stock."""

from django.http import HttpRequest, HttpResponse

from api.permissions import Operation
from api.views import ApiViewSet

from .shapes import CATEGORIES


class CategoryViewSet(ApiViewSet):
    """The platform's taxonomy with the tenant's own categories."""

    family = "supplier"
    operations = {
        "list": Operation(
            scope="catalog:read",
            kind="supplier",
            summary="List categories",
            description="The platform's tree and the supplier's own categories, depth first, with product counts.",
            listing=CATEGORIES,
        ),
    }

    def list(self, request: HttpRequest) -> HttpResponse:
        """Answer the tree as a page list."""
        return self.page()
