"""The search parameters of the registered types.

`parameters.json` is generated (`./dev manage generate_fhir_definitions`). Source: hl7.fhir.r4.core 4.0.1, CC0-1.0.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

Kind = Literal["token", "reference", "string", "date", "quantity", "uri", "composite", "special"]

FILE: Final = Path(__file__).with_name("parameters.json")
COLUMNS: Final = frozenset({"_id", "_lastUpdated"})
_UNITED: Final = "combo-"


class Component(NamedTuple):
    """One side of a composite: the search parameter of the same type whose values it has, and where they are found."""

    code: str
    kind: Kind
    expression: str


def parts_of(code: str) -> tuple[str, ...]:
    """The two parameters that find together what one does: R4's `combo-…` look at an Observation and its components."""
    rest = code.removeprefix(_UNITED)
    return (rest, f"component-{rest}") if rest != code else ()


class Parameter(NamedTuple):
    """A search parameter of one type. `number` is part of every key (`keys`) and is never given to another.

    `targets` are the types a reference may point to; empty means any. `expression` and `url` tell where it is from.
    """

    number: int
    type: str
    code: str
    kind: Kind
    expression: str
    url: str
    targets: tuple[str, ...] = ()
    components: tuple[Component, ...] = ()

    @property
    def is_column(self) -> bool:
        """Whether the resource's own row answers it (`_id`, `_lastUpdated`), so that no entry is made."""
        return self.code in COLUMNS

    @property
    def parts(self) -> tuple["Parameter", ...]:
        """The parameters whose entries answer this one, which has none of its own; empty for nearly all."""
        return tuple(PARAMETERS[self.type, code] for code in parts_of(self.code))


def _read() -> dict[tuple[str, str], Parameter]:
    rows: list[dict[str, Any]] = json.loads(FILE.read_bytes())
    found = [_parameter(row) for row in rows if not row.get("retired")]
    return {(parameter.type, parameter.code): parameter for parameter in found}


def _parameter(row: dict[str, Any]) -> Parameter:
    components = tuple(Component(**component) for component in row.get("components", ()))
    return Parameter(**{**row, "targets": tuple(row.get("targets", ())), "components": components})


PARAMETERS: Final[Mapping[tuple[str, str], Parameter]] = MappingProxyType(_read())
BY_NUMBER: Final[Mapping[int, Parameter]] = MappingProxyType({one.number: one for one in PARAMETERS.values()})
BY_TYPE: Final[Mapping[str, Mapping[str, Parameter]]] = MappingProxyType(
    {
        name: MappingProxyType({one.code: one for one in PARAMETERS.values() if one.type == name})
        for name in dict.fromkeys(one.type for one in PARAMETERS.values())
    }
)


def parameter(type_name: str, code: str) -> Parameter | None:
    """The search parameter of a type by its code; None where there is none."""
    return PARAMETERS.get((type_name, code))
