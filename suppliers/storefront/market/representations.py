"""What a buyer reads of the market."""

from typing import Any

from rest_framework import serializers

from api.representations import AnyField, OpenChoice
from suppliers.catalog.representations import PackagingOut, ProductOut
from suppliers.catalog.states import Availability, SubstituteType
from suppliers.quoting.representations import SOURCES, PriceStepOut
from suppliers.storefront.stock.representations import OwnLimitOut

from .shapes import PUBLIC


class PriceOut(serializers.Serializer[None]):
    """The price of one pack today, for `price_base_quantity` packs, without tax."""

    unit_price = serializers.CharField()
    currency = serializers.CharField()
    price_base_quantity = serializers.IntegerField()
    source = OpenChoice(choices=SOURCES)  # type: ignore[assignment]  # a member
    source_id = serializers.UUIDField()
    trace = PriceStepOut(many=True)


class CatalogSubstituteOut(serializers.Serializer[None]):
    """A product of the same supplier that may replace this one."""

    product_id = serializers.UUIDField()
    type = OpenChoice(
        choices=SubstituteType.choices, allow_null=True, help_text="As the supplier says; null: it does not."
    )
    ratio = serializers.CharField(allow_null=True, help_text="Of the quantities, as the supplier says.")
    approved = serializers.BooleanField(help_text="Whether the tenant's relationship to the supplier approves it.")


class CatalogProductOut(serializers.Serializer[None]):
    """A product that is offered to the tenant, by the offer of its smallest packaging."""

    supplier_id = serializers.UUIDField()
    supplier_name = serializers.CharField()
    offer_id = serializers.UUIDField()
    packaging = PackagingOut()
    price = PriceOut(allow_null=True)
    tax_rate = serializers.CharField(
        allow_null=True,
        help_text="In percent, for the product's tax category and the country of the tenant's organization, today at the "
        "supplier; null where the supplier has named none.",
    )
    availability = OpenChoice(choices=Availability.choices)
    allocation = OwnLimitOut(allow_null=True)
    lead_time_days = serializers.IntegerField(allow_null=True)
    substitutes = CatalogSubstituteOut(
        many=True,
        help_text="Equivalent products, and those that the tenant takes in place of this one; all are offered to the tenant.",
    )
    on_formulary = serializers.BooleanField(
        help_text="Whether the tenant's relationship to the supplier approves the category and does not block the product."
    )
    own_code = serializers.CharField(allow_null=True, help_text="The tenant's own code of the product.")

    def get_fields(self) -> dict[str, Any]:
        """Return the public members of the product, then those of its offer."""
        product: dict[str, AnyField] = ProductOut().get_fields()
        return {name: product[name] for name in PUBLIC} | super().get_fields()
