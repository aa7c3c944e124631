"""Registered clients, a browser, and the way to the service for the client library."""

import base64
import hashlib
import re
import secrets
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import requests
from django.db import transaction
from requests.adapters import HTTPAdapter

from core.clock import now
from organizations.models import OAuthApplication, ServiceAccount, Tenant
from organizations.oauth import clients
from tests.factories import Client, suffix
from tests.organizations.people import Person

CALLBACK = "https://app.example/callback"
SCOPES = ["openid", "profile", "offline_access", "locations.read", "prescriptions.sign", "catalog:read"]


def application(
    *, confidential: bool = False, approved: bool = True, scopes: list[str] | None = None
) -> tuple[OAuthApplication, str]:
    """Register a client that acts for people."""
    with transaction.atomic():
        made, secret = clients.register_application(
            name="Ward app",
            redirect_uris=[CALLBACK],
            allowed_scopes=scopes or SCOPES,
            confidential=confidential,
            at=now(),
        )
        if approved:
            clients.approve(made, by=None, at=now())
    return made, secret


def machine(
    tenant: Tenant | None = None, *, scopes: list[str] | None = None, approved: bool = True
) -> tuple[OAuthApplication, str]:
    """Register a client that acts for itself."""
    account = ServiceAccount.objects.create(name="Interface engine", partner=f"engine-{suffix()}")
    with transaction.atomic():
        made, secret = clients.register_machine(
            name="Interface engine",
            service_account=account,
            tenant=tenant,
            allowed_scopes=scopes or ["locations.read"],
            at=now(),
        )
        if approved:
            clients.approve(made, by=None, at=now())
    return made, secret


def pkce() -> tuple[str, str]:
    """Return a verifier and its S256 challenge."""
    verifier = secrets.token_urlsafe(48)
    return verifier, base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


class Browser:
    """Somebody's browser: keeps cookies, minds CSRF, and stops before it leaves for the client's address."""

    def __init__(self) -> None:
        self.client = Client(enforce_csrf_checks=True)

    def post_form(self, path: str, page: Any, **fields: str) -> Any:
        """Send a page's form back with all its hidden fields."""
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?', page.content.decode()))
        decoded = {name: value.replace("&amp;", "&").replace("&quot;", '"') for name, value in hidden.items()}
        return self.client.post(path, {**decoded, **fields})

    def sign_in(self, person: Person, *, back_to: str = "", code: str = "", password: str = "") -> Any:
        """Fill in the sign-in page."""
        path = f"/oauth/login?{urlencode({'next': back_to})}"
        page = self.client.get(path)
        return self.post_form("/oauth/login", page, email=person.email, password=password or person.password, code=code)

    def authorize(self, query: dict[str, str], *, allow: bool = True) -> dict[str, str]:
        """Open the consent page, answer it, and return what the client is told."""
        path = f"/oauth/authorize?{urlencode(query)}"
        page = self.client.get(path)
        if page.status_code == 302:
            return told(page)
        assert page.status_code == 200, page.content
        answer = self.post_form(path, page, **({"allow": "true"} if allow else {}))
        assert answer.status_code == 302, answer.content
        return told(answer)


def told(response: Any) -> dict[str, str]:
    """Return the parameters that a redirect carries to the client."""
    location = response.headers["Location"]
    assert location.startswith(CALLBACK), location
    return {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}


def request_of(client: OAuthApplication, challenge: str, **changes: str) -> dict[str, str]:
    """Return an authorization request."""
    query = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": CALLBACK,
        "scope": "openid profile locations.read",
        "state": "st-1",
        "nonce": "n-1",
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    return {name: value for name, value in {**query, **changes}.items() if value}


def token(**form: str) -> Any:
    """Post to the token endpoint."""
    return Client(raise_request_exception=False).post(
        "/oauth/token", urlencode(form), content_type="application/x-www-form-urlencoded"
    )


def post(path: str, **form: str) -> Any:
    """Post a form to another endpoint."""
    return Client(raise_request_exception=False).post(
        path, urlencode(form), content_type="application/x-www-form-urlencoded"
    )


def grant(person: Person, client: OAuthApplication, secret: str = "", **changes: str) -> dict[str, Any]:
    """Walk through sign-in, consent and exchange; return the token answer."""
    browser, (verifier, challenge) = Browser(), pkce()
    browser.sign_in(person)
    code = browser.authorize(request_of(client, challenge, **changes))["code"]
    form = {"client_id": client.client_id} | ({"client_secret": secret} if secret else {})
    response = token(grant_type="authorization_code", code=code, redirect_uri=CALLBACK, code_verifier=verifier, **form)
    assert response.status_code == 200, response.content
    return response.json()


class _ToTheSocket(HTTPAdapter):
    """Sends calls for the platform's public name to the socket it listens on."""

    def __init__(self, port: int) -> None:
        self.port = port
        super().__init__()

    def send(self, request: Any, **arguments: Any) -> Any:
        """Change the address."""
        request.url = urlsplit(request.url)._replace(netloc=f"127.0.0.1:{self.port}").geturl()
        return super().send(request, **arguments)


def connect(session: requests.Session, port: int) -> requests.Session:
    """Lead a requests session to the served platform."""
    session.mount("http://testserver", _ToTheSocket(port))
    return session
