"""Refusals of approvals: the order is a draft again, what it took is given back, and it is decided anew."""

from decimal import Decimal

from core.db import tenant_context
from suppliers.terms.promotions.models import Promotion
from tests.factories import Api, api_key
from tests.procurement.approvals.desk import APPROVED, REJECTED, TWO, Desk, decide, done
from tests.procurement.budgets.budgets import amounts
from tests.procurement.budgets.budgets import put as put_budget
from tests.procurement.purchasing.orders import PATH, act, approver
from tests.suppliers.inventory.shelf import refused, reserve
from tests.suppliers.terms.test_promotions import put as put_promotion

SUBMITTED, SENT = "purchase_order.submitted", "purchase_order.sent"


def test_a_refused_order_is_a_draft_again_with_its_limits_given_back(desk: Desk) -> None:
    put_budget(approver(desk.trade), "wards", amount="60")
    desk.policies(approval_steps=TWO)
    order, ann, ben = desk.pending(budget={"code": "wards"}), desk.person(), desk.person()
    done(decide(ann, order["id"]))
    assert amounts(desk.tenant)["wards"][0] == Decimal("53.9")

    data = done(decide(ben, order["id"], "reject", reason="We still have enough"))

    assert data == desk.trade.read(order["id"])
    assert (data["status"], data["approval_for"], data["awaiting"], data["version"]) == ("draft", None, None, 4)
    assert [(one["step"], one["decision"], one["approver"]["id"], one["note"]) for one in data["approvals"]] == [
        (2, "rejected", ben.id, "We still have enough"), (1, "approved", ann.id, None),
    ]  # fmt: skip
    assert amounts(desk.tenant)["wards"][0] == 0
    assert desk.told() == [SUBMITTED, APPROVED, REJECTED]
    assert "still have enough" not in str(desk.trade.facts())
    assert (data["timeline"][0]["action"], data["timeline"][0]["reason"]) == (
        "approval_rejected",
        "We still have enough",
    )
    assert (desk.heard(), desk.steps()) == ([], [])
    assert [one[:3] for one in desk.trade.stored()] == [("draft", 1, 4)]
    late = refused(decide(desk.person(), order["id"]), 409, "invalid_transition")
    assert (late["from"], late["allowed"]) == ("draft", ["cancel", "submit", "update"])


def test_a_draft_that_was_changed_is_submitted_and_decided_anew(desk: Desk) -> None:
    put_budget(approver(desk.trade), "wards", amount="60")
    order, ann = desk.pending(budget={"code": "wards"}), desk.person()
    done(decide(ann, order["id"], "reject"))
    path = f"{PATH}/{order['id']}"
    changed = desk.trade.api.patch(path, json={"priority": "urgent"}).json()["data"]
    assert (changed["revision"], changed["status"]) == (2, "draft")
    again = act(desk.trade, order["id"], "submit").json()["data"]
    assert (again["status"], again["revision"]) == ("pending_approval", 2)
    assert refused(decide(ann, order["id"]), 409, "revision_changed")["revision"] == 2

    data = done(decide(ann, order["id"], revision=2))

    assert (data["status"], [(one["revision"], one["decision"]) for one in data["approvals"]]) == (
        "sent", [(2, "approved"), (1, "rejected")],
    )  # fmt: skip
    assert amounts(desk.tenant)["wards"][0] == Decimal("53.9")
    assert desk.trade.stored()[0][:2] == ("sent", 2)


def test_what_is_submitted_unchanged_is_a_revision_of_its_own(desk: Desk) -> None:
    desk.policies(approval_steps=TWO)
    order, ann, ben = desk.pending(), desk.person(), desk.person()
    done(decide(ann, order["id"]))
    assert done(decide(ben, order["id"], "reject"))["revision"] == 1

    again = act(desk.trade, order["id"], "submit").json()["data"]

    assert (again["status"], again["revision"]) == ("pending_approval", 2)
    assert refused(decide(ben, order["id"]), 409, "revision_changed")
    assert done(decide(ben, order["id"], revision=2))["status"] == "pending_approval", "earlier approvals are void"
    assert done(decide(ann, order["id"], revision=2))["status"] == "sent"
    assert desk.trade.stored()[0][:2] == ("sent", 2)


def test_a_refused_order_is_cancelled_without_giving_back_twice(desk: Desk) -> None:
    put_budget(approver(desk.trade), "wards", amount="200")
    kept = desk.pending(budget={"code": "wards"})
    order = desk.pending(budget={"code": "wards"})
    done(decide(desk.person(), order["id"], "reject"))

    assert act(desk.trade, order["id"], "cancel").status_code == 200

    assert amounts(desk.tenant)["wards"][0] == Decimal("53.9")
    assert desk.trade.read(kept["id"])["status"] == "pending_approval"
    assert [one[0] for one in desk.trade.stored()] == ["pending_approval", "cancelled"]


def test_promotions_are_given_back_and_reservations_stay_soft(desk: Desk) -> None:
    trade = desk.trade
    key = Api(key=api_key(trade.shelf.tenant), tenant=trade.shelf.tenant)
    assert put_promotion(key, "five", status="active", max_redemptions=1).status_code == 201
    trade.shelf.stock(trade.gloves, 5000)
    (held,) = reserve(trade.buyer, trade.shelf, (trade.gloves, 4))
    order = desk.pending(reservation_ids=[held["id"]])

    def redemptions() -> list[int]:
        with tenant_context(trade.shelf.id):
            return list(Promotion.objects.filter(tenant_id=trade.shelf.id).values_list("redemptions", flat=True))

    assert redemptions() == [1]
    done(decide(desk.person(), order["id"], "reject"))

    assert redemptions() == [0]
    (row,) = trade.shelf.reservations()
    assert (row.kind, row.status, row.purchase_order_line_id) == ("soft", "active", None)
    assert trade.stored()[0][0] == "draft"
    again = act(trade, order["id"], "submit")
    assert (again.status_code, redemptions()) == (200, [1])
