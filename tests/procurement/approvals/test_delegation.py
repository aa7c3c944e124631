"""Delegated approvals: in whose place, how long, within which places, and never around the separation of duties."""

from typing import Any

import pytest

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from organizations.models import Membership
from tests.factories import as_member, provision
from tests.procurement.approvals.desk import TWO, Desk, Person, decide, done
from tests.procurement.purchasing.orders import PATH, ward
from tests.suppliers.inventory.shelf import refused


def untouched(desk: Desk, answer: Any, status: int, code: str) -> None:
    """Require a refusal that has decided nothing."""
    refused(answer, status, code)
    assert [one[0] for one in desk.trade.stored()] == ["pending_approval"]
    assert desk.rows() == []


def suspend(desk: Desk, person: Person) -> None:
    with tenant_context(desk.trade.buyer.id):
        row = Membership.objects.get(tenant_id=desk.trade.buyer.id, pk=person.membership)
        row.suspend()
        row.save_version("status", at=now())


def test_a_delegate_decides_with_the_right_of_another(desk: Desk) -> None:
    ann, clerk = desk.person(), desk.person("finance")
    order = desk.pending()
    untouched(desk, decide(clerk, order["id"]), 403, "insufficient_scope")
    desk.delegate((ann, clerk))

    data = done(decide(clerk, order["id"]))

    (found,) = data["approvals"]
    assert (found["approver"], found["delegated_by"], found["decision"]) == (
        {"id": clerk.id},
        {"id": ann.id},
        "approved",
    )
    assert data["status"] == "sent"
    assert clerk.id not in str(desk.trade.facts(desk.trade.shelf.tenant))


def test_delegate_and_delegator_are_one_approver(desk: Desk) -> None:
    desk.policies(approval_steps=TWO)
    ann, ben, clerk = desk.person(), desk.person(), desk.person("finance")
    desk.delegate((ann, clerk))
    first, second, third = desk.pending(), desk.pending(), desk.pending()

    done(decide(clerk, first["id"]))
    assert refused(decide(ann, first["id"]), 409, "already_decided")
    assert refused(decide(clerk, first["id"]), 409, "already_decided")
    assert done(decide(ben, first["id"]))["status"] == "sent"
    done(decide(ann, second["id"]))
    assert refused(decide(clerk, second["id"]), 409, "already_decided")
    assert refused(decide(clerk, second["id"], "reject"), 409, "already_decided")
    desk.delegate((ann, clerk), (ben, clerk))
    data = done(decide(clerk, second["id"]))
    assert (data["status"], data["approvals"][0]["delegated_by"]) == ("sent", {"id": ben.id}), "one who has not decided"
    done(decide(clerk, third["id"]))
    assert refused(decide(clerk, third["id"]), 409, "already_decided")
    assert done(decide(ben, third["id"]))["status"] == "sent"


def test_the_own_right_goes_before_a_delegated_one(desk: Desk) -> None:
    ann, ben = desk.person(), desk.person()
    desk.delegate((ann, ben))

    (found,) = done(decide(ben, desk.pending()["id"]))["approvals"]

    assert (found["approver"]["id"], found["delegated_by"]) == (ben.id, None)


def test_nobody_decides_in_the_place_of_an_author_or_as_one(desk: Desk) -> None:
    author, clerk, ann = desk.person("buyer", "approver"), desk.person("finance"), desk.person()
    maker = desk.person("buyer")
    key = author.api.post(PATH, json=desk.trade.body((desk.trade.gloves, 11))).json()["data"]["id"]
    assert author.api.post(f"{PATH}/{key}/submit", json={}).status_code == 200
    desk.delegate((author, clerk))
    for action in ("approve", "reject"):
        untouched(desk, decide(clerk, key, action), 403, "separation_of_duties")
    desk.delegate((author, clerk), (ann, clerk))
    (found,) = done(decide(clerk, key))["approvals"]
    assert found["delegated_by"] == {"id": ann.id}
    desk.delegate((ann, maker))
    own = maker.api.post(PATH, json=desk.trade.body((desk.trade.gloves, 11))).json()["data"]["id"]
    assert maker.api.post(f"{PATH}/{own}/submit", json={}).status_code == 200
    refused(decide(maker, own), 403, "separation_of_duties")


def test_a_delegation_that_does_not_hold(desk: Desk) -> None:
    ann, clerk, buyer = desk.person(), desk.person("finance"), desk.person("buyer")
    order = desk.pending()
    desk.delegate((ann, clerk), hours=-0.01)
    untouched(desk, decide(clerk, order["id"]), 403, "insufficient_scope")
    desk.delegate((buyer, clerk))
    untouched(desk, decide(clerk, order["id"]), 403, "insufficient_scope")
    desk.delegate((clerk, clerk))
    untouched(desk, decide(clerk, order["id"]), 403, "insufficient_scope")
    desk.delegate((ann, desk.person("tenant_admin")))
    untouched(desk, decide(clerk, order["id"]), 403, "insufficient_scope")
    reader = desk.person("tenant_admin")
    desk.delegate((ann, reader))
    untouched(desk, decide(reader, order["id"]), 403, "insufficient_scope")
    desk.delegate((ann, clerk))
    suspend(desk, ann)
    untouched(desk, decide(clerk, order["id"]), 403, "insufficient_scope")


def test_a_delegate_who_is_no_member_any_more(desk: Desk) -> None:
    ann, clerk, order = desk.person(), desk.person("finance"), desk.pending()
    desk.delegate((ann, clerk))
    suspend(desk, clerk)

    untouched(desk, decide(clerk, order["id"]), 403, "tenant_forbidden")


def test_the_places_of_both_hold(desk: Desk) -> None:
    elsewhere = ward(desk.trade.buyer, "Elsewhere")
    bed = ward(desk.trade.buyer, "Bed", parent=desk.trade.ward)
    far, near = desk.person(location_ids=[elsewhere]), desk.person(location_ids=[desk.trade.ward])
    clerk, tied = desk.person("finance"), desk.person("finance", location_ids=[elsewhere])
    order = desk.pending(delivery_location_id=str(bed))
    desk.delegate((far, clerk), (near, tied))
    untouched(desk, decide(clerk, order["id"]), 403, "insufficient_scope")
    untouched(desk, decide(tied, order["id"]), 404, "not_found")
    desk.delegate((far, clerk), (near, clerk))

    (found,) = done(decide(clerk, order["id"]))["approvals"]

    assert found["delegated_by"] == {"id": near.id}


def test_a_member_of_another_tenant_delegates_nothing(desk: Desk) -> None:
    from tests.factories import member

    _, foreign = member(provision("provider"), ["approver"])
    clerk, order = desk.person("finance"), desk.pending()
    desk.delegate((Person(clerk.api, "", foreign.id), clerk))

    untouched(desk, decide(clerk, order["id"]), 403, "insufficient_scope")


@pytest.mark.parametrize(
    ("entry", "field", "code"),
    [
        ({"until": "2026-01-01"}, "until", "invalid"),
        ({"until": "2026-02-30T00:00:00Z"}, "until", "invalid"),
        ({"until": "2026-12-31T23:59:60Z"}, "until", "invalid"),
        ({"until": "0001-01-01T00:00:00+14:00"}, "until", "invalid"),
        ({"from": "x"}, "from", "invalid"),
        ({"to": 5}, "to", "invalid_type"),
        ({"more": 1}, "more", "unknown_field"),
    ],
)
def test_the_policy_is_held_to_its_form(desk: Desk, entry: dict[str, Any], field: str, code: str) -> None:
    whole = {"from": str(uuid7()), "to": str(uuid7()), "until": "2026-12-31T23:59:59Z"} | entry
    path = f"/v1/tenants/{desk.trade.buyer.id}/configuration"

    answer = as_member(desk.tenant).patch(path, json={"policies": {"approval_delegation": [whole]}})

    assert answer.status_code == 400, answer.content
    found = {(one["field"], one["code"]) for one in answer.json()["errors"]}
    assert found == {(f"policies.approval_delegation.0.{field}", code)}


def test_the_other_bounds_of_the_policies(desk: Desk) -> None:
    path, api = f"/v1/tenants/{desk.trade.buyer.id}/configuration", as_member(desk.tenant)
    one = {"from": str(uuid7()), "to": str(uuid7()), "until": "2026-12-31T23:59:59.5+01:00"}
    for values in (
        {"approval_delegation": [one] * 51}, {"approval_overdue_hours": 0}, {"approval_overdue_hours": 721},
        {"approval_delegation": [{"from": str(uuid7())}]},
    ):  # fmt: skip
        assert api.patch(path, json={"policies": values}).status_code == 400, values
    assert api.patch(path, json={"policies": {"approval_delegation": [one] * 50}}).status_code == 200
    assert api.patch(path, json={"policies": {"approval_overdue_hours": 720}}).status_code == 200
    assert decide(desk.person("finance"), desk.pending()["id"]).status_code == 403
