"""What an administrator may hand on: nothing beyond the own scopes, locations and validity; what machines never hold."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction

from core.actor import Actor, Subject, SubjectKind
from core.clock import now, rfc3339
from core.db import tenant_context
from organizations.actions.memberships import Terms, add_known_service
from organizations.models import ApiKey, Membership, OAuthApplication, Role, ServiceAccount, Tenant, User
from organizations.oauth import clients
from organizations.oauth.clients import UngrantableScope
from organizations.queries.scope_holders import holder_call, holder_of
from organizations.roles import NEVER_BY_MACHINES, PLATFORM_ROLES
from tests.factories import Api, as_member, bearer, committed, member, new_api_key, provision, suffix
from tests.organizations.oauth.flows import machine_token

SOON = timedelta(hours=1)
RESERVED = ["prescriptions.sign", "procurement.approve", "procurement.invoices.approve"]


@pytest.fixture
def tenant():
    return provision("provider")


@pytest.fixture
def places(tenant):
    """Two locations of the tenant."""
    api = as_member(tenant)
    made = [api.post("/v1/locations", json={"name": f"Ward {n}", "type": "ward"}) for n in range(2)]
    return [UUID(answer.json()["data"]["id"]) for answer in made]


def limited(tenant, roles=("tenant_admin",), **terms):
    """Return the client of an administrator who is limited, and the membership."""
    person, membership = member(tenant, roles, **terms)
    return Api(token=bearer(person), tenant=tenant), membership


def new_key(api, **more):
    body = {"name": "Warehouse", "partner": f"partner-{suffix()}", "roles": ["supplier_integration"], **more}
    return api.post("/v1/api-keys", json=body)


def invited(api, **more):
    return api.post("/v1/memberships", json={"email": f"x-{suffix()}@example.org", "roles": ["tenant_admin"], **more})


def refused(answer, code="grant_beyond_own", *beyond):
    assert (answer.status_code, answer.json()["code"]) == (403, code), answer.content
    if beyond:
        assert answer.json()["beyond"] == list(beyond)


def terms_of(membership_id):
    row = Membership.objects.get(pk=membership_id)
    return row.location_ids, row.valid_until


# -- locations ---------------------------------------------------------------------------------------------------------


def test_key_has_the_locations_of_its_maker(tenant, places):
    api, _ = limited(tenant, location_ids=(places[0],))

    made = new_key(api).json()["data"]

    assert terms_of(made["membership_id"]) == ([places[0]], None)
    me = Api(key=made["api_key"]).get("/v1/me").json()["data"]
    assert me["membership"]["location_ids"] == [str(places[0])]


def test_invitation_stays_within_the_inviters_locations(tenant, places):
    api, _ = limited(tenant, location_ids=(places[0],))

    for wanted in ({}, {"location_ids": []}, {"location_ids": [places[1]]}, {"location_ids": places}):
        refused(invited(api, **wanted), "grant_beyond_own", "location_ids")
    assert invited(api, location_ids=[places[0]]).status_code == 201


def test_service_account_stays_within_the_locations_of_who_adds_it(tenant, places):
    api, _ = limited(tenant, location_ids=(places[0],))
    account = ServiceAccount.objects.create(name="Robot", partner="robots", tenant=tenant)
    body = {"service_account_id": str(account.id), "roles": ["supplier_user"]}

    refused(api.post("/v1/memberships", json=body), "grant_beyond_own", "location_ids")
    assert api.post("/v1/memberships", json={**body, "location_ids": [places[0]]}).status_code == 201


def test_change_adds_no_locations_beyond_the_own(tenant, places):
    api, _ = limited(tenant, location_ids=(places[0],))
    _, within = member(tenant, ["nurse"], location_ids=(places[0],))

    for wanted in ([], [places[1]], places):
        refused(api.patch(f"/v1/memberships/{within.id}", json={"location_ids": wanted}), "grant_beyond_own")
    assert terms_of(within.id) == ([places[0]], None)


@pytest.mark.parametrize(
    "change",
    [{"roles": ["tenant_admin", "auditor"]}, {"roles": ["auditor"]}, {"status": "suspended"}, {"practitioner_id": "p"}],
)
def test_members_of_other_locations_are_changed_by_others(tenant, places, change):
    api, _ = limited(tenant, ("tenant_admin", "auditor"), location_ids=(places[0],))
    for elsewhere in ((places[1],), tuple(places), ()):
        _, theirs = member(tenant, ["tenant_admin"], location_ids=elsewhere)

        refused(api.patch(f"/v1/memberships/{theirs.id}", json=change), "grant_beyond_own", "location_ids")
        refused(api.delete(f"/v1/memberships/{theirs.id}"), "grant_beyond_own", "location_ids")
        assert Membership.objects.get(pk=theirs.pk).version == theirs.version


def test_keys_of_other_locations_are_rotated_and_revoked_by_others(tenant, places):
    api, _ = limited(tenant, location_ids=(places[0],))
    wide, _ = new_api_key(tenant)

    refused(api.post("/v1/api-keys", json={"replaces": str(wide.id)}), "grant_beyond_own", "location_ids")
    refused(api.delete(f"/v1/api-keys/{wide.id}"), "grant_beyond_own", "location_ids")
    assert ApiKey.objects.get(pk=wide.pk).status == "active"


def test_administrator_of_a_location_works_there(tenant, places):
    api, _ = limited(tenant, ("tenant_admin", "nurse"), location_ids=tuple(places))
    _, nurse = member(tenant, ["nurse"], location_ids=(places[0],))
    path = f"/v1/memberships/{nurse.id}"

    assert api.patch(path, json={"location_ids": [places[1]]}).status_code == 200
    assert api.patch(path, json={"roles": ["nurse", "tenant_admin"]}).status_code == 200
    assert api.patch(path, json={"status": "suspended"}).status_code == 200
    assert api.patch(path, json={"status": "active"}).status_code == 200
    assert api.delete(path).status_code == 204


# -- validity ----------------------------------------------------------------------------------------------------------


def test_key_ends_with_its_makers_membership(tenant):
    until = now() + SOON
    api, _ = limited(tenant, valid_until=until)

    refused(new_key(api, expires_at=rfc3339(now() + timedelta(days=700))), "grant_beyond_own", "expires_at")
    made = new_key(api).json()["data"]
    again = api.post("/v1/api-keys", json={"replaces": made["id"]}).json()["data"]

    assert made["expires_at"] == again["expires_at"] == rfc3339(until)
    assert terms_of(made["membership_id"])[1] == until


def test_rotation_grants_no_time_beyond_the_own(tenant):
    until = now() + SOON
    api, _ = limited(tenant, valid_until=until)
    row, _ = new_api_key(tenant)
    body = {"replaces": str(row.id)}

    refused(
        api.post("/v1/api-keys", json={**body, "expires_at": rfc3339(until + SOON)}), "grant_beyond_own", "expires_at"
    )
    assert api.post("/v1/api-keys", json=body).json()["data"]["expires_at"] == rfc3339(until)


def test_rotation_outlives_no_membership_of_the_key(tenant):
    short, _ = limited(tenant, valid_until=now() + SOON)
    made = new_key(short).json()["data"]
    api = as_member(tenant)

    longer = api.post("/v1/api-keys", json={"replaces": made["id"], "expires_at": rfc3339(now() + timedelta(days=1))})

    assert (longer.status_code, longer.json()["errors"][0]["code"]) == (400, "out_of_range")


@pytest.mark.parametrize("wanted", [None, timedelta(hours=2)])
def test_invitation_ends_with_the_inviters_membership(tenant, wanted):
    until = now() + SOON
    api, _ = limited(tenant, valid_until=until)
    end = {"valid_until": rfc3339(now() + wanted)} if wanted else {}

    refused(invited(api, **end), "grant_beyond_own", "valid_until")
    refused(invited(api, valid_until=None), "grant_beyond_own", "valid_until")
    assert invited(api, valid_until=rfc3339(until)).status_code == 201


def test_change_adds_no_time_beyond_the_own(tenant, places):
    until = now() + SOON
    api, _ = limited(tenant, ("tenant_admin", "nurse"), valid_until=until)
    _, theirs = member(tenant, ["nurse"], valid_until=now() + timedelta(minutes=5), location_ids=(places[0],))
    _, forever = member(tenant, ["nurse"], location_ids=(places[0],), valid_from=now() + timedelta(days=3))
    path = f"/v1/memberships/{theirs.id}"

    for wanted in (None, rfc3339(until + SOON)):
        refused(api.patch(path, json={"valid_until": wanted}), "grant_beyond_own", "valid_until")
    for change in ({"location_ids": []}, {"roles": ["nurse", "tenant_admin"]}, {"valid_from": None}):
        refused(api.patch(f"/v1/memberships/{forever.id}", json=change), "grant_beyond_own", "valid_until")
    assert api.patch(path, json={"valid_until": rfc3339(until)}).status_code == 200
    assert api.patch(f"/v1/memberships/{forever.id}", json={"valid_until": "2060-01-01T00:00:00Z"}).status_code == 200


def test_resuming_a_member_is_granting_what_it_has(tenant):
    api, _ = limited(tenant, valid_until=now() + SOON)
    _, theirs = member(tenant, ["nurse"])
    path = f"/v1/memberships/{theirs.id}"

    assert api.patch(path, json={"status": "suspended"}).status_code == 200
    refused(api.patch(path, json={"status": "active"}), "grant_beyond_own", "valid_until")
    assert as_member(tenant).patch(path, json={"status": "active"}).status_code == 200


def test_first_administrator_of_a_tenant_is_named_by_the_unlimited(tenant, places):
    body = {"name": "North", "kinds": ["provider"], "admin_email": f"n-{suffix()}@example.org"}
    for terms in ({"location_ids": (places[0],)}, {"valid_until": now() + SOON}):
        api, _ = limited(tenant, ("org_admin",), **terms)
        slug = f"north-{suffix()}"

        refused(api.post("/v1/tenants", json={**body, "slug": slug}), "grant_beyond_own")
        assert not Tenant.objects.filter(slug=slug).exists()
    assert not User.objects.filter(email=body["admin_email"]).exists()
    assert (
        as_member(tenant, ["org_admin"]).post("/v1/tenants", json={**body, "slug": f"n-{suffix()}"}).status_code == 201
    )


def test_own_practitioner_is_chosen_by_another(tenant):
    api, own = limited(tenant, ("tenant_admin", "prescriber"))

    refused(api.patch(f"/v1/memberships/{own.id}", json={"practitioner_id": "another"}), "separation_of_duties")


# -- machines ----------------------------------------------------------------------------------------------------------


def robot(tenant, api, roles, **terms):
    """Add a machine client that acts as a member; return the client of its token and its membership's id."""
    account = ServiceAccount.objects.create(name="Robot", partner=f"robots-{suffix()}", tenant=tenant)
    body = {"service_account_id": str(account.id), "roles": roles, **terms}
    membership = api.post("/v1/memberships", json=body).json()["data"]["id"]
    scopes = sorted({scope for role in roles for scope in PLATFORM_ROLES[role]})
    client, secret = committed(
        lambda: clients.register_machine(
            name="Robot", service_account=account, tenant=tenant, allowed_scopes=scopes, at=now()
        )
    )
    committed(lambda: clients.approve(client, by=None, at=now()))
    return Api(token=machine_token(client, secret).json()["access_token"], tenant=tenant), membership


def test_machine_does_not_free_its_maker(tenant, places):
    api, maker = limited(tenant, location_ids=(places[0],), valid_until=now() + SOON)
    end = rfc3339(maker.valid_until)
    machine, _ = robot(tenant, api, ["tenant_admin"], location_ids=[places[0]], valid_until=end)
    path = f"/v1/memberships/{maker.id}"

    for change in ({"location_ids": []}, {"valid_until": None}, {"roles": ["auditor"]}, {"status": "suspended"}):
        refused(machine.patch(path, json=change), "separation_of_duties")
    refused(machine.delete(path), "separation_of_duties")
    assert terms_of(maker.id) == ([places[0]], maker.valid_until)


def test_machine_of_a_machine_does_not_change_the_first_maker(tenant):
    api, maker = limited(tenant)
    first, _ = robot(tenant, api, ["tenant_admin"])
    second, _ = robot(tenant, first, ["tenant_admin"])

    refused(second.patch(f"/v1/memberships/{maker.id}", json={"status": "suspended"}), "separation_of_duties")


def test_machine_changes_no_membership_beyond_its_own(tenant, places):
    unlimited, _ = limited(tenant)
    machine, _ = robot(tenant, unlimited, ["tenant_admin"], valid_until=rfc3339(now() + SOON))
    _, clinician = member(tenant, ["prescriber"], valid_until=now() + timedelta(minutes=9))
    _, longer = member(tenant, ["tenant_admin"])
    _, within = member(tenant, ["tenant_admin"], valid_until=now() + timedelta(minutes=9))

    refused(machine.patch(f"/v1/memberships/{clinician.id}", json={"status": "suspended"}), "scope_escalation")
    refused(machine.delete(f"/v1/memberships/{clinician.id}"), "scope_escalation")
    refused(machine.patch(f"/v1/memberships/{longer.id}", json={"status": "suspended"}), "grant_beyond_own")
    assert machine.patch(f"/v1/memberships/{within.id}", json={"status": "suspended"}).status_code == 200


def test_machine_does_not_prolong_itself(tenant):
    unlimited, _ = limited(tenant)
    machine, own = robot(tenant, unlimited, ["tenant_admin"], valid_until=rfc3339(now() + SOON))

    refused(machine.patch(f"/v1/memberships/{own}", json={"valid_until": None}), "separation_of_duties")
    refused(new_key(machine, expires_at=rfc3339(now() + timedelta(days=2))), "grant_beyond_own", "expires_at")


def test_grant_of_a_key_ends_with_the_key(tenant):
    """A key cannot call these routes today; the rule stands below them, for whatever takes keys tomorrow."""
    row, _ = new_api_key(tenant, ["tenant_admin"], scopes=["memberships.write"], expires_at=now() + SOON)
    account = ServiceAccount.objects.create(name="Robot", partner="robots", tenant=tenant)
    subject = Subject(id=row.membership.service_account_id, kind=SubjectKind.SERVICE, credential=f"key:{row.id}")
    actor = Actor(subject, tenant.id, row.membership_id, scopes=frozenset(["memberships.write"]))

    from organizations.grants import GrantBeyondOwn

    with pytest.raises(GrantBeyondOwn), tenant_context(tenant.id):
        add_known_service(actor=actor, account_id=account.id, terms=Terms(("supplier_user",)), at=now())


@pytest.mark.parametrize("scope", RESERVED)
def test_what_people_answer_for_is_granted_to_no_machine(tenant, scope):
    Role.objects.create(code=f"r{suffix()}", tenant=tenant, name="R", scopes=[scope, "procurement.read"])
    role = Role.objects.get(tenant=tenant)
    holder, _ = member(tenant, ["tenant_admin", role.code])
    api = Api(token=bearer(holder), tenant=tenant)
    account = ServiceAccount.objects.create(name="Robot", partner="robots", tenant=tenant)
    body = {"service_account_id": str(account.id), "roles": [role.code]}
    row, _ = new_api_key(tenant)

    answers = [
        new_key(api, roles=[role.code]),
        new_key(api, roles=[role.code], scopes=[scope]),
        api.post("/v1/memberships", json=body),
        api.patch(f"/v1/memberships/{row.membership_id}", json={"roles": ["supplier_admin", role.code]}),
    ]

    assert [(one.status_code, one.json()["code"]) for one in answers] == [(422, "user_only_scope")] * 4
    assert invited(api, roles=[role.code]).status_code == 201


@pytest.mark.parametrize("scope", RESERVED)
def test_what_people_answer_for_is_on_no_list_of_a_machine(tenant, scope):
    account = ServiceAccount.objects.create(name="Robot", partner="robots", tenant=tenant)
    row, _ = new_api_key(tenant)

    with pytest.raises(UngrantableScope), transaction.atomic():
        clients.register_machine(name="R", service_account=account, tenant=tenant, allowed_scopes=[scope], at=now())
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE organizations_apikey SET scopes = %s WHERE id = %s", [[scope], row.id])
    client, _ = committed(
        lambda: clients.register_machine(name="R", service_account=account, tenant=tenant, allowed_scopes=[], at=now())
    )
    with pytest.raises(IntegrityError), transaction.atomic():
        OAuthApplication.objects.filter(pk=client.pk).update(allowed_scopes=[scope.replace(".", ":", 1)])


def test_machine_with_a_role_of_people_acts_without_it_and_stands_for_nobody(tenant):
    row, text = new_api_key(tenant, ["supplier_admin", "approver"], scopes=["procurement.read", "catalog.read"])

    me = Api(key=text, tenant=tenant).get("/v1/me").json()["data"]

    assert me["scopes"] == ["catalog.read", "procurement.read"]
    from core import pipeline

    with tenant_context(tenant.id):
        for scope, found in (("procurement.approve", False), ("procurement.read", True)):
            (rows,) = pipeline.run([holder_call(tenant.id, row.membership_id, scope)])
            assert (holder_of(rows) is not None) is found


def test_roles_of_machines_hold_nothing_that_people_answer_for():
    assert sorted(NEVER_BY_MACHINES) == RESERVED
    for role in ("integration_service", "supplier_integration", "supplier_admin"):
        assert not NEVER_BY_MACHINES & set(PLATFORM_ROLES[role])


def test_paying_is_granted_to_a_key_by_who_may_pay(tenant):
    plain, payer = as_member(tenant), as_member(tenant, ["tenant_admin", "finance"])
    wanted = {"roles": ["finance"], "scopes": ["procurement.read", "procurement.pay"]}

    refused(new_key(plain, **wanted), "scope_escalation")
    made = new_key(payer, **wanted)

    assert made.json()["data"]["scopes"] == ["procurement.pay", "procurement.read"]
    refused(plain.post("/v1/api-keys", json={"replaces": made.json()["data"]["id"]}), "scope_escalation")
    assert new_key(plain, roles=["finance"], scopes=["procurement.read"]).status_code == 201
