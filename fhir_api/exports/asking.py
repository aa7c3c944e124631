"""What an export is asked for with: the parameters of the kick-off request, from the address or a Parameters resource.

Source: Bulk Data Access IG 2.0.0, export.html, "Query Parameters" and "Headers".
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from fhir_api.compartments import CONFINED
from fhir_api.instants import read_instant
from fhir_api.references import target
from fhir_api.resources import Json
from fhir_api.resources.types import NUMBERS
from fhir_api.search.parse import Pair, read_pairs

from . import states
from .elements import read_elements
from .filters import read_filters
from .refusals import InvalidExport, UnsupportedParameter

FORMATS: Final = ("application/fhir+ndjson", "application/ndjson", "ndjson")
KNOWN: Final = ("_elements", "_outputFormat", "_since", "_type", "_typeFilter", "patient")
_OF_HTTP: Final = ("_format", "_pretty")
_VALUES: Final = ("valueString", "valueCode", "valueInstant", "valueDateTime", "valueUri")
LONGEST_QUERY: Final = 8_000


@dataclass(frozen=True, slots=True)
class Wish:
    """What shall be exported, and what was left out of the request.

    `named`: the request named the types. `filters` are searches as `Type?query`, `elements` those of the resources' elements
    that are wanted (all, if none is named). `patients` are the ids of those who were named, `group` that of the group.
    """

    level: str
    types: tuple[str, ...]
    named: bool
    since: datetime | None
    ignored: tuple[str, ...]
    filters: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()
    patients: tuple[str, ...] = ()
    group: str = ""


def read_wish(level: str, pairs: Iterable[Pair], *, lenient: bool, group: str = "") -> Wish:
    """Read the parameters; `lenient` leaves out what is not supported, and notes it.

    What narrows an export is never left out: who asked for some of the record must not get all of it.

    :raises UnsupportedParameter: a parameter, unless lenient; `patient` at system level.
    :raises InvalidExport, InvalidTime: a value.
    """
    given: dict[str, list[str]] = {name: [] for name in KNOWN}
    ignored: list[str] = []
    for name, value in pairs:
        if name in given:
            given[name].append(value)
        elif name not in _OF_HTTP:
            if not lenient:
                raise UnsupportedParameter(
                    f"The parameter '{name[:40]}' is not supported; {', '.join(KNOWN)} are.", issue_type="not-supported"
                )
            ignored.append(name[:80])
    _check_format(given["_outputFormat"])
    named = [part.strip() for value in given["_type"] for part in value.split(",") if part.strip()]
    types, unknown = _types(level, named, lenient=lenient)
    since = read_instant(_one("_since", given["_since"]), name="_since") if given["_since"] else None
    return Wish(
        level,
        types,
        bool(named),
        since,
        tuple(dict.fromkeys([*ignored, *unknown])),
        filters=read_filters(given["_typeFilter"], types),
        elements=read_elements(given["_elements"]),
        patients=_patients(level, given["patient"]),
        group=group,
    )


def address_pairs(query: str) -> list[Pair]:
    """The names and values of a query string.

    :raises UnsupportedParameter: `patient`, which is for Parameters only.
    :raises fhir_api.search.InvalidSearch: the query cannot be read.
    """
    pairs = read_pairs(query)
    if any(name == "patient" for name, _ in pairs):
        raise UnsupportedParameter("patient is taken by POST with Parameters only.", issue_type="not-supported")
    return pairs


def pairs_of(parameters: Json) -> list[Pair]:
    """The names and values of a Parameters resource.

    :raises InvalidExport: it is of another form.
    """
    listed = parameters.get("parameter", [])
    if parameters["resourceType"] != "Parameters" or not isinstance(listed, list):
        raise InvalidExport("The body is a Parameters resource.", issue_type="structure", expression="Parameters")
    return [_pair(one, f"Parameters.parameter[{number}]") for number, one in enumerate(listed)]


def _pair(one: object, place: str) -> Pair:
    if not isinstance(one, Mapping) or not isinstance(one.get("name"), str):
        raise InvalidExport("A parameter has a name.", issue_type="structure", expression=place)
    name: str = one["name"]
    if name == "patient":
        return name, _reference(one.get("valueReference"))
    found = next((one[member] for member in _VALUES if member in one), None)
    if name in KNOWN and not isinstance(found, str):
        raise InvalidExport(f"{name} has a text as its value.", issue_type="value", expression=place)
    return name, found if isinstance(found, str) else ""


def _reference(value: object) -> str:
    """The text of a reference, "" where there is none, which names nobody."""
    found = value.get("reference") if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else ""


def _patients(level: str, references: list[str]) -> tuple[str, ...]:
    if references and level == states.SYSTEM:
        text = "patient narrows Patient/$export and Group/{id}/$export; $export is of the whole record."
        raise UnsupportedParameter(text, issue_type="not-supported")
    found = [target(one) for one in references]
    if any(one is None or one[0] != "Patient" for one in found):
        raise InvalidExport("patient has a valueReference as Patient/id.", issue_type="value", expression="patient")
    return tuple(dict.fromkeys(one[1] for one in found if one))


def _check_format(values: list[str]) -> None:
    # an unescaped plus sign is a space in a query
    if values and _one("_outputFormat", values).replace("fhir ndjson", "fhir+ndjson") not in FORMATS:
        raise InvalidExport(f"_outputFormat is one of {', '.join(FORMATS)}.", issue_type="not-supported")


def _one(name: str, values: list[str]) -> str:
    if len(values) > 1:
        raise InvalidExport(f"{name} is given once.", issue_type="value")
    return values[0]


def _types(level: str, named: list[str], *, lenient: bool) -> tuple[tuple[str, ...], list[str]]:
    """The types of a level in the order of their numbers, or those that were named; and names of no such type."""
    offered = [name for name in NUMBERS if level == states.SYSTEM or name in CONFINED]
    unknown = [name for name in named if name not in offered]
    if unknown and (not lenient or len(unknown) == len(named)):
        raise InvalidExport(
            f"_type takes {', '.join(offered)} here; '{unknown[0][:40]}' is none of them.", issue_type="not-supported"
        )
    return tuple(name for name in offered if name in named or not named), [f"_type={name[:40]}" for name in unknown]
