"""Stock of a product as clients read it."""

from rest_framework import serializers

from api.representations import Computed
from core.conditions import TENANT


class StockTotals(serializers.Serializer[None]):
    """Stock totals of all locations, in base units."""

    on_hand = serializers.IntegerField()
    reserved = serializers.IntegerField()
    sellable = serializers.IntegerField()


def stock_totals() -> Computed:
    """Return the computed member with the stock totals of a product."""
    return Computed(
        "SELECT json_build_object('on_hand', coalesce(sum(s.on_hand), 0)::bigint,"
        " 'reserved', coalesce(sum(s.reserved), 0)::bigint,"
        " 'sellable', coalesce(sum(s.on_hand - s.reserved), 0)::bigint)"
        f" FROM suppliers_stocklevel s WHERE s.tenant_id = {TENANT} AND s.product_id = t.id",
        StockTotals(),
    )
