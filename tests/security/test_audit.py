"""Group 15, what exists of it: refusals are written down once, facts cannot be changed by anybody who serves requests."""

import pytest
from django.db import DatabaseError, connection, connections, transaction

from core.db import tenant_context
from core.ids import uuid7
from ledger.models import Event
from organizations.models import SecurityLogEntry
from tests import factories
from tests.factories import Api
from tests.security import worlds

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.fixture(scope="module")
def world():
    return worlds.make()


def entries(request_id: str) -> list[SecurityLogEntry]:
    return list(SecurityLogEntry.objects.filter(request_id=request_id))


@pytest.mark.parametrize(
    ("make", "path", "code"),
    [
        (lambda world: Api(tenant=world.tenant), "/v1/products", "not_authenticated"),
        (lambda world: Api(token="e30.e30.x", tenant=world.tenant), "/v1/products", "invalid_token"),
        (lambda world: Api(token=world.token, tenant=uuid7()), "/v1/products", "tenant_forbidden"),
        (
            lambda world: Api(token=factories.bearer(world.person, scopes="openid"), tenant=world.tenant),
            "/v1/products",
            "insufficient_scope",
        ),
        (lambda world: world.api, f"/v1/products/{ABSENT}", "not_found"),
    ],
    ids=["none", "forged", "foreign", "scope", "absent"],
)
def test_refusal_is_written_to_the_security_log_exactly_once(make, path, code, world):
    request_id = f"audit-{factories.suffix()}"
    answer = make(world).get(path, headers={"X-Request-Id": request_id})
    assert answer.json()["code"] == code
    (entry,) = entries(request_id)
    assert (entry.code, entry.route.split(" ")[0], entry.address) == (code, "GET", "127.0.0.1")
    assert "e30.e30" not in str(vars(entry))


def test_refused_write_is_logged_although_its_transaction_was_rolled_back(world):
    request_id = f"audit-{factories.suffix()}"
    answer = world.api.delete(f"/v1/products/{uuid7()}", headers={"X-Request-Id": request_id})
    assert answer.status_code == 404
    assert [entry.code for entry in entries(request_id)] == ["not_found"]


def test_success_is_not_a_refusal(world):
    request_id = f"audit-{factories.suffix()}"
    assert world.api.get("/v1/products", headers={"X-Request-Id": request_id}).status_code == 200
    assert entries(request_id) == []


def test_write_records_exactly_one_fact_with_actor_and_request(world):
    request_id = f"audit-{factories.suffix()}"
    made = world.api.post("/v1/products", json=worlds.product(factories.suffix()), headers={"X-Request-Id": request_id})
    with tenant_context(world.tenant.id):
        (fact,) = Event.objects.filter(tenant_id=world.tenant.id, request_id=request_id)
    assert (fact.type, str(fact.resource_id)) == ("product.created", made.json()["data"]["id"])
    assert (fact.subject_id, fact.membership_id) == (world.person.id, world.membership.id)
    assert world.canary not in str(fact.data)
    assert world.person.email not in str(vars(fact))


TAMPERING = {
    "update": "UPDATE ledger_event SET type = 'x.y'",
    "delete": "DELETE FROM ledger_event",
    "truncate": "TRUNCATE ledger_event",
    "trigger off": "ALTER TABLE ledger_event DISABLE TRIGGER ALL",
    "trigger gone": "DROP TRIGGER hp_append_only ON ledger_event",
    "policy gone": "DROP POLICY hp_own ON ledger_event",
    "replica mode": "SET session_replication_role = replica",
    "table gone": "DROP TABLE ledger_event",
}


@pytest.mark.parametrize("way", TAMPERING)
@pytest.mark.parametrize("alias", ["default", "platform"])
def test_ledger_cannot_be_tampered_with(alias, way, world):
    if alias == "default":
        with pytest.raises(DatabaseError), tenant_context(world.tenant.id), connection.cursor() as cursor:
            cursor.execute(TAMPERING[way])
    else:
        with pytest.raises(DatabaseError), transaction.atomic("platform"), connections["platform"].cursor() as cursor:
            cursor.execute(TAMPERING[way])


@pytest.mark.parametrize("way", ["update", "delete", "truncate"])
def test_not_even_the_owner_changes_a_fact(way, world):
    with (
        pytest.raises(DatabaseError, match="never changed"),
        transaction.atomic("owner"),
        connections["owner"].cursor() as cursor,
    ):
        cursor.execute(TAMPERING[way])
    connections["owner"].close()


def test_security_log_cannot_be_changed(world):
    for statement in (
        "UPDATE organizations_securitylogentry SET code = ''",
        "DELETE FROM organizations_securitylogentry",
    ):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_the_tampering_is_real_without_the_trigger(world):
    """Proof of power: with the trigger taken out, the owner's change goes through (and is rolled back)."""
    with pytest.raises(ZeroDivisionError), transaction.atomic("owner"), connections["owner"].cursor() as cursor:
        cursor.execute(TAMPERING["trigger off"])
        cursor.execute(TAMPERING["update"])
        assert cursor.rowcount > 0
        raise ZeroDivisionError
    connections["owner"].close()
