"""/v1/suppliers/me/api-keys: a supplier's administrators make, rotate and revoke the tenant's keys there."""

from typing import Any

from core.db import tenant_context
from ledger.models import Event
from organizations.models import Tenant
from tests.factories import Api, api_key, as_member, provision, suffix

KEYS = "/v1/suppliers/me/api-keys"


def wanted(**more: Any) -> dict[str, Any]:
    return {"name": "Warehouse", "partner": f"partner-{suffix()}", "roles": ["supplier_integration"], **more}


def admin_of(tenant: Tenant) -> Api:
    return as_member(tenant, ["supplier_admin"])


def make(api: Api, **more: Any) -> dict[str, Any]:
    answer = api.post(KEYS, json=wanted(**more))
    assert answer.status_code == 201, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def status_of(text: str, tenant: Tenant) -> int:
    from api.authentication import authenticator

    authenticator()._keys.clear()
    return int(Api(key=text, tenant=tenant).get("/v1/products").status_code)


def told(tenant: Tenant, key: dict[str, Any]) -> list[str]:
    with tenant_context(tenant.id):
        rows = Event.objects.filter(tenant_id=tenant.id, resource_id=key["id"]).order_by("id")
        return list(rows.values_list("type", flat=True))


def test_key_is_made_rotated_and_revoked() -> None:
    tenant = provision("supplier")
    api = admin_of(tenant)

    made = make(api)
    successor = make(api, replaces=made["id"], partner=made["partner"], overlap_hours=1)
    both = [status_of(one["api_key"], tenant) for one in (made, successor)]
    revoked = api.delete(f"{KEYS}/{successor['id']}")

    assert both == [200, 200]
    assert revoked.status_code == 204
    assert status_of(successor["api_key"], tenant) == 401
    assert told(tenant, made) == ["api_key.created", "api_key.rotated"]
    assert told(tenant, successor) == ["api_key.created", "api_key.revoked"]


def test_list_is_a_page_of_the_tenants_keys_without_secrets() -> None:
    tenant, other = provision("supplier"), provision("supplier")
    api = admin_of(tenant)
    made, foreign = make(api), make(admin_of(other))

    data = api.get(f"{KEYS}?limit=5").json()["data"]
    elsewhere = as_member(tenant).get("/v1/api-keys").json()["data"]

    assert (data["page"], data["limit"], data["total"]) == (1, 5, 1)
    assert [one["id"] for one in data["items"]] == [one["id"] for one in elsewhere] == [made["id"]]
    assert "api_key" not in data["items"][0]
    assert api.delete(f"{KEYS}/{foreign['id']}").status_code == 404
    assert status_of(foreign["api_key"], other) == 200


def test_only_administrators_of_suppliers_reach_it() -> None:
    tenant, hospital = provision("supplier"), provision("provider")

    users = as_member(tenant, ["supplier_user"]).post(KEYS, json=wanted())
    machine = Api(key=api_key(tenant, roles=["supplier_integration"]), tenant=tenant).get(KEYS)
    buyer = as_member(hospital, ["supplier_admin"]).get(KEYS)

    assert (users.status_code, users.json()["code"]) == (403, "insufficient_scope")
    assert machine.status_code == 403
    assert (buyer.status_code, buyer.json()["code"]) == (403, "not_a_supplier")


def test_key_never_grants_more_than_its_maker_has() -> None:
    answer = admin_of(provision("supplier")).post(KEYS, json=wanted(roles=["tenant_admin"]))

    assert (answer.status_code, answer.json()["code"]) == (403, "scope_escalation")


def test_replay_shows_no_secret() -> None:
    api = admin_of(provision("supplier"))
    sent, headers = wanted(), {"Idempotency-Key": f"key-{suffix()}"}

    first = api.post(KEYS, json=sent, headers=headers).json()["data"]
    again = api.post(KEYS, json=sent, headers=headers).json()["data"]

    assert first["api_key"].startswith("hpk_live_")
    assert again == {**first, "api_key": None}


def test_key_has_one_role_or_scopes_of_the_role_of_systems() -> None:
    tenant = provision("supplier")
    api = admin_of(tenant)
    given = {"name": "Warehouse", "partner": f"partner-{suffix()}"}

    by_role = api.post(KEYS, json=given | {"role": "supplier_catalog"})
    by_scopes = api.post(KEYS, json=given | {"partner": f"partner-{suffix()}", "scopes": ["catalog:read"]})
    both = api.post(KEYS, json=given | {"role": "supplier_catalog", "roles": ["supplier_catalog"]})
    beyond = api.post(KEYS, json=given | {"partner": f"partner-{suffix()}", "scopes": ["suppliers:keys"]})
    nothing = api.post(KEYS, json=given)

    assert [one.status_code for one in (by_role, by_scopes)] == [201, 201]
    assert by_role.json()["data"]["roles"] == ["supplier_catalog"]
    found = by_scopes.json()["data"]
    assert (found["roles"], found["scopes"]) == (["supplier_integration"], ["catalog.read"])
    assert [(one["field"], one["code"]) for one in both.json()["errors"]] == [("role", "invalid")]
    assert (beyond.status_code, beyond.json()["code"]) == (400, "validation_error")
    assert [(one["field"], one["code"]) for one in nothing.json()["errors"]] == [("roles", "required")]
