"""The validator that oauthlib calls. Codes, sessions and refresh tokens are rows of the platform's tables.

Access tokens are not stored. Everything runs in the view's transaction, so a token response and its rows are committed
together.
"""

import re
from datetime import timedelta
from typing import Any

from django.conf import settings
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.oauth2.rfc6749 import errors

from core import clock
from core.errors import Unauthenticated
from core.ids import uuid7
from organizations import signing_keys, tokens
from organizations.models import AuthorizationGrant, DeniedToken, OAuthApplication, SignInSession, User
from organizations.signin import sessions

from . import configuration
from .requests import ASSERTED, SIGNED_IN, state_of
from .scopes import is_grantable

MAX_CLIENT_ID = 255
_S256_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")


class PlatformValidator(OAuth2Validator):  # type: ignore[misc]  # the library has no types
    """django-oauth-toolkit's validator over the platform's tables."""

    oidc_claim_scope = {"sub": "openid", "name": "profile", "email": "profile"}

    # -- clients -------------------------------------------------------------------------------------------------------

    def _load_application(self, client_id: Any, request: Any) -> Any:
        """Treat a client id that the column cannot hold as unknown, before the database refuses it."""
        if not isinstance(client_id, str) or not client_id or len(client_id) > MAX_CLIENT_ID or "\0" in client_id:
            return None
        return super()._load_application(client_id, request)

    def authenticate_client(self, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Accept the client whose assertion the endpoint has accepted, or else a client's secret."""
        asserted = request.headers.get(ASSERTED)
        if asserted:
            return self._load_application(asserted, request) is not None
        return bool(super().authenticate_client(request, *args, **kwargs))

    def is_pkce_required(self, client_id: str, request: Any) -> bool:
        """Require PKCE always; refuse a challenge other than S256 here, before the person is asked for consent."""
        challenge, method = request.code_challenge, request.code_challenge_method
        if challenge is not None and (method != "S256" or not _S256_CHALLENGE.fullmatch(challenge)):
            raise errors.InvalidRequestError(description="Use PKCE with code_challenge_method S256.", request=request)
        return True

    def validate_silent_login(self, request: Any) -> bool:
        """Return whether the browser is signed in, for `prompt=none`."""
        return bool(request.headers.get(SIGNED_IN) == "yes")

    def validate_silent_authorization(self, request: Any) -> bool:
        """Refuse `prompt=none`, because consent is asked for every time."""
        return False

    def validate_scopes(
        self, client_id: str, scopes: Any, client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """Require at least one scope, and that the client may get every scope."""
        return bool(scopes) and all(is_grantable(client, scope) for scope in scopes)

    # -- authorization codes -------------------------------------------------------------------------------------------

    def _create_authorization_code(self, request: Any, code: dict[str, str], expires: Any = None) -> AuthorizationGrant:
        at, proof, bound = clock.now(), vars(request)["proof"], vars(request).get("bound")
        grant: AuthorizationGrant = AuthorizationGrant.objects.create(
            application=request.client,
            user=request.user,
            code=code["code"],
            expires=at + timedelta(seconds=configuration.CODE_SECONDS),
            redirect_uri="" if vars(request).get("default_redirect") else request.redirect_uri,
            scope=" ".join(request.scopes),
            code_challenge=request.code_challenge or "",
            code_challenge_method=request.code_challenge_method or "",
            nonce=request.nonce or "",
            acr=proof.acr,
            amr=list(proof.amr),
            authenticated_at=proof.at,
            bound_tenant_id=bound.tenant_id if bound else None,
            patient=bound.patient if bound else "",
        )
        return grant

    def validate_code(self, client_id: str, code: str, client: Any, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Lock the code's row; reuse of a code ends the session that it opened. Source: RFC 6749 section 4.1.2."""
        grants = AuthorizationGrant.objects.select_for_update(of=("self",)).select_related("user")
        grant = grants.filter(code=code, application=client).first()
        if grant is None:
            return False
        at = clock.now()
        if grant.session_id is not None:
            session = SignInSession.objects.filter(pk=grant.session_id).first()
            if session is not None:
                sessions.end(session, reason="code_replayed", at=at)
            return False
        if grant.expires <= at or not grant.user.is_active:
            return False
        state_of(request).grant = grant
        request.user, request.scopes, request.nonce = grant.user, grant.scope.split(), grant.nonce or None
        return True

    def confirm_redirect_uri(
        self, client_id: str, code: str, redirect_uri: str, client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """Require the redirect URI of the authorization request, if it named one. Source: RFC 6749 section 4.1.3."""
        grant = state_of(request).grant
        if grant is None:
            return False
        if grant.redirect_uri:
            return not request.using_default_redirect_uri and bool(grant.redirect_uri_allowed(redirect_uri))
        return bool(redirect_uri == client.default_redirect_uri)

    def invalidate_authorization_code(self, client_id: str, code: str, request: Any, *args: Any, **kwargs: Any) -> None:
        """Mark the code used and store its session, so that reuse of the code can end the session."""
        state = state_of(request)
        used = AuthorizationGrant.objects.filter(pk=state.grant.pk if state.grant else None)
        used.update(session_id=state.current_session().pk)

    # -- tokens --------------------------------------------------------------------------------------------------------

    def save_bearer_token(self, token: dict[str, Any], request: Any, *args: Any, **kwargs: Any) -> None:
        """Store the refresh token's digest; the access token needs no row."""
        refresh_token = token.get("refresh_token")
        state, at = state_of(request), clock.now()
        if refresh_token is None or (state.redeemed is not None and state.redeemed.answer is not None):
            return
        sessions.store_refresh_token(state.current_session(), token=refresh_token, at=at)
        if state.redeemed is not None:
            answer = {"access_token": token["access_token"], "refresh_token": refresh_token}
            sessions.mark_used(state.redeemed, token=state.presented, answer=answer, at=at)

    def validate_refresh_token(self, refresh_token: str, client: Any, request: Any, *args: Any, **kwargs: Any) -> bool:
        """Lock the token's row; reuse after the grace period ends the session."""
        redeemed = sessions.redeem(refresh_token, client_id=client.client_id, at=clock.now())
        if redeemed is None:
            return False
        state = state_of(request)
        state.redeemed, state.presented, request.user = redeemed, refresh_token, redeemed.session.user
        return True

    def get_original_scopes(self, refresh_token: str, request: Any, *args: Any, **kwargs: Any) -> list[str]:
        """Return the scopes that the person consented to."""
        return list(state_of(request).current_session().scopes or [])

    def revoke_token(self, token: str, token_type_hint: str, request: Any, *args: Any, **kwargs: Any) -> None:
        """End the session of a token, or deny a machine client's token, if it is the calling client's. Source: RFC 7009."""
        at, client_id = clock.now(), request.client.client_id
        session = sessions.find_by_refresh_token(token, client_id=client_id)
        if session is None:
            session = self._of_access_token(token, client_id, at)
        if session is not None:
            sessions.end(session, reason="revoked", at=at)

    def _of_access_token(self, token: str, client_id: str, at: Any) -> SignInSession | None:
        try:
            claims = tokens.verify(token)
        except Unauthenticated:
            return None
        if claims.client_id != client_id:
            return None
        session = SignInSession.objects.filter(pk=claims.sid, client_id=client_id).first()
        if session is None:
            sessions.deny([claims.jti], at=at)
        return session

    def validate_bearer_token(self, token: str | None, scopes: Any, request: Any) -> bool:
        """Refuse every token: `organizations.authentication` checks bearer tokens, not the library."""
        return False

    # -- ID tokens -----------------------------------------------------------------------------------------------------

    def get_additional_claims(self) -> dict[str, Any]:
        """Return the claims about the person, each of which needs its scope."""
        return {"name": lambda request: request.user.name, "email": lambda request: request.user.email}

    def finalize_id_token(self, id_token: dict[str, Any], token: Any, token_handler: Any, request: Any) -> str:
        """Complete oauthlib's claims (aud, iat, at_hash) and sign the ID token with the platform's key; no row is stored.

        Its type is "JWT", which the API refuses as an access token. Source: OpenID Connect Core section 2.
        """
        at, session = clock.now(), state_of(request).current_session()
        claims = id_token | self.get_oidc_claims(token, token_handler, request)
        claims |= {
            "iss": tokens.issuer(settings.BASE_URL),
            "exp": int(at.timestamp()) + configuration.ACCESS_TOKEN_SECONDS,
            "auth_time": int(session.authenticated_at.timestamp()),
            "acr": session.acr,
            "amr": list(session.amr),
            "sid": str(session.pk),
            "jti": str(uuid7()),
        }
        if request.nonce:
            claims["nonce"] = request.nonce
        return signing_keys.sign(claims, typ="JWT")


def is_live(claims: tokens.Claims) -> bool:
    """Return whether a verified token is still valid: not denied, and its person, or its client, still active."""
    if DeniedToken.objects.filter(value__in=[claims.jti, claims.sid]).exists():
        return False
    if claims.sub_type == "user":
        return User.objects.filter(pk=claims.sub, is_active=True).exists()
    client = OAuthApplication.objects.select_related("service_account").filter(client_id=claims.client_id).first()
    return client is not None and client.is_usable(None)
