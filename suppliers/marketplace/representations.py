"""Offers as their supplier reads them."""

from django.db.models import Q
from rest_framework import serializers

from api.representations import Computed, Document, Instant, Representation
from core.conditions import TENANT
from suppliers.pricing.serializers import TierIn

from .models import Offer
from .publishing import CHECKS
from .serializers import ShortageLimitIn


def _chosen(name: str) -> str:
    """Write the SQL of one of the lists by which the audience was chosen."""
    return (
        f"SELECT coalesce((SELECT a.{name} FROM suppliers_audience a"
        f" WHERE a.tenant_id = {TENANT} AND a.id = t.audience_id), '[]'::jsonb)"
    )


_LIMIT = (
    "CASE WHEN t.limit_quantity IS NOT NULL THEN json_build_object('mode', 'limit', 'quantity', t.limit_quantity,"
    " 'period_days', t.limit_period_days, 'until', t.limit_until) END"
)
_EXCLUDED = (
    "SELECT coalesce(json_agg(x.member_tenant_id ORDER BY x.member_tenant_id), '[]') FROM suppliers_offerexclusion x"
    f" WHERE x.tenant_id = {TENANT} AND x.offer_id = t.id"
)
_PRICE = "CASE WHEN jsonb_array_length(t.tiers) = 1 AND t.tiers -> 0 ->> 'min_quantity' = '1' THEN t.tiers -> 0 ->> 'unit_price' END"
_CHECKS = ", ".join(f"json_build_object('name', '{name}', 'passed', ({sql}))" for name, sql in CHECKS.items())


class VisibilityOut(Representation):
    """Who may see the offer, and how they are told of its stock."""

    mode = serializers.CharField(source="visibility_mode")
    tenant_ids = Computed(_chosen("tenant_ids"), serializers.ListField(child=serializers.UUIDField()))
    organization_ids = Computed(_chosen("organization_ids"), serializers.ListField(child=serializers.UUIDField()))
    group_codes = Computed(_chosen("group_codes"), serializers.ListField(child=serializers.CharField()))
    excluded_tenant_ids = Computed(_EXCLUDED, serializers.ListField(child=serializers.UUIDField()))

    class Meta:
        model = Offer
        fields = (
            "mode", "tenant_ids", "organization_ids", "group_codes", "excluded_tenant_ids", "stock_display", "cap",
        )  # fmt: skip


class PublishCheckOut(serializers.Serializer[None]):
    """One thing that an offer needs before it is published."""

    name = serializers.CharField()
    passed = serializers.BooleanField()


class OfferHoldOut(Representation):
    """Since when and why the platform holds the offer off the market; the supplier cannot publish it meanwhile."""

    since = Instant(source="held_at")
    reason = serializers.CharField(source="hold_reason")

    class Meta:
        model = Offer
        version = None
        fields = ("since", "reason")


class OfferOut(Representation):
    """One packaging of a product as the supplier offers it."""

    product_id = serializers.UUIDField()
    packaging_id = serializers.UUIDField()
    price = Computed(
        _PRICE, serializers.CharField(allow_null=True, help_text="The unit price where it is one for all quantities.")
    )
    tiers = Document(TierIn(many=True))
    countries = serializers.ListField(child=serializers.CharField())
    allocation = Computed(_LIMIT, ShortageLimitIn(allow_null=True))
    visibility = VisibilityOut(source="*")
    hold = OfferHoldOut(when=Q(held_at__isnull=False))
    checks = Computed(f"SELECT json_build_array({_CHECKS})", PublishCheckOut(many=True))

    class Meta:
        model = Offer
        fields = (
            "id", "product_id", "packaging_id", "title", "status", "currency", "price", "tiers", "price_base_quantity",
            "min_order_quantity", "max_order_quantity", "lead_time_days", "stock_policy", "fixed_quantity",
            "min_remaining_shelf_life_days", "countries", "valid_from", "valid_to", "allocation", "visibility", "checks", "hold",
            "created_at", "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("title", "currency")
        unversioned = f"left(md5((SELECT json_build_array({_CHECKS}))::text), 12)"
