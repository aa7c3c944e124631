"""Relationships as their buyer reads them."""

from typing import Any

from rest_framework import serializers

from api.representations import Computed, Document, OpenChoice, Representation
from core.conditions import TENANT
from suppliers.company.serializers import PaymentTermsIn

from .models import Relationship
from .queries import ALIASES, BLOCKED, SUBSTITUTES
from .serializers import ApprovedSubstituteIn, ItemAliasIn, RelationshipIn, SpendLimitIn
from .states import Block, RelationshipStatus


def _listed(items: str) -> str:
    return items.format(buyer=TENANT, supplier="t.supplier_id")


class RelationshipOut(Representation):
    """How the tenant stands to a supplier; `supplier_id` is that of the supplier."""

    blocks = Computed("to_jsonb(t.blocks)", serializers.ListField(child=OpenChoice(choices=Block.choices)))
    payment_terms = Document(PaymentTermsIn())
    spend_limit = Document(SpendLimitIn())
    approved_categories = Computed(
        "to_jsonb(t.approved_categories)",
        serializers.ListField(child=serializers.CharField(), help_text="Empty: every category is approved."),
    )
    blocked_products = Computed(_listed(BLOCKED), serializers.ListField(child=serializers.UUIDField()))
    approved_substitutes = Computed(_listed(SUBSTITUTES), ApprovedSubstituteIn(many=True))
    item_aliases = Computed(_listed(ALIASES), ItemAliasIn(many=True))

    class Meta:
        model = Relationship
        key = "supplier_id"
        fields = (
            "supplier_id", "status", "blocks", "customer_number", "payment_terms", "spend_limit", "approved_categories",
            "blocked_products", "approved_substitutes", "item_aliases", "created_at", "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("customer_number",)
        example: Any = {**RelationshipIn.Meta.example, "blocks": []}


class OwnRelationshipOut(serializers.Serializer[Any]):
    """The tenant's relationship to a supplier in a list; none yet reads as active."""

    status = OpenChoice(choices=RelationshipStatus.choices)
    blocks = serializers.ListField(child=OpenChoice(choices=Block.choices))
    customer_number = serializers.CharField(allow_null=True)
    version = serializers.IntegerField()
