"""Clients that sign in with their keys: what is accepted, everything that is not, and each assertion only once."""

import base64
import json
import time

import pytest
from django.db import IntegrityError, transaction
from joserfc import jwk

from core.clock import now
from organizations import tokens
from organizations.models import DeniedToken, SecurityLogEntry
from organizations.models.clients import NO_SECRET
from organizations.oauth import assertions, client_keys, clients
from organizations.oauth.assertions import ASSERTION_TYPE
from tests.factories import Client, suffix
from tests.organizations.oauth.clients import application, machine, post, token
from tests.organizations.oauth.flows import error_of, machine_token
from tests.organizations.oauth.signers import MAKERS, TOKEN_URL, key_set, public, signed, signer
from tests.races import race

REFUSED = (401, "invalid_client")
FAR = 10**10  # in 2286


@pytest.fixture(scope="module")
def service():
    return signer("ES384")


def described(response):
    assert error_of(response) == REFUSED
    return response.json()["error_description"]


def encoded(part):
    return (
        base64.urlsafe_b64encode(part if isinstance(part, bytes) else json.dumps(part).encode()).rstrip(b"=").decode()
    )


@pytest.mark.parametrize("algorithm", ["RS384", "ES384"])
def test_a_signed_assertion_gets_the_token_of_the_service_account(algorithm):
    service = signer(algorithm)

    given = service.ask(scope="system/Observation.rs")

    assert given.status_code == 200, given.content
    body = given.json()
    assert sorted(body) == ["access_token", "expires_in", "scope", "token_type"]
    claims = tokens.verify(body["access_token"])
    assert (claims.sub, claims.client_id) == (service.client.service_account_id, service.client.client_id)
    assert (body["scope"], body["expires_in"]) == ("system/Observation.rs", 600)


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": [TOKEN_URL]},
        {"iat": FAR, "nbf": 1},
        {"jti": "\u0001\ud800 \u00e9" * 50},
        {"further": {"claims": ["are", "ignored"]}},
    ],
    ids=["list", "times", "jti", "more"],
)
def test_what_the_specification_leaves_open_is_accepted(service, changes):
    assert service.ask(service.assertion(**changes)).status_code == 200


def test_the_client_id_may_be_sent_too(service):
    other, _ = machine()

    assert service.ask(client_id=service.client.client_id).status_code == 200
    assert error_of(service.ask(client_id=other.client_id)) == REFUSED


CLAIMS = [
    ({"aud": "http://testserver"}, "aud"),
    ({"aud": "http://testserver/oauth"}, "aud"),
    ({"aud": f"{TOKEN_URL}/"}, "aud"),
    ({"aud": "https://testserver/oauth/token"}, "aud"),
    ({"aud": [TOKEN_URL, "https://elsewhere.example/token"]}, "aud"),
    ({"aud": []}, "aud"),
    ({"aud": {"a": 1}}, "aud"),
    ({"aud": None}, "aud"),
    ({"iss": "somebody"}, "iss"),
    ({"sub": "somebody"}, "iss"),
    ({"iss": None}, "iss"),
    ({"sub": None}, "iss"),
    ({"iss": 5, "sub": 5}, "iss"),
    ({"iss": ["a"], "sub": ["a"]}, "iss"),
    ({"iss": "nobody", "sub": "nobody"}, "unknown"),
    ({"iss": "", "sub": ""}, "unknown"),
    ({"iss": "\x00", "sub": "\x00"}, "unknown"),
    ({"iss": "\ud800", "sub": "\ud800"}, "unknown"),
    ({"iss": "x" * 300, "sub": "x" * 300}, "unknown"),
    ({"exp": None}, "exp"),
    ({"exp": "soon"}, "exp"),
    ({"exp": True}, "exp"),
    ({"exp": FAR + 0.5}, "integer"),
    ({"exp": float("inf")}, "exp"),
    ({"exp": 10**400}, "exp"),
    ({"exp": -(10**400)}, "expired"),
    ({"exp": 1}, "expired"),
    ({"exp": FAR}, "ahead"),
    ({"nbf": FAR}, "nbf"),
    ({"nbf": "x"}, "nbf"),
    ({"jti": None}, "jti"),
    ({"jti": ""}, "jti"),
    ({"jti": 7}, "jti"),
    ({"jti": ["a"]}, "jti"),
]


@pytest.mark.parametrize(("changes", "word"), CLAIMS, ids=[f"{n} {word}" for n, (_, word) in enumerate(CLAIMS)])
def test_an_assertion_with_other_claims_is_refused(service, changes, word):
    assert word in described(service.ask(service.assertion(**changes)))


def test_an_expiry_of_more_than_five_minutes_is_refused(service):
    at = int(time.time())

    assert [service.ask(service.assertion(exp=at + seconds)).status_code for seconds in (10, 302)] == [200, 200]
    assert "expired" in described(service.ask(service.assertion(exp=at - 10)))
    assert "at most 300 seconds" in described(service.ask(service.assertion(exp=at + 320)))


HEADERS = [
    ({"kid": None}, "kid"),
    ({"kid": 1}, "signed"),
    ({"kid": "second"}, "kid"),
    ({"kid": ""}, "kid"),
    ({"typ": None}, "typ"),
    ({"typ": "at+jwt"}, "typ"),
    ({"typ": 1}, "typ"),
    ({"crit": ["b64"], "b64": True}, "crit"),
    ({"jku": "https://evil.example/jwks.json"}, "jku"),
]


@pytest.mark.parametrize(("header", "word"), HEADERS, ids=[str(header) for header, _ in HEADERS])
def test_an_assertion_with_another_header_is_refused(service, header, word):
    good = {"alg": "ES384", "kid": "first", "typ": "JWT"}
    whole = {name: value for name, value in {**good, **header}.items() if value is not None}
    # The library that signs would refuse some of these headers, so what it signed is put behind another one.
    forged = ".".join([encoded(whole), *service.assertion().split(".")[1:]])

    assert word in described(service.ask(forged))


def test_other_algorithms_are_refused(service):
    claims, header = service.claims(), {"kid": "first", "typ": "JWT"}
    none = f"{encoded(header | {'alg': 'none'})}.{encoded(claims)}."
    public_half = json.dumps(public(service.key)).encode()
    symmetric = signed(header | {"alg": "HS256"}, claims, jwk.OctKey.import_key(public_half))
    rsa = signer("RS384")
    weaker = signed(header | {"alg": "RS256"}, rsa.claims(), rsa.key)
    padded = signed(header | {"alg": "PS384"}, rsa.claims(), rsa.key)
    crossed = signed(header | {"alg": "RS384"}, claims, rsa.key)

    for text in (none, symmetric, weaker, padded):
        assert "alg" in described(service.ask(text))
    assert "kid" in described(service.ask(crossed))
    assert rsa.ask().status_code == 200


def test_a_signature_by_another_key_is_refused(service):
    other = signer("ES384")
    by_other = signed({"alg": "ES384", "kid": "first", "typ": "JWT"}, service.claims(), other.key)
    head, body, signature = service.assertion().split(".")
    altered = f"{head}.{encoded(service.claims())}.{signature}"
    cut = f"{head}.{body}.{signature[:-8]}"

    for text in (by_other, altered, cut, f"{head}.{body}."):
        assert "signature" in described(service.ask(text))


@pytest.mark.parametrize(
    "text",
    [
        "x", "..", "a.b", "a.b.c", "e30.e30.e30", "\u00e9.\u00e9.\u00e9", "[" * 2000, encoded(b"[" * 4000) + ".e30.x",
        f"{encoded({'alg': 'ES384'})}.{encoded(b'[' * 4000)}.x", f"{encoded({'alg': 'ES384'})}.{encoded(b'[]')}.x",
        f"{encoded({'alg': 'ES384', 'b64': False})}..x", f"{encoded(b'null')}.e30.x", encoded({"alg": ["ES384"]}) + ".e30.x",
        f"{encoded({'alg': 'ES384'})}.{encoded(b'{}')}.!", "e30." * 2000,
    ],
    ids=range(15),
)  # fmt: skip
def test_hostile_assertions_are_refused_in_oauth_shape(service, text):
    assert error_of(service.ask(text)) == REFUSED


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({"client_assertion_type": ASSERTION_TYPE}, REFUSED),
        ({"client_assertion_type": ASSERTION_TYPE, "client_assertion": "x" * 9000}, (400, "invalid_request")),
        ({"client_assertion": "x"}, (400, "invalid_client")),
        ({"client_assertion": "x", "client_assertion_type": ""}, (400, "invalid_client")),
        ({"client_assertion_type": "not_an_assertion_type", "client_assertion": "x"}, (400, "invalid_client")),
        (
            {
                "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:saml2-bearer",
                "client_assertion": "x",
            },
            (400, "invalid_client"),
        ),
    ],
)
def test_incomplete_and_other_assertions_are_refused(form, error):
    assert error_of(token(grant_type="client_credentials", **form)) == error


def test_two_ways_of_authentication_are_refused(service):
    _, secret = machine()
    body = {"grant_type": "client_credentials", "client_assertion_type": ASSERTION_TYPE}
    basic = "Basic " + base64.b64encode(f"{service.client.client_id}:x".encode()).decode()

    with_header = Client().post(
        "/oauth/token", body | {"client_assertion": service.assertion()}, HTTP_AUTHORIZATION=basic
    )
    with_secret = service.ask(client_secret=secret)

    assert error_of(with_header) == error_of(with_secret) == (400, "invalid_request")


def test_an_assertion_works_once(service):
    text = service.assertion()
    jti = service.claims()["jti"]

    assert service.ask(text).status_code == 200
    assert "used before" in described(service.ask(text))
    assert service.ask(service.assertion(jti=jti)).status_code == 200
    assert "used before" in described(service.ask(service.assertion(jti=jti, exp=int(time.time()) + 100)))
    assert signer().ask(signer().assertion(jti=jti)).status_code == 200


def test_a_refused_scope_uses_the_assertion_up_too(service):
    text = service.assertion()

    assert error_of(service.ask(text, scope="prescriptions.sign")) == (400, "invalid_scope")
    assert "used before" in described(service.ask(text))


def test_of_an_assertion_sent_eight_times_at_once_one_gets_a_token(service):
    for _ in range(3):
        text = service.assertion()
        statuses = [answer.status_code for answer in race(*[lambda text=text: service.ask(text)] * 8)]
        assert sorted(statuses) == [200] + [401] * 7


def test_an_id_is_free_again_once_its_assertion_has_expired(service):
    jti, expires = suffix(), int(time.time()) + 30
    before = set(DeniedToken.objects.values_list("value", flat=True))
    assert service.ask(service.assertion(jti=jti, exp=expires)).status_code == 200
    kept = DeniedToken.objects.exclude(value__in=before)
    assert [row.expires_at.timestamp() for row in kept] == [expires + assertions.LEEWAY_SECONDS]

    kept.update(expires_at=now())

    assert service.ask(service.assertion(jti=jti)).status_code == 200
    assert error_of(service.ask(service.assertion(jti=jti))) == REFUSED


def test_a_refusal_leaves_one_entry_in_the_security_log(service):
    _, secret = machine()
    forms = {
        "assertion": {"client_assertion_type": ASSERTION_TYPE, "client_assertion": service.assertion(aud="x")},
        "secret": {"client_id": service.client.client_id, "client_secret": secret},
        "accepted": {"client_assertion_type": ASSERTION_TYPE, "client_assertion": service.assertion()},
    }
    entries = {}
    for name, form in forms.items():
        request_id = f"signer-{suffix()}"
        Client().post(
            "/oauth/token",
            "&".join(f"{key}={value}" for key, value in {"grant_type": "client_credentials", **form}.items()),
            content_type="application/x-www-form-urlencoded",
            headers={"X-Request-Id": request_id},
        )
        found = SecurityLogEntry.objects.filter(request_id=request_id)
        entries[name] = [(entry.code, entry.route, entry.address) for entry in found]

    one = [("invalid_client", "POST oauth/token", "127.0.0.1")]
    assert entries == {"assertion": one, "secret": one, "accepted": []}


def test_a_client_with_keys_has_no_secret(service):
    for secret in ("", NO_SECRET, "x"):
        assert error_of(machine_token(service.client, secret)) == REFUSED
    with pytest.raises(clients.ClientHasKeys):
        clients.renew_secret(service.client)
    service.client.refresh_from_db()
    assert service.client.client_secret == NO_SECRET


def test_a_client_with_a_secret_signs_nothing(service):
    client, _ = machine()
    text = service.assertion(iss=client.client_id, sub=client.client_id)

    assert "no keys" in described(service.ask(text))


def test_an_unapproved_client_and_one_without_account_get_nothing():
    service, other = signer(), signer()
    with transaction.atomic():
        clients.withdraw(service.client, at=now())
    other.client.service_account.is_active = False
    other.client.service_account.save(update_fields=["is_active"])

    assert "approved" in described(service.ask())
    assert "approved" in described(other.ask())


def test_replaced_keys_take_the_place_of_keys_and_secrets():
    service = signer()
    client, secret = machine()
    new = MAKERS["RS384"]()
    keys = client_keys.inline(key_set(public(new, "second")))

    with transaction.atomic():
        clients.replace_keys(service.client, keys, at=now())
        clients.replace_keys(client, keys, at=now())

    assert "kid" in described(service.ask())
    assert error_of(machine_token(client, secret)) == REFUSED
    for one in (service.client, client):
        service.client, service.key, service.algorithm, service.kid = one, new, "RS384", "second"
        assert service.ask().status_code == 200


def test_the_database_holds_a_client_to_keys_or_a_secret():
    client, _ = machine()
    public_client, _ = application()
    keys = client_keys.inline(key_set(public(MAKERS["ES384"]())))

    for broken in ({"jwks": keys.jwks}, {"jwks_uri": "https://a.example"}):
        with pytest.raises(IntegrityError, match="organizations_client_keys_or_secret"), transaction.atomic():
            type(client).objects.filter(pk=client.pk).update(**broken)
    with pytest.raises(clients.PublicClient), transaction.atomic():
        clients.replace_keys(public_client, keys, at=now())
    with pytest.raises(clients.PublicClient), transaction.atomic():
        clients.register_application(
            name="App",
            redirect_uris=["https://app.example"],
            allowed_scopes=[],
            confidential=False,
            keys=keys,
            at=now(),
        )


def test_no_transaction_is_open_while_keys_are_fetched(service):
    with pytest.raises(RuntimeError, match="before the transaction"), transaction.atomic():
        assertions.authenticate({}, at=now())


def test_revocation_and_introspection_take_assertions_too(service):
    given = service.ask().json()["access_token"]
    signs = {"client_assertion_type": ASSERTION_TYPE}

    active = post("/oauth/introspect", token=given, client_assertion=service.assertion(), **signs)
    revoked = post("/oauth/revoke", token=given, client_assertion=service.assertion(), **signs)
    inactive = post("/oauth/introspect", token=given, client_assertion=service.assertion(), **signs)
    refused = post("/oauth/introspect", token=given, client_assertion=service.assertion(aud="x"), **signs)

    assert (active.json()["active"], active.json()["client_id"]) == (True, service.client.client_id)
    assert revoked.status_code == 200
    assert inactive.json() == {"active": False}
    assert error_of(refused) == REFUSED
