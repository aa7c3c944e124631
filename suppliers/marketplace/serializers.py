"""Bodies of offers."""

from decimal import Decimal
from typing import Any, ClassVar

from rest_framework import serializers

from api.serializers import DateField, DecimalField, StrictSerializer, refusal
from suppliers.catalog.fields import QUANTITY_MAX
from suppliers.catalog.states import DAYS_MAX
from suppliers.catalog.vocabularies import COUNTRIES
from suppliers.company.fields import CurrencyField
from suppliers.pricing.serializers import TierIn, check_period

from .states import OfferStatus, StockDisplay, StockPolicy, VisibilityMode

MOST_NAMED = 1_000
_ID = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
_WRITABLE_STATES = (OfferStatus.DRAFT, OfferStatus.PAUSED, OfferStatus.PUBLISHED, OfferStatus.ARCHIVED)


def _packs(**more: Any) -> serializers.IntegerField:
    options = {"min_value": 1, "max_value": QUANTITY_MAX, "required": False, "allow_null": True, "default": None}
    return serializers.IntegerField(**{**options, **more})


class ShortageLimitIn(StrictSerializer):
    """What each buyer may take of the offer while there is a shortage: so many packs in so many days, until a day."""

    mode = serializers.ChoiceField(choices=[("limit", "Limit")], default="limit")
    quantity = serializers.IntegerField(min_value=1, max_value=QUANTITY_MAX)
    period_days = serializers.IntegerField(min_value=1, max_value=90)
    until = DateField()

    class Meta:
        example: ClassVar = {"mode": "limit", "quantity": 20, "period_days": 30, "until": "2026-12-31"}


class OfferIn(StrictSerializer):
    """An offer as PUT replaces it; absent members take their defaults, without `status` the status stays."""

    product_id = serializers.UUIDField()
    packaging_id = serializers.UUIDField()
    title = serializers.CharField(max_length=255, required=False, allow_null=True, allow_blank=True, default="")
    currency = CurrencyField(required=False, allow_null=True, allow_blank=True, default="")
    price = DecimalField(
        max_digits=19, decimal_places=6, min_value=Decimal(0), required=False, allow_null=True, default=None,
        help_text="The unit price of any quantity, in place of `tiers`.",
    )  # fmt: skip
    tiers: Any = serializers.ListSerializer(child=TierIn(), max_length=20, required=False, default=list)
    price_base_quantity = serializers.IntegerField(min_value=1, max_value=1_000_000, default=1)
    min_order_quantity = _packs()
    max_order_quantity = _packs()
    lead_time_days = _packs(min_value=0, max_value=3_650)
    stock_policy = serializers.ChoiceField(choices=StockPolicy.choices, default=StockPolicy.LIVE.value)
    fixed_quantity = _packs(min_value=0)
    min_remaining_shelf_life_days = _packs(min_value=0, max_value=DAYS_MAX)
    countries = serializers.ListField(
        child=serializers.CharField(max_length=2), max_length=300, required=False, default=list
    )
    valid_from = DateField(required=False, allow_null=True, default=None)
    valid_to = DateField(required=False, allow_null=True, default=None)
    allocation = ShortageLimitIn(required=False, allow_null=True, default=None)
    status = serializers.ChoiceField(choices=[one.value for one in _WRITABLE_STATES], required=False)

    class Meta:
        example: ClassVar = {
            "product_id": _ID,
            "packaging_id": "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e70",
            "title": "Box of 100",
        }

    def validate_countries(self, value: list[str]) -> list[str]:
        """Require countries."""
        if any(one not in COUNTRIES for one in value):
            raise serializers.ValidationError("This is no country code of ISO 3166-1.", code="invalid_choice")
        return sorted(set(value))

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Hold members to one another."""
        least, most = attrs["min_order_quantity"], attrs["max_order_quantity"]
        if least and most and most < least:
            raise refusal("max_order_quantity", "Must not be below min_order_quantity.", "min_value")
        check_period(attrs)
        attrs["tiers"] = _tiers(attrs.pop("price"), attrs["tiers"])
        if attrs["tiers"] and not attrs["currency"]:
            raise refusal("currency", "A price needs its currency.", "required")
        steps = [tier["min_quantity"] for tier in attrs["tiers"]]
        if len(set(steps)) < len(steps):
            raise refusal("tiers", "Two tiers begin at the same quantity.", "duplicate")
        if (attrs["stock_policy"] == StockPolicy.FIXED) != (attrs["fixed_quantity"] is not None):
            raise refusal("fixed_quantity", "Belongs to the stock policy fixed, which needs it.", "invalid")
        return attrs


def _tiers(price: Decimal | None, tiers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tiers, which a plain price stands for; an offer that is sent as it was read has both."""
    if price is None:
        return tiers
    found = [{"min_quantity": 1, "unit_price": price}]
    if tiers and tiers != found:
        raise refusal("price", "Give either price or tiers.", "invalid")
    return found


class OfferCreateIn(OfferIn):
    """An offer as POST drafts it."""

    status = serializers.ChoiceField(choices=[OfferStatus.DRAFT.value], default=OfferStatus.DRAFT.value)


class VisibilityIn(StrictSerializer):
    """Who may see an offer, and how they are told of its stock."""

    mode = serializers.ChoiceField(choices=VisibilityMode.choices)
    tenant_ids = serializers.ListField(
        child=serializers.UUIDField(), max_length=MOST_NAMED, required=False, default=list
    )
    organization_ids = serializers.ListField(
        child=serializers.UUIDField(),
        max_length=100,
        required=False,
        default=list,
        help_text="Every tenant below one of them, also one that comes there later.",
    )
    group_codes = serializers.ListField(
        child=serializers.CharField(max_length=64),
        max_length=100,
        required=False,
        default=list,
        help_text="Codes of `buyer_groups` of the supplier's profile.",
    )
    excluded_tenant_ids = serializers.ListField(
        child=serializers.UUIDField(), max_length=MOST_NAMED, required=False, default=list
    )
    stock_display = serializers.ChoiceField(choices=StockDisplay.choices, default=StockDisplay.BAND.value)
    cap = _packs()

    class Meta:
        example: ClassVar = {"mode": "selected", "tenant_ids": [_ID], "stock_display": "band"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Hold members to one another."""
        named = [name for name in ("tenant_ids", "organization_ids", "group_codes") if attrs[name]]
        if (attrs["mode"] == VisibilityMode.SELECTED) != bool(named):
            raise refusal(
                named[0] if named else "tenant_ids", "The mode selected needs buyers, others take none.", "invalid"
            )
        if (attrs["stock_display"] == StockDisplay.CAPPED) != (attrs["cap"] is not None):
            raise refusal("cap", "Belongs to the display capped, which needs it.", "invalid")
        return attrs
