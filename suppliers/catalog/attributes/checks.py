"""Attribute values against their definitions: which are known, of the right type, and which an active product lacks.

Source: contract, supply-shelf.md "Attribute definition".
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from core import clock
from core.actor import Actor
from core.arrays import array_literal
from core.conditions import TENANT
from core.errors import FieldError
from core.pipeline import Call, Rows, Statement
from suppliers.catalog.category_tree import CATEGORIES
from suppliers.catalog.states import AttributeType

Values = Sequence[Mapping[str, Any]]
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,29})(\.\d{1,20})?")


class Definition(NamedTuple):
    """An active definition; `required_in` are those of the categories asked for that require it, or stand below such."""

    code: str
    type: str
    unit: str
    allowed_values: Any
    localizable: bool
    required_in: Any


Definitions = Mapping[str, Definition]
_NODES = CATEGORIES.source.replace(TENANT, "$1")
_DEFINITIONS = Statement.of(
    "WITH RECURSIVE above AS ("
    f"SELECT n.code AS asked, n.id, n.parent_id, n.code FROM {_NODES} n WHERE n.code = ANY($2::text[])"
    f" UNION SELECT above.asked, n.id, n.parent_id, n.code FROM above JOIN {_NODES} n ON n.id = above.parent_id)"
    " SELECT d.code, d.type, d.unit, to_jsonb(d.allowed_values) AS allowed_values, d.localizable, to_jsonb(ARRAY("
    "SELECT DISTINCT above.asked FROM above WHERE above.code = ANY(d.required_for))) AS required_in"
    " FROM suppliers_attributedefinition d WHERE d.active AND (d.code = ANY($3::text[]) OR d.required_for <> '{}')",
    row=Definition,
)


def definitions(actor: Actor, categories: Iterable[str], values: Iterable[Mapping[str, Any]]) -> Call:
    """Return the statement that answers the definitions of the values, and all that any category requires."""
    codes = {value["code"] for value in values}
    return Call(
        _DEFINITIONS, [str(actor.tenant_id), array_literal(sorted(set(categories))), array_literal(sorted(codes))]
    )


def read_definitions(found: Rows) -> Definitions:
    """Read the rows of the statement of `definitions`, by code."""
    return {row.code: row for row in found.of(Definition)}


def faults(values: Values, known: Definitions, *, name: str, category: str, active: bool) -> list[FieldError]:
    """Return what is wrong with the values of a product; `name` is their field.

    :return: `unknown_attribute`, `invalid_type`, `invalid_choice`, `required` or `not_localizable` at a member of a value,
        and `required_when_active` at the field where an active product lacks an attribute that its category requires.
    """
    wrong = [fault for number, value in enumerate(values) for fault in _faults(value, known, f"{name}.{number}")]
    required = {row.code for row in known.values() if category in row.required_in}
    if active and (lacking := required - {value["code"] for value in values}):
        message = f"An active product of this category needs: {', '.join(sorted(lacking))}."
        wrong.append(FieldError(name, "required_when_active", message))
    return wrong


def _faults(value: Mapping[str, Any], known: Definitions, place: str) -> Iterator[FieldError]:
    definition = known.get(value["code"])
    if definition is None:
        yield FieldError(f"{place}.code", "unknown_attribute", "There is no attribute of this code.")
        return
    if not _IS[AttributeType(definition.type)](value["value"]):
        yield FieldError(f"{place}.value", "invalid_type", f"Send {_SHOULD_BE[AttributeType(definition.type)]}.")
    elif definition.allowed_values and value["value"] not in definition.allowed_values:
        message = f"Send one of: {_listed(definition.allowed_values)}."
        yield FieldError(f"{place}.value", "invalid_choice", message)
    if value["locale"] and not definition.localizable:
        yield FieldError(f"{place}.locale", "not_localizable", "The attribute has one value for all languages.")
    yield from _unit_faults(value["unit"], definition, f"{place}.unit")


def _unit_faults(unit: str | None, definition: Definition, place: str) -> Iterator[FieldError]:
    """A value without a unit has that of the definition; a quantity without either is meaningless."""
    if unit and definition.unit and unit != definition.unit:
        yield FieldError(place, "invalid_choice", f"The unit of this attribute is {definition.unit}.")
    elif unit and not definition.unit and definition.type != AttributeType.QUANTITY:
        yield FieldError(place, "invalid_choice", "The attribute has no unit.")
    elif not unit and not definition.unit and definition.type == AttributeType.QUANTITY:
        yield FieldError(place, "required", "Name the unit.")


def _listed(choices: Iterable[str]) -> str:
    first = list(choices)[:20]
    return ", ".join(first)


def _is_number(value: Any) -> bool:
    """Numbers of more than 15 digits are sent as text."""
    if isinstance(value, str):
        return bool(_NUMBER.fullmatch(value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_date(value: Any) -> bool:
    return isinstance(value, str) and clock.day_of(value) is not None


_IS: dict[AttributeType, Callable[[Any], bool]] = {
    AttributeType.TEXT: lambda value: isinstance(value, str),
    AttributeType.ENUM: lambda value: isinstance(value, str),
    AttributeType.INTEGER: lambda value: isinstance(value, int) and not isinstance(value, bool),
    AttributeType.BOOLEAN: lambda value: isinstance(value, bool),
    AttributeType.DECIMAL: _is_number,
    AttributeType.QUANTITY: _is_number,
    AttributeType.DATE: _is_date,
}
_SHOULD_BE = {
    AttributeType.TEXT: "a text",
    AttributeType.ENUM: "one of the allowed values as a text",
    AttributeType.INTEGER: "a whole number",
    AttributeType.BOOLEAN: "true or false",
    AttributeType.DECIMAL: "a number",
    AttributeType.QUANTITY: "a number, with the unit beside it",
    AttributeType.DATE: "a date as YYYY-MM-DD",
}
