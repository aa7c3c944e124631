"""Body of the bulk operation of products."""

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.fields import empty

from api.batches import BatchIn, BatchRows
from api.serializers import read
from suppliers.catalog.serializers import ProductIn

REPLACE, MERGE = "replace", "merge"
BODY_BYTES = 5 * 1_048_576


class ProductRowIn(ProductIn):
    """A product as PUT replaces it. In the mode merge only `supplier_sku` is required; what a row leaves out stays."""

    def run_validation(self, data: Any = empty) -> Any:
        """Check a row. One that is to be merged is checked later: `over` is called with what it is laid over."""
        if not self.partial:
            return super().run_validation(data)
        if not isinstance(data, Mapping):
            raise serializers.ValidationError("A row is an object.", code="invalid")
        try:
            sku = self.fields["supplier_sku"].run_validation(data.get("supplier_sku", empty))
        except serializers.SkipField:
            sku = None
        except serializers.ValidationError as error:
            raise serializers.ValidationError({"supplier_sku": error.detail}) from None
        if sku is None:
            message = serializers.ErrorDetail("This field is required.", code="required")
            raise serializers.ValidationError({"supplier_sku": [message]})
        return {"supplier_sku": sku, "sent": frozenset(data), "over": partial(_read_over, data)}


def _read_over(sent: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """Check a body with what was sent of it laid over.

    :raises InvalidFields: as of any body of a product.
    """
    return read(ProductIn, {**body, **sent})


class ProductsIn(BatchIn):
    """Up to 500 products, known by their SKU: unknown ones are created, the others replaced or merged."""

    items = BatchRows(child=ProductRowIn())
    mode = serializers.ChoiceField(
        choices=(REPLACE, MERGE),
        default=REPLACE,
        help_text="`replace`: what a row leaves out takes its default. `merge`: it stays as it is.",
    )
    key = "supplier_sku"

    class Meta:
        example: ClassVar = {"items": [ProductIn.Meta.example], "mode": REPLACE, "atomic": False}

    def has_partial_rows(self, data: Mapping[str, Any]) -> bool:
        """Tell whether rows may leave members out."""
        return bool(data["mode"] == MERGE)
