"""Clients that sign: their keys, and assertions of every kind, made with joserfc and not with the platform's library."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from joserfc import jwk, jws

from core.clock import now
from core.ids import uuid7
from organizations.models import OAuthApplication, ServiceAccount, Tenant
from organizations.oauth import client_keys, clients
from organizations.oauth.assertions import ASSERTION_TYPE
from tests.factories import suffix
from tests.organizations.oauth.clients import token

TOKEN_URL = "http://testserver/oauth/token"
Key = jwk.RSAKey | jwk.ECKey
MAKERS: dict[str, Callable[[], Key]] = {
    "RS384": lambda: jwk.RSAKey.generate_key(2048),
    "ES384": lambda: jwk.ECKey.generate_key("P-384"),
}


@dataclass
class Signer:
    """A registered client with its private key."""

    client: OAuthApplication
    key: Key
    algorithm: str
    kid: str = "first"
    token_url: str = field(default=TOKEN_URL)

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Return good claims, but for the changes; a claim that is None is left out."""
        client_id, at = self.client.client_id, int(time.time())
        good = {"iss": client_id, "sub": client_id, "aud": self.token_url, "exp": at + 300, "jti": str(uuid7())}
        return {name: value for name, value in {**good, **changes}.items() if value is not None}

    def assertion(self, header: dict[str, Any] | None = None, **changes: Any) -> str:
        """Sign an assertion."""
        whole = {"alg": self.algorithm, "kid": self.kid, "typ": "JWT", **(header or {})}
        return signed(
            {name: value for name, value in whole.items() if value is not None}, self.claims(**changes), self.key
        )

    def ask(self, assertion: str = "", **form: str) -> Any:
        """Ask for a token."""
        sent = assertion or self.assertion()
        return token(
            grant_type="client_credentials", client_assertion_type=ASSERTION_TYPE, client_assertion=sent, **form
        )


def signed(header: dict[str, Any], claims: dict[str, Any], key: Any) -> str:
    """Sign claims without a second thought about header and key."""
    registry = jws.JWSRegistry(algorithms=["RS384", "ES384", "RS256", "HS256", "PS384"], strict_check_header=False)
    return jws.serialize_compact(header, json.dumps(claims).encode(), key, registry=registry)


def public(key: Key, kid: str = "first", **more: Any) -> dict[str, Any]:
    """Return the public half as a client publishes it."""
    return {**key.as_dict(private=False), "kid": kid, **more}


def key_set(*keys: dict[str, Any]) -> dict[str, Any]:
    """Return a key set."""
    return {"keys": list(keys)}


def signer(
    algorithm: str = "ES384", *, tenant: Tenant | None = None, scopes: list[str] | None = None, uri: str = ""
) -> Signer:
    """Register and approve a machine client with a new key, inline or at an address."""
    key = MAKERS[algorithm]()
    keys = client_keys.at_address(uri) if uri else client_keys.inline(key_set(public(key)))
    account = ServiceAccount.objects.create(name="Warehouse", partner=f"warehouse-{suffix()}")
    with transaction.atomic():
        made, secret = clients.register_machine(
            name="Warehouse",
            service_account=account,
            tenant=tenant,
            allowed_scopes=scopes or ["system/*.rs", "locations.read"],
            keys=keys,
            at=now(),
        )
        clients.approve(made, by=None, at=now())
    assert secret == ""
    return Signer(made, key, algorithm)
