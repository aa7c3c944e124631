"""Endpoints that OAuth clients call. All answers, errors too, have OAuth's format. Source: RFC 6749 section 5.2."""

from typing import Any

import orjson
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_exempt
from django.views.generic import View
from oauth2_provider.views.mixins import OAuthLibMixin
from oauthlib.common import Request

from api.authentication import authenticator
from api.errors import refusal_of, status_of
from core import clock
from core.errors import PlatformError, Unauthenticated
from organizations import tokens
from organizations.models import OAuthApplication, RefreshToken, User
from organizations.signin import sessions

from . import assertions, configuration, scopes
from .assertions import InvalidClient
from .requests import BODY_PARAMETERS, fault_in
from .validators import is_live

FORM = "application/x-www-form-urlencoded"
_NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}
_CHALLENGE = {"WWW-Authenticate": 'Basic realm="oauth"'}


def fault(
    error: str, description: str = "", *, status: int = 400, headers: dict[str, str] | None = None
) -> HttpResponse:
    """Return an error response of OAuth."""
    body = {"error": error} | ({"error_description": description} if description else {})
    return _json(body, status=status, headers=headers)


def _json(body: dict[str, Any], *, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    return HttpResponse(
        orjson.dumps(body), status=status, content_type="application/json", headers=_NO_STORE | (headers or {})
    )


@method_decorator(csrf_exempt, name="dispatch")
class FormEndpoint(OAuthLibMixin, View):  # type: ignore[misc]  # the library has no types
    """Base of endpoints that take a form and answer JSON, in one transaction."""

    http_method_names = ["post", "options"]  # Django declares it as a list

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Check the form before the library does, and answer every failure in OAuth's format.

        A client that fails to authenticate leaves one entry in the security log.
        """
        if request.method not in ("POST", "OPTIONS"):
            return fault("invalid_request", "Use POST.", status=405, headers={"Allow": "POST, OPTIONS"})
        try:
            response = self._answer(request, *args, **kwargs)
        except Exception as error:  # every exception is answered; an unexpected one is logged and answered with 500
            response = _refusal_response(refusal_of(error))
        if response.status_code == 401:
            authenticator().report(InvalidClient(), request, None)
        return response

    def _answer(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method == "POST":
            if wrong := self._fault_of_form(request):
                return fault("invalid_request", wrong)
            # Before the transaction, since the client's keys may have to be fetched.
            request.asserted_client = assertions.authenticate(request.POST, at=clock.now())  # type: ignore[attr-defined]
        with transaction.atomic():
            return super().dispatch(request, *args, **kwargs)

    def _fault_of_form(self, request: HttpRequest) -> str:
        if request.content_type != FORM:
            return f"Send {FORM}."
        secret = "client_secret" in request.POST or "Authorization" in request.headers
        if secret and "client_assertion" in request.POST:
            return "Authenticate in one way: with a secret or with an assertion."
        return fault_in(request.POST, known=BODY_PARAMETERS)

    def respond(self, outcome: tuple[Any, dict[str, str], str | None, int]) -> HttpResponse:
        """Return oauthlib's response."""
        _, headers, body, status = outcome
        challenge = _CHALLENGE if status == 401 else {}
        plain = {"Content-Type": "application/json"} | _NO_STORE
        return HttpResponse(body or "", status=status, headers=plain | headers | challenge)


class TokenEndpoint(FormEndpoint):
    """Exchange of codes, refresh tokens and client credentials for access tokens."""

    def post(self, request: HttpRequest) -> HttpResponse:
        """Answer a token request."""
        grant_type = request.POST.get("grant_type")
        if not grant_type:
            return fault("invalid_request", "The parameter grant_type is missing.")
        if grant_type not in configuration.GRANT_TYPES:
            return fault("unsupported_grant_type")
        return self.respond(self.create_token_response(request))


class RevocationEndpoint(FormEndpoint):
    """Revocation of a token by its client. Source: RFC 7009."""

    def post(self, request: HttpRequest) -> HttpResponse:
        """Answer a revocation request; an unknown token is answered like a revoked one."""
        return self.respond(self.create_revocation_response(request))


class IntrospectionEndpoint(FormEndpoint):
    """Introspection by a confidential client, of its own tokens or, if allowed, of all. Source: RFC 7662."""

    def post(self, request: HttpRequest) -> HttpResponse:
        """Return whether the token is active, with its claims."""
        client = self._client(request)
        if client is None:
            return fault("invalid_client", status=401, headers=_CHALLENGE)
        token = request.POST.get("token", "")
        if not token:
            return fault("invalid_request", "The parameter token is missing.")
        return _json(_access_token_facts(token, client) or _refresh_token_facts(token, client) or {"active": False})

    def _client(self, request: HttpRequest) -> OAuthApplication | None:
        core = self.get_oauthlib_core()
        oauth_request = Request(*core._extract_params(request))
        if not core.server.request_validator.authenticate_client(oauth_request):
            return None
        client: OAuthApplication = oauth_request.client
        return client if client.client_type == OAuthApplication.CLIENT_CONFIDENTIAL else None


@csrf_exempt
def userinfo(request: HttpRequest) -> HttpResponse:
    """Return claims about the person of a token. Source: OpenID Connect Core section 5.3."""
    if request.method not in ("GET", "POST"):
        return fault("invalid_request", "Use GET or POST.", status=405, headers={"Allow": "GET, POST"})
    try:
        return _userinfo(request)
    except Unauthenticated:
        return fault("invalid_token", status=401, headers={"WWW-Authenticate": 'Bearer error="invalid_token"'})
    except Exception as error:  # every exception is answered; an unexpected one is logged and answered with 500
        return _refusal_response(refusal_of(error))


def _userinfo(request: HttpRequest) -> HttpResponse:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        return HttpResponse(status=401, headers=_NO_STORE | {"WWW-Authenticate": "Bearer"})
    claims = tokens.verify(token.strip())
    if claims.sub_type != "user" or not is_live(claims):
        raise tokens.InvalidToken
    if claims.scope is not None and "openid" not in claims.scope:
        challenge = 'Bearer error="insufficient_scope", scope="openid"'
        return fault("insufficient_scope", status=403, headers={"WWW-Authenticate": challenge})
    user = User.objects.get(pk=claims.sub)
    shown: dict[str, Any] = {"sub": str(user.pk)}
    if claims.scope is None or "profile" in claims.scope:
        shown |= {"name": user.name, "email": user.email}
    return _json(shown)


def _access_token_facts(token: str, client: OAuthApplication) -> dict[str, Any] | None:
    try:
        claims = tokens.verify(token)
    except Unauthenticated:
        return None
    may_ask = claims.client_id == client.client_id or scopes.INTROSPECTION in client.allowed_scopes
    if not may_ask or not is_live(claims):
        return None
    facts = {
        "active": True,
        "scope": " ".join(sorted(claims.scope or ())),
        "client_id": claims.client_id,
        "token_type": "Bearer",
        "exp": claims.exp,
        "iat": claims.iat,
        "sub": str(claims.sub),
        "aud": settings.BASE_URL.rstrip("/"),
        "iss": tokens.issuer(settings.BASE_URL),
        "jti": claims.jti,
        "sub_type": claims.sub_type.value,
    }
    facts |= {"tid": str(claims.tid)} if claims.tid else {}
    return facts | ({"patient": claims.patient} if claims.patient else {})


def _refresh_token_facts(token: str, client: OAuthApplication) -> dict[str, Any] | None:
    session = sessions.find_by_refresh_token(token, client_id=client.client_id)
    unused = RefreshToken.objects.filter(digest=sessions.digest_of(token), used_at__isnull=True)
    row: RefreshToken | None = unused.filter(expires_at__gt=clock.now()).first()
    if session is None or row is None or session.ended_at is not None or not session.user.is_active:
        return None
    facts = {"active": True, "client_id": client.client_id, "exp": int(row.expires_at.timestamp())}
    return facts | {"scope": " ".join(session.scopes or []), "sub": str(session.user_id)}


def _refusal_response(refusal: PlatformError) -> HttpResponse:
    status = status_of(refusal)
    if refusal.code == InvalidClient.code:
        return fault(refusal.code, refusal.detail, status=status, headers=_CHALLENGE if status == 401 else None)
    if status == 409:  # another request holds the rows
        status = 503
    error = {400: "invalid_request", 413: "invalid_request", 503: "temporarily_unavailable"}.get(status, "server_error")
    return fault(error, status=status if error != "server_error" else 500, headers=refusal.headers)
