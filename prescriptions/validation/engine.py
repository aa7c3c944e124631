"""The engine of the clinical validation: runs all rules over one set of inputs. Nothing is read or written beside it."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from prescriptions.medications.knowledge import TableVersion

from .digests import digest_of, inputs_digest
from .facts import facts_of
from .inputs import Inputs
from .issues import Finding, Issue, Needs, Override
from .overrides import Overrider, OverrideRequest, carried_over, overridden
from .rules import RULES

ENGINE_VERSION: Final = "1"  # rises with every change of what a rule finds

_NOBODY: Final = Overrider(by="", may_override=False, may_sign=False, is_author=False)


class Outcome(StrEnum):
    """How a run ends."""

    PASSED = "passed"
    PASSED_WITH_OVERRIDES = "passed_with_overrides"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run, as it is stored; id, instant and `stale` are the table's."""

    outcome: Outcome
    issues: tuple[Issue, ...]
    engine_version: str
    knowledge: tuple[TableVersion, ...]
    inputs_digest: str
    duration_ms: int


def run(
    inputs: Inputs,
    overrides: Sequence[OverrideRequest] = (),
    overrider: Overrider = _NOBODY,
    *,
    former: Mapping[str, Override] | None = None,
) -> Run:
    """Run all rules. `former` holds the overrides of the former run by fingerprint, which hold where it is the same.

    :raises OverrideNotPermitted: overrides were given by who may give none.
    :raises UnknownIssue: an override names no issue of this run.
    :raises OverrideReasonRequired: an override lacks the reason that its issue needs.
    :raises SeparationOfDuties: something contraindicated, by the author or without prescriptions.sign.
    :raises OverrideNotAllowed: something contraindicated that the policy forbids to override, or blocking.
    """
    started = time.perf_counter()
    facts = facts_of(inputs)
    found = issues_of(finding for rule in RULES.values() for finding in rule.find(facts))
    is_allowed = inputs.policies.allow_contraindicated_override
    held = carried_over(found, former or {}, contraindicated_allowed=is_allowed)
    issues = overridden(held, overrides, overrider, contraindicated_allowed=is_allowed, at=inputs.at)
    return Run(
        outcome=outcome_of(issues),
        issues=tuple(issues),
        engine_version=ENGINE_VERSION,
        knowledge=tuple(sorted(inputs.knowledge.versions, key=lambda one: (one.table, one.version))),
        inputs_digest=digest_of(facts),
        duration_ms=round((time.perf_counter() - started) * 1000),
    )


def issues_of(findings: Iterable[Finding]) -> list[Issue]:
    """Make issues of findings, the gravest first; those of one fingerprint become one on all their lines."""
    found: dict[str, tuple[Finding, set[int]]] = {}
    for finding in findings:
        _, lines = found.setdefault(finding.fingerprint, (finding, set()))
        lines.update(finding.lines)
    issues = [
        Issue(one.code, one.severity, tuple(sorted(lines)), one.message, name, evaluated=one.evaluated)
        for name, (one, lines) in found.items()
    ]
    return sorted(issues, key=lambda one: (-one.severity.rank, one.code, one.lines, one.fingerprint))


def outcome_of(issues: Sequence[Issue]) -> Outcome:
    """Return the outcome: blocked while an issue is not settled; a mere acknowledgement is no override."""
    if not all(issue.is_settled for issue in issues):
        return Outcome.BLOCKED
    if any(issue.needs is Needs.OVERRIDE for issue in issues):
        return Outcome.PASSED_WITH_OVERRIDES
    return Outcome.PASSED


__all__ = ["ENGINE_VERSION", "Outcome", "Run", "inputs_digest", "issues_of", "outcome_of", "run"]
