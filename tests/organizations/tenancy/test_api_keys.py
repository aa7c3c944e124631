"""API keys over HTTP: made, used, rotated with an overlap, revoked; the secret is shown once."""

from datetime import timedelta

import pytest

from core.clock import now
from core.db import tenant_context
from ledger.public import Event
from organizations import api_key_format, authentication, usage
from organizations.models import ApiKey, Membership, Quota
from tests.factories import Api, as_member, new_api_key, provision, suffix
from tests.races import race


@pytest.fixture
def tenant():
    return provision("supplier")


@pytest.fixture
def api(tenant):
    return as_member(tenant)


def wanted(**more):
    return {"name": "Warehouse", "partner": f"partner-{suffix()}", "roles": ["supplier_integration"], **more}


def make(api, **more):
    response = api.post("/v1/api-keys", json=wanted(**more))
    assert response.status_code == 201, response.content
    return response.json()["data"]


def works(text, tenant):
    gate_cache_is_cold()
    return Api(key=text, tenant=tenant).get("/v1/me").status_code


def gate_cache_is_cold():
    from api.authentication import authenticator as current

    current()._keys.clear()


def used(tenant):
    with tenant_context(tenant.id):
        return Quota.objects.get(tenant_id=tenant.id, key="api_keys").used


def kinds(tenant, resource_id):
    with tenant_context(tenant.id):
        return list(
            Event.objects.filter(tenant_id=tenant.id, resource_id=resource_id)
            .order_by("id")
            .values_list("type", flat=True)
        )


def test_new_key_has_the_form_of_the_contract_and_works(tenant, api):
    made = make(api)

    plain = api_key_format.parse(made["api_key"])
    assert plain is not None
    assert made["prefix"] == f"hpk_live_{made['key_id']}" == made["api_key"][:17]
    assert (made["last4"], made["status"], made["roles"]) == (made["api_key"][-4:], "active", ["supplier_integration"])
    assert works(made["api_key"], tenant) == 200
    assert kinds(tenant, made["id"]) == ["api_key.created"]
    assert used(tenant) == 1


def test_key_of_a_sandbox_says_so():
    made = make(as_member(provision("supplier", environment="sandbox")))

    assert made["api_key"].startswith("hpk_test_")


def test_secret_is_never_stored_nor_shown_again(tenant, api):
    made = make(api)
    secret = api_key_format.parse(made["api_key"]).secret
    row = ApiKey.objects.get(pk=made["id"])

    assert secret not in str(vars(row))
    assert secret not in api.get("/v1/api-keys").content.decode()
    assert "digest" not in api.get("/v1/api-keys").content.decode()


def test_replay_of_a_creation_keeps_the_secret_back(api):
    body, headers = wanted(), {"Idempotency-Key": suffix()}

    first = api.post("/v1/api-keys", json=body, headers=headers).json()["data"]
    second = api.post("/v1/api-keys", json=body, headers=headers).json()["data"]

    assert second["id"] == first["id"]
    assert second.get("api_key") != first["api_key"]


def test_creation_names_no_address_since_a_key_is_not_read_alone(api):
    created = api.post("/v1/api-keys", json=wanted())

    assert (created.status_code, created.headers.get("ETag")) == (201, '"1"')
    assert "Location" not in created.headers


def test_creation_answers_the_chosen_fields_and_the_key(api):
    created = api.post("/v1/api-keys?fields=name", json=wanted())

    assert set(created.json()["data"]) == {"id", "name", "api_key"}


def test_key_acts_with_its_scopes_only(tenant, api):
    made = make(api, scopes=["catalog:read"])

    me = Api(key=made["api_key"]).get("/v1/me").json()["data"]

    assert made["scopes"] == ["catalog.read"]
    assert me["scopes"] == ["catalog.read"]
    assert me["subject"]["type"] == "service"


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"scopes": ["procurement.pay"]}, 400, "validation_error"),
        ({"roles": ["wizard"]}, 400, "validation_error"),
        ({"roles": ["prescriber"], "scopes": ["prescriptions.sign"]}, 422, "user_only_scope"),
        ({"roles": ["prescriber"], "scopes": ["prescriptions.read"]}, 403, "scope_escalation"),
        ({"roles": ["org_admin"]}, 403, "scope_escalation"),
        ({"allowed_cidrs": ["10.0.0.1/8"]}, 400, "validation_error"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, 400, "validation_error"),
        ({"expires_at": "2099-01-01T00:00:00Z"}, 400, "validation_error"),
        ({"overlap_hours": 169}, 400, "validation_error"),
        ({"name": ""}, 400, "validation_error"),
    ],
)
def test_key_that_may_not_be_made_leaves_nothing_behind(tenant, api, change, status, code):
    response = api.post("/v1/api-keys", json=wanted(**change))

    assert (response.status_code, response.json()["code"]) == (status, code), response.content
    assert not ApiKey.objects.filter(tenant=tenant).exists()
    assert used(tenant) == 0


def test_key_beyond_the_quota_is_refused(tenant, api):
    with tenant_context(tenant.id):
        Quota.objects.filter(tenant_id=tenant.id, key="api_keys").update(limit=1)
    make(api)

    response = api.post("/v1/api-keys", json=wanted())

    assert (response.status_code, response.json()["code"]) == (403, "quota_exceeded")
    assert ApiKey.objects.filter(tenant=tenant).count() == 1


def test_rotation_lets_both_keys_work_until_the_overlap_ends(tenant, api):
    old = make(api, scopes=["catalog.read"])

    response = api.post("/v1/api-keys", json={"replaces": old["id"], "overlap_hours": 2})

    new = response.json()["data"]
    assert response.status_code == 201, response.content
    assert (new["rotated_from_id"], new["scopes"], new["partner"]) == (old["id"], ["catalog.read"], old["partner"])
    listed = {row["id"]: row for row in api.get("/v1/api-keys").json()["data"]}
    assert (listed[old["id"]]["status"], listed[old["id"]]["replaced_by_id"]) == ("rotating", new["id"])
    assert [works(key["api_key"], tenant) for key in (old, new)] == [200, 200]
    assert kinds(tenant, old["id"])[-1] == "api_key.rotated"
    assert used(tenant) == 1

    ApiKey._base_manager.filter(pk=old["id"]).update(overlap_ends_at=now() - timedelta(seconds=1))

    assert [works(key["api_key"], tenant) for key in (old, new)] == [401, 200]
    assert [row["id"] for row in api.get("/v1/api-keys?status=expired").json()["data"]] == [old["id"]]


def test_rotation_without_overlap_stops_the_old_key_at_once(tenant, api):
    old = make(api)

    new = api.post("/v1/api-keys", json={"replaces": old["id"], "overlap_hours": 0}).json()["data"]

    assert [works(key["api_key"], tenant) for key in (old, new)] == [401, 200]


def test_rotation_never_widens_nor_changes_the_holder(tenant, api):
    old = make(api, roles=["supplier_user"])

    wider = api.post("/v1/api-keys", json={"replaces": old["id"], "roles": ["supplier_admin"]})
    sold = api.post("/v1/api-keys", json={"replaces": old["id"], "partner": "somebody else"})

    assert [fault["code"] for answer in (wider, sold) for fault in answer.json()["errors"]] == [
        "roles_widened",
        "partner_changed",
    ]
    assert ApiKey.objects.get(pk=old["id"]).status == "active"


def test_rotation_of_a_foreign_key_is_not_found(api):
    foreign, text = new_api_key(provision("supplier"))

    response = api.post("/v1/api-keys", json={"replaces": str(foreign.id)})

    assert response.status_code == 404
    assert ApiKey.objects.get(pk=foreign.pk).status == "active"
    assert works(text, foreign.tenant_id) == 200


def test_rotation_by_four_at_once_makes_one_successor(tenant, api):
    old = make(api)

    answers = race(*(lambda: api.post("/v1/api-keys", json={"replaces": old["id"]}).status_code for _ in range(4)))

    assert sorted(answers) == [201, 409, 409, 409]
    assert ApiKey.objects.filter(rotated_from_id=old["id"]).count() == 1


def test_key_in_use_never_fails_while_it_is_rotated(tenant, api):
    old = make(api)
    gate_cache_is_cold()

    def use():
        return {Api(key=old["api_key"], tenant=tenant).get("/v1/me").status_code for _ in range(15)}

    *uses, rotated = race(use, use, lambda: api.post("/v1/api-keys", json={"replaces": old["id"]}).status_code)

    assert uses == [{200}, {200}]
    assert rotated == 201


def test_revoked_key_stops_at_once_although_it_was_cached(tenant, api):
    made = make(api)
    client = Api(key=made["api_key"], tenant=tenant)
    assert client.get("/v1/me").status_code == 200

    response = api.delete(f"/v1/api-keys/{made['id']}")

    assert response.status_code == 204
    assert (client.get("/v1/me").status_code, client.get("/v1/me").json()["code"]) == (401, "invalid_token")
    assert Membership.objects.get(pk=made["membership_id"]).status == "revoked"
    assert used(tenant) == 0
    assert kinds(tenant, made["id"])[-1] == "api_key.revoked"


def test_revoking_one_key_of_a_line_leaves_the_other(tenant, api):
    old = make(api)
    new = api.post("/v1/api-keys", json={"replaces": old["id"]}).json()["data"]

    api.delete(f"/v1/api-keys/{old['id']}")

    assert [works(key["api_key"], tenant) for key in (old, new)] == [401, 200]
    assert used(tenant) == 1


def test_revoking_twice_or_a_foreign_key_is_refused(api):
    made = make(api)
    foreign, _ = new_api_key(provision("supplier"))
    api.delete(f"/v1/api-keys/{made['id']}")

    assert api.delete(f"/v1/api-keys/{made['id']}").status_code == 409
    assert api.delete(f"/v1/api-keys/{foreign.id}").status_code == 404
    assert ApiKey.objects.get(pk=foreign.pk).status == "active"


def test_suspended_membership_stops_its_key(tenant, api):
    made = make(api)

    api.patch(f"/v1/memberships/{made['membership_id']}", json={"status": "suspended"})

    assert works(made["api_key"], tenant) in (401, 403)


def test_key_from_a_wrong_network_is_refused(tenant, api):
    here = make(api, allowed_cidrs=["127.0.0.0/8"])
    elsewhere = make(api, allowed_cidrs=["192.0.2.0/24"])

    assert works(here["api_key"], tenant) == 200
    assert works(elsewhere["api_key"], tenant) == 403


@pytest.mark.parametrize("fault", ["checksum", "secret", "unknown", "empty"])
def test_key_that_is_none_of_ours_is_unauthenticated(tenant, api, fault):
    text = make(api)["api_key"]
    plain = api_key_format.parse(text)
    wrong = {
        "checksum": text[:-1] + ("0" if text[-1] != "0" else "1"),
        "secret": api_key_format.PlainKey("live", plain.key_id, "0" * 32).text,
        "unknown": api_key_format.new_key().text,
        "empty": "hpk_live_",
    }[fault]

    response = Api(key=wrong, tenant=tenant).get("/v1/me")

    assert (response.status_code, response.json()["code"]) == (401, "invalid_token")


def test_use_is_counted_outside_the_request(tenant, api):
    made = make(api)
    usage._uses.clear()
    client = Api(key=made["api_key"], tenant=tenant)
    for _ in range(3):
        client.get("/v1/me")

    row = ApiKey.objects.get(pk=made["id"])
    assert (row.use.usage_count, row.use.last_used_ip) == (1, "127.0.0.1")
    (shown,) = (one for one in api.get("/v1/api-keys").json()["data"] if one["id"] == made["id"])
    assert (shown["usage_count"], shown["last_used_ip"], bool(shown["last_used_at"])) == (1, "127.0.0.1", True)
    assert row.version == 1
    assert authentication.KEY_SECONDS <= usage.EVERY_SECONDS
