"""Signing keys over HTTP: listed without their value, rotated to another kind, revoked; what a receiver verifies with."""

from uuid import uuid4

import pytest

from bench.receiver import Receiver
from tests.factories import Api, api_key, as_member
from tests.races import race
from tests.webhooks.test_signing import holds
from tests.webhooks.worlds import drain, new_world
from webhooks import signing
from webhooks.models import Secret


def path(endpoint, *more):
    return "/".join([f"/v1/webhooks/{endpoint['id']}", *more])


def secrets(world, endpoint):
    return world.api.get(path(endpoint, "secrets")).json()["data"]["items"]


@pytest.fixture
def endpoint(world, receiver):
    return world.endpoint(receiver.url, events=["product.*"])


def test_secrets_are_listed_newest_first_and_never_with_their_value(world, endpoint):
    rotated = world.api.post(path(endpoint, "rotate-secret"), json={}).json()["data"]
    answer = world.api.get(path(endpoint, "secrets"))
    found = answer.json()["data"]
    assert (found["page"], found["total"]) == (1, 2)
    current, old = found["items"]
    assert set(current) == {"id", "kind", "public_key", "created_at", "expires_at", "last_used_at"}
    assert (current["kind"], current["public_key"], current["expires_at"]) == ("hmac", None, None)
    assert old["expires_at"] > old["created_at"]
    for secret in (endpoint["secret"], rotated["secret"]):
        assert secret.removeprefix("whsec_") not in answer.content.decode()
    by_cursor = as_member(world.tenant).get(path(endpoint, "secrets")).json()
    assert ([row["id"] for row in by_cursor["data"]], by_cursor["has_more"]) == ([current["id"], old["id"]], False)


def test_a_secret_whose_overlap_has_ended_is_not_listed(world, endpoint):
    world.api.post(path(endpoint, "rotate-secret"), json={"overlap_seconds": 0})
    assert len(secrets(world, endpoint)) == 1
    assert len(world.rows(Secret)) == 2


def test_revoking_ends_the_overlap_now(world, endpoint, receiver):
    rotated = world.api.post(path(endpoint, "rotate-secret"), json={}).json()["data"]
    current, old = secrets(world, endpoint)
    answer = world.api.delete(path(endpoint, "secrets", old["id"]))
    assert (answer.status_code, answer.content) == (204, b"")
    assert [row["id"] for row in secrets(world, endpoint)] == [current["id"]]
    (fact,) = world.rows_of_facts("webhook_endpoint.secret_revoked")
    assert fact.data == {"secret_id": old["id"]}
    world.record()
    drain()
    (arrival,) = receiver.received
    assert arrival.verified_by([rotated["secret"]])
    assert not arrival.verified_by([endpoint["secret"]])
    assert world.api.delete(path(endpoint, "secrets", old["id"])).status_code == 404


def test_the_current_secret_cannot_be_revoked(world, endpoint):
    (only,) = secrets(world, endpoint)
    answer = world.api.delete(path(endpoint, "secrets", only["id"]))
    assert (answer.status_code, answer.json()["code"]) == (409, "secret_in_use")
    world.api.post(path(endpoint, "rotate-secret"), json={})
    current, _ = secrets(world, endpoint)
    assert world.api.delete(path(endpoint, "secrets", current["id"])).json()["code"] == "secret_in_use"
    assert len(secrets(world, endpoint)) == 2
    assert world.rows_of_facts("webhook_endpoint.secret_revoked") == []


def test_two_that_revoke_one_secret_at_once_end_it_once(world, endpoint):
    world.api.post(path(endpoint, "rotate-secret"), json={})
    _, old = secrets(world, endpoint)

    def revoke():
        client = Api(key=world.api.headers["X-API-Key"], tenant=world.tenant)
        return client.delete(path(endpoint, "secrets", old["id"])).status_code

    assert sorted(race(revoke, revoke)) == [204, 404]
    assert len(world.rows_of_facts("webhook_endpoint.secret_revoked")) == 1


def test_secrets_of_others_are_not_found(world, endpoint):
    other = world.endpoint("http://127.0.0.1:9/")
    (foreign,) = secrets(world, other)
    assert world.api.delete(path(endpoint, "secrets", foreign["id"])).status_code == 404
    stranger = new_world()
    (mine,) = secrets(world, endpoint)
    assert stranger.api.get(path(endpoint, "secrets")).status_code == 404
    assert stranger.api.delete(path(endpoint, "secrets", mine["id"])).status_code == 404
    assert stranger.api.delete(path(endpoint, "secrets", str(uuid4()))).status_code == 404
    assert len(secrets(world, endpoint)) == len(secrets(world, other)) == 1


def test_reading_and_revoking_demand_their_scopes(world, endpoint):
    (only,) = secrets(world, endpoint)
    reader = Api(key=api_key(world.tenant, scopes=["webhooks:read"]), tenant=world.tenant)
    assert reader.get(path(endpoint, "secrets")).status_code == 200
    assert reader.delete(path(endpoint, "secrets", only["id"])).json()["code"] == "insufficient_scope"
    nobody = Api(key=api_key(world.tenant, scopes=["catalog:read"]), tenant=world.tenant)
    assert nobody.get(path(endpoint, "secrets")).json()["code"] == "insufficient_scope"


def test_asymmetric_endpoint_shows_a_public_key_and_never_a_secret(world):
    with Receiver() as receiver:
        made = world.endpoint(receiver.url, events=["product.*"], signature="ed25519")
        assert made["signature"] == "ed25519"
        assert "secret" not in made
        (listed,) = secrets(world, made)
        assert (listed["kind"], listed["public_key"]) == ("ed25519", made["public_key"])
        world.record()
        drain()
        (arrival,) = receiver.received
        assert holds(made["public_key"], arrival.headers, arrival.body)
        assert not holds(signing.public_key_text(signing.new_signing_key()), arrival.headers, arrival.body)


def test_rotation_to_another_kind_satisfies_both_receivers_during_the_overlap(world, endpoint, receiver):
    rotated = world.api.post(path(endpoint, "rotate-secret"), json={"signature": "ed25519"}).json()["data"]
    assert (rotated["signature"], "secret" in rotated) == ("ed25519", False)
    world.record()
    drain()
    (arrival,) = receiver.received
    assert arrival.verified_by([endpoint["secret"]])
    assert holds(rotated["public_key"], arrival.headers, arrival.body)
    again = world.api.post(path(endpoint, "rotate-secret"), json={}).json()["data"]
    assert again["signature"] == "ed25519", "a rotation keeps to the kind unless it is told"
    assert [row["kind"] for row in secrets(world, endpoint)] == ["ed25519", "ed25519", "hmac"]


def test_replayed_rotation_keeps_the_public_key_and_hides_the_secret(world, endpoint):
    first = world.api.post(path(endpoint, "rotate-secret"), json={}, headers={"Idempotency-Key": "r1"})
    again = world.api.post(path(endpoint, "rotate-secret"), json={}, headers={"Idempotency-Key": "r1"})
    assert (again["Idempotency-Replayed"], again.json()["data"]["secret"]) == ("true", None)
    assert first.json()["data"]["secret"].startswith("whsec_")
    assert len(world.rows(Secret)) == 2


def test_signature_is_no_member_of_a_change(world, endpoint):
    answer = world.api.patch(path(endpoint), json={"signature": "ed25519"})
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_field")
    assert world.api.post(path(endpoint, "rotate-secret"), json={"signature": "rsa"}).status_code == 400
    assert len(world.rows(Secret)) == 1
