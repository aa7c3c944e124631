"""Introspection, revocation and userinfo."""

from tests.factories import Client, provision
from tests.organizations.oauth.clients import (
    application,
    grant,
    machine,
    post,
)
from tests.organizations.oauth.flows import error_of, is_alive, machine_token, refreshed


def _introspect(client, secret, text):
    return post("/oauth/introspect", token=text, client_id=client.client_id, client_secret=secret).json()


def test_introspection_tells_the_owner_and_nobody_else(person):
    (client, secret), (other, other_secret) = application(confidential=True), application(confidential=True)
    watcher, watcher_secret = machine(scopes=["locations.read", "introspection"])
    given = grant(person, client, secret)

    facts = _introspect(client, secret, given["access_token"])

    assert (facts["active"], facts["sub"], facts["client_id"]) == (True, str(person.user.id), client.client_id)
    assert _introspect(client, secret, given["refresh_token"])["active"]
    assert _introspect(other, other_secret, given["access_token"]) == {"active": False}
    assert _introspect(other, other_secret, given["refresh_token"]) == {"active": False}
    assert _introspect(watcher, watcher_secret, given["access_token"])["active"]
    for text in ("x", given["id_token"], "hrt_unknown"):
        assert _introspect(client, secret, text) == {"active": False}
    post("/oauth/revoke", token=given["access_token"], client_id=client.client_id, client_secret=secret)
    assert _introspect(client, secret, given["access_token"]) == {"active": False}
    assert _introspect(client, secret, given["refresh_token"]) == {"active": False}


def test_public_clients_may_not_introspect(person):
    client, _ = application()

    assert error_of(post("/oauth/introspect", token="x", client_id=client.client_id)) == (401, "invalid_client")


def test_a_client_cannot_revoke_the_tokens_of_another(person):
    (client, _), (other, _) = application(), application()
    given = grant(person, client)

    for text in (given["access_token"], given["refresh_token"]):
        assert post("/oauth/revoke", token=text, client_id=other.client_id).status_code == 200

    assert is_alive(given["access_token"])
    assert refreshed(client, given["refresh_token"]).status_code == 200


def _userinfo(text, **query):
    return Client(raise_request_exception=False).get(
        "/oauth/userinfo", query, headers={"Authorization": f"Bearer {text}"}
    )


def test_userinfo_needs_openid_and_a_living_token_in_the_header(person):
    client, _ = application()
    plain, whole = grant(person, client, scope="locations.read"), grant(person, client, scope="openid locations.read")
    of_machine = machine_token(*machine(provision("provider"))).json()

    assert _userinfo(whole["access_token"]).json() == {"sub": str(person.user.id)}
    assert "id_token" not in plain
    assert error_of(_userinfo(plain["access_token"])) == (403, "insufficient_scope")
    for text in ("x", whole["id_token"], whole["refresh_token"], of_machine["access_token"]):
        assert error_of(_userinfo(text)) == (401, "invalid_token")
    bare = Client().get("/oauth/userinfo", {"access_token": whole["access_token"]})
    assert (bare.status_code, bare.headers["WWW-Authenticate"]) == (401, "Bearer")
    post("/oauth/revoke", token=whole["access_token"], client_id=client.client_id)
    assert error_of(_userinfo(whole["access_token"])) == (401, "invalid_token")
