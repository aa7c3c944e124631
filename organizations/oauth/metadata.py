"""Metadata of the authorization server, RFC 8414 and OpenID Connect Discovery, and the platform's key sets."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from organizations import signatures, signing_keys, tokens
from organizations.roles import IDENTITY_SCOPES, SCOPES

from . import client_keys, configuration

KEYS_MAX_AGE_SECONDS = 300
_DOCUMENT_MAX_AGE_SECONDS = 3600
_CLIENT_AUTHENTICATION = ["client_secret_basic", "client_secret_post", "private_key_jwt"]
_ASSERTION_ALGORITHMS = list(client_keys.ALGORITHMS)


@require_safe
def authorization_server(request: HttpRequest) -> JsonResponse:
    """Return the document of RFC 8414, served at the root with and without the issuer's path."""
    return _public(document(), _DOCUMENT_MAX_AGE_SECONDS)


@require_safe
def openid_provider(request: HttpRequest) -> JsonResponse:
    """Return the document of OpenID Connect Discovery 1.0 section 3, which extends that of RFC 8414."""
    more = {
        "userinfo_endpoint": endpoint("userinfo"),
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [signing_keys.ALGORITHM],
        "claims_supported": [
            *("iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "acr", "amr", "sid"),
            *("name", "email"),
        ],
        "acr_values_supported": ["password", "mfa"],
        "prompt_values_supported": ["none", "login"],
        "claims_parameter_supported": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
    }
    return _public(document() | more, _DOCUMENT_MAX_AGE_SECONDS)


@require_safe
def key_set(request: HttpRequest) -> JsonResponse:
    """Return the public keys, the active one first. Source: RFC 7517 section 5."""
    return _public({"keys": [key.public_jwk() for key in signing_keys.published_keys()]}, KEYS_MAX_AGE_SECONDS)


@require_safe
def prescription_key_set(request: HttpRequest) -> JsonResponse:
    """Return the public keys of snapshots and checkpoints, replaced ones too, but no compromised one.

    Source: RFC 7517 section 5.
    """
    keys = [key.public_jwk() for purpose in signatures.TYPES for key in signatures.published(purpose)]
    return _public({"keys": keys}, KEYS_MAX_AGE_SECONDS)


def document() -> dict[str, Any]:
    """Return the metadata that both documents share."""
    return {
        "issuer": tokens.issuer(settings.BASE_URL),
        "authorization_endpoint": endpoint("authorize"),
        "token_endpoint": endpoint("token"),
        "revocation_endpoint": endpoint("revoke"),
        "introspection_endpoint": endpoint("introspect"),
        "jwks_uri": endpoint(".well-known/jwks.json"),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(configuration.GRANT_TYPES),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": [*_CLIENT_AUTHENTICATION, "none"],
        "revocation_endpoint_auth_methods_supported": [*_CLIENT_AUTHENTICATION, "none"],
        "introspection_endpoint_auth_methods_supported": _CLIENT_AUTHENTICATION,
        "token_endpoint_auth_signing_alg_values_supported": _ASSERTION_ALGORITHMS,
        "revocation_endpoint_auth_signing_alg_values_supported": _ASSERTION_ALGORITHMS,
        "introspection_endpoint_auth_signing_alg_values_supported": _ASSERTION_ALGORITHMS,
        "scopes_supported": [*IDENTITY_SCOPES, *sorted(SCOPES)],
        "authorization_response_iss_parameter_supported": True,
        "service_documentation": f"{settings.BASE_URL.rstrip('/')}/docs",
    }


def endpoint(path: str) -> str:
    """Return the address of an endpoint; that of `token` is also the audience of assertions."""
    return f"{tokens.issuer(settings.BASE_URL)}/{path}"


def _public(document: dict[str, Any], max_age_seconds: int) -> JsonResponse:
    headers = {"Cache-Control": f"public, max-age={max_age_seconds}", "Access-Control-Allow-Origin": "*"}
    return JsonResponse(document, headers=headers)
