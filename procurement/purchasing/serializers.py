"""Bodies of purchase orders. Source: contract, supply-order.md 2."""

from decimal import Decimal
from typing import Any, ClassVar, Final

from rest_framework import serializers

from api.serializers import CurrencyField, DateField, DecimalField, StrictSerializer, refusal
from suppliers.public import (
    DAYS_MAX,
    MOST_LINES,
    QUANTITY_MAX,
    Backorders,
    FileIdsField,
    GtinField,
    PaymentTermsIn,
    Priority,
    Substitution,
    Unit,
    UnitField,
    WholeEntry,
)

_ID: Final = "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e6f"
MOST_RESERVATIONS: Final = 500
# Incoterms 2020 of the International Chamber of Commerce.
INCOTERMS: Final = ("EXW", "FCA", "CPT", "CIP", "DAP", "DPU", "DDP", "FAS", "FOB", "CFR", "CIF")
_NAMES: Final = ("product_id", "own_code", "gtin", "description")


def _text(length: int, **more: Any) -> serializers.CharField:
    return serializers.CharField(
        max_length=length, required=False, allow_null=True, allow_blank=True, default="", **more
    )


def _optional(length: int, **more: Any) -> serializers.CharField:
    return serializers.CharField(max_length=length, required=False, allow_null=True, allow_blank=True, **more)


def _id(**more: Any) -> serializers.UUIDField:
    return serializers.UUIDField(required=False, allow_null=True, default=None, **more)


def _date(**more: Any) -> DateField:
    return DateField(required=False, allow_null=True, default=None, **more)


class PurchaseOrderLineIn(WholeEntry):
    """A quantity of a product, named by `product_id`, the buyer's `own_code`, or `gtin`.

    Of a managed supplier, goods in words: `description`, `unit_price`, and what else is known of them.
    """

    product_id = _id()
    own_code = _text(64, help_text="The buyer's own code, from its relationship to the supplier.")
    gtin = GtinField(
        required=False, allow_null=True, default=None, help_text="Of a packaging, which is then the line's."
    )
    description = _text(255, help_text="At a managed supplier only, like the next four members.")
    supplier_sku = _text(64)
    unit_price = DecimalField(
        max_digits=19, decimal_places=6, min_value=Decimal(0), required=False, allow_null=True, default=None
    )
    tax_rate = DecimalField(
        max_digits=7, decimal_places=4, min_value=Decimal(0), max_value=Decimal(100), required=False, allow_null=True,
        default=None, help_text="In percent.",
    )  # fmt: skip
    base_unit = UnitField(required=False, default="EA", help_text="UNECE Recommendation 20.")
    packaging_id = _id(help_text="By default the first one that is offered to the buyer.")
    offer_id = _id(help_text="By default the first offer of the product that the buyer sees.")
    quantity = serializers.IntegerField(min_value=1, max_value=QUANTITY_MAX)
    unit = serializers.ChoiceField(
        choices=Unit.choices, default=Unit.PACK.value, help_text="`pack`: packs of the packaging; `base`: base units."
    )
    requested_date = _date()

    class Meta:
        example: ClassVar = {"product_id": _ID, "quantity": 10}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require one name of the goods; GTIN and description may stand together, as both describe goods in words."""
        given = [name for name in _NAMES if attrs[name]]
        if not given or (len(given) > 1 and given not in (["gtin", "description"], ["own_code", "description"])):
            raise refusal("product_id", "Give one of product_id, own_code, gtin; or a description.", "required")
        if attrs["description"] and attrs["unit_price"] is None:
            raise refusal("unit_price", "Goods in words need a price.", "required")
        if not attrs["description"]:
            for name in ("supplier_sku", "unit_price", "tax_rate"):
                if attrs[name] not in (None, ""):
                    raise refusal(name, "Belongs to a line with a description.", "invalid")
        return attrs


class BudgetChoiceIn(WholeEntry):
    """The budget that pays for an order."""

    code = serializers.CharField(max_length=64)
    cost_center = _text(64)

    class Meta:
        example: ClassVar = {"code": "wards-2026", "cost_center": "4711"}


class _HeaderIn(StrictSerializer):
    """What an order says beside its lines."""

    currency = CurrencyField(required=False)
    delivery_location_id = serializers.UUIDField(required=False, help_text="A location of the buyer.")
    requested_delivery_date = DateField(required=False, allow_null=True)
    price_agreement_id = serializers.UUIDField(
        required=False, allow_null=True, help_text="An agreement that goes before all other prices."
    )
    payment_terms = PaymentTermsIn(required=False, allow_null=True)
    incoterm = serializers.ChoiceField(choices=INCOTERMS, required=False, allow_null=True, allow_blank=True)
    priority = serializers.ChoiceField(choices=Priority.choices, required=False)
    substitution_policy = serializers.ChoiceField(choices=Substitution.choices, required=False)
    backorder_policy = serializers.ChoiceField(choices=Backorders.choices, required=False)
    min_remaining_shelf_life_days = serializers.IntegerField(
        min_value=0, max_value=DAYS_MAX, required=False, allow_null=True
    )
    notes_to_supplier = _optional(5_000)
    internal_note = _optional(5_000, help_text="The supplier never reads it.")
    budget = BudgetChoiceIn(
        required=False, allow_null=True, help_text="The supplier never reads it. Committed at submit."
    )
    external_reference = _optional(120)
    reservation_ids = serializers.ListField(
        child=serializers.UUIDField(),
        max_length=MOST_RESERVATIONS,
        required=False,
        help_text="Reservations of the buyer with the supplier, which become part of the order when it is sent.",
    )
    file_ids = FileIdsField(
        help_text="Own files that are ready and not private, which the supplier reads once the order is sent."
    )
    lines: Any = serializers.ListSerializer(
        child=PurchaseOrderLineIn(), min_length=1, max_length=MOST_LINES, required=False
    )


class PurchaseOrderIn(_HeaderIn):
    """A new order. `supplier_id`, `currency`, `delivery_location_id` and `lines` are required, or those of `copy_of` are taken."""

    supplier_id = serializers.UUIDField(required=False)
    copy_of = _id(help_text="An own order whose lines, supplier, places and terms are taken, at today's prices.")

    class Meta:
        example: ClassVar = {
            "supplier_id": "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e70",
            "currency": "EUR",
            "delivery_location_id": "0190a5d2-7c1e-7b3a-9f00-1a2b3c4d5e71",
            "lines": [PurchaseOrderLineIn.Meta.example],
        }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require what a copy would give."""
        if attrs["copy_of"] is None:
            for name in ("supplier_id", "currency", "delivery_location_id", "lines"):
                if name not in attrs:
                    raise refusal(name, "This field is required.", "required")
        return attrs


class PurchaseOrderChangeIn(_HeaderIn):
    """Changes of a draft; with `lines` all its lines are replaced. It is priced anew in any case."""

    class Meta:
        example: ClassVar = {"requested_delivery_date": "2026-12-01"}


class SubmitOrderIn(StrictSerializer):
    """How a draft is submitted."""

    accept_price_changes = serializers.BooleanField(
        default=False, help_text="Submit at the prices of now, whatever the draft says."
    )

    class Meta:
        example: ClassVar = {"accept_price_changes": False}


class CancelOrderIn(StrictSerializer):
    """Why an order is cancelled, and whether only what is not shipped of it."""

    remainder = serializers.BooleanField(
        default=False, help_text="Cancel what is not shipped of an accepted order, and keep the rest."
    )
    reason = _text(500, help_text="The supplier reads it, if the order was sent.")

    class Meta:
        example: ClassVar = {"reason": "Ordered twice"}


class CloseOrderIn(StrictSerializer):
    """Why nothing more is to come of an order."""

    reason = _text(500, help_text="The supplier reads it.")

    class Meta:
        example: ClassVar = {"reason": "The rest is not needed any more"}


class ApproveOrderIn(StrictSerializer):
    """Which revision is approved."""

    revision = serializers.IntegerField(min_value=1, help_text="The revision that the approver has read.")
    note = _text(500, help_text="The supplier never reads it.")

    class Meta:
        example: ClassVar = {"revision": 1}


class RejectApprovalIn(StrictSerializer):
    """Which revision is refused, and why."""

    revision = serializers.IntegerField(min_value=1, help_text="The revision that the approver has read.")
    reason = serializers.CharField(max_length=500, help_text="The supplier never reads it.")

    class Meta:
        example: ClassVar = {"revision": 1, "reason": "We still have enough."}


_CHANGES = ("lines", "add_lines", "requested_delivery_date", "delivery_location_id", "notes_to_supplier")


class ChangedLineIn(WholeEntry):
    """A line as it should be; what is left out stays."""

    line_no = serializers.IntegerField(min_value=1, max_value=MOST_LINES)
    quantity = serializers.IntegerField(
        min_value=1, max_value=QUANTITY_MAX, required=False, help_text="In the unit of the line."
    )
    requested_date = DateField(required=False, allow_null=True)
    cancel_quantity = serializers.IntegerField(
        min_value=1, max_value=QUANTITY_MAX, required=False, help_text="Further ones that are not wanted, in that unit."
    )

    class Meta:
        example: ClassVar = {"line_no": 1, "quantity": 12}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a change."""
        if len(attrs) == 1:
            raise refusal("quantity", "Say what is to change.", "required")
        return attrs


class ProposeChangesIn(StrictSerializer):
    """A change of an order that was sent; what is left out stays."""

    revision = serializers.IntegerField(min_value=1, help_text="The revision that was read.")
    lines: Any = serializers.ListSerializer(child=ChangedLineIn(), max_length=MOST_LINES, required=False)
    add_lines: Any = serializers.ListSerializer(child=PurchaseOrderLineIn(), max_length=MOST_LINES, required=False)
    requested_delivery_date = DateField(required=False, allow_null=True)
    delivery_location_id = serializers.UUIDField(required=False, help_text="A location of the buyer.")
    notes_to_supplier = serializers.CharField(max_length=5_000, required=False, allow_null=True, allow_blank=True)
    reason = serializers.CharField(max_length=500, help_text="The supplier reads it.")

    class Meta:
        example: ClassVar = {"revision": 1, "lines": [{"line_no": 1, "quantity": 12}], "reason": "More patients"}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a change."""
        if not any(name in attrs and attrs[name] != [] for name in _CHANGES):
            raise refusal("lines", "Say what is to change.", "required")
        return attrs


class ConfirmChangesIn(StrictSerializer):
    """What becomes of a proposed change: the supplier's is accepted or declined, the own one is withdrawn."""

    revision = serializers.IntegerField(min_value=1, help_text="The revision that was read.")
    decision = serializers.ChoiceField(choices=("accept", "decline", "withdraw"))
    reason = serializers.CharField(max_length=500, required=False, allow_null=True, allow_blank=True, default="")

    class Meta:
        example: ClassVar = {"revision": 2, "decision": "accept"}
