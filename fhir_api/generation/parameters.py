"""The table of search parameters: from the official SearchParameters to `definitions/parameters.json`."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fhir_api.resources.types import NUMBERS

from .additions import SWAPPED
from .expressions import Field, Resolves, Step, alternatives, starts_at, steps
from .structures import Element, Structures

Row = dict[str, Any]
_EVERYWHERE = ("Resource", "DomainResource")


def rows(definitions: Sequence[Row], structures: Structures, known: Sequence[Row]) -> list[Row]:
    """The parameters of the registered types, those without an expression left out.

    `known` are the rows written before: their numbers stay, and stay theirs when the parameter is no more.
    """
    by_url = {definition["url"]: definition for definition in definitions}
    found = [_row(definition, type_name, structures, by_url) for definition, type_name in _of_types(definitions)]
    numbers = {(row["type"], row["code"]): row["number"] for row in known}
    last = max(numbers.values(), default=0)
    for row in sorted(found, key=lambda row: (NUMBERS[row["type"]], row["code"])):
        name = row["type"], row["code"]
        if name not in numbers:
            last += 1
            numbers[name] = last
        row["number"] = numbers[name]
    names = {(row["type"], row["code"]) for row in found}
    gone = [{**row, "retired": True} for row in known if (row["type"], row["code"]) not in names]
    return sorted([*found, *gone], key=lambda row: int(row["number"]))


def written(table: Iterable[Row]) -> bytes:
    """The table as JSON, one parameter a line."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in table)
    return f"[\n{lines}\n]\n".encode()


def sides(row: Row, expression: str) -> Iterator[list[Step]]:
    """The sides of an expression that begin with the parameter's own type, as steps."""
    for side in alternatives(expression):
        if starts_at(side) in (row["type"], *_EVERYWHERE):
            yield steps(side)


def ends(structures: Structures, inside: str, path: Sequence[Step]) -> Iterator[Element]:
    """The elements a path ends at, once for each type they may have."""
    places = [inside]
    found: list[Element] = []
    for step in path:
        if isinstance(step, Field):
            found = [element for place in places for element in structures.children(place, step.name, step.cast)]
            places = [element.inside for element in found]
    yield from found


def _of_types(definitions: Sequence[Row]) -> Iterator[tuple[Row, str]]:
    for definition in definitions:
        if definition.get("expression"):
            for base in definition["base"]:
                for type_name in NUMBERS if base in _EVERYWHERE else (base,):
                    if type_name in NUMBERS:
                        yield definition, type_name


def _row(definition: Row, type_name: str, structures: Structures, by_url: dict[str, Row]) -> Row:
    row: Row = {"number": 0, "type": type_name, "code": definition["code"], "kind": definition["type"]}
    own = [side for side in alternatives(definition["expression"]) if starts_at(side) in (type_name, *_EVERYWHERE)]
    row |= {"expression": " | ".join(own), "url": definition["url"]}
    if targets := _targets(definition, row, structures):
        row["targets"] = targets
    if components := definition.get("component"):
        named = [by_url[component["definition"]] for component in components]
        if definition["url"] in SWAPPED:
            named.reverse()
        row["components"] = [_component(*one) for one in zip(named, components, strict=True)]
    return row


def _component(definition: Row, component: Row) -> Row:
    return {"code": definition["code"], "kind": definition["type"], "expression": component["expression"]}


def _targets(definition: Row, row: Row, structures: Structures) -> list[str]:
    """The types that both the parameter and the elements of this type may refer to; none said means any."""
    if definition["type"] != "reference":
        return []
    allowed: set[str] = set()
    for path in sides(row, row["expression"]):
        resolved = {step.type for step in path if isinstance(step, Resolves)}
        for element in ends(structures, row["type"], path):
            if not (resolved or element.targets):
                return []
            allowed |= resolved or set(element.targets)
    return sorted(allowed)
