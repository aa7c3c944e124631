"""Access tokens: JSON Web Tokens in the profile of RFC 9068, built and verified with simplejwt.

A token says who (sub), through which client, and what the client may at most ask for (scope); never roles or tenants:
those are looked up on every request. Verifying reads no table; whether a token was denied is asked by the authenticator.
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
    """Not a token of ours, not meant for the API, altered, or expired. The reason is not told."""

    code = "invalid_token"
    title = "The access token is invalid or expired."


@dataclass(frozen=True, slots=True)
class Claims:
    """What a verified token says. `scope` is None when it narrows nothing, and written with dots otherwise."""

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
    """Signs with the active key and names it; verifies with the key that is named, if it is one of ours."""

    def encode(self, payload: dict[str, Any]) -> str:
        """Sign a payload; the header carries `kid` and the type of RFC 9068 section 2.1."""
        return signing_keys.sign(payload | {"aud": self.audience, "iss": self.issuer}, typ=_TYP)

    def get_verifying_key(self, token: Any) -> Any:
        """Choose the key by name.

        :raises TokenBackendError: another type of token (an ID token is none), another algorithm, an unknown key.
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
    """The one kind of token the API takes."""

    token_type = TOKEN_USE
    lifetime = LIFETIME

    def get_token_backend(self) -> TokenBackend:
        """The backend over our key ring, in place of the library's single key."""
        return _backend(settings.BASE_URL)

    def set_jti(self) -> None:
        """Name the token by a UUIDv7, as everything else here."""
        self.payload["jti"] = str(uuid7())

    def verify(self) -> None:
        """Demand every claim of ours beside what the library checks.

        :raises TokenError: one is missing or not of its form.
        """
        super().verify()
        if any(name not in self.payload for name in _REQUIRED):
            raise TokenError(_INVALID)


def issuer(base_url: str) -> str:
    """The issuer's name, which is also where its metadata lies. Source: RFC 8414 section 2."""
    return f"{base_url.rstrip('/')}/oauth"


@lru_cache(maxsize=4)
def _backend(base_url: str) -> KeyRingBackend:
    return KeyRingBackend(
        signing_keys.ALGORITHM,
        audience=base_url.rstrip("/"),
        issuer=issuer(base_url),
        leeway=LEEWAY_SECONDS,
    )


def issue_access_token(  # noqa: PLR0913  # the claims of a token, each by its name
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
    """This function will sign an access token of ten minutes.

    :param scopes: separated by spaces; None, for first-party sign-in only, narrows nothing.
    :param patient: the one patient of that tenant whose record the token reaches.
    :raises ValueError: a foreign client asks for a token without bounds, or a patient is named without a tenant.
    """
    if scopes is None and client_id != FIRST_PARTY_CLIENT:
        raise ValueError("only first-party tokens may be without scopes")
    if patient and tenant_id is None:
        raise ValueError("a patient is one of a tenant")
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
    """This function will check a token's signature, times and claims, and say what it claims.

    It does not know whether the token was denied since: see `organizations.models.DeniedToken`.

    :raises InvalidToken: for whatever reason.
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
        raise ValueError("a token for several audiences is not ours")
    auth_time = payload.get("auth_time")
    if "patient" in payload and not ("tid" in payload and _text(payload, "patient")):
        raise ValueError("a patient is one of a tenant")
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
