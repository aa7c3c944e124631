"""The registry of clinical rules: one class for each code of the contract's table."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final, TypeVar

from prescriptions.validation.facts import Facts
from prescriptions.validation.issues import Finding, Severity

RULES: Final[dict[str, "ClinicalRule"]] = {}
RuleClass = TypeVar("RuleClass", bound=type["ClinicalRule"])


class ClinicalRule(ABC):
    """A rule of the clinical validation. Its `code` is stable: issues and overrides name it."""

    code: ClassVar[str]

    @abstractmethod
    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield what the rule finds, and what it could not evaluate for lack of data."""

    def finding(self, severity: Severity, lines: Iterable[int], message: str, read: Any) -> Finding:
        """Return an issue on some lines; `read` is all that the rule read for it, but for the lines."""
        return Finding(self.code, severity, tuple(sorted(set(lines))), message, read)

    def not_evaluated(self, cause: str, message: str, lines: Iterable[int] = ()) -> Finding:
        """Return the notice that data are missing; those of one cause become one issue."""
        told = tuple(sorted(set(lines)))
        return Finding(self.code, Severity.INFO, told, message, {"cause": cause}, evaluated=False)

    def without_codes(self, facts: Facts) -> Iterator[Finding]:
        """Yield the notice about items whose ingredients are unknown, if there are any."""
        if facts.unknown_lines:
            message = "Not evaluated: the ingredients of the medication are not known to the tables."
            yield self.not_evaluated("no_ingredients", message, facts.unknown_lines)


def register(rule: RuleClass) -> RuleClass:
    """Register a rule by its code.

    :raises ValueError: another rule has the same code.
    """
    if rule.code in RULES:
        raise ValueError(f"two rules have the code {rule.code}")
    RULES[rule.code] = rule()
    return rule
