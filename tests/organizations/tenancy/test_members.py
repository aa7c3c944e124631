"""Members over HTTP: invite, change, remove; nobody grants what he lacks; one administrator always stays."""

from functools import partial

import pytest
from django.utils.dateparse import parse_datetime

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from ledger.public import Event
from organizations.actions.memberships import LastAdministrator, Terms, add_service, change_membership, invite_member
from organizations.models import Location, Membership, Quota, ServiceAccount, User
from tests.factories import Api, as_member, bearer, member, provision, suffix
from tests.races import race


@pytest.fixture
def tenant():
    return provision("provider")


@pytest.fixture
def administrator(tenant):
    return member(tenant, ["tenant_admin"])


@pytest.fixture
def api(tenant, administrator):
    return Api(token=bearer(administrator[0]), tenant=tenant)


def invitation(**more):
    return {"email": f"kari-{suffix()}@example.org", "name": "Kari", "roles": ["tenant_admin"], **more}


def state(membership):
    return (
        Membership.objects.filter(pk=membership.pk)
        .values("roles", "status", "version", "location_ids", "valid_until")
        .get()
    )


def values(change):
    return {name: parse_datetime(value) if name == "valid_until" else value for name, value in change.items()}


def kinds(tenant, resource_id):
    with tenant_context(tenant.id):
        return list(
            Event.objects.filter(tenant_id=tenant.id, resource_id=resource_id)
            .order_by("id")
            .values_list("type", flat=True)
        )


def events_of(tenant, resource_id):
    with tenant_context(tenant.id):
        rows = Event.objects.filter(tenant_id=tenant.id, resource_id=resource_id)
        return str([vars(row) for row in rows])


def seats(tenant):
    with tenant_context(tenant.id):
        return Quota.objects.get(tenant_id=tenant.id, key="users").used


def test_invite_makes_an_invited_member_and_takes_a_seat(tenant, api, administrator):
    wanted = invitation(valid_until="2030-01-01T00:00:00Z")

    response = api.post("/v1/memberships", json=wanted)

    assert response.status_code == 201, response.content
    made = response.json()["data"]
    assert (made["status"], made["roles"], made["valid_until"]) == (
        "invited",
        ["tenant_admin"],
        "2030-01-01T00:00:00.000Z",
    )
    assert (made["subject"]["type"], made["subject"]["email"]) == ("user", wanted["email"])
    assert made["invited_by"] == str(administrator[0].id)
    assert "hpi_" not in response.content.decode()
    assert kinds(tenant, made["id"]) == ["membership.invited"]
    assert seats(tenant) == 2


def test_invited_person_is_no_member_yet(tenant, api):
    made = api.post("/v1/memberships", json=invitation()).json()["data"]
    person = User.objects.get(email=made["subject"]["email"])

    response = Api(token=bearer(person), tenant=tenant).get("/v1/memberships")

    assert (response.status_code, response.json()["code"]) == (403, "tenant_forbidden")


def test_accepted_invitation_counts_and_is_recorded(tenant):
    actor = system_actor(tenant.id)
    with tenant_context(tenant.id):
        terms = Terms(roles=("nurse",))
        membership, token = invite_member(
            actor=actor, email=f"kari-{suffix()}@example.org", name="", terms=terms, at=now()
        )
    password = "correct horse battery staple 42"

    response = Api().post(f"/v1/auth/invitations/{token}/accept", json={"password": password, "name": "Kari"})

    assert response.status_code == 200, response.content
    assert state(membership)["status"] == "active"
    assert kinds(tenant, membership.id) == ["membership.invited", "membership.activated"]


def test_second_invitation_of_the_same_person_is_a_duplicate(tenant, api):
    wanted = invitation()
    api.post("/v1/memberships", json=wanted)

    response = api.post("/v1/memberships", json={**wanted, "email": wanted["email"].upper()})

    assert (response.status_code, response.json()["code"]) == (409, "duplicate")
    assert seats(tenant) == 2


@pytest.mark.parametrize("role", ["prescriber", "org_admin", "supplier_admin", "platform_staff"])
def test_role_beyond_the_own_scopes_is_not_granted(tenant, api, role):
    wanted = invitation(roles=["tenant_admin", role])

    response = api.post("/v1/memberships", json=wanted)

    assert (response.status_code, response.json()["code"]) == (403, "scope_escalation")
    assert not User.objects.filter(email=wanted["email"]).exists()
    assert seats(tenant) == 1


def test_who_holds_more_roles_grants_more(tenant):
    both = as_member(tenant, ["tenant_admin", "prescriber"])

    assert both.post("/v1/memberships", json=invitation(roles=["prescriber"])).status_code == 201


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"roles": ["wizard"]}, "roles"),
        ({"roles": []}, "roles"),
        ({"location_ids": ["01a1fca7-e896-756b-8348-949447efeade"]}, "location_ids"),
        ({"valid_from": "2030-01-02T00:00:00Z", "valid_until": "2030-01-01T00:00:00Z"}, "valid_until"),
        ({"email": "nobody"}, "email"),
        ({"service_account_id": "01a1fca7-e896-756b-8348-949447efeade"}, "email"),
    ],
)
def test_invitation_that_is_not_of_its_form_names_the_field(tenant, api, change, field):
    response = api.post("/v1/memberships", json=invitation(**change))

    assert response.status_code == 400, response.content
    assert [fault["field"] for fault in response.json()["errors"]] == [field]
    assert seats(tenant) == 1


def test_seat_beyond_the_quota_is_refused_and_nothing_is_kept(tenant, api):
    with tenant_context(tenant.id):
        Quota.objects.filter(tenant_id=tenant.id, key="users").update(limit=1)
    wanted = invitation()

    response = api.post("/v1/memberships", json=wanted)

    assert (response.status_code, response.json()["code"], response.json()["limit"]) == (403, "quota_exceeded", 1)
    assert not User.objects.filter(email=wanted["email"]).exists()


def test_service_account_of_the_tenant_is_added_at_once(tenant, api):
    account = ServiceAccount.objects.create(name="Robot", partner="robots", tenant=tenant)

    response = api.post("/v1/memberships", json={"service_account_id": str(account.id), "roles": ["supplier_user"]})

    data = response.json()["data"]
    assert (response.status_code, data["status"], data["subject"]["type"]) == (201, "active", "service")
    assert seats(tenant) == 1


def test_foreign_service_account_is_unknown(api):
    account = ServiceAccount.objects.create(name="Robot", partner="robots", tenant=provision("supplier"))

    response = api.post("/v1/memberships", json={"service_account_id": str(account.id), "roles": ["supplier_user"]})

    assert (response.status_code, response.json()["code"]) == (422, "unknown_service_account")
    assert not account.memberships.exists()


def test_list_shows_the_own_members_only_and_filters(tenant, api, administrator):
    member(provision("supplier"))
    nurse, nursing = member(tenant, ["nurse"])

    everybody = {row["id"] for row in api.get("/v1/memberships").json()["data"]}

    assert everybody == {str(administrator[1].id), str(nursing.id)}
    assert [row["id"] for row in api.get("/v1/memberships?role=nurse").json()["data"]] == [str(nursing.id)]
    assert [row["id"] for row in api.get(f"/v1/memberships?email={nurse.email}").json()["data"]] == [str(nursing.id)]


def test_change_of_roles_counts_at_once(tenant, api):
    person, membership = member(tenant, ["tenant_admin"])
    theirs = Api(token=bearer(person), tenant=tenant)
    assert theirs.get("/v1/memberships").status_code == 200
    with tenant_context(tenant.id):
        place = Location.objects.filter(tenant_id=tenant.id).first()

    response = api.patch(
        f"/v1/memberships/{membership.id}", json={"status": "suspended", "location_ids": [str(place.id)]}
    )

    assert response.status_code == 200, response.content
    assert response.json()["data"]["location_ids"] == [str(place.id)]
    assert theirs.get("/v1/memberships").json()["code"] == "tenant_forbidden"
    assert kinds(tenant, membership.id)[-2:] == ["membership.updated", "membership.suspended"]


def test_taking_a_role_away_needs_no_scope_of_it(tenant, api):
    _, membership = member(tenant, ["prescriber", "nurse"])

    response = api.patch(f"/v1/memberships/{membership.id}", json={"roles": ["nurse"]})

    assert (response.status_code, response.json()["data"]["roles"]) == (200, ["nurse"])


def test_adding_a_role_beyond_the_own_scopes_is_refused(tenant, api):
    _, membership = member(tenant, ["nurse"])
    before = state(membership)

    response = api.patch(f"/v1/memberships/{membership.id}", json={"roles": ["nurse", "prescriber"]})

    assert (response.status_code, response.json()["code"]) == (403, "scope_escalation")
    assert response.json()["scopes"] == ["prescriptions.route", "prescriptions.sign"]
    assert state(membership) == before


@pytest.mark.parametrize("change", [{"roles": ["tenant_admin", "auditor"]}, {"valid_until": "2040-01-01T00:00:00Z"}])
def test_nobody_widens_the_own_membership(api, administrator, change):
    before = state(administrator[1])

    response = api.patch(f"/v1/memberships/{administrator[1].id}", json=change)

    assert (response.status_code, response.json()["code"]) == (403, "separation_of_duties")
    assert state(administrator[1]) == before


def test_foreign_membership_is_not_found(api):
    _, foreign = member(provision("supplier"))
    before = state(foreign)

    changed = api.patch(f"/v1/memberships/{foreign.id}", json={"status": "suspended"})
    removed = api.delete(f"/v1/memberships/{foreign.id}")

    assert (changed.status_code, removed.status_code) == (404, 404)
    assert state(foreign) == before


def test_remove_ends_the_membership_and_gives_the_seat_back(tenant, api):
    person, membership = member(tenant, ["nurse"])

    response = api.delete(f"/v1/memberships/{membership.id}")

    assert (response.status_code, response.content) == (204, b"")
    assert state(membership)["status"] == "revoked"
    assert Api(token=bearer(person), tenant=tenant).get("/v1/me").status_code == 403
    assert seats(tenant) == 1
    assert kinds(tenant, membership.id)[-1] == "membership.revoked"


def test_removed_person_can_be_invited_again(tenant, api):
    person, membership = member(tenant, ["tenant_admin"])
    api.delete(f"/v1/memberships/{membership.id}")

    response = api.post("/v1/memberships", json={"email": person.email, "roles": ["tenant_admin"]})

    assert response.status_code == 201
    assert response.json()["data"]["subject"] == {"type": "user", "email": person.email, "name": ""}


def test_invitation_tells_nothing_of_a_person_of_another_tenant(tenant, api):
    stranger, _ = member(provision("provider"), ["prescriber"])
    nobody = f"nobody-{suffix()}@example.org"

    known, unknown = (
        api.post("/v1/memberships", json=invitation(email=email, name="Dr. B.")) for email in (stranger.email, nobody)
    )
    shown = known.json()["data"]
    path = f"/v1/memberships/{shown['id']}"
    everywhere = [known, api.get("/v1/memberships"), api.get(f"/v1/memberships?email={stranger.email}")]
    everywhere.append(api.patch(path, json={"practitioner_id": "b"}))
    assert api.delete(path).status_code == 204
    everywhere.append(api.get("/v1/memberships?status=revoked"))

    assert shown["subject"] == {"type": "user", "email": stranger.email, "name": "Dr. B."}
    assert set(shown["subject"]) == set(unknown.json()["data"]["subject"])
    for answer in everywhere:
        assert shown["id"] in answer.text
        assert str(stranger.id) not in answer.text
        assert f'"{stranger.name}"' not in answer.text
    assert api.get(f"/v1/memberships?user_id={stranger.id}").json()["data"] == []
    assert str(stranger.id) not in events_of(tenant, shown["id"])


def test_accepted_invitation_shows_the_person(tenant, api):
    actor = system_actor(tenant.id)
    email = f"kari-{suffix()}@example.org"
    with tenant_context(tenant.id):
        terms = Terms(roles=("nurse",))
        membership, token = invite_member(actor=actor, email=email, name="As invited", terms=terms, at=now())
    password = "correct horse battery staple 42"
    assert User.objects.get(email=email).name == ""
    assert Api().post(f"/v1/auth/invitations/{token}/accept", json={"password": password}).status_code == 200

    (row,) = api.get(f"/v1/memberships?email={email}").json()["data"]

    person = User.objects.get(email=email)
    assert row["subject"] == {"type": "user", "id": str(person.id), "email": email, "name": "As invited"}
    assert Membership.objects.get(pk=membership.pk).invited_name == ""
    assert [one["id"] for one in api.get(f"/v1/memberships?user_id={person.id}").json()["data"]] == [row["id"]]


@pytest.mark.parametrize(
    "change", [{"status": "suspended"}, {"roles": ["nurse"]}, {"valid_until": "2020-01-01T00:00:00Z"}]
)
def test_last_administrator_stays_whoever_asks(tenant, administrator, change):
    membership = Membership.objects.get(pk=administrator[1].pk)
    before = state(membership)

    with pytest.raises(LastAdministrator), tenant_context(tenant.id):
        change_membership(actor=system_actor(tenant.id), membership=membership, data=values(change), at=now())

    assert state(administrator[1]) == before


def test_removing_the_last_administrator_says_so(api, administrator):
    response = api.delete(f"/v1/memberships/{administrator[1].id}")

    assert (response.status_code, response.json()["code"]) == (409, "last_administrator")


def test_invited_administrator_does_not_count_as_one(tenant, api, administrator):
    api.post("/v1/memberships", json=invitation())

    assert api.delete(f"/v1/memberships/{administrator[1].id}").json()["code"] == "last_administrator"


def test_two_administrators_removing_each_other_at_once_leave_one(tenant):
    for _ in range(5):
        here = provision("pharmacy")
        (first, one), (second, two) = member(here), member(here)
        by_first, by_second = Api(token=bearer(first), tenant=here), Api(token=bearer(second), tenant=here)

        answers = race(
            partial(by_first.delete, f"/v1/memberships/{two.id}"),
            partial(by_second.delete, f"/v1/memberships/{one.id}"),
        )

        assert sorted(answer.status_code for answer in answers) in ([204, 409], [204, 403])
        assert sorted([state(one)["status"], state(two)["status"]]) == ["active", "revoked"]


def test_two_changes_of_one_version_at_once_let_one_through(tenant, api):
    _, membership = member(tenant, ["nurse"])
    version = f'"{state(membership)["version"]}"'
    path, headers = f"/v1/memberships/{membership.id}", {"If-Match": version}
    body = [{"valid_until": "2030-01-01T00:00:00Z"}, {"valid_until": "2031-01-01T00:00:00Z"}]

    answers = race(
        *(lambda change=change: api.patch(path, json=change, headers=headers).status_code for change in body)
    )

    assert sorted(answers) == [200, 409]


def test_two_invitations_of_one_person_at_once_make_one_membership(tenant, api):
    wanted = invitation()

    answers = race(*(lambda: api.post("/v1/memberships", json=wanted).status_code for _ in range(4)))

    assert sorted(answers) == [201, 409, 409, 409]
    assert Membership.objects.filter(tenant=tenant, user__email=wanted["email"]).count() == 1
    assert seats(tenant) == 2


def test_suspending_the_membership_of_a_service_stops_it(tenant, api):
    account = ServiceAccount.objects.create(name="Robot", partner="robots", tenant=tenant)
    with tenant_context(tenant.id):
        membership = add_service(
            actor=system_actor(tenant.id), account=account, terms=Terms(roles=("buyer",)), at=now()
        )

    response = api.patch(f"/v1/memberships/{membership.id}", json={"status": "suspended"})

    assert (response.status_code, response.json()["data"]["status"]) == (200, "suspended")
