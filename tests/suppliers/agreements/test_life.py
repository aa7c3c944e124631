"""Suspending, resuming and terminating an agreement over HTTP, from both sides, in every state."""

from datetime import date, timedelta
from typing import Any

import pytest

from core import clock
from core.db import tenant_context
from core.invariants import breaches
from ledger.public import Event
from organizations.models import Tenant
from suppliers.agreements.models import AgreementAudience, PriceAgreement, PriceAgreementLine, ReceivedAgreement
from suppliers.agreements.sweeping import expire_agreements
from tests.factories import Api, api_key, as_member, provision
from tests.races import race
from tests.suppliers.agreements.world import BUYING, PATH, World, events, other
from tests.suppliers.products import field_errors

DAY = timedelta(1)
SIDES = ("supplier", "buyer")


def patch(world: World, by: str, key: str, **body: Any) -> Any:
    """Change an agreement as one side."""
    return world.api(by).patch(f"{PATH}/{key}", json=body)


def notice(world: World, by: str, key: str, day: date | str, reason: str = "Another supplier.", **more: Any) -> Any:
    """Give notice as one side."""
    return world.act(by, key, "terminate", json={"notice_date": str(day), "reason": reason}, **more)


def shown(world: World, by: str, key: str) -> dict[str, Any]:
    """Return what one side reads."""
    return dict(world.api(by).get(f"{PATH}/{key}").json()["data"])


def sound(world: World) -> bool:
    """Tell whether every rule holds in both tenants."""
    return not [one for tenant in (world.supplier, world.hospital) for one in breaches(tenant.id)]


def facts(tenant: Tenant, kind: str) -> list[Event]:
    """Return the facts of one type in a tenant."""
    with tenant_context(tenant.id):
        found = Event.objects.filter(tenant_id=tenant.id, type=f"price_agreement.{kind}")
        return list(found.order_by("occurred_at", "id"))


@pytest.mark.parametrize("by", SIDES)
def test_either_side_suspends_and_either_resumes(world: World, by: str) -> None:
    key = world.active()

    rests = patch(world, by, key, status="suspended", reason="Audit.")

    assert rests.status_code == 200, rests.content
    assert (rests.json()["data"]["status"], rests.json()["data"]["reason"]) == ("suspended", "Audit.")
    for side in SIDES:
        found = shown(world, side, key)
        assert (found["status"], found["reason"], found["timeline"][0]["action"]) == (
            "suspended",
            "Audit.",
            "suspended",
        )
        assert found["timeline"][0]["by"] == by
    with tenant_context(world.supplier.id):
        assert not ReceivedAgreement.objects.get(tenant_id=world.supplier.id).in_force
    assert sound(world)
    again = patch(world, other(by), key, status="active")
    assert again.status_code == 200, again.content
    assert [shown(world, side, key)["status"] for side in SIDES] == ["active", "active"]
    assert shown(world, by, key)["reason"] is None
    for tenant in (world.supplier, world.hospital):
        assert events(tenant)[-2:] == ["price_agreement.suspended", "price_agreement.resumed"]
    fact = facts(world.supplier, "resumed")[0]
    assert fact.data == {
        "supplier_id": str(world.supplier.id), "buyer_id": str(world.hospital.id), "agreement_number": "PA-000001",
        "revision": 1, "status": "active", "by": other(by),
    }  # fmt: skip
    assert sound(world)


def test_resuming_is_refused_where_others_have_come_to_hold(world: World) -> None:
    key = world.active()
    assert patch(world, "buyer", key, status="suspended").status_code == 200
    rival = world.active()
    before = world.stored()

    refused = patch(world, "supplier", key, status="active")

    assert (refused.status_code, refused.json()["code"]) == (409, "agreement_overlap")
    assert [one["field"] for one in refused.json()["errors"]] == ["lines.0"]
    assert world.stored() == before
    assert notice(world, "buyer", rival, date.today()).status_code == 200
    assert patch(world, "supplier", key, status="active").status_code == 200
    assert sound(world)


@pytest.mark.parametrize("by", SIDES)
def test_notice_for_a_day_to_come_leaves_the_agreement_as_it_is(world: World, by: str) -> None:
    key, day = world.active(), date.today() + 60 * DAY

    given = notice(world, by, key, day, "Too dear.")

    assert given.status_code == 200, given.content
    for side in SIDES:
        found = shown(world, side, key)
        assert (found["status"], found["terminates_on"], found["reason"]) == ("active", str(day), "Too dear.")
        assert (found["valid_to"], found["ended_at"]) == ("2030-01-01", None)
    with tenant_context(world.supplier.id):
        copy = ReceivedAgreement.objects.get(tenant_id=world.supplier.id)
        assert (copy.in_force, copy.valid_to) == (True, day)
    assert [one.data["terminates_on"] for one in facts(world.hospital, "terminated")] == [str(day)]
    assert facts(world.supplier, "terminated")[0].data["by"] == by
    later = world.body("supplier", valid_from=str(day))
    assert world.active(valid_from=str(day)), later
    assert sound(world)


@pytest.mark.parametrize("days", [0, 60])
@pytest.mark.parametrize("by", SIDES)
def test_notice_declines_a_proposal_that_waits(world: World, by: str, days: int) -> None:
    key, day = world.active(), date.today() + days * DAY
    assert patch(world, "supplier", key, title="Next").status_code == 200
    assert world.act("supplier", key, "propose").status_code == 200

    given = notice(world, by, key, day, "Too dear.")

    assert given.status_code == 200, given.content
    assert given.json()["data"]["terminates_on"] == str(day)
    accepted = world.act("buyer", key, "accept")
    assert (accepted.status_code, accepted.json()["code"]) == (409, "invalid_transition")
    with tenant_context(world.hospital.id):
        versions = PriceAgreement.objects.filter(tenant_id=world.hospital.id).order_by("revision")
        states = list(versions.values_list("status", "reason"))
    assert states == [("active" if days else "terminated", "Too dear."), ("declined", "Too dear.")]
    for tenant in (world.supplier, world.hospital):
        assert sorted(events(tenant)[-2:]) == ["price_agreement.declined", "price_agreement.terminated"]
        assert facts(tenant, "declined")[0].data["by"] == by
    assert sound(world)
    if days:  # what is proposed after the notice can be accepted
        assert patch(world, "supplier", key, title="Later").status_code == 200
        assert world.act("supplier", key, "propose").status_code == 200
        assert world.act("buyer", key, "accept").status_code == 200
        assert shown(world, "buyer", key)["terminates_on"] is None
        assert sound(world)


@pytest.mark.parametrize("by", SIDES)
def test_notice_for_today_ends_at_once(world: World, by: str) -> None:
    key = world.active()
    assert patch(world, by, key, status="suspended").status_code == 200

    given = notice(world, by, key, date.today())

    assert given.status_code == 200, given.content
    for side in SIDES:
        found = shown(world, side, key)
        assert (found["status"], found["terminates_on"]) == ("terminated", str(date.today()))
        assert found["ended_at"]
    with tenant_context(world.supplier.id):
        assert not AgreementAudience.objects.filter(tenant_id=world.supplier.id).exists()
    with tenant_context(world.hospital.id):
        assert not PriceAgreementLine.objects.filter(tenant_id=world.hospital.id, in_force=True).exists()
    assert events(world.supplier)[-1] == "price_agreement.terminated"
    assert world.active()
    assert sound(world)


def test_an_agreement_that_has_not_begun_can_be_terminated(world: World) -> None:
    key = world.active(valid_from=str(date.today() + 90 * DAY))

    assert notice(world, "buyer", key, date.today() + 10 * DAY).status_code == 200

    assert world.active(valid_from=str(date.today()))
    assert shown(world, "buyer", key)["terminates_on"] == str(date.today() + 10 * DAY)
    assert sound(world)


def test_a_notice_is_brought_forward_and_never_put_off(world: World) -> None:
    key = world.active()
    assert notice(world, "buyer", key, date.today() + 60 * DAY).status_code == 200
    before = world.stored()

    for days in (60, 61):
        assert field_errors(notice(world, "supplier", key, date.today() + days * DAY)) == {("notice_date", "max_value")}
    assert world.stored() == before
    assert notice(world, "supplier", key, date.today() + 20 * DAY).status_code == 200
    assert shown(world, "buyer", key)["terminates_on"] == str(date.today() + 20 * DAY)
    assert sound(world)


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({}, {("notice_date", "required"), ("reason", "required")}),
        ({"notice_date": "soon", "reason": "x"}, {("notice_date", "invalid")}),
        ({"notice_date": "2031-01-01", "reason": "x"}, {("notice_date", "max_value")}),
        ({"notice_date": "2030-01-01", "reason": "x"}, {("notice_date", "max_value")}),
        ({"notice_date": "2020-01-01", "reason": "x"}, {("notice_date", "min_value")}),
        ({"notice_date": "2029-01-01", "reason": "x" * 501}, {("reason", "max_length")}),
        ({"notice_date": "2029-01-01", "reason": " "}, {("reason", "blank")}),
        ({"notice_date": "2029-01-01", "reason": "x", "status": "y"}, {("status", "unknown_field")}),
    ],
)
def test_bad_notices_change_nothing(world: World, body: dict[str, Any], errors: set[tuple[str, str]]) -> None:
    key = world.active()
    before = world.stored()

    assert field_errors(world.act("buyer", key, "terminate", json=body)) == errors
    assert world.stored() == before


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({"status": "expired"}, {("status", "invalid_choice")}),
        ({"status": "suspended", "title": "Other"}, {("status", "invalid")}),
        ({"status": "suspended", "lines_mode": "merge"}, {("status", "invalid")}),
        ({"status": "active", "reason": "Because."}, {("reason", "invalid")}),
        ({"reason": "Because."}, {("reason", "invalid")}),
        ({"status": "suspended", "reason": "x" * 501}, {("reason", "max_length")}),
    ],
)
def test_bad_changes_of_status_change_nothing(world: World, body: dict[str, Any], errors: set[tuple[str, str]]) -> None:
    key = world.active()
    before = world.stored()

    assert field_errors(patch(world, "buyer", key, **body)) == errors
    assert world.stored() == before


def state(world: World, name: str) -> str:
    """Bring an agreement into a state; return its id."""
    if name == "draft":
        return world.drafted("buyer")
    if name in ("proposed", "declined"):
        key = world.proposed("supplier")
        if name == "declined":
            assert world.act("buyer", key, "decline", json={}).status_code == 200
        return key
    key = world.active()
    if name == "suspended":
        assert patch(world, "buyer", key, status="suspended").status_code == 200
    if name == "terminated":
        assert notice(world, "buyer", key, date.today()).status_code == 200
    if name == "expired":
        expire_agreements(at=clock.now() + timedelta(days=365 * 6))
    return key


ALLOWED = {
    "draft": {"edit", "propose"},
    "proposed": {"accept", "decline"},
    "active": {"edit", "suspend", "terminate"},
    "suspended": {"edit", "resume", "terminate"},
    "declined": set(),
    "terminated": set(),
    "expired": set(),
}


@pytest.mark.parametrize("by", SIDES)
@pytest.mark.parametrize("name", sorted(ALLOWED))
@pytest.mark.parametrize("action", ["suspend", "resume", "terminate"])
def test_every_action_in_every_state(world: World, by: str, name: str, action: str) -> None:
    key = state(world, name)
    assert shown(world, "buyer", key)["status"] == name
    before = world.stored()

    if action == "terminate":
        answer = notice(world, by, key, date.today() + 9 * DAY)
    else:
        answer = patch(world, by, key, status={"suspend": "suspended", "resume": "active"}[action])

    if name == "draft" and by == "supplier":
        assert answer.status_code == 404
    elif action in ALLOWED[name]:
        assert answer.status_code == 200, answer.content
        assert world.stored() != before
        assert sound(world)
        return
    else:
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (409, "invalid_transition")
        assert (problem["from"], problem["action"], set(problem["allowed"])) == (name, action, ALLOWED[name])
    assert world.stored() == before


def test_the_status_is_that_of_the_accepted_version_beside_an_own_draft(world: World) -> None:
    key = world.active()
    assert patch(world, "buyer", key, title="Next").status_code == 200

    assert patch(world, "buyer", key, status="suspended").status_code == 200

    assert shown(world, "supplier", key)["status"] == "suspended"
    assert world.buyer.get(f"{PATH}/{key}?revision=draft").json()["data"]["title"] == "Next"
    assert notice(world, "buyer", key, date.today()).status_code == 200
    assert shown(world, "supplier", key)["status"] == "terminated"
    assert sound(world)


def test_preconditions_and_repeats(world: World) -> None:
    key = world.active()
    before = world.stored()
    for answer in (
        world.buyer.patch(f"{PATH}/{key}", json={"status": "suspended"}, headers={"If-Match": '"99"'}),
        notice(world, "buyer", key, date.today(), headers={"If-Match": '"99"'}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "version_conflict")
    assert world.stored() == before
    tag = world.seller.get(f"{PATH}/{key}").headers["ETag"]
    once = {"Idempotency-Key": "notice-1", "If-Match": tag}
    first = notice(world, "supplier", key, date.today(), headers=once)
    second = notice(world, "supplier", key, date.today(), headers=once)
    assert (first.status_code, second.status_code) == (200, 200)
    assert second.headers["Idempotency-Replayed"] == "true"
    assert len(facts(world.hospital, "terminated")) == len(facts(world.supplier, "terminated")) == 1


def test_rights_and_strangers(world: World) -> None:
    key = world.active()
    before = world.stored()
    reader = Api(key=api_key(world.supplier, scopes=["pricing:read"]), tenant=world.supplier)
    clerk = as_member(world.hospital, ["buyer"])
    strangers = [Api(key=api_key(one), tenant=one) for one in (provision("supplier"),)]
    strangers.append(as_member(provision("provider"), BUYING))
    body = {"notice_date": str(date.today()), "reason": "x"}

    assert reader.patch(f"{PATH}/{key}", json={"status": "suspended"}).json()["code"] == "insufficient_scope"
    assert reader.post(f"{PATH}/{key}/terminate", json=body).json()["code"] == "insufficient_scope"
    assert clerk.post(f"{PATH}/{key}/terminate", json=body).json()["code"] == "insufficient_scope"
    for stranger in strangers:
        assert stranger.patch(f"{PATH}/{key}", json={"status": "suspended"}).status_code == 404
        assert stranger.post(f"{PATH}/{key}/terminate", json=body).status_code == 404
    assert world.stored() == before


@pytest.mark.parametrize(("zone", "hour", "minute"), [("Asia/Kathmandu", 18, 20), ("Pacific/Kiritimati", 10, 5)])
def test_today_is_the_date_at_the_supplier(
    world: World, monkeypatch: pytest.MonkeyPatch, zone: str, hour: int, minute: int
) -> None:
    """At 18:20 UTC it is tomorrow in Kathmandu (+05:45), at 10:05 UTC in Kiritimati (+14:00)."""
    key = world.active()
    at = clock.now().replace(hour=hour, minute=minute)
    for tenant, place in ((world.supplier, zone), (world.hospital, "America/New_York")):
        Tenant.objects.filter(pk=tenant.id).update(time_zone=place)
    monkeypatch.setattr(clock, "now", lambda: at)

    assert field_errors(notice(world, "buyer", key, at.date())) == {("notice_date", "min_value")}
    assert notice(world, "buyer", key, at.date() + DAY).json()["data"]["status"] == "terminated"


def test_many_at_once_end_it_once(world: World) -> None:
    key = world.active()
    clients = [as_member(world.hospital, BUYING) for _ in range(4)]
    keys = [Api(key=api_key(world.supplier), tenant=world.supplier) for _ in range(4)]
    body = {"notice_date": str(date.today()), "reason": "x"}

    answers = race(*[lambda api=api: api.post(f"{PATH}/{key}/terminate", json=body) for api in (*clients, *keys)])

    assert sorted(one.status_code for one in answers) == [200] + [409] * 7
    assert len(facts(world.hospital, "terminated")) == len(facts(world.supplier, "terminated")) == 1
    assert sound(world)


def test_suspending_and_resuming_at_once_tell_each_change(world: World) -> None:
    key = world.active()
    clients = [as_member(world.hospital, BUYING) for _ in range(4)]
    keys = [Api(key=api_key(world.supplier), tenant=world.supplier) for _ in range(4)]

    def act(api: Api, number: int) -> list[Any]:
        return [
            api.patch(f"{PATH}/{key}", json={"status": ("suspended", "active")[(number + turn) % 2]})
            for turn in range(4)
        ]

    found = race(*[lambda api=api, n=n: act(api, n) for n, api in enumerate((*clients, *keys))])

    codes = [one.status_code for answers in found for one in answers]
    assert set(codes) <= {200, 409}
    changes = [one for one in events(world.supplier) if one.rpartition(".")[2] in ("suspended", "resumed")]
    assert len(changes) == codes.count(200)
    assert changes == [f"price_agreement.{('suspended', 'resumed')[place % 2]}" for place in range(len(changes))]
    assert events(world.hospital)[-len(changes) :] == changes
    assert sound(world)
