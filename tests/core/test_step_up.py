"""A recent second factor, demanded by an endpoint for all objects or by a rule for some."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from api.errors import problem_response, status_of
from core.actor import Actor, Subject, SubjectKind, system_actor
from core.clock import now
from core.ids import uuid7
from core.step_up import StepUpRequired, demand_step_up
from organizations import tokens
from organizations.views.locations import LocationViewSet
from tests.factories import Api, as_member, bearer, member, provision

AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
SECONDS = 300


def person(age_seconds: float | None, *, acr: str = "mfa") -> Subject:
    proved_at = None if age_seconds is None else AT - timedelta(seconds=age_seconds)
    return Subject(id=uuid7(), kind=SubjectKind.USER, credential="session:test", acr=acr, authenticated_at=proved_at)


@pytest.mark.parametrize("age", [-5, 0, 299, 300])
def test_recent_second_factor_passes(age):
    demand_step_up(person(age), SECONDS, at=AT)


@pytest.mark.parametrize(
    "subject",
    [
        person(300.001),
        person(86_400),
        person(1, acr="password"),
        person(None),
        Subject(id=uuid7(), kind=SubjectKind.SERVICE, credential="key:test"),
        system_actor(uuid7()).subject,
    ],
)
def test_old_or_absent_second_factor_is_refused_with_the_challenge(subject):
    with pytest.raises(StepUpRequired) as refusal:
        demand_step_up(subject, SECONDS, at=AT)
    assert refusal.value.extra == {"max_age": SECONDS, "acr_values": "mfa"}
    assert refusal.value.headers == {
        "WWW-Authenticate": 'Bearer error="insufficient_user_authentication", acr_values="mfa", max_age=300'
    }


@dataclass(frozen=True)
class Parcel:
    """An object of this test; some of them are precious."""

    precious: bool


def may_open(actor: Actor, parcel: Parcel, *, at: datetime) -> None:
    """A rule below HTTP: a precious parcel needs a fresh second factor."""
    if parcel.precious:
        demand_step_up(actor.subject, SECONDS, at=at)


def test_rule_demands_it_where_the_object_decides(rf):
    actor = replace(system_actor(uuid7()), subject=person(1, acr="password"))
    may_open(actor, Parcel(precious=False), at=AT)

    with pytest.raises(StepUpRequired) as refusal:
        may_open(actor, Parcel(precious=True), at=AT)

    answer = problem_response(refusal.value, rf.post("/v1/parcels/1/open"))
    assert (status_of(refusal.value), answer.status_code) == (403, 403)
    assert answer.headers["WWW-Authenticate"].endswith("max_age=300")
    may_open(replace(actor, subject=person(1)), Parcel(precious=True), at=AT)


def test_operation_demands_it_before_it_looks_at_the_object(monkeypatch):
    declared = replace(LocationViewSet.operations["partial_update"], step_up_seconds=SECONDS)
    monkeypatch.setitem(LocationViewSet.operations, "partial_update", declared)
    monkeypatch.setattr(
        "tests.factories.hold_to_document", lambda *_: None
    )  # it names what the operation has by itself
    tenant = provision()
    admin, (who, _) = as_member(tenant), member(tenant)
    made = admin.post("/v1/locations", json={"name": "Vault", "type": "room"})
    path = made.headers["Location"]

    refused = Api(token=bearer(who), tenant=tenant).patch(path, json={"name": "Open"})
    unknown = Api(token=bearer(who), tenant=tenant).patch(f"/v1/locations/{uuid7()}", json={"name": "Open"})
    old = tokens.issue_access_token(
        subject_id=who.id,
        subject_kind=SubjectKind.USER,
        client_id=tokens.FIRST_PARTY_CLIENT,
        scopes=None,
        session_id=uuid7(),
        acr="mfa",
        amr=("pwd", "otp"),
        authenticated_at=now() - timedelta(seconds=SECONDS + 1),
        at=now(),
    )
    stale = Api(token=old, tenant=tenant).patch(path, json={"name": "Open"})

    for answer in (refused, unknown, stale):
        body = answer.json()
        assert (answer.status_code, body["code"], body["max_age"]) == (403, "step_up_required", SECONDS)
        assert 'error="insufficient_user_authentication"' in answer.headers["WWW-Authenticate"]
    assert admin.get(path).json()["data"]["name"] == "Vault"
    assert Api(token=bearer(who, acr="mfa"), tenant=tenant).patch(path, json={"name": "Open"}).status_code == 200
