"""Grants that are off, and hostile input: every answer keeps the shape of OAuth."""

import base64

import pytest

from tests.factories import Client
from tests.organizations.oauth.clients import (
    application,
    machine,
    post,
    token,
)
from tests.organizations.oauth.flows import error_of


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
    assert error_of(refused) == expected


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
        "client_assertion",
        "client_assertion_type",
        "token",
    )
    safe = value.encode("utf-8", "surrogatepass")
    for field in fields:
        form = {"grant_type": "refresh_token", "client_id": "x", "refresh_token": "y", "token": "z", field: safe}
        assert error_of(post(f"/oauth/{path}", **form))[0] in (400, 401)


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

    assert error_of(response)[0] in (400, 401)


@pytest.mark.parametrize("decoded", [b"\x00:\x00", b"a:b:c", b"\xff\xfe", b":", b"", b"x" * 5000 + b":y", b"%00:x"])
def test_hostile_basic_credentials_are_refused(decoded):
    header = "Basic " + base64.b64encode(decoded).decode()
    for path in ("token", "introspect", "revoke"):
        response = Client(raise_request_exception=False).post(
            f"/oauth/{path}", "grant_type=client_credentials&token=x", content_type="application/x-www-form-urlencoded",
            headers={"Authorization": header},
        )  # fmt: skip
        assert error_of(response)[0] in (400, 401)


@pytest.mark.parametrize("field", ["grant_type", "client_id", "scope", "client_secret"])
def test_repeated_parameters_are_refused(field):
    client, secret = machine()
    body = f"grant_type=client_credentials&client_id={client.client_id}&client_secret={secret}&scope=locations.read&{field}=x"

    response = Client().post("/oauth/token", body, content_type="application/x-www-form-urlencoded")

    assert error_of(response) == (400, "invalid_request")


@pytest.mark.parametrize("media", ["application/json", "multipart/form-data; boundary=x", "text/plain", ""])
def test_other_bodies_are_refused(media):
    response = Client(raise_request_exception=False).generic(
        "POST", "/oauth/token", b'{"grant_type":"x"}', content_type=media
    )

    assert error_of(response) == (400, "invalid_request")


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

    assert error_of(response) == (400, "invalid_request")
