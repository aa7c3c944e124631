"""Where the authorization server sends people back to, what a token request must repeat, and what is refused before sign-in."""

from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.core.exceptions import ValidationError
from django.db import transaction

from core.clock import now
from organizations.models import AuthorizationGrant
from organizations.oauth import clients
from tests.factories import Client
from tests.organizations.oauth.clients import CALLBACK, Browser, application, pkce, request_of, token
from tests.organizations.oauth.flows import error_of, exchange_code, new_code


def native(*redirect_uris, confidential=False):
    with transaction.atomic():
        made, _ = clients.register_application(
            name="Ward app", redirect_uris=list(redirect_uris), allowed_scopes=["openid", "profile", "locations.read"],
            confidential=confidential, at=now(),
        )  # fmt: skip
        clients.approve(made, by=None, at=now())
    return made


def test_token_request_repeats_the_redirect_uri_that_was_named(person):
    client, _ = application()
    code, verifier = new_code(person, client)
    assert error_of(exchange_code(client, code, verifier, redirect_uri=None)) == (400, "invalid_request")
    assert exchange_code(client, code, verifier).status_code == 200


@pytest.mark.parametrize(("redirect_uri", "status"), [(None, 200), (CALLBACK, 200), (f"{CALLBACK}/", 400)])
def test_token_request_may_leave_out_what_was_not_named(person, redirect_uri, status):
    client, _ = application()
    browser, (verifier, challenge) = Browser(), pkce()
    browser.sign_in(person)
    code = browser.authorize(request_of(client, challenge, redirect_uri=""))["code"]
    assert AuthorizationGrant.objects.get(code=code).redirect_uri == ""
    assert exchange_code(client, code, verifier, redirect_uri=redirect_uri).status_code == status


@pytest.mark.parametrize("address", ["http://127.0.0.1:{}/callback", "http://[::1]:{}/callback"])
def test_native_application_is_sent_back_to_any_port_of_the_loopback(person, address):
    client = native("http://127.0.0.1/callback", "http://[::1]/callback")
    wanted = address.format(49_152)
    browser, (verifier, challenge) = Browser(), pkce()
    browser.sign_in(person)
    path = f"/oauth/authorize?{urlencode(request_of(client, challenge, redirect_uri=wanted))}"
    page = browser.client.get(path)
    assert page.status_code == 200, page.content
    location = browser.post_form(path, page, allow="true").headers["Location"]
    assert location.startswith(f"{wanted}?")
    code = parse_qs(urlsplit(location).query)["code"][0]
    form = {"grant_type": "authorization_code", "code": code, "client_id": client.client_id, "code_verifier": verifier}
    other = token(**form, redirect_uri=address.format(49_153))
    assert error_of(other)[0] == 400
    assert token(**form, redirect_uri=wanted).status_code == 200


def test_refusal_reaches_a_native_application(person):
    client, wanted = native("http://127.0.0.1/callback"), "http://127.0.0.1:50000/callback"
    query = request_of(client, "", redirect_uri=wanted)
    answer = Client().get(f"/oauth/authorize?{urlencode(query)}")
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith(f"{wanted}?error=invalid_request")


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:50000/other", "http://127.0.0.2:50000/callback", "http://localhost:50000/callback",
        "https://127.0.0.1:50000/callback", "http://127.0.0.1:50000/callback?more=1", "http://127.0.0.1.evil.example/callback",
    ],
)  # fmt: skip
def test_native_application_is_sent_nowhere_else(address):
    client = native("http://127.0.0.1/callback")
    answer = Client().get(f"/oauth/authorize?{urlencode(request_of(client, pkce()[1], redirect_uri=address))}")
    assert answer.status_code == 400
    assert "Location" not in answer.headers


@pytest.mark.parametrize(
    ("address", "confidential"),
    [
        ("http://app.example/callback", False),
        ("http://localhost/callback", False),
        ("http://10.0.0.1/callback", False),
        ("http://127.0.0.1/callback", True),
    ],
)
def test_plain_http_is_registered_for_the_loopback_of_public_clients_only(address, confidential):
    with pytest.raises(ValidationError, match="http"):
        native(address, confidential=confidential)


def test_unapproved_client_is_refused_before_anybody_signs_in():
    client, _ = application(approved=False)
    answer = Client().get(f"/oauth/authorize?{urlencode(request_of(client, pkce()[1]))}")
    assert answer.status_code == 400
    assert "not approved" in answer.content.decode()
    assert "Location" not in answer.headers


def test_request_that_is_no_good_is_refused_before_anybody_signs_in():
    client, _ = application()
    answer = Client().get(f"/oauth/authorize?{urlencode(request_of(client, pkce()[1], scope='nonsense'))}")
    assert answer.headers["Location"].startswith(f"{CALLBACK}?error=invalid_scope")
    stranger = Client().get(f"/oauth/authorize?{urlencode(request_of(client, pkce()[1]) | {'client_id': 'nobody'})}")
    assert stranger.status_code == 400
