"""Errors as answers: the table of statuses, and problem documents. Source: RFC 9457."""

import logging
from collections.abc import Callable
from typing import Any

import orjson
import psycopg
from django.core.exceptions import BadRequest, RequestDataTooBig, SuspiciousOperation
from django.db import Error, IntegrityError
from django.http import Http404, HttpRequest, HttpResponse

from core import budgets, constraints, errors

from .transport import HeadersTooLarge, RequestTimedOut
from .url_areas import Area, area_of

log = logging.getLogger(__name__)

Renderer = Callable[[errors.PlatformError, HttpRequest], HttpResponse]
_renderers: dict[str, Renderer] = {}

STATUS: tuple[tuple[type[errors.PlatformError], int], ...] = (
    (errors.Malformed, 400),
    (errors.Unauthenticated, 401),
    (errors.Forbidden, 403),
    (errors.NotFound, 404),
    (errors.Gone, 410),
    (errors.Conflict, 409),
    (errors.PreconditionFailed, 412),
    (errors.TooLarge, 413),
    (errors.Unprocessable, 422),
    (errors.TooMany, 429),
    (errors.Unavailable, 503),
)


class RouteNotFound(errors.NotFound):
    """The service has no such address."""

    code = "route_not_found"
    title = "There is no such address."


class MethodNotAllowed(errors.PlatformError):
    """The address does not take this method (405)."""

    code = "method_not_allowed"
    title = "The method is not allowed here."


class UnsupportedMediaType(errors.PlatformError):
    """The body is not of a type the operation reads (415)."""

    code = "unsupported_media_type"
    title = "The body's media type is not supported."


class UnsupportedCoding(UnsupportedMediaType):
    """The body has a content coding; the platform decodes none. Source: RFC 9110 sections 8.4, 15.5.16."""

    code = "unsupported_content_coding"
    title = "The body's content coding is not supported."


class NotAcceptable(errors.PlatformError):
    """The caller accepts no media type that the operation writes (406)."""

    code = "not_acceptable"
    title = "The accepted media types cannot be served."


class InternalError(errors.PlatformError):
    """The platform failed (500)."""

    code = "internal_error"
    title = "An unexpected error occurred; it has been recorded."


class TookTooLong(errors.Unavailable):
    """A database statement reached the time limit."""

    code = "took_too_long"
    title = "The request takes too long; ask for less."


_HTTP: dict[type[errors.PlatformError], int] = {
    MethodNotAllowed: 405,
    NotAcceptable: 406,
    UnsupportedMediaType: 415,
    InternalError: 500,
    RequestTimedOut: 408,
    HeadersTooLarge: 431,
}


def status_of(error: errors.PlatformError | type[errors.PlatformError]) -> int:
    """Return the HTTP status of a refusal or of its class."""
    kind = error if isinstance(error, type) else type(error)
    found = next((status for base, status in _HTTP.items() if issubclass(kind, base)), None)
    return found or next((status for base, status in STATUS if issubclass(kind, base)), 500)


def refusal_of(error: BaseException) -> errors.PlatformError:
    """Return the refusal that an exception stands for; an unexpected exception is logged and becomes a 500."""
    if isinstance(error, errors.PlatformError):
        return error
    if isinstance(error, Http404):
        return RouteNotFound()
    if isinstance(error, RequestDataTooBig):
        return errors.TooLarge()
    if isinstance(error, SuspiciousOperation | BadRequest):
        return errors.Malformed()
    if isinstance(error, Error):
        return _of_database(error)
    log.error("unexpected error", exc_info=error)
    return InternalError()


def _of_database(error: Error) -> errors.PlatformError:
    cause = error.__cause__
    if isinstance(cause, psycopg.errors.InsufficientPrivilege):
        log.critical("row security refused a statement", exc_info=error)
        return errors.NotFound()
    if isinstance(
        cause, psycopg.errors.LockNotAvailable | psycopg.errors.DeadlockDetected | psycopg.errors.SerializationFailure
    ):
        return errors.Busy(headers={"Retry-After": "1"})
    if isinstance(cause, psycopg.errors.UniqueViolation | psycopg.errors.ExclusionViolation):
        return constraints.refusal_of(error) or errors.Duplicate(constraint=cause.diag.constraint_name or "")
    if isinstance(error, IntegrityError):
        return errors.Conflict("The change would violate a rule of the data.")
    if isinstance(cause, psycopg.errors.DataError):
        return errors.Malformed("A value is out of range.")
    if _is_away(cause):
        return _unavailable(cause)
    log.error("unexpected database error", exc_info=error)
    return InternalError()


def _is_away(cause: BaseException | None) -> bool:
    return isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)


def _unavailable(cause: BaseException | None) -> errors.PlatformError:
    if isinstance(cause, psycopg.errors.QueryCanceled):
        return budgets.refusal() if budgets.is_spent() else TookTooLong(headers={"Retry-After": "2"})
    return errors.Unavailable(headers={"Retry-After": "2"})


def problem(error: errors.PlatformError, *, instance: str, request_id: str) -> dict[str, Any]:
    """Write the problem document of a refusal. Source: RFC 9457, contract "Error body"."""
    return {
        "type": error.extra.get("type") or f"/problems/{error.code}",
        "title": error.title,
        "status": status_of(error),
        "detail": error.detail,
        "instance": instance,
        "code": error.code,
        "success": False,
        "request_id": request_id,
        **{name: value for name, value in error.extra.items() if name != "type"},
        "errors": [
            {"field": one.field, "pointer": one.pointer, "code": one.code, "message": one.message, **one.details}
            for one in error.errors
        ],
    }


def render_refusals(area: Area, renderer: Renderer) -> None:
    """Register how an area answers its refusals in a form of its own, such as FHIR's OperationOutcome."""
    _renderers[area.name] = renderer


def problem_response(error: BaseException, request: HttpRequest) -> HttpResponse:
    """Make the answer to a request that was refused or failed."""
    refusal = refusal_of(error)
    if renderer := _renderers.get(area_of(request.path_info).name):
        return renderer(refusal, request)
    document = problem(refusal, instance=request.path, request_id=getattr(request, "request_id", ""))
    content = orjson.dumps(document, default=str)
    response = HttpResponse(content, status=status_of(refusal), content_type="application/problem+json")
    for name, value in refusal.headers.items():
        response.headers[name] = value
    return response
