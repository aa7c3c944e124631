"""The course of orders in `./dev bench order`: drafts of one line and of fifty, their submits, acceptances and receipts."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from . import order_rows, workload
from .order_goods import Goods
from .prescriptions_report import Taken

if TYPE_CHECKING:
    from .order import Bench
    from .supply import Work

LINES: Final = (1, 50)
_OFFERED: Final = """
SELECT o.product_id::text FROM suppliers_offer o JOIN suppliers_product p ON p.tenant_id = o.tenant_id AND p.id = o.product_id
WHERE o.tenant_id = %s AND o.stock_policy = 'live' AND o.on_market AND p.on_market ORDER BY p.supplier_sku LIMIT 50
"""
_PLACES: Final = """
SELECT DISTINCT ON (tenant_id) tenant_id::text, id::text FROM organizations_location WHERE tenant_id = ANY(%s::uuid[])
  AND status = 'active' ORDER BY tenant_id, name = 'Goods in' DESC
"""
_NOW: Final = "SELECT clock_timestamp()"
_DRAFTS: Final = """
SELECT tenant_id::text, id::text FROM suppliers_purchaseorder WHERE tenant_id = ANY(%(buyers)s::uuid[]) AND status = 'draft'
  AND supplier_tenant_id = %(supplier)s AND lines_total = %(lines)s AND created_at >= %(since)s ORDER BY id
"""
_SENT: Final = """
SELECT c.id::text FROM suppliers_receivedorder c WHERE c.tenant_id = %(supplier)s AND c.status = 'sent'
  AND c.received_at >= %(since)s AND uuid_extract_timestamp(c.id) >= %(since)s
  AND jsonb_array_length(c.lines) = %(lines)s ORDER BY c.id
"""  # by the time it was made: the newest of the old ones may have been sent later than now


class Flow:
    """Takes orders of all buyers but the large one through their states at the large supplier."""

    def __init__(self, bench: "Bench") -> None:
        self.bench = bench
        found = bench.connection.execute(_OFFERED, [bench.large["tenant"]]).fetchall()
        self.products = [row[0] for row in found]
        places = bench.connection.execute(_PLACES, [[one["tenant"] for one in bench.buyers]]).fetchall()
        self.places: dict[str, str] = dict(places)
        self.goods = Goods(self)
        (self.since,) = bench.connection.execute(_NOW).fetchone()

    def restock(self) -> None:
        """Let there be plenty of what is ordered; orders of earlier rounds are left alone."""
        order_rows.restock(self.bench.connection, self.bench.large["tenant"], self.products)
        (self.since,) = self.bench.connection.execute(_NOW).fetchone()

    def works(self) -> dict[str, "Work"]:
        """What is measured, each upon what the one before has left."""
        found: dict[str, Work] = {}
        for lines in LINES:
            name = self.named(lines)
            found[f"draft, {name}"] = partial(self.draft, lines)
            found[f"submit, {name}, without its copy"] = partial(self.submit, lines, port=self.bench.copyless)
            found[f"submit, {name}"] = partial(self.submit, lines)
            found[f"accept, {name}"] = partial(self.accept, lines)
            found[f"shipment, {name}"] = partial(self.goods.ship, lines)
            found[f"receipt, {name}"] = partial(self.goods.receive, lines)
        return found

    @staticmethod
    def named(lines: int) -> str:
        """Say how many lines."""
        return f"{lines} line{'s' if lines > 1 else ''}"

    def body(self, buyer: dict[str, Any], lines: int) -> dict[str, Any]:
        """The body of a draft."""
        return {
            "supplier_id": self.bench.large["tenant"],
            "currency": "EUR",
            "delivery_location_id": self.places[buyer["tenant"]],
            "lines": [{"product_id": one, "quantity": 2} for one in self.products[:lines]],
        }

    def draft(self, lines: int) -> Taken:
        """Create drafts."""
        count = max(20, int(self.bench.wanted.seconds * 400 / lines**0.5))
        buyers = (self.bench.buyers * count)[:count]
        sent = [workload.post(one, "/v1/purchase-orders", self.body(one, lines)) for one in buyers]
        return self.bench.http(sent, 201, once=True)

    def drafts(self, lines: int) -> Iterator[tuple[dict[str, Any], str]]:
        """The drafts of this round that are left, each with its buyer."""
        buyers = {one["tenant"]: one for one in self.bench.buyers}
        for tenant, key in self.rows(_DRAFTS, lines):
            yield buyers[tenant], f"/v1/purchase-orders/{key}/submit"

    def submit(self, lines: int, *, port: int = 0) -> Taken:
        """Submit drafts: half of them, or all that are left but one, of which the trips are counted."""
        found = list(self.drafts(lines))
        chosen = found[: len(found) // 2] if port else found[:-1]
        return self.bench.http([workload.post(one, path, {}) for one, path in chosen], once=True, port=port)

    def sent(self, lines: int) -> list[str]:
        """The addresses at which orders of this round are accepted."""
        return [f"/v1/orders/{row[0]}/accept" for row in self.rows(_SENT, lines)]

    def accept(self, lines: int) -> Taken:
        """Accept orders that were sent, all but one, one after the other: they all want the same stock."""
        large = self.bench.world["suppliers"][0]
        sent = [workload.post(large, path, {}) for path in self.sent(lines)[:-1]]
        return self.bench.http(sent, once=True, connections=1)

    def samples(self) -> dict[str, dict[str, Any]]:
        """One request of each work, whose trips are counted and which is not carried out."""
        found: dict[str, dict[str, Any]] = {}
        one, large = self.bench.buyers[0], self.bench.world["suppliers"][0]
        for lines in LINES:
            name = self.named(lines)
            found[f"draft, {name}"] = self._sample(one, "/v1/purchase-orders", 201, self.body(one, lines))
            buyer, path = next(self.drafts(lines))
            found[f"submit, {name}"] = self._sample(buyer, path, 200, {})
            found[f"accept, {name}"] = self._sample(large, self.sent(lines)[0], 200, {})
            buyer, path, body = self.goods.receipts(lines)[0]
            found[f"receipt, {name}"] = self._sample(buyer, path, 201, body)
        return found

    @staticmethod
    def _sample(caller: dict[str, Any], path: str, status: int, body: dict[str, Any]) -> dict[str, Any]:
        return {**caller, "method": "POST", "path": path, "status": status, "body": body}

    def rows(self, sql: str, lines: int, **more: Any) -> list[tuple[Any, ...]]:
        """What a statement finds of this round."""
        given = {
            "buyers": [one["tenant"] for one in self.bench.buyers], "supplier": self.bench.large["tenant"], "lines": lines,
            "since": self.since, **more,
        }  # fmt: skip
        found: list[tuple[Any, ...]] = self.bench.connection.execute(sql, given).fetchall()
        return found
