"""Doses against the table of maxima, by route, age and weight."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, Final

from prescriptions.medications.knowledge import Dose
from prescriptions.validation.dosing import Amount, amount_of, most_at_once, most_in_a_day
from prescriptions.validation.facts import Facts, Prescribed
from prescriptions.validation.inputs import Json
from prescriptions.validation.issues import Finding, Severity
from prescriptions.validation.strengths import Strength, strengths_of
from prescriptions.validation.units import kind_of, shown

from .patients import is_by_weight, is_within
from .registry import ClinicalRule, register
from .routes import same_route

_CAUSES: Final = {
    "no_dose_table": "Not evaluated: the tables hold no dose for an ingredient.",
    "other_route": "Not evaluated: the tables hold no dose for the route.",
    "no_birth_date": "Not evaluated: the table goes by age, and the birth date of the patient is not recorded.",
    "other_age": "Not evaluated: the tables hold no dose for the age of the patient.",
    "no_weight": "Not evaluated: the table goes by weight, and no body weight of the patient is recorded.",
    "other_weight": "Not evaluated: the tables hold no dose for the body weight of the patient.",
    "no_amount": "Not evaluated: the amount of an ingredient cannot be told from dose, frequency and strength.",
}


@dataclass(frozen=True, slots=True)
class _Excess:
    """The amount and the limit of the row that is exceeded most, in its unit."""

    amount: Fraction
    limit: Fraction
    unit: str

    @property
    def ratio(self) -> Fraction:
        return self.amount / self.limit if self.limit else Fraction(10**9) if self.amount else Fraction(0)


class _MaximumRule(ClinicalRule):
    called: ClassVar[str]

    @abstractmethod
    def limit(self, row: Dose) -> Decimal | None:
        """Return the limit of a row that this rule holds doses against."""

    @abstractmethod
    def amount(self, amounts: Sequence[Amount]) -> Fraction | None:
        """Return what is held against the limit."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield one issue for each item and ingredient that exceeds its limit."""
        for item in facts.known:
            for name in sorted(item.drug.ingredients):
                rows = [row for row in facts.doses.get(name, ()) if self.limit(row) is not None]
                for cause in self._gaps(facts, item, name, rows):
                    yield self.not_evaluated(cause, _CAUSES[cause], [item.line])
                excess = max(self._excesses(facts, item, name, rows), key=lambda one: one.ratio, default=None)
                if excess is not None and excess.ratio > 1:
                    yield self._exceeded(facts, item, name, excess)
        yield from self.without_codes(facts)

    def _exceeded(self, facts: Facts, item: Prescribed, name: str, excess: _Excess) -> Finding:
        factor = Fraction(facts.inputs.policies.dose_contraindicated_factor)
        severity = Severity.CONTRAINDICATED if excess.ratio > factor else Severity.HIGH
        message = (
            f"The {self.called} of {shown(excess.amount)} {excess.unit} {name} exceeds the maximum of "
            f"{shown(excess.limit)} {excess.unit}."
        )
        read = {"item": item.code, "ingredient": name, "amount": f"{excess.amount}", "limit": f"{excess.limit}"}
        return self.finding(severity, [item.line], message, {**read, "unit": excess.unit})

    def _gaps(self, facts: Facts, item: Prescribed, name: str, rows: Sequence[Dose]) -> Iterator[str]:
        """The causes for which the rule cannot judge one of the item's dosages."""
        for route, dosages in _by_route(item).items():
            applying, cause = applying_rows(facts, rows, route)
            if cause:
                yield cause
            if applying and any(self.amount([one]) is None for one in _amounts(item, name, dosages, applying[0].unit)):
                yield "no_amount"
            if applying and not dosages:
                yield "no_amount"

    def _excesses(self, facts: Facts, item: Prescribed, name: str, rows: Sequence[Dose]) -> Iterator[_Excess]:
        for route, dosages in _by_route(item).items():
            for row in applying_rows(facts, rows, route)[0]:
                amount, told = self.amount(_amounts(item, name, dosages, row.unit)), self.limit(row)
                if amount is not None and told is not None:
                    weight = facts.patient.weight if row.per_kg and facts.patient.weight is not None else Fraction(1)
                    yield _Excess(amount, Fraction(told) * weight, row.unit)


@register
class DoseSingleMax(_MaximumRule):
    """A single dose exceeds the maximum."""

    code = "dose.single_max"
    called = "single dose"

    def limit(self, row: Dose) -> Decimal | None:
        """Return the maximum of a single dose."""
        return row.single_max

    def amount(self, amounts: Sequence[Amount]) -> Fraction | None:
        """Return the largest single dose."""
        return most_at_once(amounts)


@register
class DoseDailyMax(_MaximumRule):
    """The amount of a day exceeds the maximum."""

    code = "dose.daily_max"
    called = "daily dose"

    def limit(self, row: Dose) -> Decimal | None:
        """Return the maximum of a day."""
        return row.daily_max

    def amount(self, amounts: Sequence[Amount]) -> Fraction | None:
        """Return the largest amount of a day."""
        return most_in_a_day(amounts)


@register
class DoseBelowMin(ClinicalRule):
    """A dose of nothing is below any minimum; other minima are not in the tables, which is told."""

    code = "dose.below_min"

    def find(self, facts: Facts) -> Iterator[Finding]:
        """Yield one issue for each item with an empty dose, and the notice about the others."""
        for item in facts.prescribed:
            values = [str((dosage.get("dose") or {}).get("value", "")) for dosage in item.item.dosage]
            if any(value and not value.strip("0.") for value in values):
                message = f"A dose of {item.drug.label} is zero."
                yield self.finding(Severity.LOW, [item.line], message, {"item": item.code, "dose": "0"})
            else:
                message = "Not evaluated: the tables of doses hold no minimum."
                yield self.not_evaluated("no_minimum", message, [item.line])


def applying_rows(facts: Facts, rows: Sequence[Dose], route: str) -> tuple[list[Dose], str]:
    """Return the rows that hold for route, age and weight, and why some do not apply ("" if nothing is missing).

    Rows of the route go before rows of every route.
    """
    if not rows:
        return [], "no_dose_table"
    named = [row for row in rows if row.route and same_route(row.route, route)]
    found, cause = named or [row for row in rows if not row.route], "other_route"
    if found:
        found, cause = _of_age(found, facts.patient.age)
    if not found:
        return [], cause
    return _of_weight(found, facts.patient.weight)


def _of_age(rows: Sequence[Dose], age: Fraction | None) -> tuple[list[Dose], str]:
    if age is None:
        return [row for row in rows if row.age_from is None and row.age_to is None], "no_birth_date"
    return [row for row in rows if is_within(age, row.age_from, row.age_to)], "other_age"


def _of_weight(rows: Sequence[Dose], weight: Fraction | None) -> tuple[list[Dose], str]:
    if weight is None:
        found = [row for row in rows if not is_by_weight(row)]
        return found, "" if len(found) == len(rows) else "no_weight"
    found = [row for row in rows if is_within(weight, row.weight_from, row.weight_to)]
    return found, "" if found else "other_weight"


def _by_route(item: Prescribed) -> dict[str, list[Json]]:
    """The item's dosages by their route; one empty list where there is none."""
    found: dict[str, list[Json]] = {}
    for dosage in item.item.dosage:
        found.setdefault(str(dosage.get("route") or ""), []).append(dosage)
    return found or {"": []}


def _amounts(item: Prescribed, ingredient: str, dosages: Sequence[Json], unit: str) -> list[Amount]:
    """What each dosage gives of an ingredient."""
    strength, is_single = _strength(item, ingredient), len(item.drug.ingredients) == 1
    return [
        amount_of(dosage, strength, unit)
        if is_single or not _is_measured(dosage)
        else Amount(None, None, is_step=False)
        for dosage in dosages
    ]


def _is_measured(dosage: Json) -> bool:
    """Whether a dose is told in a measure of an ingredient, which of several nobody can tell."""
    return kind_of(str((dosage.get("dose") or {}).get("unit") or "")) not in {"count", "volume"}


def _strength(item: Prescribed, ingredient: str) -> Strength | None:
    """The strength of an ingredient: rows name ingredients and strengths in one order."""
    row = item.medication
    if row is None or ingredient not in row.ingredients:
        return None
    found = strengths_of(row.strength, row.unit)
    return found[row.ingredients.index(ingredient)] if len(found) == len(row.ingredients) else None
