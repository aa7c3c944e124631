"""What holds after every step of a walk through the trade. Source: contract, supply.md 6 and 3."""

from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from uuid import UUID

from core.db import tenant_context
from core.invariants import breaches
from core.money import minor_units
from procurement.budgets.models import Budget, BudgetEntry
from suppliers.agreements.models import PriceAgreementLine, ReceivedAgreementLine
from suppliers.deliveries.models import DeliveryLine
from suppliers.inventory.models import Allocation, Reservation, StockLevel, StockMovement
from suppliers.orders.models import PurchaseOrder, PurchaseOrderLine
from suppliers.orders.states import TERMINAL
from suppliers.terms.promotions.models import Promotion, PromotionRedemption
from tests.suppliers.orders.answers import ORDERS
from tests.suppliers.orders.changes.proposals import needed
from tests.suppliers.orders.proof.market import DELIVERIES, House, Market

COUNTERS = (
    "ordered", "accepted", "backordered", "cancelled", "shipped", "received", "rejected", "short", "returned",
)  # fmt: skip
_HEADER = ("po_number", "fulfilment_status", "billing_status", "currency", "totals", "revision", "lines_total")


def check(market: Market) -> None:
    """Require every rule that `prove_invariants` knows, and those below."""
    assert [breach for side in market.sides for breach in breaches(side.id)] == []
    stock_is_promised_once(market)
    _limits_are_what_orders_need(market)
    for house in market.houses:
        counters_are_sums(house)
        amounts_are_exact(house)


def check_views(market: Market, house: House, order: PurchaseOrder) -> None:
    """Require that both sides read the same of an order and of its deliveries."""
    own = house.trade.read(str(order.id))
    found = market.shelf.api.get(f"{ORDERS}/{order.id}")
    if order.sent_at is None:
        assert found.status_code == 404, found.content
        return
    assert found.status_code == 200, found.content
    copy = found.json()["data"]
    is_pending = own["status"] == "pending_approval"
    assert copy["status"] == ("change_proposed" if is_pending else own["status"])
    assert copy["awaiting"] == ("buyer_approval" if is_pending else own["awaiting"])
    names = [one for one in _HEADER if one in copy and one in own]
    assert [copy[one] for one in names] == [own[one] for one in names]
    assert _counted(copy["items"]) == _counted(own["lines"])
    assert [(one["id"], one["status"]) for one in copy["deliveries"]] == [
        (one["id"], one["status"]) for one in own["deliveries"]
    ]
    for one in own["deliveries"][:1]:
        mine, theirs = (api.get(f"{DELIVERIES}/{one['id']}").json()["data"] for api in (house.clerk, market.shelf.api))
        assert mine["status"] == theirs["status"] == one["status"]
        sums = [[(x["line_no"], x["accepted"], x["rejected"], x["short"]) for x in y["lines"]] for y in (mine, theirs)]
        assert sums[0] == sums[1]


def _counted(lines: list[dict[str, Any]]) -> list[Any]:
    return [(one["line_no"], one["line_total"], one["line_status"], *(one[name] for name in COUNTERS)) for one in lines]


def stock_is_promised_once(market: Market) -> None:
    """Levels hold what their movements and promises say; no line holds more than it may still ship."""
    own = market.shelf.id
    with tenant_context(own):
        levels = {one.id: one for one in StockLevel.objects.filter(tenant_id=own)}
        promised, moved, of_lines = defaultdict[Any, int](int), defaultdict[Any, int](int), defaultdict[Any, int](int)
        lines = dict(Reservation.objects.filter(tenant_id=own).values_list("id", "purchase_order_line_id"))
        for part in Allocation.objects.filter(tenant_id=own, status="active"):
            promised[part.level_id] += part.base_quantity
            of_lines[lines[part.reservation_id]] += part.base_quantity
        for movement in StockMovement.objects.filter(tenant_id=own):
            moved[movement.level_id] += movement.quantity
    for key, level in levels.items():
        assert level.on_hand == moved[key]
        assert level.reserved == promised[key] <= level.on_hand
    for house in market.houses:
        for order in house.orders():
            for line in house.lines(order.id):
                open_ = line.accepted - line.shipped + line.rejected + line.short - line.over_received
                held = of_lines.get(line.id, 0)
                assert held == 0 or order.status not in TERMINAL, (order.status, held)
                if order.accepted_at is not None:
                    assert held <= max(0, open_), (order.status, held, open_)


def _limits_are_what_orders_need(market: Market) -> None:
    """Budgets, caps, their copies and promotions hold what all orders need together, and never more than they have."""
    promotions, copies = defaultdict[UUID, Decimal](Decimal), defaultdict[UUID, int](int)
    holders = defaultdict[UUID, int](int)
    for house in market.houses:
        committed, used = defaultdict[UUID, Decimal](Decimal), defaultdict[UUID, int](int)
        for order in house.orders():
            if order.submitted_at is None or order.status == "draft":
                continue
            need = needed(house.trade, str(order.id))
            if order.budget_id is not None:
                committed[order.budget_id] += need.gross
            for (_, line), units in need.caps.items():
                used[line] += units
                copies[line] += units
            for key, amount in need.promotions.items():
                promotions[key] += amount
                holders[key] += 1
        _of_house(house, committed, used)
    own = market.shelf.id
    with tenant_context(own):
        taken = defaultdict[UUID, Decimal](Decimal)
        for one in PromotionRedemption.objects.filter(tenant_id=own, given_back_at=None):
            taken[one.promotion_id] += one.amount
        counted = {one.id: one.consumed for one in ReceivedAgreementLine.objects.filter(tenant_id=own)}
        running = [*Promotion.objects.filter(tenant_id=own)]
    assert taken == promotions
    assert {key: units for key, units in counted.items() if units} == {key: one for key, one in copies.items() if one}
    for row in running:
        assert (row.spent, row.redemptions) == (promotions[row.id], holders[row.id])
        assert row.redemptions <= row.max_redemptions


def _of_house(house: House, committed: dict[UUID, Decimal], used: dict[UUID, int]) -> None:
    with tenant_context(house.id):
        entries = defaultdict[UUID, Decimal](Decimal)
        for one in BudgetEntry.objects.filter(tenant_id=house.id):
            entries[one.budget_id] += one.committed
        for row in Budget.objects.filter(tenant_id=house.id):
            assert row.committed == entries[row.id] == committed.get(row.id, Decimal(0)), row.code
            assert row.committed + row.spent <= row.amount
        for line in PriceAgreementLine.objects.filter(tenant_id=house.id):
            assert line.consumed == used.get(line.id, 0)
            assert line.max_quantity is None or line.consumed <= line.max_quantity


def counters_are_sums(house: House) -> None:
    """Counters of order lines are the sums of their delivery lines, and within the rules of supply.md 6."""
    with tenant_context(house.id):
        sums = defaultdict[UUID, list[int]](lambda: [0, 0, 0, 0])
        for part in DeliveryLine.objects.filter(tenant_id=house.id):
            assert part.accepted + part.rejected + part.short <= part.base_quantity + part.tolerance
            for place, many in enumerate((part.base_quantity, part.accepted, part.rejected, part.short)):
                sums[part.order_line_id][place] += many
        lines = [*PurchaseOrderLine.objects.filter(tenant_id=house.id)]
    for one in lines:
        assert [one.shipped, one.received, one.rejected, one.short] == sums[one.id]
        assert one.accepted + one.backordered + one.cancelled <= one.ordered
        assert one.shipped - one.rejected - one.short <= one.accepted + one.tolerance


def amounts_are_exact(house: House) -> None:
    """Totals are sums of what is not cancelled of lines, each rounded, with no more decimals than their currency has.

    An order that is cancelled wholly keeps the totals of what was asked for. Source: decision 110.
    """
    for order in house.orders():
        lines, unit = house.lines(order.id), Decimal(1).scaleb(-minor_units(order.currency))
        rests = [(one.net, one.ordered - one.cancelled, one.ordered) for one in lines]
        kept = [(net * rest / all_).quantize(unit, rounding=ROUND_HALF_UP) for net, rest, all_ in rests]
        nets = kept if any(rest for _, rest, _ in rests) else [net for net, _, _ in rests]
        assert order.net == sum(nets, Decimal(0))
        assert order.gross == order.net + (order.tax or 0)
        assert all(one == one.quantize(unit) for one in (*nets, order.net, order.gross, order.given_back))
