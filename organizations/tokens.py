"""Access tokens: JSON Web Tokens in the profile of RFC 9068, built and verified with simplejwt.

A token names the subject (sub), the client and the scopes the client may use at most (scope). It does not hold roles or
memberships, which are looked up on every request. Verifying reads no table; the authenticator checks for denied tokens.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

import jwt
from django.conf import settings
from rest_framework_simplejwt.backends import TokenBackend
from rest_framework_simplejwt.exceptions import TokenBackendError, TokenError
from rest_framework_simplejwt.tokens import AccessToken

from core.actor import SubjectKind
from core.errors import Unauthenticated
from core.ids import uuid7

from . import signing_keys

LIFETIME = timedelta(seconds=600)
LEEWAY_SECONDS = 5
MAX_CHARACTERS = 8192
FIRST_PARTY_CLIENT = "first-party"
UNNARROWED = "*"
TOKEN_USE = "access"  # noqa: S105  # a claim

_TYP = "at+jwt"
_REQUIRED = ("iss", "aud", "sub", "sub_type", "client_id", "scope", "jti", "sid", "iat", "exp")
_INVALID = "Token is invalid"
_KINDS = {kind.value: kind for kind in (SubjectKind.USER, SubjectKind.SERVICE)}


class InvalidToken(Unauthenticated):
    """The token is not from this issuer, not for this API, altered or expired."""

    code = "invalid_token"
    title = "The access token is invalid or expired."


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a verified token. `scope` is None if the token is not narrowed; scopes are written with dots."""

    sub: UUID
    sub_type: SubjectKind
    client_id: str
    scope: frozenset[str] | None
    jti: str
    sid: str
    iat: int
    exp: int
    acr: str = ""
    amr: tuple[str, ...] = ()
    auth_time: int | None = None
    tid: UUID | None = None
    patient: str = ""


class KeyRingBackend(TokenBackend):
    """Signs with the active key, and verifies with the platform's key that the token names."""

    def encode(self, payload: dict[str, Any]) -> str:
        """Sign a payload; the header carries `kid` and the type of RFC 9068 section 2.1."""
        return signing_keys.sign(payload | {"aud": self.audience, "iss": self.issuer}, typ=_TYP)

    def get_verifying_key(self, token: Any) -> Any:
        """Return the key that the header names.

        :raises TokenBackendError: not an access token (an ID token is not one), another algorithm, or an unknown key.
        """
        try:
            header = jwt.get_unverified_header(token)
        except jwt.InvalidTokenError as error:
            raise TokenBackendError(_INVALID) from error
        kid, typ = header.get("kid"), header.get("typ")
        if not isinstance(kid, str) or not isinstance(typ, str) or header.get("alg") != signing_keys.ALGORITHM:
            raise TokenBackendError(_INVALID)
        if typ.lower().removeprefix("application/") != _TYP:
            raise TokenBackendError(_INVALID)
        key = signing_keys.verifying_key(kid)
        if key is None:
            raise TokenBackendError(_INVALID)
        return key


class PlatformAccessToken(AccessToken):
    """The only type of token that the API accepts."""

    token_type = TOKEN_USE
    lifetime = LIFETIME

    def get_token_backend(self) -> TokenBackend:
        """Return the backend with the platform's keys, in place of the library's single key."""
        return _backend(settings.BASE_URL)

    def set_jti(self) -> None:
        """Set a UUIDv7 as the id of the token, as for all other ids."""
        self.payload["jti"] = str(uuid7())

    def verify(self) -> None:
        """Require the platform's claims besides what the library checks.

        :raises TokenError: a claim is missing or invalid.
        """
        super().verify()
        if any(name not in self.payload for name in _REQUIRED):
            raise TokenError(_INVALID)


def issuer(base_url: str) -> str:
    """Return the issuer's name, from which the address of its metadata follows. Source: RFC 8414 section 2."""
    return f"{base_url.rstrip('/')}/oauth"


@lru_cache(maxsize=4)
def _backend(base_url: str) -> KeyRingBackend:
    return KeyRingBackend(
        signing_keys.ALGORITHM,
        audience=base_url.rstrip("/"),
        issuer=issuer(base_url),
        leeway=LEEWAY_SECONDS,
    )


def issue_access_token(  # noqa: PLR0913  # one keyword argument for each claim
    *,
    subject_id: UUID,
    subject_kind: SubjectKind,
    client_id: str,
    scopes: str | None,
    session_id: UUID | str,
    acr: str = "",
    amr: tuple[str, ...] = (),
    authenticated_at: datetime | None = None,
    tenant_id: UUID | None = None,
    patient: str = "",
    at: datetime,
) -> str:
    """Sign an access token that is valid for ten minutes.

    :param scopes: separated by spaces; None, allowed for first-party sign-in only, does not narrow the roles.
    :param patient: the one patient of that tenant whose record the token reaches.
    :raises ValueError: another client asks for a token without scopes, or a patient is named without a tenant.
    """
    if scopes is None and client_id != FIRST_PARTY_CLIENT:
        raise ValueError("only first-party tokens may be without scopes")
    if patient and tenant_id is None:
        raise ValueError("a token with a patient must name a tenant")
    token = PlatformAccessToken()
    token.set_exp(from_time=at, lifetime=LIFETIME)
    token.set_iat(at_time=at)
    token["sub"] = str(subject_id)
    token["sub_type"] = subject_kind.value
    token["client_id"] = client_id
    token["scope"] = UNNARROWED if scopes is None else scopes
    token["sid"] = str(session_id)
    if authenticated_at is not None:
        token.payload |= {"acr": acr, "amr": list(amr), "auth_time": int(authenticated_at.timestamp())}
    if tenant_id is not None:
        token["tid"] = str(tenant_id)
    if patient:
        token["patient"] = patient
    return str(token)


def verify(token: str) -> Claims:
    """Check a token's signature, times and claims, and return its claims.

    Whether the token was denied afterwards is not checked: see `organizations.models.DeniedToken`.

    :raises InvalidToken: any check fails.
    """
    if len(token) > MAX_CHARACTERS:
        raise InvalidToken
    try:
        return _claims(PlatformAccessToken(token).payload)  # type: ignore[arg-type]  # the stubs name the parameter's type wrongly
    except (TokenError, jwt.InvalidTokenError, ValueError, TypeError, AttributeError, OverflowError, KeyError) as error:
        raise InvalidToken from error


def _claims(payload: dict[str, Any]) -> Claims:
    client_id, scope = _text(payload, "client_id"), _text(payload, "scope")
    if payload["aud"] != settings.BASE_URL.rstrip("/"):
        raise ValueError("the audience must be this API alone")
    auth_time = payload.get("auth_time")
    if "patient" in payload and not ("tid" in payload and _text(payload, "patient")):
        raise ValueError("a token with a patient must name a tenant")
    return Claims(
        sub=UUID(_text(payload, "sub")),
        sub_type=_KINDS[_text(payload, "sub_type")],
        client_id=client_id,
        scope=_scopes(scope, client_id),
        jti=_text(payload, "jti"),
        sid=str(UUID(_text(payload, "sid"))),
        iat=int(payload["iat"]),
        exp=int(payload["exp"]),
        acr=str(payload.get("acr", "")),
        amr=tuple(str(method) for method in payload.get("amr", ())),
        auth_time=None if auth_time is None else int(auth_time),
        tid=UUID(_text(payload, "tid")) if "tid" in payload else None,
        patient=_text(payload, "patient") if "patient" in payload else "",
    )


def _scopes(scope: str, client_id: str) -> frozenset[str] | None:
    if scope == UNNARROWED and client_id == FIRST_PARTY_CLIENT:
        return None
    return frozenset(scope.replace(":", ".").split())


def _text(payload: dict[str, Any], name: str) -> str:
    value = payload[name]
    if not isinstance(value, str) or "\0" in value:
        raise ValueError(name)
    return value
