"""What an export is asked for with: the parameters of the kick-off request, from the address or a Parameters resource.

Source: Bulk Data Access IG 2.0.0, export.html, "Query Parameters" and "Headers".
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from core.errors import Malformed
from fhir_api.compartments import TYPES
from fhir_api.instants import read_instant
from fhir_api.resources import Json
from fhir_api.resources.types import NUMBERS

from . import states

Pair = tuple[str, str]

FORMATS: Final = ("application/fhir+ndjson", "application/ndjson", "ndjson")
KNOWN: Final = ("_outputFormat", "_since", "_type")
_OF_HTTP: Final = ("_format", "_pretty")
_VALUES: Final = ("valueString", "valueCode", "valueInstant", "valueDateTime", "valueUri")
LONGEST_QUERY: Final = 8_000


class InvalidExport(Malformed):
    """A parameter of the export is not of its form, or asks for what is not kept here."""

    code = "invalid_export"
    title = "The export's parameters are not valid."


class UnsupportedParameter(Malformed):
    """A parameter that this server does not offer; `Prefer: handling=lenient` leaves it out."""

    code = "unsupported_parameter"
    title = "The export names a parameter that is not supported."


class AsyncRequired(Malformed):
    """An export is carried out after the answer, which the client has to agree to."""

    code = "async_required"
    title = "An export needs Prefer: respond-async."


@dataclass(frozen=True, slots=True)
class Wish:
    """What shall be exported: a level, the types, changes since a time, and what was left out of the request."""

    level: str
    types: tuple[str, ...]
    named: bool  # whether the request named the types
    since: datetime | None
    ignored: tuple[str, ...]


def read_wish(level: str, pairs: Iterable[Pair], *, lenient: bool) -> Wish:
    """Read the parameters; `lenient` leaves out what is not supported, and notes it.

    :raises UnsupportedParameter: a parameter, unless lenient.
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
    return Wish(level, types, bool(named), since, tuple(dict.fromkeys([*ignored, *unknown])))


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
    found = next((one[member] for member in _VALUES if member in one), None)
    if name in KNOWN and not isinstance(found, str):
        raise InvalidExport(f"{name} has a text as its value.", issue_type="value", expression=place)
    return name, found if isinstance(found, str) else ""


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
    offered = [name for name in NUMBERS if level == states.SYSTEM or name in TYPES]
    unknown = [name for name in named if name not in offered]
    if unknown and (not lenient or len(unknown) == len(named)):
        raise InvalidExport(
            f"_type takes {', '.join(offered)} here; '{unknown[0][:40]}' is none of them.", issue_type="not-supported"
        )
    return tuple(name for name in offered if name in named or not named), [f"_type={name[:40]}" for name in unknown]
