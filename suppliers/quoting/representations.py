"""What clients read of prices and quotes."""

from typing import Any

from rest_framework import serializers

from api.representations import OpenChoice
from suppliers.pricing.candidates import Source
from suppliers.pricing.resolution import REASONS, SOURCE_TYPES

from .lines import REFUSALS

SOURCES = tuple(one.text for one in Source)


class PriceStepOut(serializers.Serializer[None]):
    """One price that was looked at: taken, or the reason why not."""

    step = serializers.IntegerField()
    source_type = OpenChoice(choices=SOURCE_TYPES)
    source_id = serializers.UUIDField()
    source_version = serializers.IntegerField()
    source_name = serializers.CharField(allow_null=True, help_text="Of an agreement, a list, a rule or a promotion.")
    line_no = serializers.IntegerField(allow_null=True, help_text="Of the agreement's line.")
    matched = serializers.BooleanField()
    reason = OpenChoice(choices=REASONS, allow_null=True)
    unit_price = serializers.CharField(allow_null=True, help_text="Behind this step.")


class CorrectionsOut(serializers.Serializer[None]):
    """What to ask for instead, in the line's unit."""

    quantity = serializers.IntegerField()


class LineRefusalOut(serializers.Serializer[None]):
    """Why the line could not be ordered, its price aside."""

    code = OpenChoice(choices=REFUSALS)


class QuoteLineOut(serializers.Serializer[None]):
    """A line with its price, in the order of the request. `unit_price` is for `price_base_quantity` packs, without tax."""

    product_id = serializers.UUIDField()
    supplier_sku = serializers.CharField()
    supplier_id = serializers.UUIDField()
    packaging_id = serializers.UUIDField()
    offer_id = serializers.UUIDField(allow_null=True, help_text="null where the buyer sees no such offer.")
    quantity = serializers.IntegerField(
        allow_null=True, help_text="In packs; null where it is no whole number of them."
    )
    base_quantity = serializers.IntegerField()
    base_unit = serializers.CharField()
    unit_price = serializers.CharField()
    price_base_quantity = serializers.IntegerField()
    line_total = serializers.CharField(help_text="In the currency's minor units, rounded half up.")
    list_price = serializers.CharField(
        allow_null=True, help_text="The product's own list price for as many packs; null where there is none."
    )
    discount = serializers.CharField(
        allow_null=True, help_text="What the line costs less than by the list price; negative where it costs more."
    )
    source = OpenChoice(choices=SOURCES)  # type: ignore[assignment]  # a member
    source_id = serializers.UUIDField()
    trace = PriceStepOut(many=True)
    tax_category = serializers.CharField(allow_null=True)
    tax_rate = serializers.CharField(allow_null=True, help_text="In percent; null where the supplier has named none.")
    corrections = CorrectionsOut(
        allow_null=True, help_text="Where minimum, step or maximum of the offer ask for another quantity."
    )
    valid_until = serializers.DateTimeField(
        allow_null=True, help_text="The first moment at which the price may be another; null where none is known."
    )
    refusal = LineRefusalOut(allow_null=True)


class BuyerQuoteLineOut(QuoteLineOut):
    """A line with its price and the tenant's own code, in the order of the request."""

    own_code = serializers.CharField(allow_null=True)


class TaxOut(serializers.Serializer[None]):
    """The tax of one category and rate, rounded half up on the sum of its lines."""

    tax_category = serializers.CharField()
    tax_rate = serializers.CharField()
    net = serializers.CharField()
    tax = serializers.CharField()


class TotalsOut(serializers.Serializer[None]):
    """The totals of one supplier, of all its lines."""

    supplier_id = serializers.UUIDField()
    net = serializers.CharField()
    tax = serializers.CharField(allow_null=True, help_text="null where a line has no rate; `gross` is `net` then.")
    gross = serializers.CharField()
    taxes = TaxOut(many=True)


class QuoteOut(serializers.Serializer[None]):
    """The prices of some lines for one buyer."""

    currency = serializers.CharField()
    items: Any = QuoteLineOut(many=True)
    totals = TotalsOut(many=True)


class BuyerQuoteOut(QuoteOut):
    """The prices of a basket, in one currency, of all its suppliers."""

    items: Any = BuyerQuoteLineOut(many=True)
