"""OperationOutcome: the one form of every refusal and warning of the FHIR interface. Source: R4 operationoutcome.html."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.conf import settings

from core import errors

from .ids import is_id
from .resources import Json

ERROR, WARNING, INFORMATION = "error", "warning", "information"


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

    def warning(self) -> "Issue":
        """The same issue as a warning."""
        return replace(self, severity=WARNING)

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


__all__ = ["ERROR", "INFORMATION", "WARNING", "InvalidResource", "Issue", "outcome"]
