"""Returns as their suppliers read them; all of a return is shared, but what each side keeps in stock of it."""

from typing import Final

from rest_framework import serializers

from api.representations import BlankAsNull, Computed, Document, OpenChoice, Representation
from core.conditions import TENANT
from core.money import minor_units_sql
from suppliers.orders.representations import PackagingSnapshotOut

from .models import COUNTED, Return, ReturnLine
from .states import STORED, Condition, Disposition, Reason, Resolution, ReturnType

_SOLE: Final = " ".join(f"WHEN t.{name} = t.base_quantity THEN '{key}'" for key, name in COUNTED.items())
_EACH: Final = ", ".join(f"({place}, '{key}', t.{name})" for place, (key, name) in enumerate(COUNTED.items()))
DISPOSITION_SQL: Final = f"CASE {_SOLE} END"
DISPOSITIONS_SQL: Final = (
    "SELECT coalesce(json_agg(json_build_object('disposition', d.disposition, 'base_quantity', d.base_quantity)"
    f" ORDER BY d.place), '[]') FROM (VALUES {_EACH}) AS d(place, disposition, base_quantity) WHERE d.base_quantity > 0"
)

_PLACES: Final = minor_units_sql("v.currency")


class DispositionOut(serializers.Serializer[None]):
    """What became of so many base units."""

    disposition = OpenChoice(choices=Disposition.values)
    base_quantity = serializers.IntegerField()


class ReturnLineOut(Representation):
    """Goods of one line of the delivery that go back, in base units, and what became of them."""

    supplier_sku = BlankAsNull(allow_null=True)
    gtin = BlankAsNull(allow_null=True)
    packaging = Document(PackagingSnapshotOut(allow_null=True))
    lot_number = BlankAsNull(allow_null=True)
    quantity = Computed(
        "CASE WHEN t.base_quantity % t.units_per_pack = 0 THEN t.base_quantity / t.units_per_pack END",
        serializers.IntegerField(allow_null=True, help_text="In packs; null where it is no whole number of them."),
    )
    serial_numbers = Document(serializers.ListField(child=serializers.CharField()))
    reason_code = OpenChoice(choices=Reason.choices)
    condition = OpenChoice(choices=Condition.choices)
    received = serializers.IntegerField(allow_null=True, help_text="What has come back to the supplier.")
    disposition = Computed(
        DISPOSITION_SQL,
        OpenChoice(
            choices=Disposition.values, allow_null=True, help_text="That of all goods of the line; null before, and where they are divided."
        ),
    )  # fmt: skip
    dispositions = Computed(DISPOSITIONS_SQL, DispositionOut(many=True))
    file_ids = Document(serializers.ListField(child=serializers.UUIDField()))
    credited_amount = Computed(
        f"SELECT round(t.credited_amount, {_PLACES})::text FROM suppliers_return v WHERE v.tenant_id = {TENANT}"
        " AND v.id = t.document_id",
        serializers.CharField(allow_null=True, help_text="Net, in the return's currency."),
    )

    class Meta:
        model = ReturnLine
        fields: tuple[str, ...] = (
            "id", "line_no", "delivery_line_id", "order_line_id", "product_id", "name", "supplier_sku", "gtin", "packaging",
            "unit", "quantity", "base_quantity", "base_unit", "units_per_pack", "lot_id", "lot_number", "expiry_date",
            "serial_numbers", "cold_chain", "reason_code", "condition", "received", "disposition", "dispositions", "file_ids",
            "credited", "credited_amount",
        )  # fmt: skip


class AuthorizationOut(Representation):
    """What the supplier has decided; null before."""

    instructions = BlankAsNull(allow_null=True)
    decline_reason = BlankAsNull(allow_null=True)

    class Meta:
        model = Return
        fields: tuple[str, ...] = ("decided_at", "valid_until", "instructions", "decline_reason")


class ReturnForSupplierOut(Representation):
    """A return as its supplier may see it."""

    return_number = serializers.CharField(source="number")
    purchase_order_id = serializers.UUIDField(source="order_id")
    type = OpenChoice(choices=ReturnType.choices)
    status = OpenChoice(choices=STORED)
    resolution = OpenChoice(choices=Resolution.choices)
    supplier_id = serializers.UUIDField(source="supplier_tenant_id")
    buyer_id = Computed("t.tenant_id", serializers.UUIDField())
    file_ids = Document(serializers.ListField(child=serializers.UUIDField()))
    authorization = AuthorizationOut(source="*")
    lines = ReturnLineOut(many=True, by="document", ordering=("line_no",))

    class Meta:
        model = Return
        fields: tuple[str, ...] = (
            "id", "return_number", "purchase_order_id", "po_number", "order_number", "delivery_id", "delivery_number", "type",
            "status", "resolution", "supplier_id", "buyer_id", "currency", "note", "file_ids", "requested_at",
            "authorization", "carrier", "tracking_number", "shipped_at", "received_at", "completed_at", "cancelled_at",
            "credit_note_id", "replacement_order_id", "lines_total", "lines",
        )  # fmt: skip
        blank_as_null = ("note", "carrier", "tracking_number")
