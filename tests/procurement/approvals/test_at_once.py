"""Decisions at the same moment, and what a decision costs."""

from collections import Counter
from decimal import Decimal
from typing import Any

from bench.statements import recording
from core.db import tenant_context
from suppliers.orders.models import ReceivedOrder
from tests import races
from tests.procurement.approvals.desk import APPROVED, REJECTED, TWO, Desk, Person, decide, done
from tests.procurement.budgets.budgets import amounts
from tests.procurement.budgets.budgets import put as put_budget
from tests.procurement.purchasing.orders import PATH, Trade, act, approver
from tests.suppliers.inventory.shelf import refused, reserve

ROUNDS = 4


def at_once(*works: Any) -> list[tuple[int, str | None]]:
    """Run works at once; return status and code of each answer."""
    return [(one.status_code, one.json().get("code")) for one in races.race(*works)]


def deciding(person: Person, key: str, action: str = "approve") -> Any:
    client = person.client()
    return lambda: decide(client, key, action)


def test_two_approvers_at_once_on_the_last_step_send_once(desk: Desk) -> None:
    ann, ben = desk.person(), desk.person()
    for number in range(1, ROUNDS + 1):
        key = desk.pending()["id"]

        found = at_once(deciding(ann, key), deciding(ben, key))

        assert sorted(found, key=str) == [(200, None), (409, "invalid_transition")]
        assert desk.heard() == ["order.placed"] * number
        assert len(desk.rows()) == number
    with tenant_context(desk.trade.shelf.id):
        assert ReceivedOrder.objects.filter(tenant_id=desk.trade.shelf.id).count() == ROUNDS
    assert {one[0] for one in desk.trade.stored()} == {"sent"}


def test_two_approvers_at_once_of_two_both_count(desk: Desk) -> None:
    desk.policies(approval_steps=TWO)
    ann, ben = desk.person(), desk.person()
    for _ in range(ROUNDS):
        key = desk.pending()["id"]

        found = at_once(deciding(ann, key), deciding(ben, key))

        assert found == [(200, None)] * 2
        assert desk.trade.read(key)["status"] == "sent"
        assert [one["step"] for one in desk.trade.read(key)["approvals"]] == [2, 1]


def test_the_same_approver_at_once_counts_once(desk: Desk) -> None:
    desk.policies(approval_steps=TWO)
    ann, clerk = desk.person(), desk.person("finance")
    desk.delegate((ann, clerk))
    for other in (ann, clerk, ann, clerk):
        key = desk.pending()["id"]

        found = at_once(deciding(ann, key), deciding(other, key))

        assert sorted(found, key=str) == [(200, None), (409, "already_decided")]
        assert desk.trade.read(key)["status"] == "pending_approval"
    assert desk.heard() == []
    assert {one[0] for one in desk.trade.stored()} == {"pending_approval"}


def test_approve_against_reject(desk: Desk) -> None:
    put_budget(approver(desk.trade), "wards", amount="10000")
    ann, ben, ends = desk.person(), desk.person(), Counter[str]()
    for _ in range(ROUNDS):
        key = desk.pending(budget={"code": "wards"})["id"]

        found = at_once(deciding(ann, key), deciding(ben, key, "reject"))

        assert [status for status, _ in found].count(200) == 1
        assert {code for _, code in found} <= {None, "invalid_transition", "concurrent_update"}
        ends[desk.trade.read(key)["status"]] += 1
    assert ends["sent"] + ends["draft"] == ROUNDS
    assert desk.heard() == ["order.placed"] * ends["sent"]
    assert Counter(desk.told())[REJECTED] == ends["draft"]
    assert amounts(desk.tenant)["wards"][0] == Decimal("53.9") * ends["sent"]
    assert len(desk.trade.stored()) == ROUNDS


def test_approve_against_cancel(desk: Desk) -> None:
    put_budget(approver(desk.trade), "wards", amount="10000")
    ann, ends = desk.person(), Counter[str]()
    for _ in range(ROUNDS):
        key, buyer = desk.pending(budget={"code": "wards"})["id"], desk.trade.buyer.client()

        found = at_once(deciding(ann, key), lambda api=buyer, key=key: api.post(f"{PATH}/{key}/cancel", json={}))

        codes = {code for _, code in found} - {None}
        assert codes <= {"invalid_transition", "concurrent_update"}
        assert 200 in {status for status, _ in found}
        ends[desk.trade.read(key)["status"]] += 1  # one that was sent first can be cancelled still
    assert ends["sent"] + ends["cancelled"] == ROUNDS
    assert amounts(desk.tenant)["wards"][0] == Decimal("53.9") * ends["sent"]
    assert desk.steps() == []
    assert len(desk.trade.stored()) == ROUNDS


def test_a_pending_order_cannot_be_changed(desk: Desk) -> None:
    order = desk.pending()

    body = refused(
        desk.trade.api.patch(f"{PATH}/{order['id']}", json={"priority": "urgent"}), 409, "invalid_transition"
    )

    assert (body["from"], body["action"], body["allowed"]) == (
        "pending_approval", "update", ["approve", "cancel", "reject"],
    )  # fmt: skip
    assert [one[:3] for one in desk.trade.stored()] == [("pending_approval", 1, 2)]


def _costs(desk: Desk, trade: Trade, lines: Any, action: str, person: Person) -> int:
    (held,) = reserve(trade.buyer, trade.shelf, (trade.gloves, 1))
    draft = trade.draft(*lines, budget={"code": "wards"}, reservation_ids=[held["id"]])
    assert act(trade, draft["id"], "submit").json()["data"]["status"] == "pending_approval"
    body = {"revision": 1, **({"reason": "x"} if action == "reject" else {})}
    with recording() as made:
        answer = person.api.post(
            f"{PATH}/{draft['id']}/{action}", json=body, headers={"Idempotency-Key": f"{draft['id']}-{action}"}
        )
    done(answer)
    return len(made)


def test_trips_do_not_grow_with_the_lines(desk: Desk) -> None:
    trade = desk.trade
    trade.shelf.stock(trade.gloves, 50_000)
    put_budget(approver(trade), "wards", amount="100000")
    counts = []
    for lines in ([(trade.gloves, 12)], [(trade.gloves, 12), (trade.masks, 1)] * 25):
        costs = []
        for _ in range(2):  # the first fills caches
            desk.policies(approval_steps=[{"over_amount": "1", "approvals": 1}])
            last, refusing = desk.person(), desk.person()
            sending = _costs(desk, trade, lines, "approve", last)
            rejecting = _costs(desk, trade, lines, "reject", refusing)
            desk.policies(approval_steps=[{"over_amount": "1", "approvals": 2}])
            costs = [sending, rejecting, _costs(desk, trade, lines, "approve", desk.person())]
        counts.append(costs)

    assert counts[0] == counts[1]
    assert counts[0][0] <= 8, counts
    assert counts[0][2] <= 4, counts
    assert APPROVED in desk.told()
