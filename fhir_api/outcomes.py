"""OperationOutcome: the one form of every refusal and warning of the FHIR interface. Source: R4 operationoutcome.html."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.conf import settings
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

from .ids import is_id
from .negotiation import JSON_FHIR, is_pretty
from .resources import Json, pretty, written

ERROR, WARNING, INFORMATION = "error", "warning", "information"

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
    (errors.Unavailable, "transient"),
    (errors.Malformed, "invalid"),
    (MethodNotAllowed, "not-supported"),
    (NotAcceptable, "not-supported"),
    (UnsupportedMediaType, "not-supported"),
    (HeadersTooLarge, "too-long"),
    (RequestTimedOut, "timeout"),
)


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue. `code` is R4's issue type, `details` the platform's own stable code, `expression` FHIRPath.

    `diagnostics` name elements and rules, never values of a patient's record.
    """

    code: str
    diagnostics: str
    expression: str = ""
    details: str = ""
    severity: str = ERROR

    def json(self) -> Json:
        """The issue as an element of OperationOutcome; the system is absolute. Source: R4 datatypes.html#Coding."""
        found: Json = {"severity": self.severity, "code": self.code}
        if self.details:
            found["details"] = {"coding": [{"system": f"{settings.BASE_URL}/problems", "code": self.details}]}
        if self.diagnostics:
            found["diagnostics"] = self.diagnostics
        if self.expression:
            found["expression"] = [self.expression]
        return found


class InvalidResource(errors.Unprocessable):
    """The resource breaks rules of FHIR; each broken rule is an issue (422)."""

    code = "invalid_resource"
    title = "The resource is not valid."

    def __init__(self, issues: Sequence[Issue]) -> None:
        super().__init__()
        self.issues = tuple(issues)


def outcome(issues: Iterable[Issue], *, request_id: str = "") -> Json:
    """An OperationOutcome; the request's id is its own where it has the form of one, so that a report can name it."""
    found: Json = {"resourceType": "OperationOutcome"}
    if is_id(request_id):
        found["id"] = request_id
    return {**found, "issue": [issue.json() for issue in issues]}


def respond(refusal: errors.PlatformError, request: HttpRequest) -> HttpResponse:
    """The answer to a refused request: an OperationOutcome, whatever `Prefer` says. Source: R4 http.html#ops."""
    found = outcome(issues_of(refusal), request_id=getattr(request, "request_id", ""))
    content = pretty(found) if is_pretty(request) else written(found)
    return HttpResponse(content, status=status_of(refusal), content_type=JSON_FHIR, headers=refusal.headers)


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


__all__ = ["ERROR", "INFORMATION", "WARNING", "InvalidResource", "Issue", "issues_of", "outcome", "respond"]
