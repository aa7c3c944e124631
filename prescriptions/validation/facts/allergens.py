"""What the patient is allergic to, by the tenant's allergy map and the table of medications."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from prescriptions.medications.knowledge import AllergyTerm, Medication
from prescriptions.validation import codes
from prescriptions.validation.codes import Code
from prescriptions.validation.inputs import Inputs, Json

from . import fhir
from .drugs import Ingredients


@dataclass(frozen=True, slots=True)
class Allergen:
    """Something to which an allergy is recorded; `codings` are all codes of it, `products` those that are medications.

    `ingredients` and `classes` are what its codes name, by themselves or by the allergy map.
    """

    label: str
    codings: tuple[Code, ...]
    ingredients: frozenset[str]
    classes: frozenset[str]
    products: tuple[Medication, ...]

    @property
    def is_understood(self) -> bool:
        """Whether the tables know what it is."""
        return bool(self.ingredients or self.classes or self.products)


@dataclass(frozen=True, slots=True)
class Allergies:
    """The allergens that count, and whether the record says anything of allergies at all."""

    allergens: tuple[Allergen, ...]
    is_recorded: bool


def allergies_of(inputs: Inputs, ingredients: Ingredients) -> Allergies:
    """Read allergies and those conditions that the allergy map names, as far as they count."""
    by_themselves = (AllergyTerm(system, code, "ingredient", code) for system, code in ingredients.codes)
    terms = _by_code([*inputs.knowledge.allergy_terms, *by_themselves])
    medications = inputs.knowledge.medications
    mapped = {(row.system, row.code) for row in inputs.knowledge.allergy_terms}
    standing = [allergy for allergy in inputs.record.allergies if fhir.is_standing(allergy)]
    concepts = [concept for allergy in standing for concept in _concepts(allergy)]
    concepts += [
        condition["code"]
        for condition in inputs.record.conditions
        if fhir.has_code(condition.get("code"), mapped) and fhir.is_standing(condition)
    ]
    found = [_allergen(concept, terms, medications) for concept in concepts]
    return Allergies(
        tuple(sorted(found, key=lambda one: (one.codings, one.label))), is_recorded=bool(standing or concepts)
    )


def _by_code(rows: Iterable[AllergyTerm]) -> dict[Code, list[AllergyTerm]]:
    found: dict[Code, list[AllergyTerm]] = {}
    for row in rows:
        found.setdefault((row.system, row.code), []).append(row)
    return found


def _concepts(allergy: Json) -> list[Json]:
    """The code and the substances of reactions; what says that there is no allergy is left out."""
    named = [allergy.get("code"), *(one.get("substance") for one in allergy.get("reaction", ()))]
    return [one for one in named if one and not fhir.has_code(one, codes.NO_KNOWN_ALLERGY)]


def _allergen(
    concept: Json, terms: Mapping[Code, list[AllergyTerm]], medications: Mapping[Code, Medication]
) -> Allergen:
    found = tuple(sorted(fhir.codings(concept)))
    rows = [row for code in found for row in terms.get(code, ())]
    return Allergen(
        label=fhir.text_of(concept) or (f"code {found[0][1]}" if found else "an allergen without a name"),
        codings=found,
        ingredients=frozenset(row.value for row in rows if row.kind == "ingredient"),
        classes=frozenset(row.value for row in rows if row.kind == "class"),
        products=tuple(medications[code] for code in found if code in medications),
    )
