"""A real client library, Authlib with requests, over a socket: discovery, code and PKCE, refresh, revoke, machines."""

import os

import jwt
import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session
from joserfc import jwk
from joserfc import jwt as jose

from core.ids import uuid7
from organizations.models import Membership
from tests.factories import Api, member, provision
from tests.organizations.oauth.clients import CALLBACK, Browser, application, connect, machine

ISSUER = "http://testserver/oauth"


@pytest.fixture(autouse=True)
def plain_http():
    """Let the library speak plain HTTP to this machine."""
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    yield
    del os.environ["AUTHLIB_INSECURE_TRANSPORT"]


@pytest.fixture
def web(port):
    """Return a plain HTTP client."""
    return connect(requests.Session(), port)


@pytest.fixture
def metadata(web):
    """Return what discovery says."""
    return web.get(f"{ISSUER}/.well-known/openid-configuration").json()


def _session(port, client, secret="", **arguments):
    method = "client_secret_basic" if secret else "none"
    session = OAuth2Session(client.client_id, secret or None, token_endpoint_auth_method=method, **arguments)
    return connect(session, port)


def test_code_with_pkce_from_discovery_to_api(port, web, metadata, person):
    tenant = provision("provider")
    member(tenant, ["tenant_admin"], person=person.user)
    client, _ = application()
    session = _session(
        port, client, scope="openid profile locations.read", redirect_uri=CALLBACK, code_challenge_method="S256"
    )
    nonce, verifier = str(uuid7()), "v" * 64
    url, state = session.create_authorization_url(
        metadata["authorization_endpoint"], nonce=nonce, code_verifier=verifier
    )
    browser = Browser()
    browser.sign_in(person)
    query = dict(pair.split("=", 1) for pair in url.partition("?")[2].split("&"))
    answer = browser.authorize({name: requests.utils.unquote(value.replace("+", " ")) for name, value in query.items()})
    assert (answer["state"], answer["iss"]) == (state, ISSUER)

    given = session.fetch_token(metadata["token_endpoint"], code=answer["code"], code_verifier=verifier)

    keys = jwk.KeySet.import_key_set(web.get(metadata["jwks_uri"]).json())
    identity = jose.decode(given["id_token"], keys, algorithms=["RS256"])
    assert identity.header["typ"] == "JWT"
    assert {name: identity.claims[name] for name in ("iss", "aud", "sub", "nonce", "name", "email", "acr")} == {
        "iss": ISSUER, "aud": client.client_id, "sub": str(person.user.id), "nonce": nonce,
        "name": "Anna Berg", "email": person.email, "acr": "password",
    }  # fmt: skip
    assert "at_hash" in identity.claims
    access = jose.decode(given["access_token"], keys, algorithms=["RS256"])
    assert (access.header["typ"], access.claims["scope"]) == ("at+jwt", "openid profile locations.read")
    assert session.get(metadata["userinfo_endpoint"]).json() == {
        "sub": str(person.user.id), "name": "Anna Berg", "email": person.email,
    }  # fmt: skip
    assert Api(token=given["access_token"], tenant=tenant).get("/v1/locations").status_code == 200
    assert Api(token=given["id_token"], tenant=tenant).get("/v1/locations").status_code == 401
    assert Api(token=given["refresh_token"], tenant=tenant).get("/v1/locations").status_code == 401

    refreshed = session.refresh_token(metadata["token_endpoint"], refresh_token=given["refresh_token"])
    assert refreshed["refresh_token"] != given["refresh_token"]
    assert jwt.decode(refreshed["id_token"], options={"verify_signature": False})["sub"] == str(person.user.id)

    revoked = session.revoke_token(metadata["revocation_endpoint"], token=refreshed["refresh_token"])
    assert revoked.status_code == 200
    assert Api(token=refreshed["access_token"], tenant=tenant).get("/v1/locations").status_code == 401
    assert Api(token=given["access_token"], tenant=tenant).get("/v1/locations").status_code == 401


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_client_credentials_act_as_the_service_account(port, metadata, method):
    tenant, other = provision("provider"), provision("provider")
    client, secret = machine(tenant, scopes=["locations.read", "locations.write"])
    for place in (tenant, other):
        membership = Membership(tenant=place, service_account=client.service_account, roles=["tenant_admin"])
        membership.save()
        membership.accept(membership.created_at)
        membership.save()
    session = connect(OAuth2Session(client.client_id, secret, token_endpoint_auth_method=method), port)

    given = session.fetch_token(metadata["token_endpoint"], grant_type="client_credentials", scope="locations.read")

    claims = jwt.decode(given["access_token"], options={"verify_signature": False})
    assert sorted(given) == ["access_token", "expires_at", "expires_in", "scope", "token_type"]
    assert (claims["sub"], claims["sub_type"], claims["tid"]) == (
        str(client.service_account_id),
        "service",
        str(tenant.id),
    )
    assert Api(token=given["access_token"], tenant=tenant).get("/v1/locations").status_code == 200
    assert Api(token=given["access_token"]).get("/v1/locations").status_code == 200
    assert Api(token=given["access_token"], tenant=other).get("/v1/locations").status_code == 403
    assert Api(token=given["access_token"], tenant=tenant).post("/v1/locations", json={}).status_code == 403
    session.revoke_token(metadata["revocation_endpoint"], token=given["access_token"])
    assert Api(token=given["access_token"], tenant=tenant).get("/v1/locations").status_code == 401
    again = session.fetch_token(metadata["token_endpoint"], grant_type="client_credentials", scope="locations.read")
    assert Api(token=again["access_token"], tenant=tenant).get("/v1/locations").status_code == 200


def test_metadata_says_only_what_is_true_and_all_addresses_answer(web, metadata):
    at_root = web.get("http://testserver/.well-known/oauth-authorization-server").json()
    with_path = web.get("http://testserver/.well-known/oauth-authorization-server/oauth").json()

    assert at_root == with_path
    assert metadata == {**at_root, **metadata}
    assert metadata["issuer"] == ISSUER
    assert metadata["id_token_signing_alg_values_supported"] == ["RS256"]
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    assert metadata["response_types_supported"] == ["code"]
    assert metadata["grant_types_supported"] == ["authorization_code", "client_credentials", "refresh_token"]
    for name in ("token", "revocation", "introspection"):
        assert "private_key_jwt" in metadata[f"{name}_endpoint_auth_methods_supported"]
        assert metadata[f"{name}_endpoint_auth_signing_alg_values_supported"] == ["RS384", "ES384"]
    addresses = {name: value for name, value in metadata.items() if name.endswith(("_endpoint", "_uri"))}
    assert len(addresses) == 6
    for address in addresses.values():
        assert not address.endswith("/")
        assert web.get(address, allow_redirects=False).status_code in (200, 302, 400, 401, 405)
        assert web.get(f"{address}/", allow_redirects=False).status_code == 404


def test_the_key_set_is_public_and_holds_no_private_half(web, metadata):
    response = web.get(metadata["jwks_uri"])

    keys = response.json()["keys"]
    assert response.headers["Cache-Control"] == "public, max-age=300"
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert all(sorted(key) == ["alg", "e", "kid", "kty", "n", "use"] for key in keys)
