"""Refusals as OperationOutcomes: which issue each stands for, and the answer to the request. Source: R4 http.html#ops."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponse

from api.errors import (
    MethodNotAllowed,
    NotAcceptable,
    RouteNotFound,
    TookTooLong,
    UnsupportedMediaType,
    refusal_of,
    status_of,
)
from api.transport import HeadersTooLarge, RequestTimedOut
from core import errors
from core.budgets import TooCostly
from fhir_api.negotiation import answered_type, is_pretty
from fhir_api.outcomes import InvalidResource, Issue, outcome
from fhir_api.resources import pretty, written

# R4 valueset-issue-type; the first class that fits.
_CODES: tuple[tuple[type[errors.PlatformError], str], ...] = (
    (errors.Unauthenticated, "login"),
    (errors.QuotaExceeded, "throttled"),
    (errors.Forbidden, "forbidden"),
    (RouteNotFound, "not-supported"),
    (errors.NotFound, "not-found"),
    (errors.Gone, "deleted"),
    (errors.Duplicate, "duplicate"),
    (errors.PreconditionFailed, "conflict"),
    (errors.Conflict, "conflict"),
    (errors.TooLarge, "too-long"),
    (errors.Unprocessable, "processing"),
    (errors.TooMany, "throttled"),
    (TookTooLong, "too-costly"),
    (TooCostly, "too-costly"),
    (errors.Unavailable, "transient"),
    (errors.Malformed, "invalid"),
    (MethodNotAllowed, "not-supported"),
    (NotAcceptable, "not-supported"),
    (UnsupportedMediaType, "not-supported"),
    (HeadersTooLarge, "too-long"),
    (RequestTimedOut, "timeout"),
)


def respond(refusal: errors.PlatformError, request: HttpRequest) -> HttpResponse:
    """The answer to a refused request: an OperationOutcome, whatever `Prefer` says. Source: R4 http.html#ops."""
    found = outcome(issues_of(refusal), request_id=getattr(request, "request_id", ""))
    content = pretty(found) if is_pretty(request) else written(found)
    return HttpResponse(
        content, status=status_of(refusal), content_type=answered_type(request), headers=refusal.headers
    )


def issues_of(error: BaseException) -> tuple[Issue, ...]:
    """The issues that a refusal stands for; at least one."""
    refusal = refusal_of(error)
    if isinstance(refusal, InvalidResource):
        return tuple(replace(one, details=one.details or refusal.code) for one in refusal.issues)
    kind = str(refusal.extra.get("issue_type") or _issue_type(refusal))
    if not refusal.errors:
        return (Issue(kind, refusal.detail, str(refusal.extra.get("expression", "")), refusal.code),)
    return tuple(Issue(kind, one.message, one.field, one.code) for one in refusal.errors)


def _issue_type(refusal: errors.PlatformError) -> str:
    return next((code for kind, code in _CODES if isinstance(refusal, kind)), "exception")
