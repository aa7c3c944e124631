"""Methods that nothing here has, addresses that lead elsewhere, and API keys that came in the wrong header."""

import random

import pytest

from tests.admin.people import PASSWORD, staff
from tests.factories import Client, new_api_key, provision


@pytest.mark.parametrize("method", ["TRACE", "TRACK", "CONNECT", "PROPFIND"])
@pytest.mark.parametrize(
    "path", ["/admin/", "/admin/login/", "/oauth/authorize", "/v1/me", "/v1/nothing", "/fhir/R4/Patient", "/docs", "/health/live"]
)  # fmt: skip
def test_method_that_nothing_has_is_405(method, path):
    answer = Client(raise_request_exception=False).generic(method, path, headers={"X-Secret": "canary"})
    assert answer.status_code == 405
    assert "GET" in answer.headers["Allow"]
    assert "TRACE" not in answer.headers["Allow"]
    assert b"canary" not in answer.content


def browser():
    """A browser at an address of its own, whose sign-ins no other test counts against."""
    return Client(REMOTE_ADDR=f"10.{random.randint(0, 255)}.{random.randint(0, 255)}.{random.randint(1, 254)}")


@pytest.mark.parametrize(
    "address", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "https:///evil.example"]
)
def test_unsafe_next_leads_to_the_overview(address):
    person = staff("support")
    form = {"username": person.email, "password": PASSWORD, "next": address}
    answer = browser().post("/admin/login/", form)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/admin/")


def test_safe_next_is_followed():
    person = staff("support")
    form = {"username": person.email, "password": PASSWORD, "next": "/admin/organizations/tenant/"}
    assert browser().post("/admin/login/", form).headers["Location"] == "/admin/organizations/tenant/"


@pytest.mark.parametrize("form", ["Bearer {}", "ApiKey {}", "{}", "Token {}"])
def test_key_in_authorization_is_refused_with_a_hint(form):
    _, text = new_api_key(provision("supplier"))
    answer = Client().get("/v1/products", headers={"Authorization": form.format(text)})
    assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token")
    assert answer.json()["detail"] == "An API key is sent in the header X-API-Key, not in Authorization."
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="api", error="invalid_token"'
    assert text not in answer.content.decode()
    assert Client().get("/v1/products", headers={"X-API-Key": text}).status_code == 200


@pytest.mark.parametrize(
    "headers", [{}, {"X-API-Key": "hpk_live_x"}, {"Authorization": "Bearer x"}, {"Authorization": "Basic eA=="}]
)
def test_challenge_names_the_scheme_that_works_alone(headers):
    answer = Client().get("/v1/products", headers=headers)
    assert answer.status_code == 401
    schemes = {part.split()[0] for part in answer.headers["WWW-Authenticate"].split(", ") if " " in part}
    assert schemes == {"Bearer"}
