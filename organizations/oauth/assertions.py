"""Authentication of clients by a signed assertion (`private_key_jwt`), as SMART Backend Services sign in.

Source: RFC 7523 sections 2.2 and 3; SMART App Launch 2.2, client-confidential-asymmetric.html.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import jwt
from django.db import connection
from jwt.types import Options

from core.errors import Malformed, Unauthenticated
from organizations.models import OAuthApplication

from . import client_keys, fetched_keys
from .metadata import endpoint

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
LIFETIME_SECONDS = 300
LEEWAY_SECONDS = 5
MAX_CLIENT_ID = 255

# The claims are checked here, by the time of the request.
_SIGNATURE_ALONE: Final[Options] = {"verify_aud": False, "verify_exp": False, "verify_iat": False, "verify_nbf": False}
# The id may be used again after the assertion that had it has expired, whether or not the hourly sweep has been there.
_USE = """
INSERT INTO organizations_deniedtoken AS known (value, expires_at) VALUES (%(value)s, to_timestamp(%(until)s))
ON CONFLICT (value) DO UPDATE SET expires_at = EXCLUDED.expires_at WHERE known.expires_at < %(at)s
RETURNING value
"""


class InvalidClient(Unauthenticated):
    """The client did not prove who it is."""

    code = "invalid_client"
    title = "Client authentication failed."


class UnsupportedAssertion(Malformed):
    """The assertion is not of the type that this server takes."""

    code = "invalid_client"
    title = f"The client_assertion_type must be {ASSERTION_TYPE}."


def authenticate(form: Mapping[str, str], *, at: datetime) -> str:
    """Return the id of the client that signed a form's assertion; "" if the form has none.

    The assertion is used up, and cannot be sent again. Keys may have to be fetched, and the use is to stay whatever
    becomes of the request, so no transaction may be open.

    :raises UnsupportedAssertion: the assertion is of another type.
    :raises InvalidClient: the assertion, its client or its key is not valid.
    :raises RuntimeError: a transaction is open; a programming error.
    """
    if connection.in_atomic_block:
        raise RuntimeError("clients must be authenticated before the transaction")
    kind, text = form.get("client_assertion_type"), form.get("client_assertion")
    if kind is None and text is None:
        return ""
    if kind != ASSERTION_TYPE:
        raise UnsupportedAssertion
    header, claims = _unverified(text or "")
    _check_header(header)
    client_id = _client_id(claims, form.get("client_id"))
    _check_claims(claims, at)
    client = OAuthApplication.objects.select_related("service_account").filter(client_id=client_id).first()
    if client is None or not client.has_keys or not client.is_usable(None):
        raise InvalidClient("The client is unknown, is not approved or has no keys.")
    _check_signature(text or "", client, header)
    _use_once(client_id, claims, at)
    return client_id


def _unverified(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read an assertion's header and claims, which nobody has vouched for yet."""
    try:
        found = jwt.decode_complete(text, options={"verify_signature": False})
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise InvalidClient("The client_assertion is not a signed JSON Web Token.") from error
    return found["header"], found["payload"]


def _check_header(header: dict[str, Any]) -> None:
    if header.get("alg") not in client_keys.ALGORITHMS:
        raise InvalidClient(f"The assertion's alg must be {' or '.join(client_keys.ALGORITHMS)}.")
    typ = header.get("typ")
    if not isinstance(typ, str) or typ.upper() != "JWT":
        raise InvalidClient("The assertion's typ must be JWT.")
    if not isinstance(header.get("kid"), str):
        raise InvalidClient("The assertion's header must name its key in kid.")
    if "crit" in header:
        raise InvalidClient("The assertion's header has extensions (crit) that are not known here.")


def _client_id(claims: dict[str, Any], sent: str | None) -> str:
    client_id = claims.get("iss")
    if not isinstance(client_id, str) or claims.get("sub") != client_id or sent not in (None, client_id):
        raise InvalidClient("The assertion's iss and sub must both be the client_id.")
    if not 0 < len(client_id) <= MAX_CLIENT_ID or not client_id.isascii() or not client_id.isprintable():
        raise InvalidClient("The client is unknown, is not approved or has no keys.")
    return client_id


def _check_claims(claims: dict[str, Any], at: datetime) -> None:
    now, token_url = at.timestamp(), endpoint("token")
    if claims.get("aud") not in (token_url, [token_url]):
        raise InvalidClient(f"The assertion's aud must be {token_url}.")
    expires = _number(claims, "exp")
    if expires <= now - LEEWAY_SECONDS:
        raise InvalidClient("The assertion has expired.")
    if expires > now + LIFETIME_SECONDS + LEEWAY_SECONDS:
        raise InvalidClient(f"The assertion's exp must be at most {LIFETIME_SECONDS} seconds ahead.")
    if "nbf" in claims and _number(claims, "nbf") > now + LEEWAY_SECONDS:
        raise InvalidClient("The assertion is not valid yet (nbf).")
    jti = claims.get("jti")
    if not isinstance(jti, str) or not jti:
        raise InvalidClient("The assertion must have an id of its own in jti.")


def _number(claims: dict[str, Any], name: str) -> int:
    value = claims.get(name)
    if type(value) is not int:  # true is an int, too
        raise InvalidClient(f"The assertion's {name} must be an integer, in seconds since 1970.")
    return value


def _check_signature(text: str, client: OAuthApplication, header: dict[str, Any]) -> None:
    if "jku" in header and header["jku"] != client.jwks_uri:
        raise InvalidClient("The assertion's jku is not the registered jwks_uri.")
    algorithm, kid = header["alg"], header["kid"]
    try:
        keys = fetched_keys.keys_at(client.jwks_uri, kid=kid) if client.jwks_uri else client.jwks
    except fetched_keys.KeysUnavailable as error:
        raise InvalidClient(f"The keys at the client's jwks_uri cannot be read: {error}.") from error
    key = client_keys.find(keys or (), kid=kid, algorithm=algorithm)
    if key is None:
        raise InvalidClient(f"The client has no single key with the assertion's kid for {algorithm}.")
    try:
        jwt.decode(text, key, algorithms=[algorithm], options=_SIGNATURE_ALONE)
    except (jwt.PyJWTError, ValueError) as error:
        raise InvalidClient("The assertion's signature is not valid.") from error


def _use_once(client_id: str, claims: dict[str, Any], at: datetime) -> None:
    """Mark the assertion's id used, in one statement that commits at once: of equal ones sent together one passes."""
    digest = hashlib.sha256(f"{client_id}\0{claims['jti']}".encode(errors="surrogatepass")).hexdigest()
    values = {"value": f"assertion:{digest}", "until": claims["exp"] + LEEWAY_SECONDS, "at": at}
    with connection.cursor() as cursor:
        cursor.execute(_USE, values)
        if cursor.fetchone() is None:
            raise InvalidClient("The assertion was used before (jti).")
