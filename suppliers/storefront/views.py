"""HTTP of the five product operations."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.permissions import Operation
from api.views import ApiViewSet
from api.writing import Command
from core.errors import InvalidTransition, VersionConflict
from suppliers.catalog import queries, refusals
from suppliers.catalog.actions import create_product, replace_product
from suppliers.catalog.models import Product
from suppliers.catalog.serializers import ProductCreateIn, ProductIn

from .actions import archive_product
from .shapes import PRODUCT, PRODUCTS

_EXAMPLE = {
    "supplier_sku": "GLV-NIT-M-100",
    "name": "Nitrile examination gloves, M",
    "category": "gloves",
    "kind": "consumable",
    "status": "active",
    "base_unit": "EA",
    "packagings": [{"level": "inner", "name": "Box of 100", "units_per_pack": 100, "gtin": "4006381333931"}],
    "country_of_origin": "DE",
    "lead_time_days": 3,
}


class ProductViewSet(ApiViewSet):
    """The products of a supplier. An archived product can still be read; it can never be written again."""

    family = "supplier"
    operations = {
        "list": Operation(
            scope="catalog:read",
            kind="supplier",
            summary="List products",
            description="Archived products are left out unless `status` asks for them. `search` finds beginnings of words "
            "of name, SKU, brand and GTIN.",
            listing=PRODUCTS,
        ),
        "create": Operation(
            scope="catalog:write",
            kind="supplier",
            summary="Create a product",
            body=ProductCreateIn,
            shape=PRODUCT,
            status=201,
            errors=(refusals.SkuTaken, refusals.GtinTaken),
            example=_EXAMPLE,
        ),
        "retrieve": Operation(scope="catalog:read", kind="supplier", summary="Get a product", shape=PRODUCT),
        "update": Operation(
            scope="catalog:write",
            kind="supplier",
            summary="Replace a product",
            description="What the body leaves out takes its default; without `status` the status stays.",
            body=ProductIn,
            shape=PRODUCT,
            errors=(VersionConflict, InvalidTransition, refusals.SkuTaken, refusals.GtinTaken, refusals.FieldLocked),
            example=_EXAMPLE,
        ),
        "destroy": Operation(
            scope="catalog:write",
            kind="supplier",
            summary="Archive a product",
            status=204,
            errors=(VersionConflict, InvalidTransition, refusals.ProductInUse),
        ),
    }

    def list(self, request: HttpRequest) -> HttpResponse:
        """Answer a page of products."""
        return self.page()

    def create(self, request: HttpRequest) -> HttpResponse:
        """Create a product and answer it."""

        def work(command: Command) -> Product:
            return create_product(actor=command.actor, data=command.data, at=command.at, reading=command.reading)

        return self.write(work)

    def retrieve(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer one product."""
        return self.one(pk)

    def update(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Replace a product and answer it."""

        def work(command: Command) -> Product:
            return replace_product(actor=command.actor, product=command.target, data=command.data, at=command.at)

        return self.write(work, find=lambda actor: queries.locked_product(actor, pk))

    def destroy(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Archive a product."""

        def work(command: Command) -> Product:
            return archive_product(actor=command.actor, product=command.target, at=command.at)

        return self.write(work, find=lambda actor: queries.locked_product(actor, pk))
