"""The authority of the prescriber. Source: contract, prescriptions.md, "The prescriber"."""

from collections.abc import Iterator

from prescriptions.validation.facts import Facts
from prescriptions.validation.facts.fhir import covers
from prescriptions.validation.issues import Finding, Severity

from .registry import ClinicalRule, register


@register
class PrescriberAuthority(ClinicalRule):
    """The practitioner is unknown or inactive, or every recorded licence has lapsed."""

    code = "prescriber.authority"

    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield at most one issue, on all lines."""
        named, practitioner = facts.inputs.prescriber.practitioner_id, facts.inputs.prescriber.practitioner
        lines = [one.line for one in facts.prescribed]
        if not named:
            yield self.not_evaluated("no_prescriber", "Not evaluated: no prescriber is set.", lines)
            return
        if practitioner is None:
            message = "The record holds no practitioner of the prescriber's id."
            yield self.finding(Severity.BLOCKING, lines, message, {"id": named, "practitioner": None})
            return
        if practitioner.get("active") is False:
            message = "The practitioner who prescribes is not active."
            yield self.finding(Severity.BLOCKING, lines, message, {"id": named, "active": False})
            return
        licences = [one for one in practitioner.get("qualification", ()) if one.get("identifier")]
        if not licences:
            message = "Not evaluated: no licence of the prescriber is recorded."
            yield self.not_evaluated("no_licence", message, lines)
        elif not any(covers(one.get("period"), facts.inputs.today) for one in licences):
            message = "No recorded licence of the prescriber is valid today."
            periods = sorted([_bound(one, "start"), _bound(one, "end")] for one in licences)
            yield self.finding(Severity.BLOCKING, lines, message, {"id": named, "licences": periods})


def _bound(licence: object, name: str) -> str:
    period = licence.get("period") if isinstance(licence, dict) else None
    return str((period or {}).get(name, ""))
