"""Recalls as the supplier reads them with a lot, and as a buyer reads the notice."""

from typing import Any

from rest_framework import serializers

from api.representation_sql import INSTANT
from api.representations import Computed, OpenChoice, Representation
from core.conditions import TENANT
from suppliers.inventory.states import NoticeStatus, RecallClass

from .models import RecallNotice

_NOTICES = f"FROM suppliers_recallnotice n WHERE n.tenant_id = {TENANT} AND n.recall_id = r.id"
_PROGRESS = (
    "json_build_object('buyers_total', coalesce(r.buyers_to_list, count(*)), 'buyers_told', count(n.told_at), 'buyers_answered', count(n.answered_at),"
    " 'buyers_closed', count(*) FILTER (WHERE n.status = 'closed'),"
    " 'quantity_found', coalesce(sum(n.quantity_found), 0)::bigint,"
    " 'quantity_disposed', coalesce(sum(n.quantity_disposed), 0)::bigint)"
)
_SAID = (
    "'class', r.recall_class, 'reference', NULLIF(r.reference, ''), 'authority', NULLIF(r.authority, ''),"
    f" 'instructions', NULLIF(r.instructions, ''), 'issued_at', {INSTANT.format('r.issued_at')}"
)
_OF_LOT = f"FROM suppliers_recall r WHERE r.tenant_id = {TENANT} AND r.lot_id = t.id AND r.withdrawn_at IS NULL"
_OF_NOTICE = f"FROM suppliers_recall r WHERE r.tenant_id = {TENANT} AND r.id = t.recall_id"

RECALL_OF_LOT = f"SELECT json_build_object({_SAID}, 'progress', (SELECT {_PROGRESS} {_NOTICES})) {_OF_LOT}"
RECALL_TAG = f"(SELECT left(md5((SELECT {_PROGRESS} {_NOTICES})::text), 12) {_OF_LOT})"


class RecallProgressOut(serializers.Serializer[None]):
    """How far a recall is: buyers concerned, told, answering and finished; base units that they found and disposed of."""

    buyers_total = serializers.IntegerField()
    buyers_told = serializers.IntegerField()
    buyers_answered = serializers.IntegerField()
    buyers_closed = serializers.IntegerField()
    quantity_found = serializers.IntegerField()
    quantity_disposed = serializers.IntegerField()


class RecallSaidOut(serializers.Serializer[None]):
    """What the supplier says of a recall; class I is the gravest."""

    reference = serializers.CharField(allow_null=True)
    authority = serializers.CharField(allow_null=True)
    instructions = serializers.CharField(allow_null=True)
    issued_at = serializers.DateTimeField()

    def get_fields(self) -> dict[str, Any]:
        """Add `class`, which is a word of Python, in front."""
        return {"class": OpenChoice(choices=RecallClass.values), **super().get_fields()}


class RecallOut(RecallSaidOut):
    """The recall of a lot, and how far it is."""

    progress = RecallProgressOut()


class RecallResponseOut(Representation):
    """What the buyer has answered, in base units."""

    closed = Computed("t.status = 'closed'", serializers.BooleanField(help_text="Whether the buyer has finished."))

    class Meta:
        model = RecallNotice
        version = None
        fields = ("quantity_found", "quantity_disposed", "closed", "note", "answered_at")
        blank_as_null = ("note",)


class RecallForBuyerOut(Representation):
    """The notice of a recall as its buyer reads it; quantities are in base units."""

    supplier_id = Computed("t.tenant_id", serializers.UUIDField())
    status = OpenChoice(choices=NoticeStatus.values)
    product_id = Computed(f"SELECT r.product_id {_OF_NOTICE}", serializers.UUIDField())
    lot_id = Computed(f"SELECT r.lot_id {_OF_NOTICE}", serializers.UUIDField(help_text="The supplier's lot."))
    lot_number = Computed(f"SELECT r.lot_number {_OF_NOTICE}", serializers.CharField())
    expiry_date = Computed(f"SELECT r.expiry_date {_OF_NOTICE}", serializers.DateField(allow_null=True))
    recall = Computed(f"SELECT json_build_object({_SAID}) {_OF_NOTICE}", RecallSaidOut())
    recall_response = RecallResponseOut(source="*")

    class Meta:
        model = RecallNotice
        name = "recall notice"
        fields = (
            "id", "supplier_id", "recall_id", "status", "product_id", "lot_id", "lot_number", "expiry_date", "recall",
            "reserved", "received", "recall_response", "told_at", "withdrawn_at", "created_at", "updated_at", "version",
        )  # fmt: skip
