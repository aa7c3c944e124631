"""Returns as both parties read them."""

from typing import ClassVar

from rest_framework import serializers

from api.representation_sql import INSTANT
from api.representations import BlankAsNull, Computed, Document, OpenChoice, Representation
from suppliers.company.party_names import party_name_sql
from suppliers.orders.representations import PackagingSnapshotOut
from suppliers.orders.shapes import EMBEDDED, timeline_sql, timeline_total_sql
from suppliers.orders.states import Party
from suppliers.returns.models import Return
from suppliers.returns.representations import DispositionOut
from suppliers.returns.states import STORED, Condition, Disposition, Reason, Resolution, ReturnStatus, ReturnType

from .shapes import ROWS


class ReturnedLineOut(serializers.Serializer[None]):
    """Goods of one line of the delivery that go back, and what became of them; counters are in base units."""

    id = serializers.UUIDField()
    line_no = serializers.IntegerField()
    delivery_line_id = serializers.UUIDField()
    order_line_id = serializers.UUIDField()
    product_id = serializers.UUIDField(allow_null=True)
    name = serializers.CharField()
    supplier_sku = serializers.CharField(allow_null=True)
    gtin = serializers.CharField(allow_null=True)
    packaging = PackagingSnapshotOut(allow_null=True)
    unit = serializers.CharField()
    quantity = serializers.IntegerField(
        allow_null=True, help_text="In packs; null where it is no whole number of them."
    )
    base_quantity = serializers.IntegerField()
    base_unit = serializers.CharField()
    units_per_pack = serializers.IntegerField()
    lot_id = serializers.UUIDField(allow_null=True, help_text="The supplier's lot.")
    lot_number = serializers.CharField(allow_null=True)
    expiry_date = serializers.DateField(allow_null=True)
    serial_numbers = serializers.ListField(child=serializers.CharField())
    cold_chain = serializers.BooleanField()
    reason_code = OpenChoice(choices=Reason.choices)
    condition = OpenChoice(choices=Condition.choices)
    received = serializers.IntegerField(allow_null=True, help_text="What has come back to the supplier.")
    disposition = OpenChoice(
        choices=Disposition.values, allow_null=True, help_text="That of all goods; null before, and where they are divided."
    )  # fmt: skip
    dispositions = DispositionOut(many=True)
    file_ids = serializers.ListField(child=serializers.UUIDField())
    credited = serializers.IntegerField(help_text="Base units for which a credit note was issued.")
    credited_amount = serializers.CharField(allow_null=True, help_text="Net, in the return's currency.")


class ReturnTimelineEntryOut(serializers.Serializer[None]):
    """Something that has happened to the return; who did it is told of the reader's own side alone."""

    at = serializers.DateTimeField()
    by = OpenChoice(choices=[*Party.values, "system"])
    action = serializers.CharField()
    to = OpenChoice(choices=ReturnStatus.values)
    reason = serializers.CharField(allow_null=True)
    actor_id = serializers.UUIDField(allow_null=True)
    credential = serializers.CharField(allow_null=True)

    def get_fields(self) -> dict[str, serializers.Field[object, object, object, object]]:
        """Add `from`, which is a word of Python."""
        return {**super().get_fields(), "from": OpenChoice(choices=ReturnStatus.values, allow_null=True)}


def _instant(column: str) -> Computed:
    return Computed(INSTANT.format(f"t.{column}"), serializers.DateTimeField(allow_null=True))


def _named(column: str) -> Computed:
    return Computed(party_name_sql(column), serializers.CharField())


class ReturnAuthorizationOut(Representation):
    """What the supplier has decided; `decided_at` null: nothing yet."""

    instructions = BlankAsNull(allow_null=True)
    decline_reason = BlankAsNull(allow_null=True)

    class Meta:
        model = Return
        rows = ROWS
        fields: tuple[str, ...] = ("decided_at", "valid_until", "instructions", "decline_reason")


class ReturnOut(Representation):
    """A return without its lines."""

    return_number = serializers.CharField(source="number")
    purchase_order_id = serializers.UUIDField(source="order_id")
    delivery_id = Computed("t.delivery_id", serializers.UUIDField())
    type = OpenChoice(choices=ReturnType.choices)
    status = OpenChoice(choices=STORED)
    resolution = OpenChoice(choices=Resolution.choices)
    supplier_id = serializers.UUIDField(source="supplier_tenant_id")
    supplier_name = _named("supplier_tenant_id")
    buyer_id = Computed("t.buyer_tenant_id", serializers.UUIDField())
    buyer_name = _named("buyer_tenant_id")
    file_ids = Document(serializers.ListField(child=serializers.UUIDField()))
    requested_at = _instant("requested_at")
    authorization = ReturnAuthorizationOut(source="*")
    location_id = Computed(
        "t.location_id",
        serializers.UUIDField(allow_null=True, help_text="Where the goods were set apart. The supplier's alone."),
    )

    class Meta:
        model = Return
        name = "return"
        rows = ROWS
        fields: tuple[str, ...] = (
            "id", "return_number", "purchase_order_id", "po_number", "order_number", "delivery_id", "delivery_number", "type",
            "status", "resolution", "supplier_id", "supplier_name", "buyer_id", "buyer_name", "currency", "note", "file_ids",
            "requested_at", "authorization", "carrier", "tracking_number", "shipped_at", "received_at", "completed_at",
            "cancelled_at", "location_id", "credit_note_id", "replacement_order_id", "lines_total", "created_at",
            "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("note", "carrier", "tracking_number")
        example: ClassVar = {
            "return_number": "RT-000004",
            "po_number": "PO-000017",
            "order_number": "SO-000042",
            "delivery_number": "DN-000023",
        }


class ReturnWithLinesOut(ReturnOut):
    """A return with its first lines, and what has happened to it."""

    lines = Computed("t.lines", ReturnedLineOut(many=True))
    lines_next = Computed(
        f"CASE WHEN t.lines_total > {EMBEDDED} THEN '/v1/procurement/returns/' || t.id || '?lines_page=2' END",
        serializers.CharField(allow_null=True, help_text="Where the next lines are read; null: there are no more."),
    )
    timeline = Computed(timeline_sql("t.id", revisions=False), ReturnTimelineEntryOut(many=True))
    timeline_total = Computed(timeline_total_sql("t.id"), serializers.IntegerField())

    class Meta(ReturnOut.Meta):
        fields: tuple[str, ...] = (*ReturnOut.Meta.fields, "lines", "lines_next", "timeline", "timeline_total")
