"""What results are ordered by: values of search parameters as SQL, missing ones last in both directions.

Dates, strings and quantities have entries; of tokens, references and URIs the index knows hashes only, so their values are
read from the body. Source: R4 search.html#sort.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from fhir_api.definitions.parameters import Parameter, parameter
from fhir_api.elements import members
from fhir_api.generation.expressions import Extended, Field, Holds, Resolves, Step, Where, alternatives, steps
from fhir_api.keys import ANY_UNIT, code_key, date_key, quantity_key, string_key
from fhir_api.resources.types import TYPES

from .compile import Compiler, Place
from .conditions import DATES, QUANTITIES, STRINGS
from .control import SortKey

_CASTS: Final = {"date": "timestamptz", "quantity": "float8"}
_COLUMNS: Final = {"_id": ("fhir_id", "text"), "_lastUpdated": ("last_updated", "timestamptz")}
_CODES: Final = {"CodeableConcept": ".coding.code", "Coding": ".code", "Identifier": ".value", "ContactPoint": ".value"}


@dataclass(frozen=True, slots=True)
class Value:
    """A value to order by: SQL, PostgreSQL type, direction, and whether it may be missing."""

    sql: str
    cast: str
    descending: bool
    optional: bool = True

    def order(self, name: str) -> str:
        """The value's part of ORDER BY."""
        direction = "DESC" if self.descending else "ASC"
        return f"{name} {direction} NULLS LAST" if self.optional else f"{name} {direction}"


def is_primary(type_name: str, keys: Sequence[SortKey]) -> bool:
    """Tell whether an order is the one in which postings stand: by the type's clinical date alone (`Resource.sort_date`)."""
    return len(keys) == 1 and TYPES[type_name].date == keys[0].parameter.code


def value(compiler: Compiler, type_name: str, key: SortKey, place: Place) -> Value:
    """The value of a sort key for a candidate whose own row is at hand."""
    found = parameter(type_name, key.parameter.code)
    assert found  # `control` looked
    if found.code in _COLUMNS:
        column, cast = _COLUMNS[found.code]
        return Value(f"{place.row}.{column}", cast, key.descending, optional=False)
    table = {"date": DATES, "string": STRINGS, "quantity": QUANTITIES}.get(found.kind)
    sql = _of_body(compiler, found, place, key) if table is None else _of_entries(compiler, found, place, key)
    return Value(sql, _CASTS.get(found.kind, "text"), key.descending)


def _of_entries(compiler: Compiler, found: Parameter, place: Place, key: SortKey) -> str:
    row = compiler.alias()
    table, column = {"date": (DATES, "low"), "string": (STRINGS, "value"), "quantity": (QUANTITIES, "value")}[
        found.kind
    ]
    keys = [_key(one) for one in found.parts or (found,)]
    match = f"= {compiler.bind(keys[0], 'bigint')}" if len(keys) == 1 else f"= ANY({compiler.bind(keys, 'bigint[]')})"
    return (
        f"(SELECT {'max' if key.descending else 'min'}({row}.{column}) FROM {table} {row} WHERE {row}.tenant_id = $1"
        f" AND {row}.resource_id = {place.id} AND {row}.key {match})"
    )


def _key(found: Parameter) -> int:
    if found.kind == "date":
        return date_key(found.number)
    return string_key(found.number) if found.kind == "string" else quantity_key(found.number, ANY_UNIT)


def _of_body(compiler: Compiler, found: Parameter, place: Place, key: SortKey) -> str:
    paths = _paths(found)
    if paths is None:
        return _of_boolean(compiler, found, place)
    row = compiler.alias()
    function = "max" if key.descending else "min"
    selects = " UNION ALL ".join(
        f"SELECT jsonb_path_query({place.row}.body::jsonb, {compiler.bind(path, 'jsonpath')}) #>> '{{}}' AS text"
        for path in paths
    )
    return f'(SELECT {function}({row}.text COLLATE "C") FROM ({selects}) AS {row})'


def _of_boolean(compiler: Compiler, found: Parameter, place: Place) -> str:
    """What is said of every resource without standing in it (`deceased`)."""
    row, number = compiler.alias(), compiler.bind(code_key(found.number, "true"), "bigint")
    return (
        f"CASE WHEN EXISTS (SELECT 1 FROM fhir_api_posting {row} WHERE {row}.tenant_id = $1 AND {row}.key = {number}"
        f" AND {row}.sort_date = {place.date} AND {row}.resource_id = {place.id}) THEN 'true' ELSE 'false' END"
    )


@cache
def _paths(found: Parameter) -> tuple[str, ...] | None:
    """Where in the body the values of a parameter stand, as JSON paths; None for what is only said of the resource."""
    paths: list[str] = []
    for side in alternatives(found.expression):
        path = steps(side)
        if any(isinstance(step, Holds) for step in path):
            return None
        paths.extend(_walk(found.kind, found.type, path, "$"))
    return tuple(paths)


def _walk(kind: str, inside: str, path: Sequence[Step], place: str) -> list[str]:
    if not path:
        return [place + (".reference" if inside == "Reference" else _CODES.get(inside, ""))]
    step, rest = path[0], path[1:]
    match step:
        case Field(name, cast):
            if name == "extension":
                return [
                    found
                    for end in _extension_ends(kind)
                    for found in _walk(kind, end[0], (), _with(place, rest) + end[1])
                ]
            known = members(inside)
            assert known  # the generator read the same definitions
            names = known.choices.get(name, (name,))
            ends = [known.elements[one] for one in names if one in known.elements]
            wanted = [one for one in ends if not cast or one.type == cast]
            return [found for one in wanted for found in _walk(kind, one.type, rest, f"{place}.{_quoted(one.name)}")]
        case Where(name, text):
            return _walk(kind, inside, rest, f"{place} ? (@.{_quoted(name)} == {_quoted(text)})")
        case Extended(url):
            return _walk(kind, inside, rest, f"{place} ? (@.extension.url == {_quoted(url)})")
        case Resolves(name):
            return _walk(kind, inside, rest, f"{place} ? (@.reference starts with {_quoted(name + '/')})")
        case Holds():
            return []


def _extension_ends(kind: str) -> tuple[tuple[str, str], ...]:
    if kind == "reference":
        return (("Reference", ".valueReference"),)
    return (("CodeableConcept", ".valueCodeableConcept"), ("Coding", ".valueCoding"), ("code", ".valueCode"))


def _with(place: str, rest: Sequence[Step]) -> str:
    urls = [step.value for step in rest if isinstance(step, Where)]
    return f"{place}.extension" + "".join(f" ? (@.url == {_quoted(url)})" for url in urls)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
