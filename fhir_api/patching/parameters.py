"""The operations of a FHIRPath Patch, read from its Parameters resource. Source: R4 fhirpatch.html."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from .refusals import InvalidPatch

Json = dict[str, Any]

TYPES: Final = ("add", "insert", "delete", "replace", "move")
_PARTS: Final = ("type", "path", "name", "value", "index", "source", "destination")


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a type of data (`suffix` "HumanName") or a "Resource", what stands beside a primitive, or the parts of an inner element."""

    suffix: str = ""
    content: Any = None
    beside: Json | None = None
    parts: tuple[tuple[str, "Value"], ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation; which members it needs depends on `type`. `place` names it in refusals."""

    type: str
    path: str
    place: str
    name: str = ""
    value: Value | None = None
    numbers: dict[str, int] | None = None

    def number(self, member: str) -> int:
        """A place in a list.

        :raises InvalidPatch: the operation does not tell it.
        """
        found = (self.numbers or {}).get(member)
        if found is None:
            raise InvalidPatch(f"{self.place} has no {member}.")
        return found

    def wanted(self) -> Value:
        """The value.

        :raises InvalidPatch: the operation has none.
        """
        if self.value is None:
            raise InvalidPatch(f"{self.place} has no value.")
        return self.value


def operations(document: Any) -> Iterator[Operation]:
    """Read the operations one after the other.

    :raises InvalidPatch: the document is no Parameters resource with operations.
    """
    for number, parameter in enumerate(listed(document)):
        place = f"parameter[{number}]"
        if not isinstance(parameter, dict) or parameter.get("name") != "operation":
            raise InvalidPatch(f"{place} is not an operation.")
        yield _operation(_parts(parameter, place), place)


def listed(document: Any) -> list[Any]:
    """The parameters of the document.

    :raises InvalidPatch: it is no Parameters resource.
    """
    if not isinstance(document, dict) or document.get("resourceType") != "Parameters":
        raise InvalidPatch("A FHIRPath Patch is a Parameters resource.")
    found = document.get("parameter", [])
    if not isinstance(found, list):
        raise InvalidPatch("`parameter` is not a list.")
    return found


def _parts(parameter: Json, place: str) -> list[Json]:
    parts = parameter.get("part", [])
    if not isinstance(parts, list) or not all(
        isinstance(part, dict) and isinstance(part.get("name"), str) for part in parts
    ):
        raise InvalidPatch(f"{place}: `part` is a list of objects with names.")
    return parts


def _operation(parts: list[Json], place: str) -> Operation:
    named: dict[str, Json] = {}
    for part in parts:
        name = part["name"]
        if name not in _PARTS or name in named:
            raise InvalidPatch(f"{place}: a part is unknown or occurs twice; the parts are {', '.join(_PARTS)}.")
        named[name] = part
    kind = _text(named, "type", place)
    if kind not in TYPES:
        raise InvalidPatch(f"{place}: the type is one of {', '.join(TYPES)}.")
    return Operation(
        type=kind,
        path=_text(named, "path", place),
        place=place,
        name=_text(named, "name", place) if kind == "add" else "",
        value=_value(named["value"], place) if "value" in named else None,
        numbers={name: _number(named[name], place) for name in ("index", "source", "destination") if name in named},
    )


def _text(named: dict[str, Json], name: str, place: str) -> str:
    part = named.get(name, {})
    found = part.get("valueString", part.get("valueCode"))
    if not isinstance(found, str) or not found:
        raise InvalidPatch(f"{place} has no {name}.")
    return found


def _number(part: Json, place: str) -> int:
    found = next(
        (part[name] for name in ("valueInteger", "valueUnsignedInt", "valuePositiveInt") if name in part), None
    )
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found < 2**31:
        raise InvalidPatch(f"{place}: {part['name']} is an integer from 0.")
    return found


def _value(part: Json, place: str, depth: int = 0) -> Value:
    if "part" in part:
        if depth > 8:
            raise InvalidPatch(f"{place}: the value is nested too deeply.")
        inner = _parts(part, place)
        if not inner:
            raise InvalidPatch(f"{place}: the value is empty.")
        return Value(parts=tuple((one["name"], _value(one, place, depth + 1)) for one in inner))
    names = [name for name in part if name.startswith("value") or name == "resource"]
    beside = [name for name in part if name.startswith("_value")]
    found = {name.removeprefix("_") for name in (*names, *beside)}
    if len(found) != 1:
        raise InvalidPatch(f"{place}: a value is one value[x] or resource, or has parts.")
    (name,) = found
    extra = part.get(f"_{name}")
    if extra is not None and not isinstance(extra, dict):
        raise InvalidPatch(f"{place}: _{name[:64]} is not an object.")
    if part.get(name) is None and not extra:
        raise InvalidPatch(f"{place}: the value is empty.")
    return Value("Resource" if name == "resource" else name.removeprefix("value"), part.get(name), extra)
