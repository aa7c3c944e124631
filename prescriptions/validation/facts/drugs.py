"""The drugs of a run: the items of the prescription, and what else the patient is given."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from prescriptions.medications.knowledge import Knowledge, Medication
from prescriptions.validation.codes import Code
from prescriptions.validation.inputs import Inputs, Item, Json, OtherPrescription, PatientRecord

from . import fhir

SCHEDULES: Final = ("I", "II", "III", "IV", "V")  # the strictest first
Medications = Mapping[Code, Medication]


@dataclass(frozen=True, slots=True)
class Drug:
    """A drug by its ingredients and classes; both are empty where nobody can tell them."""

    label: str
    identity: tuple[str, ...]
    ingredients: frozenset[str]
    classes: frozenset[str]

    @property
    def terms(self) -> frozenset[str]:
        """The words under which the table of interactions may name it."""
        return self.ingredients | self.classes

    @property
    def is_known(self) -> bool:
        """Whether its ingredients are known, so that it can be compared."""
        return bool(self.ingredients)


@dataclass(frozen=True, slots=True)
class Prescribed:
    """An item of the prescription, its drug, and its row of the table of medications."""

    item: Item
    drug: Drug
    medication: Medication | None

    @property
    def line(self) -> int:
        """The item's line."""
        return self.item.line

    @property
    def code(self) -> list[str]:
        """What a fingerprint names the item by: its code, or its text."""
        if self.item.code:
            return [self.item.system, self.item.code]
        return [self.item.medication_text]

    @property
    def form(self) -> str:
        """The dose form, as the item or else the table names it."""
        return self.item.form or (self.medication.form if self.medication else "")

    @property
    def schedule(self) -> str:
        """The effective schedule, the stricter of item and table; "" where it is not controlled."""
        named = {self.item.schedule.upper(), self.medication.schedule.upper() if self.medication else ""}
        return next((schedule for schedule in SCHEDULES if schedule in named), "")


def prescribed_of(inputs: Inputs) -> tuple[Prescribed, ...]:
    """Return the items in the order of their lines."""
    return tuple(_prescribed(item, inputs.knowledge) for item in sorted(inputs.items, key=lambda item: item.line))


def other_drugs(inputs: Inputs) -> tuple[Drug, ...]:
    """Return what else the patient is given, sorted: other prescriptions and active statements."""
    found = [*_of_prescriptions(inputs.others, inputs.knowledge), *_of_statements(inputs.record, inputs.knowledge)]
    return tuple(sorted(found, key=lambda drug: drug.identity))


def _prescribed(item: Item, knowledge: Knowledge) -> Prescribed:
    row = knowledge.medications.get((item.system, item.code)) if item.code else None
    label = item.display or (row.display if row else "") or item.medication_text
    identity = (item.system, item.code) if item.code else (item.medication_text,)
    return Prescribed(item, _drug(label, identity, [row] if row else [], item.ingredient_codes), row)


def _of_prescriptions(others: Iterable[OtherPrescription], knowledge: Knowledge) -> Iterable[Drug]:
    for other in others:
        for item in other.items:
            found = _prescribed(item, knowledge).drug
            identity = ("prescription", other.id, *found.identity)
            label = f"{found.label} (prescription {other.number})"
            yield Drug(label, identity, found.ingredients, found.classes)


def _of_statements(record: PatientRecord, knowledge: Knowledge) -> Iterable[Drug]:
    for statement in record.statements:
        if statement.get("status") == "active":
            concept = _medication_of(statement, record.medications)
            found = fhir.codings(concept)
            rows = [knowledge.medications[code] for code in found if code in knowledge.medications]
            label = fhir.text_of(concept) or (rows[0].display if rows else "a drug without a name")
            identity = ("statement", str(statement.get("id", "")), *sorted("|".join(code) for code in found))
            yield _drug(f"{label} (medication statement)", identity, rows, ())


def _medication_of(statement: Json, medications: Sequence[Json]) -> Json | None:
    """The CodeableConcept of what is taken, in the statement itself or in the Medication that it refers to."""
    concept: Json | None = statement.get("medicationCodeableConcept")
    if concept is None:
        named = fhir.referred(statement, statement.get("medicationReference"), medications)
        concept = (named or {}).get("code")
    return concept


def _drug(label: str, identity: tuple[str, ...], rows: Sequence[Medication], ingredients: Sequence[str]) -> Drug:
    """A drug of the rows that name it, else of the ingredients that are known of it."""
    found = {ingredient for row in rows for ingredient in row.ingredients} or set(ingredients)
    return Drug(label, identity, frozenset(found), frozenset(name for row in rows for name in row.classes))
