"""Bodies of price agreements. Source: contract, supply-price.md 5."""

from decimal import Decimal
from itertools import pairwise
from typing import Any, ClassVar, Final

from rest_framework import serializers

from api.serializers import DateField, DecimalField, StrictSerializer, refusal
from suppliers.catalog.fields import QUANTITY_MAX
from suppliers.catalog.states import DAYS_MAX
from suppliers.company.fields import CurrencyField, WholeEntry, text
from suppliers.company.serializers import MoneyIn, PaymentTermsIn
from suppliers.files.serializers import FileIdsField

from .states import AgreementScope, AgreementStatus, LinesMode
from .terms import MOST_LINES, MOST_PRIORITY

BODY_BYTES: Final = 5 * 1_048_576
BASE_MAX: Final = 1_000_000_000_000
_ID: Final = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
_PACKAGING: Final = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e70"


def _number(least: int, most: int, **more: Any) -> serializers.IntegerField:
    """Return a number that may be left out."""
    return serializers.IntegerField(
        min_value=least, max_value=most, required=False, allow_null=True, default=None, **more
    )


class AgreementTierIn(WholeEntry):
    """What holds from so many packs up: a unit price, or a percentage off the product's list price."""

    min_quantity = serializers.IntegerField(min_value=1, max_value=QUANTITY_MAX)
    unit_price = DecimalField(
        max_digits=19, decimal_places=6, min_value=Decimal(0), required=False, allow_null=True, default=None
    )
    discount_percent = DecimalField(
        max_digits=7, decimal_places=4, min_value=Decimal(0), max_value=Decimal(100), required=False, allow_null=True,
        default=None,
    )  # fmt: skip

    class Meta:
        example: ClassVar = {"min_quantity": 1, "unit_price": "4.10"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require one of both."""
        if (attrs["unit_price"] is None) == (attrs["discount_percent"] is None):
            raise refusal("unit_price", "Give either unit_price or discount_percent.", "required")
        return attrs


class AgreementLineIn(WholeEntry):
    """What is agreed on a product, or on the products of a category: then percentages alone, off list prices."""

    product_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    category = serializers.CharField(
        max_length=64, required=False, allow_null=True, default=None, help_text="Its code, in place of `product_id`."
    )
    packaging_id = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="Needed for a unit price; null: every packaging."
    )
    price_base_quantity = serializers.IntegerField(min_value=1, max_value=1_000_000, default=1)
    tiers: Any = serializers.ListSerializer(child=AgreementTierIn(), max_length=20, required=False, default=list)
    max_quantity = _number(
        1, BASE_MAX, help_text="What may be ordered at this price in all, in base units; null: any quantity."
    )
    min_remaining_shelf_life_days = _number(0, DAYS_MAX)
    lead_time_days = _number(0, 3_650)
    remove = serializers.BooleanField(
        default=False, help_text="With the mode `merge`: take the line out. One that is not there is no error."
    )

    class Meta:
        example: ClassVar = {
            "product_id": _ID,
            "packaging_id": _PACKAGING,
            "tiers": [{"min_quantity": 1, "unit_price": "4.10"}, {"min_quantity": 50, "unit_price": "3.95"}],
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Hold members to one another."""
        if (attrs["product_id"] is None) == (attrs["category"] is None):
            raise refusal("product_id", "Give either product_id or category.", "required")
        if attrs["category"] is not None and attrs["packaging_id"] is not None:
            raise refusal("packaging_id", "Belongs to a product.", "invalid")
        if bool(attrs["tiers"]) == attrs["remove"]:
            raise refusal("tiers", "A line needs tiers, one to be taken out has none.", "required")
        if any(one["min_quantity"] >= two["min_quantity"] for one, two in pairwise(attrs["tiers"])):
            raise refusal("tiers", "min_quantity must rise from tier to tier.", "invalid")
        if attrs["packaging_id"] is None and any(tier["unit_price"] is not None for tier in attrs["tiers"]):
            if attrs["category"] is not None:
                raise refusal("tiers", "A category takes discount_percent alone.", "invalid")
            raise refusal("packaging_id", "A unit price needs its packaging.", "required")
        return attrs


class _TermsIn(StrictSerializer):
    """What both parties negotiate."""

    title = serializers.CharField(max_length=255)
    scope = serializers.ChoiceField(
        choices=AgreementScope.choices,
        help_text="`organization`: every tenant of the buyer's organization and of those below it.",
    )
    group = text(64)
    currency = CurrencyField()
    valid_from = DateField()
    valid_to = DateField(help_text="The first day on which it does not hold any more.")
    priority = serializers.IntegerField(
        min_value=0, max_value=MOST_PRIORITY, default=0, help_text="Of two agreements that fit, the higher goes first."
    )
    payment_terms = PaymentTermsIn(required=False, allow_null=True, default=None)
    min_order_value = MoneyIn(required=False, allow_null=True, default=None)
    free_freight_from = MoneyIn(required=False, allow_null=True, default=None)
    qty_tolerance_bp = _number(0, 10_000, help_text="Basis points.")
    price_tolerance_bp = _number(0, 10_000, help_text="Basis points.")
    cancellation_policy = text(2_000)
    file_ids = FileIdsField(
        help_text="Own files that are ready and not private, which the other party reads once the version is proposed, and"
        " files that the version before has. What is left out stays as it is."
    )


_EXAMPLE: Final = {
    "title": "Gloves 2026",
    "scope": "tenant",
    "currency": "EUR",
    "valid_from": "2026-01-01",
    "valid_to": "2027-01-01",
    "lines": [AgreementLineIn.Meta.example],
}


class PriceAgreementIn(_TermsIn):
    """A draft of an agreement; of `supplier_id` and `buyer_id` the other party's is needed."""

    supplier_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    buyer_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    lines: Any = serializers.ListSerializer(child=AgreementLineIn(), allow_empty=False, max_length=MOST_LINES)

    class Meta:
        example: ClassVar = {"supplier_id": "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e71", **_EXAMPLE}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse lines to be taken out, where there are none yet."""
        refuse_removed(attrs["lines"])
        return attrs


class PriceAgreementChangeIn(_TermsIn):
    """Changes of a draft; of an accepted agreement they begin a draft of the next version."""

    status = serializers.ChoiceField(
        choices=[AgreementStatus.ACTIVE.value, AgreementStatus.SUSPENDED.value],
        required=False,
        help_text="Of the accepted version; sent by itself, with a `reason` at most.",
    )
    reason = text(500)
    lines_mode = serializers.ChoiceField(choices=LinesMode.choices, default=LinesMode.REPLACE.value)
    lines: Any = serializers.ListSerializer(
        child=AgreementLineIn(), max_length=MOST_LINES, help_text="What is left out stays as it is."
    )

    class Meta:
        example: ClassVar = {"title": "Gloves 2026", "lines_mode": "merge", "lines": [AgreementLineIn.Meta.example]}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse lines to be taken out with the mode `replace`, and a status beside other changes."""
        check_status_alone(attrs)
        if attrs.get("lines_mode", LinesMode.REPLACE) == LinesMode.REPLACE:
            refuse_removed(attrs.get("lines", []))
        return attrs


def refuse_removed(lines: list[dict[str, Any]]) -> None:
    """Refuse lines that are to be taken out.

    :raises ValidationError: names the first one.
    """
    for number, line in enumerate(lines):
        if line["remove"]:
            raise refusal(f"lines.{number}.remove", "Belongs to the mode merge.", "invalid")


def check_status_alone(attrs: dict[str, Any]) -> None:
    """Require that a status comes by itself, and a reason with the status that it explains.

    :raises ValidationError: at `status` or `reason`.
    """
    status = attrs.get("status")
    if status is not None and attrs.keys() - {"status", "reason"}:
        raise refusal("status", "Is sent by itself; the terms are changed by a draft.", "invalid")
    if attrs.get("reason") and status != AgreementStatus.SUSPENDED:
        raise refusal("reason", "Belongs to the status suspended.", "invalid")


class TerminateIn(StrictSerializer):
    """A notice; the other party reads the reason."""

    notice_date = DateField(
        help_text="The first day on which the agreement does not hold any more; at least today, the date at the supplier."
    )
    reason = serializers.CharField(max_length=500)

    class Meta:
        example: ClassVar = {"notice_date": "2026-09-30", "reason": "Another supplier was chosen."}


class DeclineIn(StrictSerializer):
    """Why a proposal is declined; the other party reads it."""

    reason = text(500)

    class Meta:
        example: ClassVar = {"reason": "Above last year's price."}
