"""OperationOutcome: the one form of every refusal and warning of the FHIR interface. Source: R4 operationoutcome.html."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from api.errors import refusal_of
from core import errors

from .resources import Json

ERROR, WARNING, INFORMATION = "error", "warning", "information"
SYSTEM = "/problems"

# R4 valueset-issue-type; the first class that fits.
_CODES: tuple[tuple[type[errors.PlatformError], str], ...] = (
    (errors.Unauthenticated, "login"),
    (errors.QuotaExceeded, "throttled"),
    (errors.Forbidden, "forbidden"),
    (errors.NotFound, "not-found"),
    (errors.Duplicate, "duplicate"),
    (errors.PreconditionFailed, "conflict"),
    (errors.Conflict, "conflict"),
    (errors.TooLarge, "too-long"),
    (errors.Unprocessable, "processing"),
    (errors.TooMany, "throttled"),
    (errors.Unavailable, "transient"),
    (errors.Malformed, "invalid"),
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
        """The issue as an element of OperationOutcome."""
        found: Json = {"severity": self.severity, "code": self.code}
        if self.details:
            found["details"] = {"coding": [{"system": SYSTEM, "code": self.details}]}
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
    """An OperationOutcome; the request's id is its own, so that a report can name it."""
    found: Json = {"resourceType": "OperationOutcome"}
    if request_id:
        found["id"] = request_id
    return {**found, "issue": [issue.json() for issue in issues]}


def issues_of(error: BaseException) -> tuple[Issue, ...]:
    """The issues that a refusal stands for; at least one."""
    refusal = refusal_of(error)
    if isinstance(refusal, InvalidResource):
        return refusal.issues
    kind = str(refusal.extra.get("issue_type") or _issue_type(refusal))
    if not refusal.errors:
        return (Issue(kind, refusal.detail, str(refusal.extra.get("expression", "")), refusal.code),)
    return tuple(Issue(kind, one.message, one.field, one.code) for one in refusal.errors)


def _issue_type(refusal: errors.PlatformError) -> str:
    return next((code for kind, code in _CODES if isinstance(refusal, kind)), "exception")


__all__ = ["ERROR", "INFORMATION", "WARNING", "InvalidResource", "Issue", "issues_of", "outcome"]
