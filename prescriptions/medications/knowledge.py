"""What the rules of the clinical validation look up in the tables of medications."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Medication:
    """A medication of the tables; `source` is `platform` or `tenant`, `version` that of its table."""

    system: str
    code: str
    display: str
    ingredients: tuple[str, ...]
    classes: tuple[str, ...]
    form: str
    strength: str
    unit: str
    schedule: str
    source: str
    version: int


@dataclass(frozen=True, slots=True)
class Interaction:
    """An interaction of two ingredients or classes, in either order."""

    a: str
    b: str
    severity: str
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Dose:
    """The limits of an ingredient's dose for a route and a band of ages (years) and weights (kilograms).

    An empty route stands for every route, a bound of None for no bound; `single_max` and `daily_max` are in `unit`, for
    each kilogram of the patient where `per_kg` is set.
    """

    ingredient: str
    route: str
    age_from: Decimal | None
    age_to: Decimal | None
    weight_from: Decimal | None
    weight_to: Decimal | None
    single_max: Decimal | None
    daily_max: Decimal | None
    unit: str
    per_kg: bool


@dataclass(frozen=True, slots=True)
class AllergyTerm:
    """A code of an allergy; `kind` is `ingredient` or `class`, `value` names which."""

    system: str
    code: str
    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class TableVersion:
    """The version of a table that was read."""

    table: str
    version: str


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All that one run looks up, and the versions of the tables that it came from."""

    medications: Mapping[tuple[str, str], Medication]
    interactions: tuple[Interaction, ...]
    doses: tuple[Dose, ...]
    allergy_terms: tuple[AllergyTerm, ...]
    versions: tuple[TableVersion, ...]
