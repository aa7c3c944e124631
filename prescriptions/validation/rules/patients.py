"""Who the patient is, and states of the patient that tables warn of."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, Final

from prescriptions.medications import patient_states
from prescriptions.medications.knowledge import Dose
from prescriptions.validation.facts import Facts
from prescriptions.validation.issues import Finding, Severity

from .interactions import severity_of, strictest
from .registry import ClinicalRule, register

WEIGHT_NEEDED_BELOW_YEARS: Final = 12


@register
class PatientDeceased(ClinicalRule):
    """The patient has died."""

    code = "patient.deceased"

    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield one issue on all lines."""
        lines = [one.line for one in facts.prescribed]
        if facts.patient.resource is None:
            yield self.not_evaluated("no_patient", "Not evaluated: the record of the patient cannot be read.", lines)
        elif facts.patient.is_deceased():
            message = "The patient is recorded as deceased."
            yield self.finding(Severity.CONTRAINDICATED, lines, message, {"deceased": True})


@register
class PatientIdentity(ClinicalRule):
    """The patient's record is missing, inactive or replaced by another."""

    code = "patient.identity"

    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield one issue on all lines for each doubt, and what is missing to identify the patient."""
        lines = [one.line for one in facts.prescribed]
        patient = facts.patient.resource
        if patient is None:
            message = "The record holds no patient of this id."
            yield self.finding(Severity.CONTRAINDICATED, lines, message, {"patient": None})
            return
        if patient.get("active") is False:
            message = "The record of the patient is not in use."
            yield self.finding(Severity.CONTRAINDICATED, lines, message, {"active": False})
        if any(link.get("type") == "replaced-by" for link in patient.get("link", ())):
            message = "The record of the patient was replaced by another."
            yield self.finding(Severity.CONTRAINDICATED, lines, message, {"replaced": True})
        if not patient.get("name") or not patient.get("birthDate"):
            message = "Not evaluated in full: the record lacks the name or the birth date of the patient."
            yield self.not_evaluated("no_name_or_birth_date", message, lines)


@register
class AgeLimit(ClinicalRule):
    """The table holds doses of an ingredient, and none for the patient's age."""

    code = "age.limit"

    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield one issue for each item and ingredient."""
        age = facts.patient.age
        for item in facts.known:
            for name in sorted(item.drug.ingredients):
                rows = facts.doses.get(name, ())
                bounds = sorted({(_text(row.age_from), _text(row.age_to)) for row in rows})
                if not rows:
                    message = "Not evaluated: the tables hold no ages for an ingredient."
                    yield self.not_evaluated("no_dose_table", message, [item.line])
                elif bounds == [("", "")]:
                    continue
                elif age is None:
                    message = "Not evaluated: the birth date of the patient is not recorded."
                    yield self.not_evaluated("no_birth_date", message, [item.line])
                elif not any(is_within(age, row.age_from, row.age_to) for row in rows):
                    yield self.finding(
                        Severity.HIGH,
                        [item.line],
                        f"The tables hold no dose of {name} for the age of the patient.",
                        {"item": item.code, "ingredient": name, "ages": [list(bound) for bound in bounds]},
                    )
        yield from self.without_codes(facts)


@register
class WeightRequired(ClinicalRule):
    """A child is prescribed what is dosed by weight, and has no recorded weight."""

    code = "weight.required"

    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield one issue for each item."""
        if facts.patient.weight is None:
            age = facts.patient.age
            for item in facts.known:
                if any(is_by_weight(row) for name in item.drug.ingredients for row in _aged(facts, name)):
                    if age is None:
                        message = "Not evaluated: neither birth date nor body weight of the patient is recorded."
                        yield self.not_evaluated("no_birth_date", message, [item.line])
                    elif age < WEIGHT_NEEDED_BELOW_YEARS:
                        message = f"{item.drug.label} is dosed by weight, and no body weight of the child is recorded."
                        yield self.finding(Severity.MODERATE, [item.line], message, {"item": item.code, "weight": None})
        yield from self.without_codes(facts)


class _StateRule(ClinicalRule):
    """A rule about a state of the patient, which the table of interactions names as if it were a drug."""

    state: ClassVar[str]
    called: ClassVar[str]
    default: ClassVar[Severity]

    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield the gravest row of each item, or what is missing."""
        state = facts.patient.states[self.state]
        if not state.is_possible or state.is_present is False:
            return
        for item in facts.prescribed:
            row = strictest(facts.rows_between(item.drug.terms, (self.state,)))
            if row is None and not item.drug.is_known:
                continue  # told below
            if row is None:
                message = f"Not evaluated: the tables say nothing about a medication in {self.called}."
                yield self.not_evaluated("not_in_tables", message, [item.line])
            elif state.is_present is None:
                message = f"Not evaluated: the record says nothing about {self.called}."
                yield self.not_evaluated("not_recorded", message, [item.line])
            else:
                severity = max(self.default, severity_of(row), key=lambda one: one.rank)
                told = [*sorted((row.a, row.b)), row.severity, row.text]
                message = f"{item.drug.label} in {self.called}: {row.text or 'the tables advise against it.'}"
                yield self.finding(
                    severity, [item.line], message, {"item": item.code, "state": state.read, "row": told}
                )
        yield from self.without_codes(facts)


@register
class Pregnancy(_StateRule):
    """The patient is pregnant, and the tables warn of the medication."""

    code = "pregnancy"
    state = patient_states.PREGNANCY
    called = "pregnancy"
    default = Severity.HIGH


@register
class Lactation(_StateRule):
    """The patient is breastfeeding, and the tables warn of the medication."""

    code = "lactation"
    state = patient_states.LACTATION
    called = "lactation"
    default = Severity.HIGH


@register
class Renal(_StateRule):
    """The filtration rate of the kidneys is decreased, and the tables warn of the medication."""

    code = "renal"
    state = patient_states.RENAL_IMPAIRMENT
    called = "renal impairment"
    default = Severity.MODERATE


@register
class Hepatic(_StateRule):
    """A disease of the liver is recorded, and the tables warn of the medication."""

    code = "hepatic"
    state = patient_states.HEPATIC_IMPAIRMENT
    called = "hepatic impairment"
    default = Severity.MODERATE


def is_within(value: Fraction, lower: Decimal | None, upper: Decimal | None) -> bool:
    """Whether a value lies in a band `[lower, upper)`; None is no bound."""
    return (lower is None or value >= Fraction(lower)) and (upper is None or value < Fraction(upper))


def is_by_weight(row: Dose) -> bool:
    """Whether a row of the table of doses needs the patient's weight."""
    return row.per_kg or row.weight_from is not None or row.weight_to is not None


def _aged(facts: Facts, ingredient: str) -> Iterator[Dose]:
    """The rows of an ingredient that hold for the patient's age, as far as it is known."""
    age = facts.patient.age
    return (row for row in facts.doses.get(ingredient, ()) if age is None or is_within(age, row.age_from, row.age_to))


def _text(bound: Decimal | None) -> str:
    return "" if bound is None else f"{Fraction(bound)}"
