"""The goods of `./dev bench order`: accepted orders are shipped whole, and received into places that keep stock."""

from typing import TYPE_CHECKING, Any, Final

from . import workload
from .prescriptions_report import Taken

if TYPE_CHECKING:
    from .order_flow import Flow

_PLACES: Final = """
INSERT INTO suppliers_stockplace (id, tenant_id, location_id, code, sellable, gln, tracks_stock, license_number, license_types)
SELECT uuidv7(), g.tenant_id, g.location_id, 'GOODS-IN', false, '', true, '', '[]'
FROM unnest(%(buyers)s::uuid[], %(places)s::uuid[]) AS g (tenant_id, location_id)
WHERE NOT EXISTS (SELECT 1 FROM suppliers_stockplace s WHERE s.tenant_id = g.tenant_id AND s.location_id = g.location_id)
"""
_ACCEPTED: Final = """
SELECT l.order_id::text, r.location_id::text,
  json_agg(json_build_object('order_line_id', l.id, 'quantity', l.accepted, 'unit', 'base') ORDER BY l.line_no)
FROM suppliers_purchaseorder o JOIN suppliers_purchaseorderline l ON l.tenant_id = o.tenant_id AND l.order_id = o.id
JOIN LATERAL (SELECT min(r.location_id::text)::uuid AS location_id FROM suppliers_reservation r
  WHERE r.tenant_id = o.supplier_tenant_id AND r.purchase_order_line_id = l.id AND r.status = 'active') r ON true
WHERE o.tenant_id = ANY(%(buyers)s::uuid[]) AND o.supplier_tenant_id = %(supplier)s AND o.lines_total = %(lines)s
  AND o.status = 'accepted' AND o.fulfilment_status = 'unfulfilled' AND o.created_at >= %(since)s
GROUP BY 1, 2 HAVING count(*) = %(lines)s ORDER BY 1
"""
_UNDER_WAY: Final = """
SELECT d.tenant_id::text, d.id::text, d.delivery_location_id::text,
  json_agg(json_build_object('delivery_line_id', l.id, 'accepted_quantity', l.base_quantity, 'unit', 'base') ORDER BY l.line_no)
FROM suppliers_delivery d JOIN suppliers_deliveryline l ON l.tenant_id = d.tenant_id AND l.delivery_id = d.id
WHERE d.tenant_id = ANY(%(buyers)s::uuid[]) AND d.supplier_tenant_id = %(supplier)s AND d.lines_total = %(lines)s
  AND d.status = 'in_transit' AND d.created_at >= %(since)s GROUP BY 1, 2, 3 ORDER BY 2
"""
_NOW: Final = "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"


class Goods:
    """Takes the accepted orders of a flow to their receipts."""

    def __init__(self, flow: "Flow") -> None:
        self.flow = flow
        given = {"buyers": [*flow.places], "places": [*flow.places.values()]}
        flow.bench.connection.execute(_PLACES, given)

    def shipments(self, lines: int) -> list[tuple[str, dict[str, Any]]]:
        """The paths and bodies of shipments of what was accepted in this round."""
        at = self._now()
        return [
            (f"/v1/orders/{key}/shipments", {"from_location_id": place, "dispatched_at": at, "lines": held})
            for key, place, held in self.flow.rows(_ACCEPTED, lines)
        ]

    def receipts(self, lines: int) -> list[tuple[dict[str, Any], str, dict[str, Any]]]:
        """The buyers, paths and bodies of receipts of what was shipped in this round."""
        buyers, at = {one["tenant"]: one for one in self.flow.bench.buyers}, self._now()
        return [
            (
                buyers[tenant],
                f"/v1/procurement/deliveries/{key}/receipts",
                {"received_at": at, "location_id": place, "lines": held},
            )
            for tenant, key, place, held in self.flow.rows(_UNDER_WAY, lines)
        ]

    def ship(self, lines: int) -> Taken:
        """Ship what was accepted, one after the other."""
        large = self.flow.bench.world["suppliers"][0]
        sent = [workload.post(large, path, body) for path, body in self.shipments(lines)]
        return self.flow.bench.http(sent, 201, once=True, connections=1)

    def receive(self, lines: int) -> Taken:
        """Receive deliveries, all but one, of which the trips are counted."""
        sent = [workload.post(one, path, body) for one, path, body in self.receipts(lines)[:-1]]
        return self.flow.bench.http(sent, 201, once=True)

    def _now(self) -> str:
        (at,) = self.flow.bench.connection.execute(_NOW).fetchone()
        return str(at)
