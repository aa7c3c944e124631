"""Short ways to propose and answer changes, and to compare what an order holds of limits with what it needs."""

from collections import defaultdict
from decimal import Decimal
from typing import Any
from uuid import UUID

from core.db import tenant_context
from procurement.budgets.models import BudgetEntry
from suppliers.agreements.models import PriceAgreementLine, ReceivedAgreementLine
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine
from suppliers.orders.proposals.models import OrderChange
from suppliers.orders.proposals.needs import Need, held_by
from suppliers.terms.promotions.models import PromotionRedemption
from tests.procurement.purchasing.orders import PATH, Trade, submitted
from tests.suppliers.orders.answers import ORDERS, answer, seen


def sent(trade: Trade, *lines: Any, **changes: Any) -> dict[str, Any]:
    """Submit an order that is sent at once."""
    return submitted(trade, *lines, **changes)


def items(trade: Trade, key: str) -> list[str]:
    """Return the ids of the lines."""
    return [one["id"] for one in seen(trade, key)["items"]]


def respond(trade: Trade, key: str, item: str, **body: Any) -> Any:
    """Answer one line as the supplier."""
    return trade.shelf.api.patch(f"{ORDERS}/{key}/items/{item}", json={"reason_code": "short_supply"} | body)


def counter(trade: Trade, key: str, *lines: dict[str, Any], **body: Any) -> Any:
    """Accept with other lines as the supplier."""
    return answer(trade, key, "accept", lines=list(lines), **body)


def propose(trade: Trade, key: str, *, api: Any = None, **body: Any) -> Any:
    """Propose a change as the buyer, of the present revision."""
    given = {"revision": trade.read(key)["revision"], "reason": "More patients"} | body
    return (api or trade.api).post(f"{PATH}/{key}/propose-changes", json=given)


def confirm(trade: Trade, key: str, decision: str, *, api: Any = None, **body: Any) -> Any:
    """Confirm, decline or withdraw as the buyer, of the present revision."""
    given = {"revision": trade.read(key)["revision"], "decision": decision} | body
    return (api or trade.api).post(f"{PATH}/{key}/confirm-changes", json=given)


def decide(trade: Trade, key: str, decision: str, *, api: Any = None, **body: Any) -> Any:
    """Answer the buyer's change as the supplier."""
    given = {"revision": seen(trade, key)["revision"], "decision": decision} | body
    return answer(trade, key, "accept", api=api, **given)


def done(found: Any) -> dict[str, Any]:
    """Return what a request has answered, which must be 200."""
    assert found.status_code == 200, found.content
    data: dict[str, Any] = found.json()["data"]
    return data


def changes(trade: Trade) -> list[tuple[str, str]]:
    """Return all changes with who has proposed them."""
    with tenant_context(trade.buyer.id):
        rows = OrderChange.objects.filter(tenant_id=trade.buyer.id).order_by("created_at", "id")
        return [(row.proposed_by, row.state) for row in rows]


def needed(trade: Trade, key: str) -> Need:
    """Return what the lines of an order and its open changes need of limits; nothing once it has ended."""
    with tenant_context(trade.buyer.id):
        row = PurchaseOrder.objects.get(tenant_id=trade.buyer.id, pk=key)
        if row.status in ("cancelled", "rejected"):
            return Need(Decimal(0), {}, {}, {})
        lines = [*PurchaseOrderLine.objects.filter(tenant_id=trade.buyer.id, order_id=key).order_by("line_no")]
        still = [*OrderChange.objects.filter(tenant_id=trade.buyer.id, order_id=key, state="open")]
    return held_by(row, lines, still)


def check_limits(trade: Trade, key: str) -> None:
    """Require that budget, agreements of the order's own tenant, their copies, and promotions hold what the order needs.

    The order is the only one of its buyer.
    """
    need = needed(trade, key)
    with tenant_context(trade.buyer.id):
        committed = sum((one.committed for one in BudgetEntry.objects.filter(tenant_id=trade.buyer.id)), Decimal(0))
        counted = {
            (one.tenant_id, one.id): one.consumed
            for one in PriceAgreementLine.objects.filter(tenant_id=trade.buyer.id, consumed__gt=0)
        }
        has_budget = PurchaseOrder.objects.get(tenant_id=trade.buyer.id, pk=key).budget_id is not None
    with tenant_context(trade.shelf.id):
        copied = {
            one.id: one.consumed
            for one in ReceivedAgreementLine.objects.filter(tenant_id=trade.shelf.id, consumed__gt=0)
        }
        redeemed: dict[UUID, Decimal] = defaultdict(Decimal)
        for one in PromotionRedemption.objects.filter(tenant_id=trade.shelf.id, given_back_at=None):
            redeemed[one.promotion_id] += one.amount
    assert committed == (need.gross if has_budget else 0)
    assert counted == dict(need.caps)
    assert copied == {line: units for (_, line), units in need.caps.items()}
    assert dict(redeemed) == dict(need.promotions)
