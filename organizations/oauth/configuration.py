"""Settings of django-oauth-toolkit and simplejwt, for `config.settings`; imports no module of the platform."""

from datetime import timedelta
from typing import Any

ACCESS_TOKEN_SECONDS = 600
CODE_SECONDS = 60
GRANT_TYPES = ("authorization_code", "client_credentials", "refresh_token")

_PLATFORM_SCOPES = {
    "openid": "Know who you are",
    "profile": "See your name and e-mail address",
    "offline_access": "Stay signed in",
}

# All switches that make the library follow RFC 9700, the best current practice for OAuth 2.0 security.
_COMPLIANT = tuple(
    f"COMPLIANT_BCP_RFC9700_{name}"
    for name in (
        "IMPLICIT_GRANT",
        "PASSWORD_GRANT",
        "PKCE_METHOD",
        "ACCESS_TOKEN_TRANSPORT",
        "AUTHZ_RESPONSE_ISS",
        "TOKEN_STORAGE",
        "REFRESH_TOKEN",
        "REDIRECT_URI_SCHEME",
        "REDIRECT_URI_MATCHING",
        "PKCE_REQUIRED",
    )
)


def oauth2_provider(base_url: str) -> dict[str, Any]:
    """Settings of django-oauth-toolkit. Scopes come from `SCOPES_BACKEND_CLASS`, keys from `organizations.signing_keys`."""
    return {
        "OIDC_ENABLED": True,
        "OIDC_ISS_ENDPOINT": f"{base_url.rstrip('/')}/oauth",
        "OIDC_RESPONSE_TYPES_SUPPORTED": ["code"],
        "OAUTH2_RESPONSE_TYPES_SUPPORTED": ["code"],
        "OAUTH2_GRANT_TYPES_SUPPORTED": list(GRANT_TYPES),
        "OAUTH_PRE_TOKEN_VALIDATION": [],  # the library's own lookup of device codes; that grant is off
        "SCOPES": _PLATFORM_SCOPES,
        "DEFAULT_SCOPES": [],
        "SCOPES_BACKEND_CLASS": "organizations.oauth.scopes.ClientScopes",
        "OAUTH2_BACKEND_CLASS": "organizations.oauth.requests.FormBackend",
        "OAUTH2_VALIDATOR_CLASS": "organizations.oauth.validators.PlatformValidator",
        "GRANT_MODEL": "organizations.AuthorizationGrant",
        "APPLICATION_MODEL": "organizations.OAuthApplication",
        "CLIENT_SECRET_HASHER": "sha256_client_secret",
        # Both are set: otherwise the library makes refresh tokens with the generator of access tokens.
        "ACCESS_TOKEN_GENERATOR": "organizations.oauth.generators.access_token",
        "REFRESH_TOKEN_GENERATOR": "organizations.oauth.generators.refresh_token",
        "ACCESS_TOKEN_EXPIRE_SECONDS": ACCESS_TOKEN_SECONDS,
        "ID_TOKEN_EXPIRE_SECONDS": ACCESS_TOKEN_SECONDS,
        "AUTHORIZATION_CODE_EXPIRE_SECONDS": CODE_SECONDS,
        "REFRESH_TOKEN_EXPIRE_SECONDS": 14 * 86_400,
        "ROTATE_REFRESH_TOKEN": True,
        "REFRESH_TOKEN_REUSE_PROTECTION": True,
        "PKCE_REQUIRED": True,
        "ALLOW_URI_WILDCARDS": False,
        "ALLOWED_REDIRECT_URI_SCHEMES": ["https"],
        "REQUEST_APPROVAL_PROMPT": "force",
        "DCR_ENABLED": False,
        "CIMD_ENABLED": False,
        **dict.fromkeys(_COMPLIANT, True),
    }


def simple_jwt(base_url: str) -> dict[str, Any]:
    """Settings of simplejwt. `organizations.signing_keys` holds the keys, so none is set here."""
    return {
        "ALGORITHM": "RS256",
        "SIGNING_KEY": "",
        "VERIFYING_KEY": "",
        "AUDIENCE": base_url.rstrip("/"),
        "ISSUER": f"{base_url.rstrip('/')}/oauth",
        "ACCESS_TOKEN_LIFETIME": timedelta(seconds=ACCESS_TOKEN_SECONDS),
        "LEEWAY": 5,
        "USER_ID_FIELD": "id",
        "USER_ID_CLAIM": "sub",
        "TOKEN_TYPE_CLAIM": "token_use",
        "AUTH_TOKEN_CLASSES": ("organizations.tokens.PlatformAccessToken",),
        "CHECK_REVOKE_TOKEN": False,
        "UPDATE_LAST_LOGIN": False,
    }
