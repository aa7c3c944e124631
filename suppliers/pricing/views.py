"""HTTP of prices."""

from api.operations import Operation
from api.views import ApiViewSet
from core.errors import InvalidFields, InvalidTransition, VersionConflict
from suppliers.catalog.queries import locked_product

from .actions import replace_prices
from .representations import ProductPricesOut
from .serializers import ProductPricesIn


class ProductPricesViewSet(ApiViewSet):
    """The list prices of one product."""

    family = "supplier"
    tenant_kind = "supplier"
    singleton = True
    serializer_class = ProductPricesOut
    operation_ids = {"retrieve": "getProductPrices", "update": "replaceProductPrices"}
    operations = {
        "retrieve": Operation(
            "List a product's prices",
            "The list prices that hold today or later, by the date at the supplier.",
            scope="catalog:read",
        ),
        "update": Operation(
            "Replace a product's prices",
            "All of them at once: a price that the body leaves out ends. `unit_price` is for `price_base_quantity` packs, "
            "without tax. Periods are half-open, and those of one packaging and currency do not overlap. The product's "
            "version rises by one; if nothing differs, nothing is written.",
            scope="pricing:write",
            body=ProductPricesIn,
            find=locked_product,
            run=replace_prices,
            errors=(InvalidFields, VersionConflict, InvalidTransition),
        ),
    }
