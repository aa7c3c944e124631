"""The digest of all that a run read: equal digests mean that another run would find the same."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from core.canonical import canonical_json, sha256_hex

from .facts import Facts, facts_of
from .inputs import Inputs


def inputs_digest(inputs: Inputs) -> str:
    """Return the digest of inputs, as `digest_of` has it."""
    return digest_of(facts_of(inputs))


def digest_of(facts: Facts) -> str:
    """Return the SHA-256 of items, patient data, prescriber, policies, and versions and rows of the tables.

    Of the record only what rules read is part of it. The instant is not, the local date is: ages and licences go by it.
    """
    inputs = facts.inputs
    patient = facts.patient.resource
    told = {
        "items": [one.item for one in facts.prescribed],
        "drugs": [one.drug for one in facts.prescribed],
        "others": facts.others,
        "patient": patient
        and {name: patient.get(name) for name in ("birthDate", "gender", "active", "link")}
        | {"has_name": bool(patient.get("name")), "is_deceased": facts.patient.is_deceased()},
        "weight": facts.patient.weight,
        "states": facts.patient.states,
        "allergies": facts.allergies,
        "prescriber": [inputs.prescriber.practitioner_id, _practitioner(inputs.prescriber.practitioner)],
        "knowledge": sorted([one.table, one.version] for one in inputs.knowledge.versions),
        "medications": [one.medication for one in facts.prescribed],
        "interactions": facts.interactions,
        "doses": facts.doses,
        "policies": inputs.policies,
        "today": inputs.today,
        "language": inputs.language,
    }
    return sha256_hex(canonical_json(as_json(told)))


def as_json(value: Any) -> Any:
    """Return a value as JSON without numbers that are no integers: decimals become text, sets become sorted lists.

    Dataclasses become lists of their members in order.

    :raises TypeError: the value has no such form.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, float | Fraction):
        return f"{value}"
    if isinstance(value, date | datetime):
        return value.isoformat()
    return _composed(value)


def _composed(value: Any) -> Any:
    if is_dataclass(value):
        return [as_json(getattr(value, one.name)) for one in fields(value)]
    if isinstance(value, Mapping):
        return {str(name): as_json(one) for name, one in value.items()}
    if isinstance(value, AbstractSet):
        return _sorted(value)
    if isinstance(value, Sequence):
        return [as_json(one) for one in value]
    raise TypeError(f"no canonical form of {type(value).__name__}")


def _sorted(values: Iterable[Any]) -> list[Any]:
    return sorted(as_json(one) for one in values)


def _practitioner(practitioner: Any) -> Any:
    return practitioner and {name: practitioner.get(name) for name in ("active", "qualification")}
