"""What the tables of medications say, for rules and actions; clients read the tables through the representation."""

from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from core.arrays import array_literal
from core.db import run_bound
from core.pipeline import Call, Rows

from .comparison import Comparison, compare
from .knowledge import AllergyTerm, Dose, Interaction, Knowledge, Medication, TableVersion
from .knowledge_sql import KNOWLEDGE, Found

Codes = Collection[tuple[str, str]]


def knowledge(tenant_id: UUID, medications: Codes, allergy_codes: Codes = ()) -> Knowledge:
    """Return what the tables say of medications and allergies, given as pairs of system and code, in one trip.

    Interactions are those among the ingredients and classes of the medications; doses those of their ingredients. In a
    transaction the tenant must be bound already.
    """
    return read_knowledge(run_bound(tenant_id, knowledge_calls(tenant_id, medications, allergy_codes)))


def knowledge_calls(tenant_id: UUID, medications: Codes, allergy_codes: Codes = ()) -> list[Call]:
    """Return the one statement of `knowledge`, to be sent in another's trip after the one that binds the tenant."""
    return [Call(KNOWLEDGE, [str(tenant_id), *_arrays(medications), *_arrays(allergy_codes)])]


def read_knowledge(results: Sequence[Rows]) -> Knowledge:
    """Read what the statements of `knowledge_calls` returned."""
    (rows,) = results
    (found,) = rows.of(Found)
    medications = [(one["asked"], _medication(one)) for one in found.medications]
    return Knowledge(
        medications={(asked, medication.code): medication for asked, medication in medications},
        interactions=tuple(Interaction(**one) for one in found.interactions),
        doses=tuple(_dose(one) for one in found.doses),
        allergy_terms=tuple(
            AllergyTerm(one["asked"], one["code"], one["kind"], one["value"]) for one in found.allergy_terms
        ),
        versions=tuple(TableVersion(one["table"], one["version"]) for one in found.versions),
    )


def comparable(tenant_id: UUID, ordered: tuple[str, str], given: tuple[str, str]) -> Comparison:
    """Compare two medications, each given as system and code, by ingredients, strength and form."""
    found = knowledge(tenant_id, [ordered, given]).medications
    return compare(found.get(ordered), found.get(given))


def _arrays(codes: Codes) -> list[str]:
    pairs = [*dict.fromkeys(codes)]
    return [array_literal(system for system, _ in pairs), array_literal(code for _, code in pairs)]


def _medication(one: dict[str, Any]) -> Medication:
    return Medication(
        system=one["system"],
        code=one["code"],
        display=one["display"],
        ingredients=tuple(one["ingredients"]),
        classes=tuple(one["classes"]),
        form=one["form"],
        strength=one["strength"],
        unit=one["unit"],
        schedule=one["schedule"],
        source=one["source"],
        version=one["version"],
    )


def _dose(one: dict[str, Any]) -> Dose:
    bounds = ("age_from", "age_to", "weight_from", "weight_to", "single_max", "daily_max")
    numbers = {name: None if one[name] is None else Decimal(one[name]).normalize() for name in bounds}
    return Dose(ingredient=one["ingredient"], route=one["route"], unit=one["unit"], per_kg=one["per_kg"], **numbers)
