"""Elements of a resource as places that can be read and changed: a value, and what belongs to it (`_birthDate`).

A primitive's value and its extensions stand in two members of one object; lists of primitives in two lists of one length.
Source: R4 json.html#primitive.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fhir_api.elements import Element, is_primitive, members

from .effort import Effort
from .paths import Comparison, Member, Nth, OfType, Step, Where
from .refusals import PatchTargetMissing, PatchWrongType

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Spot:
    """One element: the object that holds it, the member's name, its place in the list if the member is one.

    `up` is the element whose child it is; `path` its FHIRPath.
    """

    holder: Json
    name: str
    type: str
    path: str
    number: int | None = None
    up: "Spot | None" = None
    depth: int = 0

    @property
    def value(self) -> Any:
        """The value; None for a primitive that has extensions only."""
        return _at(self.holder.get(self.name), self.number)

    def inside(self, *, make: bool = False) -> Json | None:
        """The object with the element's children; of a primitive the one beside its value, made if asked for."""
        if not is_primitive(self.type):
            value = self.value
            return value if isinstance(value, dict) else None
        beside = _at(self.holder.get(f"_{self.name}"), self.number)
        if beside is None and make:
            beside = {}
            put(self, beside, beside_value=True)
        return beside if isinstance(beside, dict) else None


def _at(value: Any, number: int | None) -> Any:
    if number is None:
        return value
    return value[number] if isinstance(value, list) and number < len(value) else None


def put(spot: Spot, value: Any, *, beside_value: bool = False) -> None:
    """Set an element's value, or what stands beside it; lists are filled up with null.

    :raises PatchWrongType: what should be a list is none.
    """
    name = f"_{spot.name}" if beside_value else spot.name
    if spot.number is None:
        spot.holder[name] = value
        return
    held = spot.holder.setdefault(name, [])
    if not isinstance(held, list):
        raise PatchWrongType(f"{spot.path} is not in a list.")
    held.extend([None] * (spot.number + 1 - len(held)))
    held[spot.number] = value


def root(resource: Json) -> Spot:
    """The resource itself."""
    kind = str(resource.get("resourceType"))
    return Spot({"": resource}, "", kind, kind)


def evaluate(steps: tuple[Step, ...], start: Spot, effort: Effort) -> list[Spot]:
    """The elements that a path leads to from an element, in their order."""
    found = [start]
    for step in steps:
        effort.spend(1 + len(found))
        found = _step(step, found, effort)
    return found


def _step(step: Step, found: list[Spot], effort: Effort) -> list[Spot]:
    if isinstance(step, Member):
        return [child for spot in found for child in children(spot, step.name)]
    if isinstance(step, Nth):
        return found[step.number :][:1]
    if isinstance(step, OfType):
        return [spot for spot in found if step.type in (spot.type, _system_type(spot.type))]
    return [spot for spot in found if _meets(step, spot, effort)]


def _system_type(name: str) -> str:
    return name[:1].upper() + name[1:] if is_primitive(name) else name


def _meets(step: Where, spot: Spot, effort: Effort) -> bool:
    return all(_holds(comparison, spot, effort) for comparison in step.comparisons)


def _holds(comparison: Comparison, spot: Spot, effort: Effort) -> bool:
    """One comparison; of nothing or of several it is empty, which where() takes for false."""
    found = evaluate(comparison.path, spot, effort)
    if len(found) != 1:
        return False
    return effort.equal(comparison.value, found[0].value) is comparison.equal


def element(spot: Spot, name: str) -> list[Element]:
    """What a name can stand for below an element: one element, or all types of a choice; nothing if it is unknown."""
    known = members(type_of(spot))
    if known is None:
        return []
    if name in known.elements:
        return [known.elements[name]]
    return [known.elements[one] for one in known.choices.get(name, ())]


def type_of(spot: Spot) -> str:
    """The type whose members an element's children are."""
    if is_primitive(spot.type):
        return "Element"
    value = spot.value
    if spot.type == "Resource" and isinstance(value, dict):
        return str(value.get("resourceType"))
    return spot.type


def children(spot: Spot, name: str) -> Iterator[Spot]:
    """The children of an element that have a name.

    :raises PatchTargetMissing: the type has no such element.
    """
    holder = spot.inside()
    possible = element(spot, name) or _unknown(spot, holder, name)
    for one in possible:
        if holder is not None and (one.name in holder or f"_{one.name}" in holder):
            yield from _spots(spot, holder, one)


def _unknown(spot: Spot, holder: Json | None, name: str) -> list[Element]:
    """Contained resources may be of types that are not defined here; their data tell what is there."""
    if members(type_of(spot)) is not None:
        raise PatchTargetMissing(f"{spot.path} has no element {name[:64]}.", expression=spot.path)
    value = (holder or {}).get(name)
    sample = value[0] if isinstance(value, list) and value else value
    return [Element(name, "Unknown" if isinstance(sample, dict) else "string", repeats=isinstance(value, list))]


def _spots(spot: Spot, holder: Json, one: Element) -> Iterator[Spot]:
    path = f"{spot.path}.{one.name}"
    if not one.repeats:
        yield Spot(holder, one.name, one.type, path, up=spot, depth=spot.depth + 1)
        return
    for number in range(length(holder, one.name)):
        yield Spot(holder, one.name, one.type, f"{path}[{number}]", number, up=spot, depth=spot.depth + 2)


def length(holder: Json, name: str) -> int:
    """How many elements a list of an object has."""
    return max((len(held) for held in lists(holder, name)), default=0)


def lists(holder: Json, name: str) -> list[list[Any]]:
    """The list of values and the list beside it, as far as they are there."""
    return [held for held in (holder.get(name), holder.get(f"_{name}")) if isinstance(held, list)]
