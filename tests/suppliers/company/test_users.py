"""/v1/suppliers/me/users: a supplier's administrators list, invite, change and deactivate persons, and nobody else's."""

from typing import Any

import pytest

from bench.statements import recording
from core.clock import now
from core.db import tenant_context
from ledger.models import Event
from organizations.models import Invitation, Membership, User
from organizations.roles import SUPPLIER_ROLES
from tests.factories import Api, api_key, as_member, bearer, member, provision, suffix, user
from tests.races import race

USERS = "/v1/suppliers/me/users"


@pytest.fixture
def tenant() -> Any:
    return provision("supplier")


@pytest.fixture
def api(tenant: Any) -> Api:
    return as_member(tenant, ["supplier_admin"])


def address() -> str:
    return f"u-{suffix()}@example.org"


def saved(api: Api, status: int = 200, **body: Any) -> dict[str, Any]:
    answer = api.post(USERS, json=body)
    assert answer.status_code == status, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def told(tenant: Any, key: str) -> list[tuple[str, Any]]:
    with tenant_context(tenant.id):
        rows = Event.objects.filter(tenant_id=tenant.id, resource_id=key).order_by("id")
        return [(row.type, row.data.get("changed")) for row in rows if row.type.startswith("supplier_user.")]


def held(tenant: Any, email: str) -> Membership:
    return Membership.objects.filter(tenant_id=tenant.id, user__email=email).latest("created_at")


def test_user_is_invited_changed_deactivated_and_activated(tenant: Any, api: Api) -> None:
    email = address()

    invited = saved(api, 201, email=email.upper(), name="Kari", role="supplier_orders")
    same = saved(api, email=email, role="supplier_orders", active=True)
    changed = saved(api, email=email, role="supplier_pricing")

    assert (invited["email"], invited["name"], invited["role"], invited["status"], invited["active"]) == (
        email, "Kari", "supplier_orders", "invited", True,
    )  # fmt: skip
    assert (invited["last_sign_in_at"], invited["accepted_at"], invited["manageable"]) == (None, None, True)
    assert same == invited
    assert (changed["id"], changed["roles"], changed["version"]) == (invited["id"], ["supplier_pricing"], 2)
    assert Invitation.objects.filter(membership_id=invited["id"]).exists()
    assert told(tenant, invited["id"]) == [("supplier_user.invited", None), ("supplier_user.updated", ["role"])]


def test_user_is_changed_by_whoever_has_seen_the_user(tenant: Any, api: Api) -> None:
    body = {"email": address(), "role": "supplier_orders"}
    absent = api.post(USERS, json=body | {"version": 1})
    saved(api, 201, **body)
    changed = body | {"role": "supplier_pricing"}
    stale = api.post(USERS, json=changed, headers={"If-Match": '"99"'})

    assert (absent.status_code, absent.json()["code"], absent.json()["current_version"]) == (
        409,
        "version_conflict",
        None,
    )
    assert (stale.status_code, stale.json()["code"], stale.json()["current_version"]) == (409, "version_conflict", 1)
    assert api.post(USERS, json=changed, headers={"If-Match": '"1"'}).json()["data"]["version"] == 2


def test_member_is_suspended_and_resumed(tenant: Any, api: Api) -> None:
    person, row = member(tenant, ["supplier_user"])
    client = Api(token=bearer(person), tenant=tenant)
    assert client.get("/v1/products").status_code == 200

    off = saved(api, email=person.email, active=False)
    refused = client.get("/v1/products")
    again = saved(api, email=person.email, active=False)
    on = saved(api, email=person.email, active=True)

    assert (off["status"], off["active"], off["id"]) == ("suspended", False, str(row.id))
    assert refused.status_code == 403
    assert again == off
    assert (on["status"], client.get("/v1/products").status_code) == ("active", 200)
    assert told(tenant, str(row.id)) == [("supplier_user.updated", ["active"])] * 2


def test_open_invitation_ends_and_the_person_can_be_invited_anew(tenant: Any, api: Api) -> None:
    email = address()
    first = saved(api, 201, email=email, role="supplier_user")

    ended = saved(api, email=email, active=False)
    second = saved(api, 201, email=email, role="supplier_user")

    assert (ended["id"], ended["status"], ended["active"]) == (first["id"], "revoked", False)
    assert second["id"] != first["id"]


def test_rows_are_those_of_memberships(tenant: Any, api: Api) -> None:
    made = saved(api, 201, email=address(), role="supplier_catalog")

    elsewhere = as_member(tenant).get(f"/v1/memberships?email={made['email']}").json()["data"]

    assert [(one["id"], one["roles"], one["version"]) for one in elsewhere] == [
        (made["id"], ["supplier_catalog"], made["version"])
    ]


def test_stranger_shows_nothing_until_the_invitation_is_accepted(tenant: Any, api: Api) -> None:
    other = provision("provider")
    stranger, _ = member(other, ["nurse"])
    User.objects.filter(pk=stranger.pk).update(last_sign_in_at=now(), name="Real Name")

    before = saved(api, 201, email=stranger.email, name="Typed", role="supplier_user")
    row = held(tenant, stranger.email)
    with tenant_context(tenant.id):
        row.accept(now())
        row.save_version("status", "accepted_at", "invited_name", at=now())
    (after,) = api.get(f"{USERS}?email={stranger.email}").json()["data"]["items"]

    assert (before["name"], before["last_sign_in_at"]) == ("Typed", None)
    assert str(stranger.id) not in str(before)
    assert (after["name"], after["last_sign_in_at"] is not None) == ("Real Name", True)


def test_list_has_pages_filters_and_sorts(tenant: Any, api: Api) -> None:
    member(provision("supplier"), ["supplier_user"])
    api_key(tenant)
    orders = saved(api, 201, email=address(), role="supplier_orders")
    mixed, _ = member(tenant, ["supplier_user", "tenant_admin"])

    def listed(query: str) -> dict[str, Any]:
        answer = api.get(f"{USERS}?{query}")
        assert answer.status_code == 200, answer.content
        found: dict[str, Any] = answer.json()["data"]
        return found

    page = listed("limit=2&sort=created_at")
    assert (page["page"], page["limit"], page["total"], len(page["items"])) == (1, 2, 3, 2)
    assert [one["id"] for one in listed("role=supplier_orders")["items"]] == [orders["id"]]
    assert [one["id"] for one in listed("status=invited")["items"]] == [orders["id"]]
    (other,) = listed(f"email={mixed.email}")["items"]
    assert (other["role"], other["manageable"], sorted(other["roles"])) == (
        None, False, ["supplier_user", "tenant_admin"],
    )  # fmt: skip
    assert api.get(f"{USERS}?roles=x").json()["code"] == "unknown_parameter"
    assert api.get(f"{USERS}?status=gone").json()["code"] == "validation_error"


@pytest.mark.parametrize("roles", [["tenant_admin"], ["supplier_user", "tenant_admin"], ["buyer"]])
@pytest.mark.parametrize("change", [{"role": "supplier_user"}, {"active": False}, {}])
def test_member_with_another_role_is_not_touched(
    tenant: Any, api: Api, roles: list[str], change: dict[str, Any]
) -> None:
    person, row = member(tenant, roles)

    answer = api.post(USERS, json={"email": person.email, **change})

    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    row.refresh_from_db()
    assert (row.roles, row.status, row.version) == (roles, "active", 2)
    assert told(tenant, str(row.id)) == []


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"role": None}, "role", "required"), ({"role": "tenant_admin"}, "role", "invalid_choice"),
        ({"role": "buyer"}, "role", "invalid_choice"), ({"active": False}, "active", "unknown_user"),
        ({"email": "nobody"}, "email", "invalid"), ({"email": None}, "email", "required"), ({"id": "1"}, "id", "unknown_field"),
        ({"status": "active"}, "status", "unknown_field"), ({"roles": ["supplier_admin"]}, "roles", "unknown_field"),
        ({"location_ids": []}, "location_ids", "unknown_field"), ({"accepted_at": "2026-01-01T00:00:00Z"}, "accepted_at", "unknown_field"),
    ],
)  # fmt: skip
def test_body_that_does_not_fit_is_refused(tenant: Any, api: Api, body: dict[str, Any], field: str, code: str) -> None:
    given = {"email": address(), "role": "supplier_user"} | body
    before = Membership.objects.filter(tenant_id=tenant.id).count()

    answer = api.post(USERS, json={name: value for name, value in given.items() if value is not None or name != field})

    assert answer.status_code == 400, answer.content
    assert (field, code) in {(one["field"], one["code"]) for one in answer.json()["errors"]}
    assert Membership.objects.filter(tenant_id=tenant.id).count() == before


def test_name_of_a_user_is_the_persons_own(tenant: Any, api: Api) -> None:
    person, row = member(tenant, ["supplier_user"])

    answer = api.post(USERS, json={"email": person.email, "name": "Other", "role": "supplier_orders"})

    assert [(one["field"], one["code"]) for one in answer.json()["errors"]] == [("name", "field_locked")]
    row.refresh_from_db()
    assert row.roles == ["supplier_user"]
    assert saved(api, email=person.email, name=person.name)["name"] == person.name


def test_last_administrator_stays(tenant: Any) -> None:
    person, row = member(tenant, ["supplier_admin"])
    member(tenant, ["tenant_admin"])
    own = Api(token=bearer(person), tenant=tenant)

    for change in ({"role": "supplier_user"}, {"active": False}):
        answer = own.post(USERS, json={"email": person.email, **change})
        assert (answer.status_code, answer.json()["code"]) == (409, "last_administrator")
    row.refresh_from_db()
    assert (row.roles, row.status) == (["supplier_admin"], "active")

    member(tenant, ["supplier_admin"])
    assert saved(own, email=person.email, active=False)["status"] == "suspended"


def test_two_last_administrators_cannot_remove_each_other(tenant: Any) -> None:
    people = [member(tenant, ["supplier_admin"])[0] for _ in range(2)]
    first, second = (Api(token=bearer(person), tenant=tenant) for person in people)

    answers = race(
        lambda: first.post(USERS, json={"email": people[1].email, "active": False}),
        lambda: second.post(USERS, json={"email": people[0].email, "role": "supplier_user"}),
    )

    assert sorted(answer.status_code for answer in answers) in ([200, 403], [200, 409])
    left = Membership.objects.filter(tenant_id=tenant.id, status="active", roles__contains=["supplier_admin"])
    assert left.count() == 1


def test_nobody_grants_beyond_the_own(tenant: Any) -> None:
    from organizations.models import Role

    Role.objects.create(code="user-keeper", tenant=tenant, name="Keeper", scopes=["suppliers.users"])
    keeper = as_member(tenant, ["user-keeper"])
    email = address()

    answer = keeper.post(USERS, json={"email": email, "role": "supplier_admin"})

    assert (answer.status_code, answer.json()["code"]) == (403, "scope_escalation")
    assert not Membership.objects.filter(tenant_id=tenant.id, user__email=email).exists()


def test_every_supplier_role_can_be_given(tenant: Any, api: Api) -> None:
    for role in SUPPLIER_ROLES:
        assert saved(api, 201, email=address(), role=role)["roles"] == [role]


def test_who_reaches_it(tenant: Any) -> None:
    hospital = as_member(provision("provider"), ["supplier_admin"])
    body = {"email": address(), "role": "supplier_user"}

    for client, code in (
        (as_member(tenant, ["supplier_user"]), "insufficient_scope"), (as_member(tenant), "insufficient_scope"),
        (Api(key=api_key(tenant, roles=["supplier_integration"]), tenant=tenant), "insufficient_scope"),
        (hospital, "not_a_supplier"),
    ):  # fmt: skip
        for answer in (client.get(USERS), client.post(USERS, json=body)):
            assert (answer.status_code, answer.json()["code"]) == (403, code)
    assert not User.objects.filter(email=body["email"]).exists()


def test_member_of_another_tenant_is_somebody_new_here(tenant: Any, api: Api) -> None:
    other = provision("supplier")
    person, foreign = member(other, ["supplier_admin"])

    made = saved(api, 201, email=person.email, role="supplier_user")

    foreign.refresh_from_db()
    assert (foreign.roles, foreign.status) == (["supplier_admin"], "active")
    assert made["id"] != str(foreign.id)


def test_replay_invites_once(tenant: Any, api: Api) -> None:
    headers, body = {"Idempotency-Key": f"key-{suffix()}"}, {"email": address(), "role": "supplier_user"}

    first, again = (api.post(USERS, json=body, headers=headers) for _ in range(2))

    assert (first.status_code, again.status_code, first.json()) == (201, 201, again.json())
    assert Membership.objects.filter(tenant_id=tenant.id, user__email=body["email"]).count() == 1


def test_list_takes_one_trip_whatever_its_length(tenant: Any, api: Api) -> None:
    def trips() -> int:
        with recording() as sent:
            assert api.get(USERS).status_code == 200
        return len(sent)

    first = trips()
    for _ in range(3):
        member(tenant, ["supplier_user"], person=user())
    assert trips() == first == 1
