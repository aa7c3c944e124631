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
    """A drug by its ingredients and classes; both are empty where nobody can tell them.

    `is_continued` tells that it is of the prescription that the validated one continues.
    """

    label: str
    identity: tuple[str, ...]
    ingredients: frozenset[str]
    classes: frozenset[str]
    is_continued: bool = False

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


@dataclass(frozen=True, slots=True)
class Ingredients:
    """The ingredients that the tables and the items name, by the systems of the codes, and the classes of each."""

    codes: frozenset[Code]
    classes: Mapping[str, frozenset[str]]


def ingredients_of(inputs: Inputs) -> Ingredients:
    """Return the known ingredients; the classes of one are those of rows that hold nothing else."""
    codes = {(item.system, code) for item in inputs.items for code in item.ingredient_codes}
    classes: dict[str, frozenset[str]] = {}
    for row in inputs.knowledge.medications.values():
        codes.update((row.system, code) for code in row.ingredients)
        if len(row.ingredients) == 1:
            (name,) = row.ingredients
            classes[name] = classes.get(name, frozenset()) | frozenset(row.classes)
    return Ingredients(frozenset(codes), classes)


def prescribed_of(inputs: Inputs, ingredients: Ingredients) -> tuple[Prescribed, ...]:
    """Return the items in the order of their lines."""
    return tuple(
        _prescribed(item, inputs.knowledge, ingredients) for item in sorted(inputs.items, key=lambda item: item.line)
    )


def other_drugs(inputs: Inputs, ingredients: Ingredients) -> tuple[Drug, ...]:
    """Return what else the patient is given, sorted: other prescriptions and active statements."""
    knowledge = inputs.knowledge
    found = [
        *_of_prescriptions(inputs.others, knowledge, ingredients),
        *_of_statements(inputs.record, knowledge, ingredients),
    ]
    return tuple(sorted(found, key=lambda drug: drug.identity))


def _prescribed(item: Item, knowledge: Knowledge, ingredients: Ingredients) -> Prescribed:
    row = knowledge.medications.get((item.system, item.code)) if item.code else None
    label = item.display or (row.display if row else "") or item.medication_text
    identity = (item.system, item.code) if item.code else (item.medication_text,)
    drug = _drug(label, identity, [row] if row else [], item.ingredient_codes, ingredients)
    return Prescribed(item, drug, row)


def _of_prescriptions(
    others: Iterable[OtherPrescription], knowledge: Knowledge, ingredients: Ingredients
) -> Iterable[Drug]:
    for other in others:
        for item in other.items:
            found = _prescribed(item, knowledge, ingredients).drug
            identity = ("prescription", other.id, *found.identity)
            label = f"{found.label} (prescription {other.number})"
            yield Drug(label, identity, found.ingredients, found.classes, other.is_continued)


def _of_statements(record: PatientRecord, knowledge: Knowledge, ingredients: Ingredients) -> Iterable[Drug]:
    for statement in record.statements:
        if statement.get("status") == "active":
            concept = _medication_of(statement, record.medications)
            found = fhir.codings(concept)
            rows = [knowledge.medications[code] for code in found if code in knowledge.medications]
            label = fhir.text_of(concept) or (rows[0].display if rows else "a drug without a name")
            identity = ("statement", str(statement.get("id", "")), *sorted("|".join(code) for code in found))
            named = [code[1] for code in found if code in ingredients.codes]
            yield _drug(f"{label} (medication statement)", identity, rows, named, ingredients)


def _medication_of(statement: Json, medications: Sequence[Json]) -> Json | None:
    """The CodeableConcept of what is taken, in the statement itself or in the Medication that it refers to."""
    concept: Json | None = statement.get("medicationCodeableConcept")
    if concept is None:
        named = fhir.referred(statement, statement.get("medicationReference"), medications)
        concept = (named or {}).get("code")
    return concept


def _drug(
    label: str, identity: tuple[str, ...], rows: Sequence[Medication], named: Sequence[str], ingredients: Ingredients
) -> Drug:
    """A drug of the rows that name it, else of the ingredients that are named."""
    if rows:
        found = {ingredient for row in rows for ingredient in row.ingredients}
        classes = {name for row in rows for name in row.classes}
    else:
        found = set(named)
        classes = {name for ingredient in named for name in ingredients.classes.get(ingredient, ())}
    return Drug(label, identity, frozenset(found), frozenset(classes))
