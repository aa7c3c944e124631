"""What a run read, once for all its rules."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from prescriptions.medications.knowledge import Dose, Interaction
from prescriptions.validation.inputs import Inputs

from .allergens import Allergen, Allergies, allergies_of
from .drugs import Drug, Ingredients, Prescribed, ingredients_of, other_drugs, prescribed_of
from .patients import Patient, State, patient_of


@dataclass(frozen=True, slots=True)
class Facts:
    """The inputs as rules read them.

    `interactions` and `doses` are the rows that concern the drugs of this run, `pairs` the former by their two terms.
    """

    inputs: Inputs
    prescribed: tuple[Prescribed, ...]
    others: tuple[Drug, ...]
    patient: Patient
    allergies: Allergies
    ingredients: Ingredients
    interactions: tuple[Interaction, ...]
    pairs: dict[tuple[str, str], list[Interaction]]
    doses: dict[str, tuple[Dose, ...]]

    def rows_between(self, terms: Iterable[str], others: Collection[str]) -> list[Interaction]:
        """Return the rows of the table of interactions that join one of the terms with one of the others."""
        return [row for one in terms for other in others for row in self.pairs.get((one, other), ())]

    @property
    def known(self) -> Iterable[Prescribed]:
        """The items whose ingredients are known."""
        return (one for one in self.prescribed if one.drug.is_known)

    @property
    def unknown_lines(self) -> tuple[int, ...]:
        """The lines of items whose ingredients nobody can tell."""
        return tuple(one.line for one in self.prescribed if not one.drug.is_known)


def facts_of(inputs: Inputs) -> Facts:
    """Read the inputs."""
    ingredients = ingredients_of(inputs)
    prescribed, others = prescribed_of(inputs, ingredients), other_drugs(inputs, ingredients)
    own = frozenset(term for one in prescribed for term in one.drug.terms)
    patient = patient_of(inputs)
    terms = own.union(patient.states, *(drug.terms for drug in others))
    prescribed_ingredients = frozenset(name for one in prescribed for name in one.drug.ingredients)
    doses: dict[str, list[Dose]] = {}
    for dose in inputs.knowledge.doses:
        if dose.ingredient in prescribed_ingredients:
            doses.setdefault(dose.ingredient, []).append(dose)
    interactions = [
        row
        for row in inputs.knowledge.interactions
        if row.a in terms and row.b in terms and (row.a in own or row.b in own)
    ]
    return Facts(
        inputs=inputs,
        prescribed=prescribed,
        others=others,
        patient=patient,
        allergies=allergies_of(inputs, ingredients),
        ingredients=ingredients,
        interactions=tuple(sorted(interactions, key=lambda row: (row.a, row.b, row.severity, row.text))),
        pairs=_by_pair(interactions),
        doses={ingredient: tuple(sorted(rows, key=repr)) for ingredient, rows in doses.items()},
    )


def _by_pair(rows: Iterable[Interaction]) -> dict[tuple[str, str], list[Interaction]]:
    """The rows by their terms, in both orders."""
    found: dict[tuple[str, str], list[Interaction]] = {}
    for row in rows:
        for pair in {(row.a, row.b), (row.b, row.a)}:
            found.setdefault(pair, []).append(row)
    return found


__all__ = ["Allergen", "Allergies", "Drug", "Facts", "Patient", "Prescribed", "State", "facts_of"]
