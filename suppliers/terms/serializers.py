"""Bodies of terms. Source: contract, supply-price.md 1."""

from collections.abc import Mapping
from decimal import Decimal
from itertools import pairwise
from typing import Any, ClassVar, Final

from rest_framework import serializers

from api.serializers import DateField, DecimalField, StrictSerializer, refusal
from core.money import minor_units
from suppliers.catalog.fields import QUANTITY_MAX
from suppliers.company.fields import CountryField, CurrencyField
from suppliers.marketplace.serializers import MOST_NAMED
from suppliers.pricing.serializers import TierIn, check_period

from .models import MOST_PRIORITY
from .states import OF_ONE_CURRENCY, ActionType, EntriesMode, Scope, TermStatus

MOST_ENTRIES: Final = 10_000
_ID = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"


class AssignmentIn(StrictSerializer):
    """Whom a price list is for: everybody, or the named buyers, organizations or groups."""

    scope = serializers.ChoiceField(choices=Scope.choices)
    ids = serializers.ListField(
        child=serializers.UUIDField(),
        max_length=MOST_NAMED,
        required=False,
        default=list,
        help_text="Of the scopes `tenants` and `organizations`; of an organization, every tenant below it.",
    )
    codes = serializers.ListField(
        child=serializers.CharField(max_length=64),
        max_length=100,
        required=False,
        default=list,
        help_text="Of the scope `groups`: codes of `buyer_groups` of the supplier's profile.",
    )

    class Meta:
        example: ClassVar = {"scope": "groups", "codes": ["university-hospitals"]}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require the list of the scope, and no other."""
        wanted = {Scope.PUBLIC: "", Scope.GROUPS: "codes"}.get(attrs["scope"], "ids")
        for name in ("ids", "codes"):
            if name == wanted and not attrs[name]:
                raise refusal(name, "Name at least one.", "required")
            if name != wanted and attrs[name]:
                raise refusal(name, "The scope takes none.", "invalid")
        return attrs


class EntryIn(StrictSerializer):
    """The unit prices of one packaging; `packaging_id` may be left out where the product has one packaging only."""

    product_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    supplier_sku = serializers.CharField(
        max_length=64,
        required=False,
        allow_null=True,
        allow_blank=True,
        default="",
        help_text="In place of `product_id`.",
    )
    packaging_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    price_base_quantity = serializers.IntegerField(min_value=1, max_value=1_000_000, default=1)
    tiers: Any = serializers.ListSerializer(child=TierIn(), max_length=20, required=False, default=list)
    remove = serializers.BooleanField(
        default=False, help_text="With the mode `merge`: take the entry out. One that is not there is no error."
    )

    class Meta:
        example: ClassVar = {
            "supplier_sku": "GLV-100",
            "tiers": [{"min_quantity": 1, "unit_price": "4.40"}, {"min_quantity": 50, "unit_price": "4.10"}],
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Hold members to one another."""
        if bool(attrs["product_id"]) == bool(attrs["supplier_sku"]):
            raise refusal("product_id", "Give either product_id or supplier_sku.", "required")
        if bool(attrs["tiers"]) == attrs["remove"]:
            raise refusal("tiers", "An entry needs tiers, one to be taken out has none.", "required")
        if any(one["min_quantity"] >= two["min_quantity"] for one, two in pairwise(attrs["tiers"])):
            raise refusal("tiers", "min_quantity must rise from tier to tier.", "invalid")
        return attrs


class PriceListIn(StrictSerializer):
    """A price list; members that are left out take their defaults, but entries are never left out by accident."""

    name = serializers.CharField(max_length=255)
    currency = CurrencyField()
    status = serializers.ChoiceField(choices=TermStatus.choices, default=TermStatus.DRAFT.value)
    valid_from = DateField(required=False, allow_null=True, default=None)
    valid_to = DateField(required=False, allow_null=True, default=None)
    priority = serializers.IntegerField(min_value=0, max_value=MOST_PRIORITY, default=0)
    assignment = AssignmentIn(required=False, default=lambda: {"scope": Scope.PUBLIC.value, "ids": [], "codes": []})
    entries_mode = serializers.ChoiceField(choices=EntriesMode.choices, default=EntriesMode.REPLACE.value)
    entries: Any = serializers.ListSerializer(
        child=EntryIn(), max_length=MOST_ENTRIES, required=False, allow_null=True, default=None
    )

    class Meta:
        example: ClassVar = {
            "name": "Hospitals 2026",
            "currency": "EUR",
            "status": "active",
            "priority": 10,
            "assignment": AssignmentIn.Meta.example,
            "entries": [EntryIn.Meta.example],
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Hold members to one another."""
        check_period(attrs)
        if attrs["entries_mode"] == EntriesMode.REPLACE:
            for number, entry in enumerate(attrs["entries"] or ()):
                if entry["remove"]:
                    raise refusal(f"entries.{number}.remove", "Belongs to the mode merge.", "invalid")
        return attrs


def _list(child: serializers.Field[Any, Any, Any, Any], most: int, **more: Any) -> serializers.ListField:
    return serializers.ListField(child=child, max_length=most, required=False, default=list, **more)


class ConditionsIn(StrictSerializer):
    """When a rule or a promotion applies: all that is given must hold, and of a list one member; an empty list asks nothing."""

    product_ids = _list(serializers.UUIDField(), MOST_NAMED)
    categories = _list(
        serializers.CharField(max_length=64), 100, help_text="Codes; what stands below a category belongs to it."
    )
    buyer_ids = _list(serializers.UUIDField(), MOST_NAMED, help_text="These buyers, or those of one of the `groups`.")
    groups = _list(serializers.CharField(max_length=64), 100, help_text="Codes of `buyer_groups` of the profile.")
    countries = _list(CountryField(), 300, help_text="Countries of delivery.")
    min_quantity = serializers.IntegerField(
        min_value=1,
        max_value=QUANTITY_MAX,
        required=False,
        allow_null=True,
        default=None,
        help_text="Packs of the line.",
    )
    min_amount = DecimalField(
        max_digits=19,
        decimal_places=4,
        min_value=Decimal(0),
        required=False,
        allow_null=True,
        default=None,
        help_text="The line's net before rules, in the one currency of `currencies`.",
    )
    currencies = _list(CurrencyField(), 50)

    class Meta:
        example: ClassVar = {"categories": ["gloves"], "min_quantity": 10, "currencies": ["EUR"]}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require that an amount has one currency, and no more decimals than it."""
        least, currencies = attrs["min_amount"], set(attrs["currencies"])
        if least is not None and len(currencies) != 1:
            raise refusal("currencies", "An amount needs exactly one currency.", "required")
        if least is not None:
            places = minor_units(*currencies)
            if least != round(least, places):
                raise refusal("min_amount", f"The currency has {places} decimals.", "max_decimal_places")
            attrs = {**attrs, "min_amount": least.quantize(Decimal(1).scaleb(-places))}
        return attrs


class ActionIn(StrictSerializer):
    """What a rule or a promotion does to a unit price; `value` is a percentage of `percent` and `markup`, else for `price_base_quantity` packs."""

    type = serializers.ChoiceField(choices=ActionType.choices)
    value = DecimalField(max_digits=19, decimal_places=6, min_value=Decimal(0))

    class Meta:
        example: ClassVar = {"type": "percent", "value": "5"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Hold a percentage to its range."""
        most = {ActionType.PERCENT: 100, ActionType.MARKUP: 1_000}.get(attrs["type"])
        if most is not None and attrs["value"] > most:
            raise refusal("value", f"Is at most {most} percent.", "max_value")
        return attrs


class AdjustmentIn(StrictSerializer):
    """What pricing rules and promotions have in common; members that are left out take their defaults."""

    name = serializers.CharField(max_length=255)
    status = serializers.ChoiceField(choices=TermStatus.choices, default=TermStatus.DRAFT.value)
    priority = serializers.IntegerField(
        min_value=0, max_value=MOST_PRIORITY, default=0, help_text="The higher goes first; then by code."
    )
    conditions = ConditionsIn()
    action = ActionIn()
    floor_price = DecimalField(
        max_digits=19,
        decimal_places=6,
        min_value=Decimal(0),
        required=False,
        allow_null=True,
        default=None,
        help_text="The unit price that neither this nor a promotion after it goes below.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require the currency of what is an amount."""
        is_amount = attrs["action"]["type"] in OF_ONE_CURRENCY or attrs["floor_price"] is not None
        if is_amount:
            only_currency(attrs)
        return attrs


def only_currency(attrs: Mapping[str, Any]) -> str:
    """Return the one currency of the conditions.

    :raises ValidationError: they name none, or several.
    """
    currencies = set(attrs["conditions"]["currencies"])
    if len(currencies) != 1:
        raise refusal("conditions.currencies", "An amount needs exactly one currency.", "required")
    return str(*currencies)


class PricingRuleIn(AdjustmentIn):
    """A pricing rule; members that are left out take their defaults."""

    valid_from = DateField(required=False, allow_null=True, default=None)
    valid_to = DateField(required=False, allow_null=True, default=None)
    exclusive = serializers.BooleanField(default=False, help_text="No rule after it applies.")
    applies_to_offers = serializers.BooleanField(default=False, help_text="To prices of offers, too.")

    class Meta:
        example: ClassVar = {
            "name": "Five percent on gloves",
            "status": "active",
            "priority": 10,
            "conditions": ConditionsIn.Meta.example,
            "action": ActionIn.Meta.example,
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Hold members to one another."""
        check_period(attrs)
        return super().validate(attrs)
