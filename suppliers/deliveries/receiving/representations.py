"""Receipts as their buyer reads them: with what the supplier never sees."""

from rest_framework import serializers

from api.representations import Document
from suppliers.deliveries.receipt_models import Receipt, ReceiptLine
from suppliers.deliveries.representations import ReceiptForSupplierOut, ReceiptLineForSupplierOut


class ReceiptLineOut(ReceiptLineForSupplierOut):
    """What became of one line of a delivery at a receipt, in base units; `is_quarantined`: its goods are set apart."""

    class Meta(ReceiptLineForSupplierOut.Meta):
        model = ReceiptLine
        fields = (*ReceiptLineForSupplierOut.Meta.fields, "is_quarantined")


class PutawayOut(serializers.Serializer[None]):
    """Where goods of a line were put."""

    delivery_line_id = serializers.UUIDField()
    location_id = serializers.UUIDField()
    base_quantity = serializers.IntegerField()


class ReceiptOut(ReceiptForSupplierOut):
    """What was received of a delivery at one time; never changed, but reversed by a further receipt."""

    lines = ReceiptLineOut(many=True, by="receipt", ordering=("line_no",))
    putaway = Document(PutawayOut(many=True))
    received_by = serializers.UUIDField(source="received_by_id", allow_null=True)

    class Meta(ReceiptForSupplierOut.Meta):
        model = Receipt
        name = "receipt"
        version = None
        fields = (
            *ReceiptForSupplierOut.Meta.fields, "location_id", "confirm_difference", "putaway", "received_by",
        )  # fmt: skip
