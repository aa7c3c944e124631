"""Codes, refresh tokens and machine tokens: what is refused, what is good once, and what dies with what."""

import base64
import threading
from datetime import timedelta

import jwt
import pytest
from django.db import connection, transaction
from django.test import Client

from core.clock import now
from organizations import tokens
from organizations.models import AuthorizationGrant, OAuthApplication, RefreshToken, SignInSession
from organizations.oauth import clients, scopes
from organizations.oauth.validators import is_live
from organizations.roles import NEVER_BY_MACHINES, SCOPES
from tests.factories import provision
from tests.organizations.oauth.clients import (
    CALLBACK,
    Browser,
    application,
    grant,
    machine,
    pkce,
    post,
    request_of,
    token,
)


def _exchange(client, code, verifier, /, **changes):
    form = {
        "grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "client_id": client.client_id,
        "code_verifier": verifier, **changes,
    }  # fmt: skip
    return token(**{name: value for name, value in form.items() if value is not None})


def _code(person, client):
    browser, (verifier, challenge) = Browser(), pkce()
    browser.sign_in(person)
    return browser.authorize(request_of(client, challenge))["code"], verifier


def _refresh(client, refresh_token, **more):
    return token(grant_type="refresh_token", refresh_token=refresh_token, client_id=client.client_id, **more)


def _lives(access_token):
    return is_live(tokens.verify(access_token))


def _error(response):
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["Cache-Control"] == "no-store"
    return response.status_code, response.json()["error"]


@pytest.mark.parametrize("verifier", ["x" * 50, "", None, "v" * 5000])
def test_a_wrong_verifier_is_refused(person, verifier):
    client, _ = application()
    code, _ = _code(person, client)

    assert _error(_exchange(client, code, verifier)) in [(400, "invalid_grant"), (400, "invalid_request")]


@pytest.mark.parametrize(
    "changes",
    [
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": f"{CALLBACK}/"},
        {"redirect_uri": None},
        {"code": "guess"},
    ],
    ids=str,
)
def test_a_code_is_bound_to_its_request(person, changes):
    client, _ = application()
    code, verifier = _code(person, client)

    refused = _exchange(client, code, verifier, **changes)

    if changes == {"redirect_uri": None}:  # the only one that is registered stands for it
        assert refused.status_code == 200
    else:
        assert _error(refused)[0] == 400


def test_a_code_of_another_client_is_refused(person):
    (client, _), (other, _) = application(), application()
    code, verifier = _code(person, client)

    assert _error(_exchange(other, code, verifier)) == (400, "invalid_grant")
    assert _exchange(client, code, verifier).status_code == 200


def test_an_expired_code_is_refused(person):
    client, _ = application()
    code, verifier = _code(person, client)
    AuthorizationGrant.objects.filter(user=person.user).update(expires=now())

    assert _error(_exchange(client, code, verifier)) == (400, "invalid_grant")


def test_the_code_of_a_deactivated_person_is_refused(person):
    client, _ = application()
    code, verifier = _code(person, client)
    person.user.is_active = False
    person.user.save(update_fields=["is_active"])

    assert _error(_exchange(client, code, verifier)) == (400, "invalid_grant")


def test_a_replayed_code_ends_what_it_gave(person):
    client, _ = application()
    code, verifier = _code(person, client)
    given = _exchange(client, code, verifier).json()
    assert _lives(given["access_token"])

    assert _error(_exchange(client, code, verifier)) == (400, "invalid_grant")

    assert not _lives(given["access_token"])
    assert _error(_refresh(client, given["refresh_token"])) == (400, "invalid_grant")


def test_one_code_used_by_many_at_once_gives_one_session_at_most(person):
    client, _ = application()
    code, verifier = _code(person, client)
    answers = []

    def use():
        answers.append(_exchange(client, code, verifier).status_code)
        connection.close()

    threads = [threading.Thread(target=use) for _ in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]

    assert sorted(answers) == [200] + [400] * 5
    assert SignInSession.objects.get(client_id=client.client_id).end_reason == "code_replayed"


def test_codes_and_secrets_are_stored_as_digests(person):
    client, secret = application(confidential=True)
    code, _ = _code(person, client)

    assert not AuthorizationGrant.objects.extra(where=["code = %s"], params=[code]).exists()
    assert AuthorizationGrant.objects.filter(code=code).exists()
    assert OAuthApplication.objects.get(pk=client.pk).client_secret.startswith("sha256_client_secret$$")
    assert secret not in OAuthApplication.objects.get(pk=client.pk).client_secret


def test_refresh_keeps_the_session_and_may_narrow_the_scope(person):
    client, _ = application()
    first = grant(person, client)

    second = _refresh(client, first["refresh_token"], scope="locations.read").json()

    assert second["scope"] == "locations.read"
    assert tokens.verify(second["access_token"]).scope == frozenset({"locations.read"})
    assert tokens.verify(second["access_token"]).sid == tokens.verify(first["access_token"]).sid
    widened = _refresh(client, second["refresh_token"], scope="locations.read prescriptions.sign")
    assert _error(widened) == (400, "invalid_scope")


def test_a_refresh_token_of_another_client_is_refused_and_does_no_harm(person):
    (client, _), (other, _) = application(), application()
    given = grant(person, client)

    assert _error(_refresh(other, given["refresh_token"])) == (400, "invalid_grant")
    assert _refresh(client, given["refresh_token"]).status_code == 200


def test_first_party_and_client_refresh_tokens_do_not_mix(person):
    client, _ = application()
    own = person.sign_in().json()

    assert _error(_refresh(client, own["refresh_token"])) == (400, "invalid_grant")


def test_parallel_refreshes_get_one_answer_and_the_session_lives(person):
    client, _ = application()
    for _ in range(6):
        first, barrier, answers = grant(person, client), threading.Barrier(3), []

        def refresh(first=first, barrier=barrier, answers=answers):
            barrier.wait()
            answers.append(_refresh(client, first["refresh_token"]))
            connection.close()

        threads = [threading.Thread(target=refresh) for _ in range(3)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]

        assert [answer.status_code for answer in answers] == [200] * 3
        assert len({(answer.json()["refresh_token"], answer.json()["access_token"]) for answer in answers}) == 1
        assert _refresh(client, answers[0].json()["refresh_token"]).status_code == 200
        assert _lives(first["access_token"])


def test_a_replayed_refresh_token_ends_the_family(person):
    client, _ = application()
    first = grant(person, client)
    second = _refresh(client, first["refresh_token"]).json()
    RefreshToken.objects.filter(session__client_id=client.client_id, used_at__isnull=False).update(
        used_at=now() - timedelta(seconds=11)
    )

    assert _error(_refresh(client, first["refresh_token"])) == (400, "invalid_grant")
    assert _error(_refresh(client, second["refresh_token"])) == (400, "invalid_grant")
    assert not _lives(second["access_token"])


def test_a_new_password_ends_the_sessions_of_clients_too(person):
    from organizations.signin import passwords

    client, _ = application()
    given = grant(person, client)
    with transaction.atomic():
        passwords.change(person.user, password="another long sentence to use", at=now())

    assert not _lives(given["access_token"])
    assert _error(_refresh(client, given["refresh_token"])) == (400, "invalid_grant")


def test_the_id_token_is_not_kept_and_tells_the_nonce_once(person):
    client, _ = application()
    first = grant(person, client)
    claims = jwt.decode(first["id_token"], options={"verify_signature": False})
    again = _refresh(client, first["refresh_token"], nonce="mine").json()

    assert claims["nonce"] == "n-1"
    assert "nonce" not in jwt.decode(again["id_token"], options={"verify_signature": False})


def test_parameters_that_mean_nothing_reach_nothing(person):
    client, _ = application()
    code, verifier = _code(person, client)
    odd = dict.fromkeys(
        (
            "platform_carried",
            "redeemed",
            "session",
            "user",
            "client",
            "scopes",
            "claims",
            "response_type",
            "expires_in",
        ),
        "x",
    )

    given = _exchange(client, code, verifier, **odd)

    assert given.status_code == 200
    assert given.json()["expires_in"] == 600
    assert "id_token" in given.json()


# -- machines --------------------------------------------------------------------------------------------------------


def _machine_token(client, secret, **more):
    return token(grant_type="client_credentials", client_id=client.client_id, client_secret=secret, **more)


def test_a_machine_gets_its_list_and_nothing_more():
    client, secret = machine(scopes=["locations.read", "catalog:read"])

    whole, one = _machine_token(client, secret), _machine_token(client, secret, scope="catalog:read")

    assert whole.json()["scope"] == "catalog.read locations.read"
    assert one.json()["scope"] == "catalog:read"
    assert tokens.verify(one.json()["access_token"]).scope == frozenset({"catalog.read"})
    assert "refresh_token" not in whole.json()


@pytest.mark.parametrize(
    "scope", ["prescriptions.sign", "locations.write", "openid", "nonsense", "locations.read nonsense", "*", "\u00e9"]
)
def test_a_machine_gets_no_scope_beyond_its_list(scope):
    client, secret = machine(scopes=["locations.read"])

    assert _error(_machine_token(client, secret, scope=scope)) == (400, "invalid_scope")


def test_signing_is_never_granted_to_machines():
    assert {"prescriptions.sign"} == NEVER_BY_MACHINES
    with pytest.raises(clients.UngrantableScope):
        machine(scopes=["prescriptions.sign"])
    client, _ = machine()
    client.allowed_scopes = [*SCOPES, "openid"]
    assert scopes.grantable(client) == set(SCOPES) - NEVER_BY_MACHINES


@pytest.mark.parametrize("secret", ["wrong", "", "x" * 9000])
def test_a_wrong_secret_is_refused(secret):
    client, _ = machine()

    status, error = _error(_machine_token(client, secret))

    assert (status, error) in [(401, "invalid_client"), (400, "invalid_request")]


def test_unapproved_clients_get_nothing(person):
    client, secret = machine(approved=False)
    public, _ = application(approved=False)
    browser = Browser()
    browser.sign_in(person)

    assert _error(_machine_token(client, secret)) == (401, "invalid_client")
    page = browser.client.get("/oauth/authorize", request_of(public, pkce()[1]))
    assert page.status_code == 400
    assert "Location" not in page.headers


def test_withdrawing_a_client_ends_its_tokens_at_once(person):
    client, secret = machine()
    public, _ = application()
    of_machine, of_person = _machine_token(client, secret).json(), grant(person, public)

    with transaction.atomic():
        clients.withdraw(client, at=now())
        assert clients.withdraw(public, at=now()) == 1

    assert not _lives(of_machine["access_token"])
    assert not _lives(of_person["access_token"])
    assert _error(_machine_token(client, secret)) == (401, "invalid_client")
    assert _error(_refresh(public, of_person["refresh_token"])) == (401, "invalid_client")


def test_a_renewed_secret_replaces_the_old_one():
    client, old = machine()

    new = clients.renew_secret(client)

    assert _machine_token(client, old).status_code == 401
    assert _machine_token(client, new).status_code == 200


def test_an_inactive_service_account_gets_no_token():
    client, secret = machine()
    client.service_account.is_active = False
    client.service_account.save(update_fields=["is_active"])

    assert _error(_machine_token(client, secret)) == (401, "invalid_client")


def test_client_credentials_are_quick_enough_to_show_a_fast_hasher():
    import time

    client, secret = machine()
    _machine_token(client, secret)
    started = time.perf_counter()
    for _ in range(10):
        _machine_token(client, secret)

    assert (time.perf_counter() - started) / 10 < 0.15


# -- grants that are off, and hostile input ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "grant_type",
    [
        "password",
        "implicit",
        "urn:ietf:params:oauth:grant-type:device_code",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "x",
        "\x00",
    ],
)
def test_other_grants_are_off(person, grant_type):
    client, _ = application()

    refused = token(grant_type=grant_type, client_id=client.client_id, username=person.email, password=person.password)

    expected = (400, "invalid_request" if grant_type == "\x00" else "unsupported_grant_type")
    assert _error(refused) == expected


HOSTILE = [
    "\x00",
    "\ud800",
    "x" * 100_000,
    "%00%ff",
    "'; DROP TABLE x; --",
    "\u202e",
    "\r\nSet-Cookie: a=b",
    "{}",
    "[]",
]


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("path", ["token", "revoke", "introspect"])
def test_hostile_parameters_are_answered_in_oauth_shape(path, value):
    fields = (
        "grant_type",
        "code",
        "client_id",
        "client_secret",
        "refresh_token",
        "scope",
        "redirect_uri",
        "code_verifier",
        "token",
    )
    safe = value.encode("utf-8", "surrogatepass")
    for field in fields:
        form = {"grant_type": "refresh_token", "client_id": "x", "refresh_token": "y", "token": "z", field: safe}
        assert _error(post(f"/oauth/{path}", **form))[0] in (400, 401)


@pytest.mark.parametrize(
    "value", ["Basic", "Basic x", "Basic ====", "Bearer x", "Basic " + "A" * 20_000, "Digest a", "\x00"]
)
def test_hostile_client_authentication_is_refused(value):
    client = Client(raise_request_exception=False)
    response = client.post(
        "/oauth/token",
        "grant_type=client_credentials",
        content_type="application/x-www-form-urlencoded",
        headers={"Authorization": value},
    )

    assert _error(response)[0] in (400, 401)


@pytest.mark.parametrize("decoded", [b"\x00:\x00", b"a:b:c", b"\xff\xfe", b":", b"", b"x" * 5000 + b":y", b"%00:x"])
def test_hostile_basic_credentials_are_refused(decoded):
    header = "Basic " + base64.b64encode(decoded).decode()
    for path in ("token", "introspect", "revoke"):
        response = Client(raise_request_exception=False).post(
            f"/oauth/{path}", "grant_type=client_credentials&token=x", content_type="application/x-www-form-urlencoded",
            headers={"Authorization": header},
        )  # fmt: skip
        assert _error(response)[0] in (400, 401)


@pytest.mark.parametrize("field", ["grant_type", "client_id", "scope", "client_secret"])
def test_repeated_parameters_are_refused(field):
    client, secret = machine()
    body = f"grant_type=client_credentials&client_id={client.client_id}&client_secret={secret}&scope=locations.read&{field}=x"

    response = Client().post("/oauth/token", body, content_type="application/x-www-form-urlencoded")

    assert _error(response) == (400, "invalid_request")


@pytest.mark.parametrize("media", ["application/json", "multipart/form-data; boundary=x", "text/plain", ""])
def test_other_bodies_are_refused(media):
    response = Client(raise_request_exception=False).generic(
        "POST", "/oauth/token", b'{"grant_type":"x"}', content_type=media
    )

    assert _error(response) == (400, "invalid_request")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("path", ["token", "revoke", "introspect"])
def test_other_methods_are_refused(method, path):
    response = Client(raise_request_exception=False).generic(method, f"/oauth/{path}?token=x")

    assert response.status_code == 405
    assert response.headers["Allow"] == "POST, OPTIONS"


def test_credentials_in_the_address_are_refused():
    client, secret = machine()
    query = f"grant_type=client_credentials&client_id={client.client_id}&client_secret={secret}"

    response = Client().post(f"/oauth/token?{query}", "", content_type="application/x-www-form-urlencoded")

    assert _error(response) == (400, "invalid_request")


# -- introspection, revocation, userinfo -------------------------------------------------------------------------------


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

    assert _error(post("/oauth/introspect", token="x", client_id=client.client_id)) == (401, "invalid_client")


def test_a_client_cannot_revoke_the_tokens_of_another(person):
    (client, _), (other, _) = application(), application()
    given = grant(person, client)

    for text in (given["access_token"], given["refresh_token"]):
        assert post("/oauth/revoke", token=text, client_id=other.client_id).status_code == 200

    assert _lives(given["access_token"])
    assert _refresh(client, given["refresh_token"]).status_code == 200


def _userinfo(text, **query):
    return Client(raise_request_exception=False).get(
        "/oauth/userinfo", query, headers={"Authorization": f"Bearer {text}"}
    )


def test_userinfo_needs_openid_and_a_living_token_in_the_header(person):
    client, _ = application()
    plain, whole = grant(person, client, scope="locations.read"), grant(person, client, scope="openid locations.read")
    of_machine = _machine_token(*machine(provision("provider"))).json()

    assert _userinfo(whole["access_token"]).json() == {"sub": str(person.user.id)}
    assert "id_token" not in plain
    assert _error(_userinfo(plain["access_token"])) == (403, "insufficient_scope")
    for text in ("x", whole["id_token"], whole["refresh_token"], of_machine["access_token"]):
        assert _error(_userinfo(text)) == (401, "invalid_token")
    bare = Client().get("/oauth/userinfo", {"access_token": whole["access_token"]})
    assert (bare.status_code, bare.headers["WWW-Authenticate"]) == (401, "Bearer")
    post("/oauth/revoke", token=whole["access_token"], client_id=client.client_id)
    assert _error(_userinfo(whole["access_token"])) == (401, "invalid_token")
