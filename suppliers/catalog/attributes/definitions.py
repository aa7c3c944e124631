"""Attribute definitions: staff define and revise them; every installation begins with those of `STARTERS`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from core import clock
from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from suppliers.catalog.models import AttributeDefinition, PlatformCategory
from suppliers.catalog.states import AttributeType


class Starter(NamedTuple):
    """A definition that every installation begins with; units are codes of UCUM."""

    code: str
    name: str
    type: AttributeType
    unit: str = ""
    allowed_values: tuple[str, ...] = ()
    localizable: bool = False


STARTERS = (
    Starter("colour", "Colour", AttributeType.TEXT, localizable=True),
    Starter("material", "Material", AttributeType.TEXT, localizable=True),
    Starter("size", "Size", AttributeType.TEXT),
    Starter("sterile", "Sterile", AttributeType.BOOLEAN),
    Starter("single_use", "For single use", AttributeType.BOOLEAN),
    Starter("latex_free", "Free of natural rubber latex", AttributeType.BOOLEAN),
    Starter("powder_free", "Powder-free", AttributeType.BOOLEAN),
    Starter("length", "Length", AttributeType.QUANTITY, "mm"),
    Starter("width", "Width", AttributeType.QUANTITY, "mm"),
    Starter("diameter", "Outer diameter", AttributeType.QUANTITY, "mm"),
    Starter("volume", "Volume", AttributeType.QUANTITY, "mL"),
    Starter("weight", "Weight", AttributeType.QUANTITY, "g"),
    Starter("strength", "Strength", AttributeType.QUANTITY),
    Starter("gauge", "Needle gauge", AttributeType.INTEGER),
    Starter("french_size", "Catheter size (Charrière)", AttributeType.DECIMAL),
    Starter("voltage", "Mains voltage", AttributeType.QUANTITY, "V"),
    Starter(
        "sterilization_method",
        "Method of sterilization",
        AttributeType.ENUM,
        allowed_values=("ethylene_oxide", "gamma", "electron_beam", "steam", "hydrogen_peroxide", "other"),
    ),
    # The three terms of ASTM F2503.
    Starter("mri_safety", "MRI safety", AttributeType.ENUM, allowed_values=("safe", "conditional", "unsafe")),
)


@needs_transaction
def define_attribute(actor: Actor, data: Mapping[str, Any], at: datetime) -> AttributeDefinition:
    """Define an attribute for every supplier; code, type and unit stay as they are, since values rely on them.

    :raises InvalidFields: a choice is missing or too many, a language cannot differ, or a category is unknown.
    :raises AttributeCodeTaken: another definition has the code.
    """
    definition = AttributeDefinition(**data, created_at=at, updated_at=at)
    _check(definition)
    definition.save(force_insert=True)
    return definition


@needs_transaction
def revise_attribute(
    actor: Actor, definition: AttributeDefinition, data: Mapping[str, Any], at: datetime
) -> AttributeDefinition:
    """Change the name, the choices, the categories or the use of a locked definition. Values that exist stay.

    :raises InvalidFields: as in `define_attribute`.
    """
    changed = definition.assign(data)
    _check(definition)
    if changed:
        definition.save_version(*changed, at=at)
    return definition


def seed_definitions(using: str) -> None:
    """Create the definitions of `STARTERS` that do not exist yet; what staff have changed stays."""
    rows, at = AttributeDefinition.objects.using(using), clock.now()
    present = set(rows.values_list("code", flat=True))
    for one in STARTERS:
        if one.code not in present:
            values = {**one._asdict(), "allowed_values": list(one.allowed_values)}
            rows.create(**values, created_at=at, updated_at=at)


def _check(definition: AttributeDefinition) -> None:
    faults = []
    if definition.type == AttributeType.ENUM and not definition.allowed_values:
        faults.append(FieldError("allowed_values", "required", "Name the choices."))
    if definition.type != AttributeType.ENUM and definition.allowed_values:
        faults.append(FieldError("allowed_values", "invalid", "Only the type enum has choices."))
    if definition.localizable and definition.type != AttributeType.TEXT:
        faults.append(FieldError("localizable", "invalid", "Only texts differ by language."))
    if unknown := _unknown_categories(definition.required_for):
        message = f"The platform has no active category of the code {', '.join(unknown)}."
        faults.append(FieldError("required_for", "unknown_category", message))
    if faults:
        raise InvalidFields(errors=faults)


def _unknown_categories(codes: Sequence[str]) -> list[str]:
    known = PlatformCategory.objects.filter(code__in=codes, active=True).values_list("code", flat=True)
    return sorted(set(codes) - set(known))
