"""Orders that are submitted at once, and what a submit costs."""

from decimal import Decimal

from bench.statements import recording
from core.db import tenant_context
from suppliers.orders.models import ReceivedOrder
from tests import races
from tests.procurement.budgets.budgets import amounts
from tests.procurement.budgets.budgets import put as put_budget
from tests.procurement.purchasing.orders import PATH, Trade, act, approver
from tests.suppliers.inventory.shelf import reserve


def test_two_submits_at_once_send_one_order(trade: Trade) -> None:
    put_budget(approver(trade), "wards", amount="60")
    draft = trade.draft(budget={"code": "wards"})
    clients = [trade.buyer.client() for _ in range(2)]

    found = races.race(*[lambda one=one: one.post(f"{PATH}/{draft['id']}/submit", json={}) for one in clients])

    assert sorted(answer.status_code for answer in found) == [200, 409]
    assert {answer.json().get("code") for answer in found} <= {None, "invalid_transition", "concurrent_update"}
    assert amounts(trade.buyer.tenant)["wards"][0] == Decimal(49)
    assert [kind for kind, *_ in trade.facts(trade.shelf.tenant)] == ["order.placed"]
    with tenant_context(trade.shelf.id):
        assert ReceivedOrder.objects.filter(tenant_id=trade.shelf.id).count() == 1


def test_a_budget_is_never_passed_by_two_orders_at_once(trade: Trade) -> None:
    put_budget(approver(trade), "wards", amount="60")
    drafts = [trade.draft(budget={"code": "wards"}) for _ in range(4)]
    clients = [(trade.buyer.client(), f"{PATH}/{one['id']}/submit") for one in drafts]

    found = races.race(*[lambda api=api, path=path: api.post(path, json={}) for api, path in clients])

    assert sorted(answer.status_code for answer in found) == [200, 409, 409, 409]
    assert amounts(trade.buyer.tenant)["wards"][0] == Decimal(49)


def test_trips_of_a_submit_do_not_grow_with_the_lines(trade: Trade) -> None:
    trade.shelf.stock(trade.gloves, 50_000)
    put_budget(approver(trade), "wards", amount="100000")
    counts = []
    for lines in ([(trade.gloves, 1)], [(trade.gloves, 1), (trade.masks, 1)] * 25):
        for _ in range(2):
            (held,) = reserve(trade.buyer, trade.shelf, (trade.gloves, 1))
            draft = trade.draft(*lines, budget={"code": "wards"}, reservation_ids=[held["id"]])
            with recording() as made:
                answer = trade.api.post(
                    f"{PATH}/{draft['id']}/submit", json={}, headers={"Idempotency-Key": draft["id"]}
                )
            assert answer.status_code == 200, answer.content
            with recording() as cancelled:
                act(trade, draft["id"], "cancel")
        counts.append((len(made), len(cancelled)))

    assert counts[0] == counts[1], made.texts()
    assert counts[0][0] <= 8, made.texts()
