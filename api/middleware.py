"""The outermost middleware but for compression: request id, HTTPS rule, limits by address, security headers, one log line per answer."""

import re
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.exception import response_for_exception
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from core.errors import Forbidden, Malformed, PlatformError, TooLarge, Unauthenticated, Unavailable

from . import logs, metrics, ratelimits
from .addresses import bucket_of, client_address
from .errors import InternalError, MethodNotAllowed, RouteNotFound, UnsupportedCoding, problem_response
from .metering import RateLimited
from .routing import find
from .transport import REFUSAL, request_id_of
from .url_areas import HEALTH, SIGNED, Area, area_of

Handler = Callable[[HttpRequest], HttpResponseBase]

MAX_LOGGED_PATH = 300

_PLAIN_PATH = re.compile(r"[/A-Za-z0-9._$-]*")
# How credentials and the tokens of links begin; that of an invitation is part of an address.
_SECRET_SEGMENT = re.compile(r"(?<=/)h(?:p[a-z]|rt)_[^/]*")
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_UNPROVEN = frozenset({401, 404, 405})
_BY_STATUS: dict[int, type[PlatformError]] = {
    400: Malformed,
    401: Unauthenticated,
    403: Forbidden,
    404: RouteNotFound,
    405: MethodNotAllowed,
    413: TooLarge,
    500: InternalError,
    503: Unavailable,
}


class HttpsRequired(Malformed):
    """The request came over plain HTTP, so others may have read what it carried."""

    code = "https_required"
    title = "This service answers over HTTPS only."


class HostNotAllowed(Malformed):
    """The Host header names none of this service's hosts."""

    code = "host_not_allowed"
    title = "The Host header does not name this service."


class Edge:
    """Outermost Django middleware. It sets `request.request_id`, `.traceparent` and `.client_address`."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        self._crosses_origins = "corsheaders.middleware.CorsMiddleware" in settings.MIDDLEWARE

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        area = area_of(request.path_info)
        identity = _identify(request)
        response = self._answer(request, area)
        _dress(response, request, area, identity)
        _record(response, request, area, time.perf_counter() - started)
        return response

    def _answer(self, request: HttpRequest, area: Area) -> HttpResponseBase:
        if refused := request.META.get(REFUSAL):  # refused by the HTTP front
            return _count_unproven(problem_response(refused, request), request, area, None)
        try:
            _check_transport(request, area)
            _check_method(request, area)
            _check_coding(request)
            verdict = _count_address(request, area)
        except PlatformError as refusal:
            return problem_response(refusal, request)
        response = _as_problem(self._ask(request, area), request, area)
        return _count_unproven(response, request, area, verdict)

    def _ask(self, request: HttpRequest, area: Area) -> HttpResponseBase:
        """Call the view. The API's views are called directly: the other middleware serves pages and CORS only."""
        match = None if area.pages or self._crosses_origins else find(request.path_info)
        if match is None:
            return self.get_response(request)
        request.resolver_match = match
        try:
            response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
        except Exception as error:  # as Django's own handler does; `ApiViewSet` raises none
            response = response_for_exception(request, error)
        return response


def _identify(request: HttpRequest) -> str:
    meta = request.META
    identity = request_id_of(meta)
    trace = meta.get("HTTP_TRACEPARENT", "")
    trace = trace if trace and _TRACEPARENT.fullmatch(trace) else ""
    request.request_id = identity  # type: ignore[attr-defined]
    request.traceparent = trace  # type: ignore[attr-defined]
    request.client_address = client_address(  # type: ignore[attr-defined]
        meta, trusted_proxies=settings.TRUSTED_PROXY_COUNT
    )
    if trace:
        logs.begin(request_id=identity, traceparent=trace)
    else:
        logs.begin(request_id=identity)
    return identity


def _check_transport(request: HttpRequest, area: Area) -> None:
    if not area.https:
        return
    if settings.PRODUCTION and not request.is_secure():
        raise HttpsRequired("Plain HTTP is refused, never redirected. Replace the credential that the request carried.")
    meta = request.META
    if not _is_ours(meta["HTTP_HOST"] if "HTTP_HOST" in meta else meta["SERVER_NAME"], tuple(settings.ALLOWED_HOSTS)):
        raise HostNotAllowed


def _check_method(request: HttpRequest, area: Area) -> None:
    """Refuse TRACE, which would show a page's script the cookies it must not see, and methods that nothing here has.

    The API's views refuse them by themselves, and name in Allow what the address takes.

    :raises MethodNotAllowed: as said. Source: RFC 9110 sections 9.3.8, 15.5.6.
    """
    if request.method not in _METHODS and (area.pages or find(request.path_info) is None):
        raise MethodNotAllowed(headers={"Allow": ", ".join(_METHODS)})


def _check_coding(request: HttpRequest) -> None:
    """Refuse a body with a content coding other than identity, in all areas.

    :raises UnsupportedCoding: Content-Encoding names another coding.
    """
    coding = request.META.get("HTTP_CONTENT_ENCODING")
    if coding and coding.strip().lower() != "identity":
        text = "Send the body without Content-Encoding."
        raise UnsupportedCoding(text, headers={"Accept-Encoding": "identity"})


@lru_cache(maxsize=256)
def _is_ours(host: str, _allowed: tuple[str, ...]) -> bool:
    """Tell whether a Host header names this service, by Django's rule; cached for each name."""
    asked = HttpRequest()
    asked.META = {"HTTP_HOST": host}
    try:
        asked.get_host()
    except DisallowedHost:
        return False
    return True


def _count_address(request: HttpRequest, area: Area) -> ratelimits.Verdict | None:
    """Count a request without a credential against its address, before any other work.

    :raises RateLimited: the address has used up its window.
    """
    if not area.limited or _shows_credential(request) or _is_preflight(request):
        return None
    verdict = ratelimits.take(ratelimits.policy("address"), _bucket(request))
    if not verdict.allowed:
        raise _limited(verdict)
    return verdict


def _shows_credential(request: HttpRequest) -> bool:
    meta = request.META
    if "HTTP_X_API_KEY" in meta or meta.get("HTTP_AUTHORIZATION", "")[:7].lower() == "bearer ":
        return True
    return request.path_info.startswith(SIGNED)


def _is_preflight(request: HttpRequest) -> bool:
    return request.method == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in request.META


def _bucket(request: HttpRequest) -> str:
    return bucket_of(request.client_address)  # type: ignore[attr-defined]


def _limited(verdict: ratelimits.Verdict) -> RateLimited:
    members: dict[str, Any] = {
        "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
        "retry_after": verdict.reset_seconds,
        "violated-policies": [f"{verdict.policy_name}-minute"],
    }
    return RateLimited(
        f"The limit of {verdict.limit} requests per {verdict.window_seconds} s is used up.",
        headers=ratelimits.headers(verdict),
        **members,
    )


def _count_unproven(
    response: HttpResponseBase, request: HttpRequest, area: Area, verdict: ratelimits.Verdict | None
) -> HttpResponseBase:
    """Count an invalid credential against the address, and write the address's limit on answers without a limit.

    A valid credential is never limited because of others behind the same address.
    """
    if not settings.RATE_LIMITS_ENABLED or not (area.limited or area is HEALTH):
        return response
    if "RateLimit-Limit" in response.headers:
        return response
    if verdict is None:
        ask = ratelimits.take if response.status_code in _UNPROVEN and area.limited else ratelimits.peek
        verdict = ask(ratelimits.policy("address"), _bucket(request))
        if not verdict.allowed and response.status_code in _UNPROVEN and area.limited:
            return problem_response(_limited(verdict), request)
    for name, value in ratelimits.headers(verdict).items():
        if name != "Retry-After":
            response.headers[name] = value
    return response


def _as_problem(response: HttpResponseBase, request: HttpRequest, area: Area) -> HttpResponseBase:
    """Replace Django's HTML error pages by problem documents."""
    status = response.status_code
    kind = _BY_STATUS.get(status)
    if kind is None or (area.problems is not None and status not in area.problems):
        return response
    if not response.headers.get("Content-Type", "text/html").startswith("text/html"):
        return response
    allow = response.headers.get("Allow")
    return problem_response(kind(headers={"Allow": allow} if allow else None), request)


def _dress(response: HttpResponseBase, request: HttpRequest, area: Area, identity: str) -> None:
    headers = response.headers
    headers["X-Request-Id"] = identity
    # As `setdefault` for each, without its check of names and values, which are constants here (docs/bypasses.md).
    headers._store = {**area.stored, **headers._store}
    if settings.SECURE_HSTS_SECONDS and request.is_secure():
        headers.setdefault("Strict-Transport-Security", f"max-age={settings.SECURE_HSTS_SECONDS}; includeSubDomains")


def _record(response: HttpResponseBase, request: HttpRequest, area: Area, seconds: float) -> None:
    method, status = request.method or "", response.status_code
    match = request.resolver_match
    metrics.observe_request(route=match.route if match else "unmatched", method=method, status=status, seconds=seconds)
    if area is HEALTH and status < 400:
        return  # probes would drown the other lines
    tenant_id = getattr(request, "tenant_id", None)
    logs.access(
        method=method,
        path=_shown(request.path[:MAX_LOGGED_PATH]),
        status=status,
        ms=round(seconds * 1000, 2),
        tenant_id=str(tenant_id) if tenant_id else "",
        credential=getattr(request, "credential", ""),
    )
    logs.clear()


def _shown(path: str) -> str:
    """Mask segments of a path that are secrets, or have unusual characters and may be a name in place of an id."""
    if "_" in path:
        path = _SECRET_SEGMENT.sub("*", path)
    if _PLAIN_PATH.fullmatch(path):
        return path
    return "/".join(part if _PLAIN_PATH.fullmatch(part) else "*" for part in path.split("/"))
