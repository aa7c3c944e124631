"""The steps of a grant as a client takes them, for the tests of this folder."""

from organizations import tokens
from organizations.oauth.validators import is_live
from tests.organizations.oauth.clients import (
    CALLBACK,
    Browser,
    pkce,
    request_of,
    token,
)


def exchange_code(client, code, verifier, /, **changes):
    form = {
        "grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "client_id": client.client_id,
        "code_verifier": verifier, **changes,
    }  # fmt: skip
    return token(**{name: value for name, value in form.items() if value is not None})


def new_code(person, client):
    browser, (verifier, challenge) = Browser(), pkce()
    browser.sign_in(person)
    return browser.authorize(request_of(client, challenge))["code"], verifier


def refreshed(client, refresh_token, **more):
    return token(grant_type="refresh_token", refresh_token=refresh_token, client_id=client.client_id, **more)


def is_alive(access_token):
    return is_live(tokens.verify(access_token))


def error_of(response):
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["Cache-Control"] == "no-store"
    return response.status_code, response.json()["error"]


def machine_token(client, secret, **more):
    return token(grant_type="client_credentials", client_id=client.client_id, client_secret=secret, **more)
