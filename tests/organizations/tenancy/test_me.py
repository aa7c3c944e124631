"""`/v1/me`: the caller as the platform sees him."""

from tests.factories import Api, api_key, as_member, bearer, member, provision, user


def test_member_of_one_tenant_sees_it_without_naming_it():
    tenant = provision("provider")
    person, membership = member(tenant, ["nurse"])

    data = Api(token=bearer(person)).get("/v1/me").json()["data"]

    assert data["subject"] == {"type": "user", "id": str(person.id), "name": person.name, "email": person.email}
    assert data["tenant"]["id"] == str(tenant.id)
    assert data["membership"]["id"] == str(membership.id)
    assert data["roles"] == ["nurse"]
    assert "prescriptions.write" in data["scopes"]
    assert "prescriptions.sign" not in data["scopes"]


def test_member_of_two_tenants_sees_both_and_one_when_named():
    first, second = provision("provider"), provision("supplier")
    person, _ = member(first, ["nurse"])
    member(second, ["supplier_user"], person=person)

    every = Api(token=bearer(person)).get("/v1/me").json()["data"]
    named = Api(token=bearer(person), tenant=second).get("/v1/me").json()["data"]

    assert (every["tenant"], every["membership"], every["roles"], every["scopes"]) == (None, None, [], [])
    assert {one["tenant"]["id"] for one in every["memberships"]} == {str(first.id), str(second.id)}
    assert (named["tenant"]["id"], named["roles"]) == (str(second.id), ["supplier_user"])
    assert len(named["memberships"]) == 1


def test_person_without_a_membership_is_somebody_all_the_same():
    person = user()

    response = Api(token=bearer(person)).get("/v1/me")

    assert response.status_code == 200
    assert response.json()["data"]["memberships"] == []


def test_foreign_tenant_is_forbidden():
    person, _ = member(provision("provider"))

    response = Api(token=bearer(person), tenant=provision("supplier")).get("/v1/me")

    assert (response.status_code, response.json()["code"]) == (403, "tenant_forbidden")


def test_scopes_are_those_of_credential_and_role_together():
    tenant = provision("provider")
    person, _ = member(tenant, ["nurse"])

    data = (
        Api(token=bearer(person, scopes="appointments.read catalog.read"), tenant=tenant).get("/v1/me").json()["data"]
    )

    assert data["scopes"] == ["appointments.read"]


def test_key_sees_its_service_account():
    tenant = provision("supplier")

    data = Api(key=api_key(tenant, partner="Acme")).get("/v1/me").json()["data"]

    assert (data["subject"]["type"], data["subject"]["partner"], data["roles"]) == (
        "service",
        "Acme",
        ["supplier_admin"],
    )


def test_nobody_is_asked_for_a_credential():
    response = Api().get("/v1/me")

    assert response.status_code == 401
    assert "WWW-Authenticate" in response.headers


def test_unknown_parameter_is_refused():
    assert as_member(provision("provider")).get("/v1/me?verbose=1").json()["code"] == "unknown_parameter"
