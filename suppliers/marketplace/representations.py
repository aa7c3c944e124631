"""Offers as their supplier reads them."""

from rest_framework import serializers

from api.representations import Computed, Document, Representation
from core.conditions import TENANT
from suppliers.pricing.serializers import TierIn

from .models import Offer
from .publishing import CHECKS

_MEMBERS = (
    "SELECT coalesce(json_agg(m.member_tenant_id ORDER BY m.member_tenant_id), '[]') FROM suppliers_audiencemember m"
    f" WHERE m.tenant_id = {TENANT} AND m.audience_id = t.audience_id"
)
_EXCLUDED = (
    "SELECT coalesce(json_agg(x.member_tenant_id ORDER BY x.member_tenant_id), '[]') FROM suppliers_offerexclusion x"
    f" WHERE x.tenant_id = {TENANT} AND x.offer_id = t.id"
)
_CHECKS = ", ".join(f"json_build_object('name', '{name}', 'passed', ({sql}))" for name, sql in CHECKS.items())


class VisibilityOut(Representation):
    """Who may see the offer, and how they are told of its stock."""

    mode = serializers.CharField(source="visibility_mode")
    tenant_ids = Computed(_MEMBERS, serializers.ListField(child=serializers.UUIDField()))
    excluded_tenant_ids = Computed(_EXCLUDED, serializers.ListField(child=serializers.UUIDField()))

    class Meta:
        model = Offer
        fields = ("mode", "tenant_ids", "excluded_tenant_ids", "stock_display", "cap")


class PublishCheckOut(serializers.Serializer[None]):
    """One thing that an offer needs before it is published."""

    name = serializers.CharField()
    passed = serializers.BooleanField()


class OfferOut(Representation):
    """One packaging of a product as the supplier offers it."""

    product_id = serializers.UUIDField()
    packaging_id = serializers.UUIDField()
    tiers = Document(TierIn(many=True))
    countries = serializers.ListField(child=serializers.CharField())
    visibility = VisibilityOut(source="*")
    checks = Computed(f"SELECT json_build_array({_CHECKS})", PublishCheckOut(many=True))

    class Meta:
        model = Offer
        fields = (
            "id", "product_id", "packaging_id", "title", "status", "currency", "tiers", "price_base_quantity",
            "min_order_quantity", "max_order_quantity", "lead_time_days", "stock_policy", "fixed_quantity",
            "min_remaining_shelf_life_days", "countries", "valid_from", "valid_to", "visibility", "checks", "created_at",
            "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("title", "currency")
        unversioned = f"left(md5((SELECT json_build_array({_CHECKS}))::text), 12)"
