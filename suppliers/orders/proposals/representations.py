"""A proposed change as both parties read it in their order: what is proposed beside what stands, and the totals as they would be.

A change of the buyer that is not approved yet is the buyer's alone. Source: contract, supply-order.md 2 "States".
"""

from typing import Final

from rest_framework import serializers

from api.representation_sql import INSTANT
from api.representations import Computed, OpenChoice
from core.conditions import TENANT
from core.money import minor_units_sql
from suppliers.orders.shapes import KEPT, UNIT_PRICE
from suppliers.orders.states import Party
from suppliers.quoting.representations import TaxOut

_PLACES: Final = minor_units_sql("t.currency")
_FOR_SUPPLIER: Final = " AND (c.proposed_by = 'supplier' OR t.status = 'change_proposed')"
_COUNTS: Final = ("ordered", "accepted", "backordered", "cancelled")
_DATES: Final = ("requested_date", "promised_date")


class ChangedLineOut(serializers.Serializer[None]):
    """A line as it stands, or as it would be; quantities are in base units."""

    ordered = serializers.IntegerField()
    accepted = serializers.IntegerField()
    backordered = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    requested_date = serializers.DateField(allow_null=True)
    promised_date = serializers.DateField(allow_null=True)
    unit_price = serializers.CharField()
    line_total = serializers.CharField(help_text="Of what is not cancelled.")


class ProposedPriceOut(serializers.Serializer[None]):
    """Whether the price that the supplier proposes is the one that holds between both; each is for one pack."""

    result = OpenChoice(choices=("ok", "differs"))
    contract_unit_price = serializers.CharField(allow_null=True)


class LineChangeOut(serializers.Serializer[None]):
    """A line that a change is about; `current` is null where the line comes with the change."""

    id = serializers.UUIDField()
    line_no = serializers.IntegerField()
    product_id = serializers.UUIDField(allow_null=True)
    name = serializers.CharField()
    substitutes_line_id = serializers.UUIDField(allow_null=True)
    current = ChangedLineOut(allow_null=True)
    proposed = ChangedLineOut()
    price_check = ProposedPriceOut(allow_null=True)
    backorder_date = serializers.DateField(allow_null=True)
    reason_code = serializers.CharField(allow_null=True)
    note = serializers.CharField(allow_null=True)


class ChangedTotalsOut(serializers.Serializer[None]):
    """The totals of what would not be cancelled."""

    net = serializers.CharField()
    tax = serializers.CharField(allow_null=True)
    gross = serializers.CharField()
    taxes = TaxOut(many=True)


class DeliveryAddressOut(serializers.Serializer[None]):
    """Where the goods go to, as it was when the order was written."""

    name = serializers.CharField()
    address = serializers.DictField(allow_null=True, help_text="As the location has it.")


class OrderChangeOut(serializers.Serializer[None]):
    """A change that waits for an answer; members that the change leaves as they are are null."""

    proposed_by = OpenChoice(choices=Party.values)
    revision = serializers.IntegerField()
    reason = serializers.CharField(allow_null=True)
    proposed_at = serializers.DateTimeField()
    requested_delivery_date = serializers.DateField(allow_null=True)
    delivery_location_id = serializers.UUIDField(allow_null=True)
    notes_to_supplier = serializers.CharField(allow_null=True)
    delivery_address = DeliveryAddressOut(allow_null=True)
    totals = ChangedTotalsOut()
    lines = LineChangeOut(many=True)


def _state(source: str, price: str, net: str) -> str:
    """Write the JSON of a line; `source` writes a column of the given type."""
    counts = ", ".join(f"'{name}', {source.format(name, 'bigint')}" for name in _COUNTS)
    dates = ", ".join(f"'{name}', {source.format(name, 'date')}" for name in _DATES)
    return (
        f"json_build_object({counts}, {dates}, 'unit_price', {UNIT_PRICE.format(price)},"
        f" 'line_total', {KEPT.format(net, source.format('ordered', 'bigint'), source.format('cancelled', 'bigint'), _PLACES)})"
    )


_PRICE: Final = "coalesce((e.value ->> 'unit_price')::numeric, l.unit_price)"
_LINES: Final = (
    "SELECT coalesce(json_agg(json_build_object('id', e.value ->> 'id', 'line_no', (e.value ->> 'line_no')::int,"
    " 'product_id', coalesce(e.value ->> 'product_id', l.product_id::text), 'name', coalesce(e.value ->> 'name', l.name),"
    " 'substitutes_line_id', coalesce(e.value ->> 'substitutes_line_id', l.substitutes_line_id::text), 'current',"
    f" CASE WHEN l.id IS NOT NULL THEN {_state('l.{0}', 'l.unit_price', 'l.net')} END, 'proposed',"
    + _state("(e.value ->> '{0}')::{1}", _PRICE, "(e.value ->> 'net')::numeric")
    + ", 'price_check', CASE WHEN e.value -> 'price_check' ->> 'result' IS NOT NULL THEN json_build_object('result',"
    " e.value -> 'price_check' ->> 'result', 'contract_unit_price', e.value -> 'price_check' ->> 'contract_unit_price') END"
    ", 'backorder_date', e.value ->> 'backorder_date', 'reason_code', nullif(e.value ->> 'reason_code', ''),"
    " 'note', nullif(e.value ->> 'note', '')) ORDER BY (e.value ->> 'line_no')::int), '[]')"
    " FROM jsonb_array_elements(c.lines || c.added) AS e(value) LEFT JOIN suppliers_purchaseorderline l"
    f" ON l.tenant_id = {TENANT} AND l.order_id = t.id AND l.id = (e.value ->> 'id')::uuid"
)


def _amount(name: str) -> str:
    return f"'{name}', round(c.{name}, {_PLACES})::text"


def change_of_order(*, for_supplier: bool) -> Computed:
    """Return the member `change` of an order `t`: the newest open change that the party may see; null without one."""
    totals = ", ".join(map(_amount, ("net", "tax", "gross")))
    header = ("requested_delivery_date", "delivery_location_id", "notes_to_supplier")
    more = ", ".join(f"'{name}', c.header ->> '{name}'" for name in header)
    sql = (
        "SELECT json_build_object('proposed_by', c.proposed_by, 'revision', c.revision, 'reason', nullif(c.reason, ''),"
        f" 'proposed_at', {INSTANT.format('c.updated_at')}, {more},"
        " 'delivery_address', c.header -> 'delivery_address',"
        f" 'totals', json_build_object({totals}, 'taxes', c.taxes), 'lines', ({_LINES}))"
        f" FROM suppliers_orderchange c WHERE c.tenant_id = {TENANT} AND c.order_id = t.id AND c.state = 'open'"
        f"{_FOR_SUPPLIER if for_supplier else ''} ORDER BY c.revision DESC LIMIT 1"
    )
    return Computed(sql, OrderChangeOut(allow_null=True, help_text="What is proposed, and not answered yet."))
