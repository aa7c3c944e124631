"""Terms as their supplier reads them."""

from typing import ClassVar, Final

from rest_framework import serializers

from api.representations import Computed, Document, OpenChoice, Representation
from core.conditions import TENANT
from suppliers.pricing.serializers import TierIn

from .models import PriceList, PricingRule
from .serializers import AssignmentIn, ConditionsIn
from .states import ActionType

FIRST_PAGE: Final = 20


def _chosen(name: str) -> str:
    return f"SELECT a.{name} FROM suppliers_audience a WHERE a.tenant_id = {TENANT} AND a.id = t.audience_id"


_ASSIGNMENT = (
    "json_build_object('scope', t.scope, 'ids', coalesce("
    f"CASE t.scope WHEN 'tenants' THEN ({_chosen('tenant_ids')}) WHEN 'organizations' THEN ({_chosen('organization_ids')}) END,"
    " '[]'::jsonb), 'codes',"
    f" coalesce(CASE WHEN t.scope = 'groups' THEN ({_chosen('group_codes')}) END, '[]'::jsonb))"
)


def entries_sql(limit: str, skipped: str, page: str) -> str:
    """Write the SQL of a page of the entries of a list `t`, by packaging, which is an index; the arguments are SQL."""
    return (
        "SELECT json_build_object('items', coalesce((SELECT json_agg(row_to_json(r)) FROM (SELECT e.product_id,"
        " p.supplier_sku, e.packaging_id, e.price_base_quantity, e.tiers FROM (SELECT * FROM suppliers_pricelistentry"
        f" WHERE tenant_id = {TENANT} AND price_list_id = t.id ORDER BY packaging_id LIMIT {limit} OFFSET {skipped}) e"
        f" CROSS JOIN LATERAL (SELECT supplier_sku FROM suppliers_product WHERE tenant_id = {TENANT} AND id = e.product_id"
        " OFFSET 0) p ORDER BY e.packaging_id) r), '[]'::json),"
        f" 'page', {page}, 'limit', {limit}, 'total', t.entry_count)"
    )


class EntryOut(serializers.Serializer[None]):
    """The unit prices of one packaging."""

    product_id = serializers.UUIDField()
    supplier_sku = serializers.CharField()
    packaging_id = serializers.UUIDField()
    price_base_quantity = serializers.IntegerField()
    tiers = Document(TierIn(many=True))


class EntriesOut(serializers.Serializer[None]):
    """A page of entries, in the order of the ids of their packagings."""

    items = EntryOut(many=True)
    page = serializers.IntegerField()
    limit = serializers.IntegerField()
    total = serializers.IntegerField()


class PriceListOut(Representation):
    """A price list without its entries."""

    assignment = Computed(_ASSIGNMENT, AssignmentIn())

    class Meta:
        model = PriceList
        fields: ClassVar[tuple[str, ...]] = (
            "id", "code", "name", "currency", "status", "valid_from", "valid_to", "priority", "assignment", "entry_count",
            "created_at", "updated_at", "version",
        )  # fmt: skip
        example = {"code": "hospitals-2026", "name": "Hospitals 2026", "currency": "EUR"}


class PriceListWithEntriesOut(PriceListOut):
    """A price list with a page of its entries."""

    entries = Computed(entries_sql(str(FIRST_PAGE), "0", "1"), EntriesOut())

    class Meta(PriceListOut.Meta):
        fields: ClassVar[tuple[str, ...]] = (*PriceListOut.Meta.fields[:10], "entries", *PriceListOut.Meta.fields[10:])
        key = "code"
        name = "price list"


_FLOOR = "(CASE WHEN scale(trim_scale(t.floor_price)) < 2 THEN round(t.floor_price, 2) ELSE trim_scale(t.floor_price) END)::text"
_ACTION = "json_build_object('type', t.action_type, 'value', trim_scale(t.action_value)::text)"


class ActionOut(serializers.Serializer[None]):
    """What a rule or a promotion does to a unit price, with as many decimals as needed."""

    type = OpenChoice(choices=ActionType.choices)
    value = serializers.CharField()


class AdjustmentOut(serializers.Serializer[None]):
    """The members that pricing rules and promotions show in the same form."""

    conditions = Document(ConditionsIn())
    action = Computed(_ACTION, ActionOut())
    floor_price = Computed(_FLOOR, serializers.CharField(allow_null=True))


class PricingRuleOut(AdjustmentOut, Representation):
    """What the supplier takes off or puts on list prices under some conditions."""

    class Meta:
        model = PricingRule
        fields = (
            "id", "code", "name", "status", "priority", "valid_from", "valid_to", "conditions", "action", "floor_price",
            "exclusive", "applies_to_offers", "created_at", "updated_at", "version",
        )  # fmt: skip
        example: ClassVar = {"code": "spring-gloves", "name": "Five percent on gloves", "floor_price": "3.90"}
