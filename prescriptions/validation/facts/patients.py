"""What the record tells of the patient: age, weight, pregnancy, lactation, the work of kidneys and liver."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, Final

from prescriptions.medications import patient_states
from prescriptions.validation import codes
from prescriptions.validation.codes import Code
from prescriptions.validation.inputs import Inputs, Json
from prescriptions.validation.units import converted

from . import fhir

Observations = Mapping[Code, Sequence[Json]]
_READ: Final = codes.BODY_WEIGHT | codes.EGFR | codes.PREGNANCY_STATUS | codes.BREASTFEEDING_STATUS


@dataclass(frozen=True, slots=True)
class State:
    """A state of the patient: present, absent or unknown (None); `read` is what the record said of it."""

    is_present: bool | None
    read: Any = None
    is_possible: bool = True


@dataclass(frozen=True, slots=True)
class Patient:
    """The patient as rules see him. `age` is in years and `weight` in kilograms, None where unknown."""

    resource: Json | None
    age: Fraction | None
    weight: Fraction | None
    states: dict[str, State]

    def is_deceased(self) -> bool:
        """Whether the record tells of the patient's death."""
        told = self.resource or {}
        return bool(told.get("deceasedBoolean") or told.get("deceasedDateTime"))


def patient_of(inputs: Inputs) -> Patient:
    """Read the patient out of the record."""
    resource, record = inputs.record.patient, inputs.record
    present = [one for one in record.conditions if fhir.is_present(one)]
    observations = fhir.by_code(record.observations, _READ)
    can_bear = resource is None or resource.get("gender") != "male"
    return Patient(
        resource=resource,
        age=_age((resource or {}).get("birthDate", ""), inputs.today),
        weight=_weight(observations),
        states={
            patient_states.PREGNANCY: _answered(
                present,
                fhir.newest(observations, codes.PREGNANCY_STATUS),
                codes.PREGNANT,
                codes.NOT_PREGNANT,
                is_possible=can_bear,
            ),
            patient_states.LACTATION: _answered(
                present,
                fhir.newest(observations, codes.BREASTFEEDING_STATUS),
                codes.BREASTFEEDING,
                codes.NOT_BREASTFEEDING,
                is_possible=can_bear,
            ),
            patient_states.RENAL_IMPAIRMENT: _renal(observations),
            patient_states.HEPATIC_IMPAIRMENT: _hepatic(present, has_conditions=bool(record.conditions)),
        },
    )


def age_in_years(born: date, today: date) -> Fraction:
    """Return the exact age: whole years, and the part of the current one that has passed."""
    years = today.year - born.year
    if _birthday(born, today.year) > today:
        years -= 1
    last, following = _birthday(born, born.year + years), _birthday(born, born.year + years + 1)
    return years + Fraction((today - last).days, (following - last).days)


def _birthday(born: date, year: int) -> date:
    """The birthday in a year; who was born on 29 February has it on 1 March of common years."""
    try:
        return born.replace(year=year)
    except ValueError:
        return date(year, 3, 1)


def _age(birth_date: str, today: date) -> Fraction | None:
    """The age by the last day that a partial birth date stands for: the youngest the patient can be."""
    born = fhir.last_day(birth_date)
    if born is None:
        return None
    if born > today and fhir.first_day(birth_date) != born:
        born = today
    return age_in_years(born, today) if born <= today else None


def _weight(observations: Observations) -> Fraction | None:
    """The newest body weight that has a value in a unit of mass."""
    for one in fhir.newest(observations, codes.BODY_WEIGHT):
        quantity = one.get("valueQuantity") or {}
        if "value" in quantity:
            unit = quantity.get("code") or quantity.get("unit") or ""
            weight = converted(Fraction(fhir.decimal(quantity["value"])), unit, "kg")
            if weight is not None and weight > 0:
                return weight
    return None


def _answered(
    conditions: Sequence[Json],
    observations: Sequence[Json],
    yes: AbstractSet[Code],
    no: AbstractSet[Code],
    *,
    is_possible: bool,
) -> State:
    """A state that a Condition tells of, else the newest Observation that answers yes or no."""
    if found := sorted({code for one in conditions for code in fhir.codings(one.get("code")) if code in yes}):
        return State(is_present=True, read=[list(code) for code in found], is_possible=is_possible)
    for one in observations:
        answer = one.get("valueCodeableConcept")
        if one.get("valueBoolean") is not None:
            return State(is_present=one["valueBoolean"], read=one["valueBoolean"], is_possible=is_possible)
        if fhir.has_code(answer, yes) or fhir.has_code(answer, no):
            is_present = fhir.has_code(answer, yes)
            return State(is_present=is_present, read=is_present, is_possible=is_possible)
    return State(is_present=None, is_possible=is_possible)


def _renal(observations: Observations) -> State:
    """Impaired where the newest filtration rate lies below the mark."""
    for one in fhir.newest(observations, codes.EGFR):
        quantity = one.get("valueQuantity") or {}
        unit = quantity.get("code") or quantity.get("unit") or ""
        if "value" in quantity and unit.startswith(codes.EGFR_UNIT_START):
            rate = fhir.decimal(quantity["value"])
            is_below = rate < codes.EGFR_DECREASED_BELOW
            at_most = quantity.get("comparator") in {"<", "<="} and rate <= codes.EGFR_DECREASED_BELOW
            return State(is_present=is_below or at_most, read=f"{rate.normalize():f}")
    return State(is_present=None)


def _hepatic(present: Sequence[Json], *, has_conditions: bool) -> State:
    """Impaired where a liver disease is recorded; unknown where no condition at all is."""
    found = sorted({code for one in present for code in fhir.codings(one.get("code")) if _is_of_liver(code)})
    if found:
        return State(is_present=True, read=[list(code) for code in found])
    return State(is_present=False if has_conditions else None)


def _is_of_liver(code: Code) -> bool:
    return code in codes.LIVER_DISEASE or (code[0] in codes.ICD10 and code[1].startswith(codes.LIVER_DISEASE_ICD10))
