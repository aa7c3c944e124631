"""Findings of rules, and the issues that a run answers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from core.canonical import canonical_json, sha256_hex
from core.clock import rfc3339


class Severity(StrEnum):
    """How grave an issue is, the mildest first."""

    INFO = "info"
    LOW = "low"
    MODERATE = "moderate"
    HIGH = "high"
    CONTRAINDICATED = "contraindicated"
    BLOCKING = "blocking"

    @property
    def rank(self) -> int:
        """The place in the order of severities, 0 for the mildest."""
        return _ORDER.index(self)


_ORDER: Final = list(Severity)


class Needs(StrEnum):
    """What an issue needs before the prescription passes; nothing helps against a blocking one."""

    NONE = "none"
    ACKNOWLEDGE = "acknowledge"
    OVERRIDE = "override"


NEEDS: Final[Mapping[Severity, Needs]] = {
    Severity.INFO: Needs.NONE,
    Severity.LOW: Needs.NONE,
    Severity.MODERATE: Needs.ACKNOWLEDGE,
    Severity.HIGH: Needs.OVERRIDE,
    Severity.CONTRAINDICATED: Needs.OVERRIDE,
    Severity.BLOCKING: Needs.NONE,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found on some lines. `read` holds what the rule read for it, as JSON without numbers that are no integers.

    Lines are no part of what is read, so that an override outlives a change of the order of items.
    """

    code: str
    severity: Severity
    lines: tuple[int, ...]
    message: str
    read: Any
    evaluated: bool = True

    @property
    def fingerprint(self) -> str:
        """The digest of the rule's code, its verdict and what it read."""
        told = {"rule": self.code, "severity": self.severity, "evaluated": self.evaluated, "read": self.read}
        return sha256_hex(canonical_json(told))


@dataclass(frozen=True, slots=True)
class Override:
    """The decision of a person about an issue; an acknowledgement may be without a reason."""

    reason_code: str
    text: str
    by: str
    at: datetime

    def as_json(self) -> dict[str, str | None]:
        """Return the form in which it is stored and answered; null for no reason, and for no text."""
        reason, text = self.reason_code or None, self.text or None
        return {"reason_code": reason, "text": text, "by": self.by, "at": rfc3339(self.at)}


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue of a run, as it is stored and answered."""

    code: str
    severity: Severity
    lines: tuple[int, ...]
    message: str
    fingerprint: str
    evaluated: bool
    override: Override | None = None

    @property
    def needs(self) -> Needs:
        """What the issue needs by its severity."""
        return NEEDS[self.severity]

    @property
    def is_settled(self) -> bool:
        """Whether the issue stands in nobody's way: nothing is needed, or what is needed was given."""
        if self.severity is Severity.BLOCKING:
            return False
        return self.needs is Needs.NONE or self.override is not None

    def as_json(self) -> dict[str, Any]:
        """Return the form in which it is stored and answered; `override` is null where none was given."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "lines": list(self.lines),
            "message": self.message,
            "fingerprint": self.fingerprint,
            "evaluated": self.evaluated,
            "needs": self.needs.value,
            "override": self.override and self.override.as_json(),
        }


def overrides_of(issues: Iterable[Mapping[str, Any]]) -> dict[str, Override]:
    """Read the overrides of a stored run, by fingerprint, so that the next run can take them over."""
    return {
        issue["fingerprint"]: Override(
            issue["override"]["reason_code"] or "",
            issue["override"]["text"] or "",
            issue["override"]["by"],
            datetime.fromisoformat(issue["override"]["at"]),
        )
        for issue in issues
        if issue.get("override")
    }
