"""FHIRPath Patch: add, insert, delete, replace and move elements. Source: R4 fhirpatch.html."""

from decimal import Decimal
from typing import Any, Final

from fhir_api.elements import Element, is_primitive, members

from .effort import Effort
from .parameters import Operation, Value, listed, operations
from .paths import Member, Step, parse
from .refusals import (
    InvalidPatchPath,
    PatchRefused,
    PatchTargetAmbiguous,
    PatchTargetExists,
    PatchTargetMissing,
    PatchWrongType,
)
from .spots import Json, Spot, element, evaluate, length, lists, put, root, type_of

# How values of primitive types look in JSON; within one look the validator judges the form.
_TEXT: Final = (str,)
_NUMBER: Final = (int, Decimal)
_LOOKS: Final = {"boolean": (bool,), **dict.fromkeys(("decimal", "integer", "positiveInt", "unsignedInt"), _NUMBER)}


def apply_fhirpath_patch(document: Any, resource: Json) -> Json:
    """Carry out the operations one after the other on a resource that is the caller's to change.

    :raises PatchRefused: an operation is malformed, its path leads nowhere or to several elements, or its value does not fit.
    """
    patched = _Patched(resource, Effort(len(listed(document))))
    for operation in operations(document):
        patched.carry_out(operation)
    return resource


class _Patched:
    def __init__(self, resource: Json, effort: Effort) -> None:
        self.resource = resource
        self.effort = effort

    def carry_out(self, operation: Operation) -> None:
        self.effort.spend()
        try:
            getattr(self, f"_{operation.type}")(operation)
        except PatchRefused as refusal:
            refusal.extra.setdefault("expression", operation.path[:200])
            raise

    def _add(self, operation: Operation) -> None:
        target = self._one(self._found(operation), operation)
        self._add_to(_inside(target, operation), target, operation.name, operation.wanted(), operation)

    def _add_to(self, inside: Json, target: Spot, name: str, value: Value, operation: Operation) -> None:
        one = self._element(target, name, value, operation)
        taken = _taken(inside, one, target)
        if taken and not one.repeats:
            raise PatchTargetExists(f"{operation.place}: the element is there already and does not repeat.")
        number = length(inside, one.name) if one.repeats else None
        path = f"{target.path}.{one.name}"
        spot = Spot(inside, one.name, one.type, path, number, up=target, depth=target.depth + (2 if one.repeats else 1))
        self._fill(spot, value, operation)

    def _insert(self, operation: Operation) -> None:
        holder, one, parent = self._list(operation)
        count, number = length(holder, one.name), operation.number("index")
        if number > count:
            raise PatchTargetMissing(f"{operation.place}: the list has {count} elements.")
        self._check_type(one, operation.wanted(), operation)
        self.effort.shift(count)
        for held in lists(holder, one.name):
            held.extend([None] * (count - len(held)))
            held.insert(number, None)
        path = f"{parent.path}.{one.name}[{number}]"
        spot = Spot(holder, one.name, one.type, path, number, up=parent, depth=parent.depth + 2)
        self._fill(spot, operation.wanted(), operation)

    def _delete(self, operation: Operation) -> None:
        if found := self._found(operation):
            self._remove(self._one(found, operation))

    def _replace(self, operation: Operation) -> None:
        spot, value = self._one(self._found(operation), operation), operation.wanted()
        if spot.up is None:
            raise InvalidPatchPath(f"{operation.place}: a resource cannot be replaced by a patch.")
        name = spot.name
        if known := members(type_of(spot.up)):
            name = known.elements[name].choice or name if name in known.elements else name
        one = self._element(spot.up, name, value, operation)
        if one.name != spot.name:  # another type of the choice
            _drop(spot)
        moved = Spot(spot.holder, one.name, one.type, spot.path, spot.number, up=spot.up, depth=spot.depth)
        self._fill(moved, value, operation)
        if value.content is None and not value.parts:
            self._clear(moved, moved.name)
        if value.beside is None:
            self._clear(moved, f"_{moved.name}")

    def _move(self, operation: Operation) -> None:
        holder, one, _ = self._list(operation)
        count = length(holder, one.name)
        source, destination = operation.number("source"), operation.number("destination")
        if source >= count or destination >= count:
            raise PatchTargetMissing(f"{operation.place}: the list has {count} elements.")
        self.effort.shift(2 * count)
        for held in lists(holder, one.name):
            held.extend([None] * (count - len(held)))
            held.insert(destination, held.pop(source))

    def _found(self, operation: Operation) -> list[Spot]:
        return evaluate(self._steps(operation), root(self.resource), self.effort)

    def _steps(self, operation: Operation) -> tuple[Step, ...]:
        steps = parse(operation.path)
        first = steps[0]
        named = isinstance(first, Member) and first.name in (
            self.resource.get("resourceType"),
            "Resource",
            "DomainResource",
        )
        return steps[1:] if named else steps

    def _one(self, found: list[Spot], operation: Operation) -> Spot:
        if len(found) > 1:
            raise PatchTargetAmbiguous(f"{operation.place}: the path leads to {len(found)} elements.")
        if not found:
            raise PatchTargetMissing(f"{operation.place}: the path leads to no element.")
        return found[0]

    def _list(self, operation: Operation) -> tuple[Json, Element, Spot]:
        """The object that holds a list, the list's element, and the element the object belongs to."""
        steps = self._steps(operation)
        last = steps[-1] if steps else None
        if not isinstance(last, Member):
            raise InvalidPatchPath(f"{operation.place}: the path must name a list.")
        parent = self._one(evaluate(steps[:-1], root(self.resource), self.effort), operation)
        found = element(parent, last.name)
        if len(found) != 1 or not found[0].repeats:
            raise PatchTargetMissing(f"{operation.place}: the path does not name a list.")
        return _inside(parent, operation), found[0], parent

    def _element(self, target: Spot, name: str, value: Value, operation: Operation) -> Element:
        possible = element(target, name)
        if not possible:
            raise PatchTargetMissing(f"{operation.place}: {target.path} has no element {name[:64]}.")
        fitting = [one for one in possible if one.name == one.choice + value.suffix] if len(possible) > 1 else possible
        if not fitting:
            raise PatchWrongType(f"{operation.place}: {target.path}.{name[:64]} cannot be of this type.")
        self._check_type(fitting[0], value, operation)
        return fitting[0]

    def _check_type(self, one: Element, value: Value, operation: Operation) -> None:
        if value.parts:
            fits = not is_primitive(one.type)
        elif is_primitive(one.type):
            look, kind = _LOOKS.get(one.type, _TEXT), value.suffix[:1].lower() + value.suffix[1:]
            fits = not members(value.suffix) and _LOOKS.get(kind, _TEXT) is look and _looks(value, look)
        else:
            fits = one.type in (value.suffix, "Resource") and isinstance(value.content, dict)
        if not fits:
            raise PatchWrongType(f"{operation.place}: the element is of type {one.type}.")

    def _fill(self, spot: Spot, value: Value, operation: Operation) -> None:
        if not value.parts:
            if value.content is not None:
                put(spot, self.effort.copied(value.content, spot.depth))
            if value.beside is not None:
                put(spot, self.effort.copied(value.beside, spot.depth), beside_value=True)
            return
        made: Json = {}
        put(spot, made)
        for name, part in value.parts:
            self.effort.spend()
            self._add_to(made, spot, name, part, operation)

    def _clear(self, spot: Spot, name: str) -> None:
        """Take away an element's value or what stands beside it; the other of the two keeps its place in the list."""
        held = spot.holder.get(name)
        if spot.number is None:
            spot.holder.pop(name, None)
        elif isinstance(held, list) and spot.number < len(held):
            held[spot.number] = None
            if not any(one is not None for one in held):
                del spot.holder[name]

    def _remove(self, spot: Spot) -> None:
        """Take an element away, and with it what has become empty by that: FHIR knows no empty element."""
        if spot.up is None:
            raise InvalidPatchPath("A resource cannot be deleted by a patch.")
        self.effort.shift(length(spot.holder, spot.name))
        _drop(spot)
        if not spot.holder and spot.up.up is not None:
            if is_primitive(spot.up.type) and spot.up.value is not None:
                self._clear(spot.up, f"_{spot.up.name}")
            else:
                self._remove(spot.up)


def _inside(spot: Spot, operation: Operation) -> Json:
    found = spot.inside(make=True)
    if found is None:  # an earlier operation put something else there; the validator would refuse it
        raise PatchWrongType(f"{operation.place}: {spot.path} is not an object.")
    return found


def _looks(value: Value, look: tuple[type, ...]) -> bool:
    """Tell whether a primitive looks as its type does; True is no number, and one with extensions only has no look."""
    return value.content is None or type(value.content) in look


def _taken(inside: Json, one: Element, target: Spot) -> bool:
    """Tell whether an element, or another type of its choice, is there."""
    known = members(type_of(target))
    names = known.choices[one.choice] if known and one.choice else (one.name,)
    return any(name in inside or f"_{name}" in inside for name in names)


def _drop(spot: Spot) -> None:
    for name in (spot.name, f"_{spot.name}"):
        if spot.number is None:
            spot.holder.pop(name, None)
        elif isinstance(held := spot.holder.get(name), list) and spot.number < len(held):
            del held[spot.number]
            if not any(one is not None for one in held):
                del spot.holder[name]
