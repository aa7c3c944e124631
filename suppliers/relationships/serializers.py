"""Bodies of managed suppliers and relationships. Source: contract, supply-shelf.md "Managed supplier", "Relationship"."""

from typing import Any, ClassVar, Final

from rest_framework import serializers

from api.serializers import StrictSerializer
from organizations.public import MANAGED_NAME_LENGTH
from suppliers.company.fields import CountryField, CurrencyField, entries, refuse_twins, text
from suppliers.company.serializers import (
    MoneyIn,
    PaymentTermsIn,
    RegistrationIn,
    SupplierContactIn,
    TaxRateIn,
)

from .states import Block, Period, RelationshipStatus

MOST_ITEMS: Final = 5_000
MOST_CATEGORIES: Final = 500
BODY_BYTES: Final = 3 * 1_048_576
_ID: Final = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
_OTHER_ID: Final = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e70"


def _list(child: serializers.Field[Any, Any, Any, Any], most: int) -> Any:
    return serializers.ListField(child=child, max_length=most, required=False, default=list)


def _objects(child: serializers.Serializer[Any], most: int) -> Any:
    return serializers.ListSerializer(child=child, max_length=most, required=False, default=list)


class ManagedSupplierIn(StrictSerializer):
    """A supplier that is not on the platform, as its buyer describes it."""

    legal_name = serializers.CharField(max_length=MANAGED_NAME_LENGTH)
    country = CountryField()
    registrations = entries(RegistrationIn(), 50)
    contacts = entries(SupplierContactIn(), 50)
    currencies = serializers.ListField(child=CurrencyField(), max_length=200, required=False)
    payment_terms = PaymentTermsIn(required=False, allow_null=True)
    tax_rates = entries(TaxRateIn(), 1_000)

    class Meta:
        example: ClassVar = {
            "legal_name": "Village Orthotics",
            "country": "DE",
            "registrations": [RegistrationIn.Meta.example],
            "currencies": ["EUR"],
        }

    def validate_registrations(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse a number that is there twice."""
        refuse_twins(value, ("scheme", "value"), "This registration is there twice.")
        return value

    def validate_currencies(self, value: list[str]) -> list[str]:
        """Name each currency once."""
        return list(dict.fromkeys(value))

    def validate_tax_rates(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse two rates of a category and country that begin on one day."""
        refuse_twins(value, ("tax_category", "country", "valid_from"), "Another rate begins on this day.")
        return value


class SpendLimitIn(MoneyIn):
    """What may be spent with the supplier in each period."""

    period = serializers.ChoiceField(choices=Period.choices)

    class Meta:
        example: ClassVar = {"amount": "50000.00", "currency": "EUR", "period": "month"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Write the amount with as many decimals as the currency has."""
        return {**super().validate(attrs), "period": attrs["period"]}


class ItemAliasIn(StrictSerializer):
    """The code by which the tenant names a product of the supplier."""

    product_id = serializers.UUIDField()
    own_code = serializers.CharField(max_length=64)

    class Meta:
        example: ClassVar = {"product_id": _ID, "own_code": "4711"}


class ApprovedSubstituteIn(StrictSerializer):
    """A product of the supplier that the tenant takes in place of another."""

    product_id = serializers.UUIDField()
    substitute_product_id = serializers.UUIDField()

    class Meta:
        example: ClassVar = {"product_id": _ID, "substitute_product_id": _OTHER_ID}


class RelationshipIn(StrictSerializer):
    """How the tenant stands to a supplier; what is left out takes its default."""

    status = serializers.ChoiceField(
        choices=[(one.value, one.label) for one in (RelationshipStatus.ACTIVE, RelationshipStatus.BLOCKED)],
        default=RelationshipStatus.ACTIVE.value,
        help_text="`blocked` sets all `blocks`.",
    )
    blocks = _list(serializers.ChoiceField(choices=Block.choices), 3)
    customer_number = text(64)
    payment_terms = PaymentTermsIn(required=False, allow_null=True, default=None)
    spend_limit = SpendLimitIn(required=False, allow_null=True, default=None)
    approved_categories = _list(serializers.CharField(max_length=64), MOST_CATEGORIES)
    blocked_products = _list(serializers.UUIDField(), MOST_ITEMS)
    approved_substitutes = _objects(ApprovedSubstituteIn(), MOST_ITEMS)
    item_aliases = _objects(ItemAliasIn(), MOST_ITEMS)

    class Meta:
        example: ClassVar = {
            "status": "active",
            "customer_number": "K-1042",
            "spend_limit": SpendLimitIn.Meta.example,
            "approved_categories": ["gloves"],
            "item_aliases": [ItemAliasIn.Meta.example],
        }

    def validate_customer_number(self, value: str | None) -> str:
        """Null says that there is none."""
        return value or ""

    def validate_approved_categories(self, value: list[str]) -> list[str]:
        """Name each category once, in their order."""
        return sorted(set(value))

    def validate_approved_substitutes(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse a pair that is there twice, and a product that would replace itself."""
        refuse_twins(value, ("product_id", "substitute_product_id"), "This substitute is there twice.")
        faults = [
            {"substitute_product_id": serializers.ErrorDetail("A product does not replace itself.", code="invalid")}
            if one["product_id"] == one["substitute_product_id"]
            else {}
            for one in value
        ]
        if any(faults):
            raise serializers.ValidationError(faults)
        return value

    def validate_item_aliases(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse a product with two codes, and a code of two products."""
        refuse_twins(value, ("product_id",), "The product has another code here.")
        refuse_twins(value, ("own_code",), "Another product has this code.")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Name each block once, in the order of the choices; blocked is all of them."""
        blocked = attrs["status"] == RelationshipStatus.BLOCKED
        return {**attrs, "blocks": [one for one in Block.values if blocked or one in attrs["blocks"]]}
