"""Approvals one by one: who may, how many it takes, and what the last one sends."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, ProgrammingError, connection, connections

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from procurement.approvals.models import Approval
from procurement.approvals.states import Purpose
from suppliers.company.models import SupplierProfile
from suppliers.inventory.models import Allocation, Reservation
from suppliers.orders.states import ApprovalFor
from suppliers.relationships.models import Relationship
from tests.factories import Api, as_member, bearer, member
from tests.procurement.approvals.desk import APPROVED, TWO, Desk, decide, done
from tests.procurement.budgets.budgets import amounts
from tests.procurement.budgets.budgets import put as put_budget
from tests.procurement.purchasing.orders import PATH, act, approver, submitted, ward
from tests.suppliers.inventory import shelf as shelves
from tests.suppliers.inventory.shelf import refused, reserve

SUBMITTED, SENT, PLACED = "purchase_order.submitted", "purchase_order.sent", "order.placed"


def test_the_last_approval_sends_as_a_submit_would(desk: Desk) -> None:
    put_budget(approver(desk.trade), "wards", amount="60")
    order, ann = desk.pending(budget={"code": "wards"}, internal_note="Secret"), desk.person()
    assert (order["approvals"], order["version"]) == ([], 2)
    assert len(desk.steps()) == 1

    answer = decide(ann, order["id"], note="Needed before winter")

    data = done(answer)
    assert data == desk.trade.read(order["id"])
    assert (data["status"], data["awaiting"], data["order_number"], data["approval_for"]) == (
        "sent", "supplier", "SO-000001", None,
    )  # fmt: skip
    assert (data["version"], data["revision"], answer.headers["ETag"]) == (3, 1, '"3"')
    assert data["accept_by"] > data["sent_at"]
    ((_, *approval),) = [tuple(one.items()) for one in data["approvals"]]
    found = dict(approval)
    assert found.pop("credential").startswith("session:")
    assert found.pop("at").endswith("Z")
    assert found == {
        "approval_for": "sending", "step": 1, "decision": "approved", "approver": {"id": ann.id}, "delegated_by": None,
        "note": "Needed before winter",
    }  # fmt: skip
    assert desk.told() == [SUBMITTED, APPROVED, SENT]
    assert [version for kind, version, _ in desk.trade.facts() if kind in (APPROVED, SENT)] == [3, 3]
    assert amounts(desk.tenant)["wards"][0] == Decimal("53.9"), "taken once, at submit"
    newest = data["timeline"][1]
    assert (newest["action"], newest["from"], newest["to"], newest["actor_id"], newest["reason"]) == (
        "approved", "pending_approval", "sent", ann.id, "Needed before winter",
    )  # fmt: skip
    assert desk.steps() == []
    assert [one[0] for one in desk.trade.stored()] == ["sent"]


def test_the_supplier_learns_nothing_of_approvals(desk: Desk) -> None:
    order, ann = desk.pending(), desk.person()
    assert refused(desk.trade.shelf.api.get(f"/v1/orders/{order['id']}"), 404, "not_found")
    done(decide(ann, order["id"], note="Needed before winter"))

    seen = desk.trade.shelf.api.get(f"/v1/orders/{order['id']}")

    assert (seen.status_code, seen.json()["data"]["status"]) == (200, "sent")
    assert not {"approvals", "approval_for"} & seen.json()["data"].keys()
    facts = str(desk.trade.facts(desk.trade.shelf.tenant))
    for secret in ("winter", ann.id, "approv"):
        assert secret not in seen.content.decode()
        assert secret not in facts
    assert desk.heard() == [PLACED]
    assert [(one["action"], one["from"]) for one in seen.json()["data"]["timeline"]] == [("placed", None)]


def test_two_different_people_where_the_step_wants_two(desk: Desk) -> None:
    desk.policies(approval_steps=TWO)
    order, ann, ben = desk.pending(), desk.person(), desk.person()

    first = done(decide(ann, order["id"]))
    assert (first["status"], first["version"], first["order_number"]) == ("pending_approval", 3, None)
    assert refused(decide(ann, order["id"]), 409, "already_decided")
    assert refused(decide(ann, order["id"], "reject"), 409, "already_decided")
    assert desk.heard() == []
    second = done(decide(ben, order["id"]))

    assert (second["status"], second["version"]) == ("sent", 4)
    assert [(one["step"], one["approver"]["id"]) for one in second["approvals"]] == [(2, ben.id), (1, ann.id)]
    assert desk.told() == [SUBMITTED, APPROVED, APPROVED, SENT]
    assert [one[0] for one in desk.trade.stored()] == ["sent"]


def test_the_policy_of_the_decision_says_how_many(desk: Desk) -> None:
    desk.policies(approval_steps=TWO)
    first, second = desk.pending(), desk.pending()
    ann = desk.person()
    done(decide(ann, first["id"]))
    desk.policies(approval_steps=[])

    assert done(decide(ann, second["id"]))["status"] == "sent"
    assert done(decide(desk.person(), first["id"]))["status"] == "sent"


def test_authors_do_not_approve_their_own(desk: Desk) -> None:
    maker, changer, sender, other = (desk.person("buyer", "approver") for _ in range(4))
    body = desk.trade.body((desk.trade.gloves, 11))
    key = done_draft(maker.api.post(PATH, json=body))
    assert changer.api.patch(f"{PATH}/{key}", json={"priority": "urgent"}).status_code == 200
    assert sender.api.post(f"{PATH}/{key}/submit", json={}).status_code == 200

    for one in (changer, sender):
        for action in ("approve", "reject"):
            assert refused(decide(one, key, action, revision=2), 403, "separation_of_duties")
    assert [one[:3] for one in desk.trade.stored()] == [("pending_approval", 2, 3)]
    assert desk.rows() == []
    assert done(decide(maker, key, revision=2))["status"] == "sent", "an author of an earlier revision alone"
    assert other


def done_draft(answer: Any) -> str:
    assert answer.status_code == 201, answer.content
    return str(answer.json()["data"]["id"])


def test_who_may_not(desk: Desk) -> None:
    order = desk.pending()
    stranger = as_member(shelves.buyer().tenant, ["approver"])
    cases = [
        (desk.person("buyer").api, 403, "insufficient_scope"),
        (desk.person("tenant_admin").api, 403, "insufficient_scope"),
        (stranger, 404, "not_found"),
        (as_member(desk.trade.shelf.tenant, ["supplier_admin"]), 403, "insufficient_scope"),
        (desk.person(location_ids=[ward(desk.trade.buyer, "Elsewhere")]).api, 404, "not_found"),
    ]
    for api, status, code in cases:
        for action in ("approve", "reject"):
            assert refused(decide(api, order["id"], action), status, code)
    for action in ("approve", "reject"):
        assert refused(decide(desk.person(), str(uuid7()), action), 404, "not_found")
        stale = desk.person().api.post(f"{PATH}/{order['id']}/{action}", json={}, headers={"If-Match": '"7"'})
        assert refused(stale, 409, "version_conflict")
    narrowed, _ = member(desk.tenant, ["approver"])
    token = bearer(narrowed, tenant=desk.tenant, scopes="procurement.read")
    assert refused(decide(Api(token=token, tenant=desk.tenant), order["id"]), 403, "insufficient_scope")
    assert [one[:3] for one in desk.trade.stored()] == [("pending_approval", 1, 2)]
    assert desk.rows() == []
    within = desk.person(location_ids=[desk.trade.ward])
    assert done(decide(within, order["id"]))["status"] == "sent"


@pytest.mark.parametrize(
    ("action", "body", "fields"),
    [
        ("approve", {}, {("revision", "required")}),
        ("approve", {"revision": "x"}, {("revision", "invalid")}),
        ("approve", {"revision": 0}, {("revision", "min_value")}),
        ("approve", {"revision": 1, "note": "x" * 501}, {("note", "max_length")}),
        ("approve", {"revision": 1, "reason": "x"}, {("reason", "unknown_field")}),
        ("reject", {"revision": 1}, {("reason", "required")}),
        ("reject", {"revision": 1, "reason": ""}, {("reason", "blank")}),
        ("reject", {}, {("revision", "required"), ("reason", "required")}),
    ],
)
def test_bodies_that_cannot_be_read(desk: Desk, action: str, body: dict[str, Any], fields: set[Any]) -> None:
    order = desk.pending()

    answer = desk.person().api.post(f"{PATH}/{order['id']}/{action}", json=body)

    assert answer.status_code == 400, answer.content
    assert {(one["field"], one["code"]) for one in answer.json()["errors"]} == fields
    assert [one[:3] for one in desk.trade.stored()] == [("pending_approval", 1, 2)]


def test_another_revision_is_refused(desk: Desk) -> None:
    order = desk.pending()
    for action in ("approve", "reject"):
        body = refused(decide(desk.person(), order["id"], action, revision=2), 409, "revision_changed")
        assert body["revision"] == 1
    assert [one[:3] for one in desk.trade.stored()] == [("pending_approval", 1, 2)]


def test_a_supplier_that_takes_no_orders_any_more(desk: Desk) -> None:
    order, ann = desk.pending(), desk.person()
    with tenant_context(desk.trade.shelf.id):
        profile = SupplierProfile.objects.get(tenant_id=desk.trade.shelf.id)
        profile.suspend()
        profile.save_version("qualification_status", at=now())

    assert refused(decide(ann, order["id"]), 409, "supplier_not_qualified")

    assert [one[:3] for one in desk.trade.stored()] == [("pending_approval", 1, 2)]
    assert (desk.rows(), desk.heard()) == ([], [])
    assert done(decide(ann, order["id"], "reject"))["status"] == "draft"


def test_a_relationship_that_stops_orders_meanwhile(desk: Desk) -> None:
    order, ann = desk.pending(), desk.person()
    with tenant_context(desk.trade.buyer.id):
        Relationship.objects.create(tenant_id=desk.trade.buyer.id, supplier_id=desk.trade.shelf.id, blocks=["orders"])

    assert refused(decide(ann, order["id"]), 409, "relationship_blocked")
    assert [one[:3] for one in desk.trade.stored()] == [("pending_approval", 1, 2)]


def test_a_supplier_that_is_closed_meanwhile(desk: Desk) -> None:
    order, ann = desk.pending(), desk.person()
    with connections["platform"].cursor() as cursor:
        for status in ("offboarding", "closed"):
            cursor.execute("UPDATE organizations_tenant SET status = %s WHERE id = %s", [status, desk.trade.shelf.id])

    assert refused(decide(ann, order["id"]), 409, "party_closed")
    assert (desk.rows(), desk.heard()) == ([], [])
    assert done(decide(ann, order["id"], "reject"))["status"] == "draft"


def test_a_managed_supplier_s_order_is_accepted_by_its_last_approval(desk: Desk) -> None:
    made = desk.trade.api.post("/v1/suppliers", json={"legal_name": f"Bakery {uuid7()}", "country": "DE"})
    line = {"description": "Bread rolls", "quantity": 400, "unit_price": "0.35"}
    order = submitted(desk.trade, line, supplier_id=made.json()["data"]["id"])
    assert order["status"] == "pending_approval"

    data = done(decide(desk.person(), order["id"]))

    assert (data["status"], data["order_number"], data["accept_by"]) == ("accepted", "SO-000001", None)
    assert (data["lines"][0]["accepted"], data["lines"][0]["line_status"]) == (400, "accepted")
    assert desk.told() == [SUBMITTED, APPROVED, SENT, "purchase_order.accepted"]
    assert desk.trade.stored()[0][0] == "accepted"


def test_reservations_last_until_the_approval_and_become_hard_by_it(desk: Desk) -> None:
    trade = desk.trade
    trade.shelf.stock(trade.gloves, 5000)
    (held,) = reserve(trade.buyer, trade.shelf, (trade.gloves, 4), ttl_seconds=60)
    order = desk.pending(reservation_ids=[held["id"]])
    (row,) = trade.shelf.reservations()
    assert row.expires_at is not None
    assert (row.kind, 86_000 < (row.expires_at - now()).total_seconds() <= 86_400) == ("soft", True)
    assert [one.expires_at for one in trade.shelf.allocations()] == [row.expires_at]
    assert shelves.copies(trade.buyer)[0].expires_at == row.expires_at

    data = done(decide(desk.person(), order["id"]))

    (row,) = trade.shelf.reservations()
    assert (row.kind, row.status, row.expires_at) == ("hard", "active", None)
    assert str(row.purchase_order_line_id) == data["lines"][0]["id"]
    assert [one.kind for one in trade.shelf.allocations()] == ["hard"]
    assert trade.stored()[0][0] == "sent"


def test_an_approval_that_comes_after_a_day_sends_without_what_was_reserved(desk: Desk) -> None:
    trade = desk.trade
    trade.shelf.stock(trade.gloves, 5000)
    (held,) = reserve(trade.buyer, trade.shelf, (trade.gloves, 4))
    order = desk.pending(reservation_ids=[held["id"]])
    with tenant_context(trade.shelf.id):
        for model in (Reservation, Allocation):
            model.objects.filter(tenant_id=trade.shelf.id).update_versions(expires_at=now(), at=now())

    assert done(decide(desk.person(), order["id"]))["status"] == "sent"
    assert [one.kind for one in trade.shelf.reservations()] == ["soft"]


def test_a_supplier_that_allocates_at_once_does_so_at_the_last_approval(desk: Desk) -> None:
    trade = desk.trade
    trade.shelf.settle(auto_allocate=True)
    order, ann = desk.pending(backorder_policy="refuse"), desk.person()

    body = refused(decide(ann, order["id"]), 409, "insufficient_stock")

    assert [one["pointer"] for one in body["errors"]] == ["/lines/0"]
    assert [one[:3] for one in trade.stored()] == [("pending_approval", 1, 2)]
    assert (desk.rows(), desk.heard(), len(desk.steps())) == ([], [], 1)
    trade.shelf.stock(trade.gloves, 5000)
    assert done(decide(ann, order["id"]))["status"] == "sent"
    assert [(one.kind, one.base_quantity) for one in trade.shelf.reservations()] == [("hard", 1100)]
    assert trade.stored()[0][0] == "sent"


def test_approvals_never_change(desk: Desk) -> None:
    order = desk.pending()
    done(decide(desk.person(), order["id"]))
    (row,) = desk.rows()
    for sql in ("UPDATE procurement_approval SET note = 'x'", "DELETE FROM procurement_approval"):
        with (
            tenant_context(desk.trade.buyer.id),
            pytest.raises(ProgrammingError, match="permission denied"),
            connection.cursor() as cursor,
        ):
            cursor.execute(f"{sql} WHERE id = %s", [row.id])
    assert [one.note for one in desk.rows()] == [row.note]
    twin = {one.attname: getattr(row, one.attname) for one in Approval._meta.concrete_fields} | {
        "id": uuid7(),
        "step": 2,
    }
    others = [{"approver_id": UUID(int=7), "delegated_by_id": row.approver_id}, {"delegated_by_id": UUID(int=7)}]
    for changes in ({}, *others):
        with tenant_context(desk.trade.buyer.id), pytest.raises(IntegrityError, match="procurement_approval_once"):
            Approval(**twin | changes).save(force_insert=True)


def test_an_approval_is_for_what_an_order_is_pending_for() -> None:
    assert Purpose.choices == ApprovalFor.choices


def test_cancel_ends_the_step(desk: Desk) -> None:
    desk.policies(approval_steps=TWO)
    order = desk.pending()
    done(decide(desk.person(), order["id"]))

    assert act(desk.trade, order["id"], "cancel").status_code == 200

    assert desk.steps() == []
    assert desk.trade.stored()[0][0] == "cancelled"
    ended = refused(decide(desk.person(), order["id"]), 409, "invalid_transition")
    assert (ended["from"], ended["action"], ended["allowed"]) == ("cancelled", "approve", [])
