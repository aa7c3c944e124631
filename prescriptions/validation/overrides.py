"""Overrides of issues: who may give them, what they need, and which of a former run still hold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from prescriptions.lifecycle.refusals import SeparationOfDuties
from prescriptions.vocabularies import OTHER, OVERRIDE

from .issues import Issue, Needs, Override, Severity
from .refusals import (
    OverrideNotAllowed,
    OverrideNotPermitted,
    OverrideReasonRequired,
    UnknownIssue,
)

OTHER_TEXT_AT_LEAST: Final = 10  # characters


@dataclass(frozen=True, slots=True)
class OverrideRequest:
    """An entry of `overrides`, as a caller sends it."""

    fingerprint: str
    reason_code: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Overrider:
    """Who gives overrides. `may_override`: prescriptions.sign or clinical_lead; `may_sign`: prescriptions.sign.

    `is_author` is whether he wrote the draft; `by` names him in the run.
    """

    by: str
    may_override: bool
    may_sign: bool
    is_author: bool


def demand_may_override(overrider: Overrider, requests: Sequence[OverrideRequest]) -> None:
    """Refuse overrides of who may give none; this comes before the check of the status.

    :raises OverrideNotPermitted: there are some.
    """
    if requests and not overrider.may_override:
        raise OverrideNotPermitted


def overridden(
    issues: Sequence[Issue],
    requests: Sequence[OverrideRequest],
    overrider: Overrider,
    *,
    contraindicated_allowed: bool,
    at: datetime,
) -> list[Issue]:
    """Return the issues with the overrides that were asked for. The checks go over all requests, one check after another.

    :raises OverrideNotPermitted: the caller may give none.
    :raises UnknownIssue: a fingerprint is none of an issue.
    :raises OverrideReasonRequired: a reason is needed and missing.
    :raises SeparationOfDuties: something contraindicated, by the author or without prescriptions.sign.
    :raises OverrideNotAllowed: the policy forbids it, or the issue is blocking.
    """
    demand_may_override(overrider, requests)
    by_fingerprint = {issue.fingerprint: issue for issue in issues}
    for request in requests:
        if request.fingerprint not in by_fingerprint:
            raise UnknownIssue(fingerprint=request.fingerprint)
    asked = [(request, by_fingerprint[request.fingerprint]) for request in requests]
    for request, issue in asked:
        if issue.needs is Needs.OVERRIDE and not _has_reason(request):
            raise OverrideReasonRequired(fingerprint=request.fingerprint)
    if any(issue.severity is Severity.CONTRAINDICATED for _, issue in asked) and (
        overrider.is_author or not overrider.may_sign
    ):
        raise SeparationOfDuties("What is contraindicated must be overridden by a prescriber who is not its author.")
    for request, issue in asked:
        if issue.severity is Severity.BLOCKING or (
            issue.severity is Severity.CONTRAINDICATED and not contraindicated_allowed
        ):
            raise OverrideNotAllowed(fingerprint=request.fingerprint)
    given = {one.fingerprint: Override(one.reason_code, one.text, overrider.by, at) for one in requests}
    return [_with(issue, given) for issue in issues]


def carried_over(
    issues: Iterable[Issue], former: Mapping[str, Override], *, contraindicated_allowed: bool
) -> list[Issue]:
    """Return the issues with the overrides of a former run, by fingerprint, as far as they hold.

    One of something contraindicated holds only while the policy allows it.
    """
    return [
        issue
        if issue.needs is Needs.NONE or (issue.severity is Severity.CONTRAINDICATED and not contraindicated_allowed)
        else _with(issue, former)
        for issue in issues
    ]


def _with(issue: Issue, overrides: Mapping[str, Override]) -> Issue:
    given = overrides.get(issue.fingerprint)
    return issue if given is None else replace(issue, override=given)


def _has_reason(request: OverrideRequest) -> bool:
    if request.reason_code == OTHER:
        return len(request.text.strip()) >= OTHER_TEXT_AT_LEAST
    return request.reason_code in OVERRIDE
