"""One walk over a resource of valid form, for what no schema says: dates, nulls, numbers, references, invariants.

The walk follows a plan that is made once from the schema: for each type, what is done at each of its elements.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from . import dates, narratives
from .definitions import choices, definitions, resource_types
from .faults import STRUCTURE, VALUE, Fault, broken, listed
from .invariants import CHECKS, Check, Surroundings
from .rules import BY_CODE, BY_SCHEMA

Step = Callable[[Any, dict[str, Any], Surroundings], Sequence[Fault]]
_NONE: Final[tuple[Fault, ...]] = ()
_DATES: Final = frozenset({"date", "dateTime", "instant"})
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_INTEGERS: Final = frozenset({"integer", "unsignedInt", "positiveInt"})


@dataclass(slots=True)
class _Plan:
    """What is done at an element of one type: `looked_at` are the members that something is done with."""

    steps: dict[str, Step]
    checks: tuple[Check, ...]
    looked_at: frozenset[str]

    def passes_by(self, value: dict[str, Any]) -> bool:
        """Whether nothing is to be done at an element, as at most codings and quantities."""
        return not self.checks and self.looked_at.isdisjoint(value)


def walk(type_name: str, resource: dict[str, Any], surroundings: Surroundings) -> Sequence[Fault]:
    """Find the faults of a resource, or of an element, whose form the schema has accepted."""
    return _visit(_plan(type_name), resource, surroundings)


def _visit(plan: _Plan, value: dict[str, Any], surroundings: Surroundings) -> Sequence[Fault]:
    found: list[Fault] | None = None
    for check in plan.checks:
        if faults := check(value, surroundings):
            found = found or []
            found += faults
    steps = plan.steps
    for name, child in value.items():
        step = steps.get(name)
        if step is not None and (faults := step(child, value, surroundings)):
            found = found or []
            found += (one.under(name) for one in faults)
    return found or _NONE


@cache
def _plan(type_name: str) -> _Plan:
    """The plan of a definition of the schema. Types contain each other, so that a plan asks for another when it is run."""
    properties: dict[str, Any] = definitions()[type_name]["properties"]
    steps = {name: step for name, schema in properties.items() if (step := _step(type_name, name, schema)) is not None}
    stems = choices(type_name)
    checks = CHECKS.get(type_name, ())
    return _Plan(steps, (_only_one(stems), *checks) if stems else checks, frozenset(steps))


def _step(owner: str, name: str, schema: dict[str, Any]) -> Step | None:
    many = schema.get("type") == "array"
    target = str((schema["items"] if many else schema).get("$ref", "")).rpartition("/")[2]
    if name.startswith("_"):
        return _siblings(name[1:]) if many else _sibling(name[1:])
    if target.endswith("-or-null") or (many and "enum" in schema["items"]):
        return _primitives(f"_{name}", _primitive(target.removesuffix("-or-null")))
    if definitions().get(target, {}).get("type") != "object":
        return _primitive(target)
    if target == "contained":
        return None
    one = _one(target)
    if target == "Extension" and owner != "Extension":
        one = _absolute(one)
    if target == "Reference":
        one = _targeted(one, schema["items"] if many else schema)
    return _each(one) if many else one


def _targeted(one: Step, schema: dict[str, Any]) -> Step:
    """A reference whose type is stated, or named by an absolute address or by what is contained.

    Of relative ones the schema has seen the type.
    """
    title = schema.get("properties", {}).get("reference", {}).get("title", "")
    if not title:
        return one
    targets = frozenset(title.partition(":")[2].split(","))
    others = resource_types() - targets

    def step(value: Any, parent: dict[str, Any], surroundings: Surroundings) -> Sequence[Fault]:
        reference = value.get("reference", "")
        named = surroundings.type_of(reference) if reference.startswith(("http", "#")) else ""
        for name, kind in (("reference", named), ("type", value.get("type", ""))):
            if kind and kind in others:
                return (Fault(VALUE, f"The reference may be to {listed(sorted(targets))} only.", (name,)),)
        return one(value, parent, surroundings)

    return step


def _absolute(one: Step) -> Step:
    """An extension that is not inside another one: it has the URL of its definition. Source: R4 extensibility.html#Extension."""

    def step(value: Any, parent: dict[str, Any], surroundings: Surroundings) -> Sequence[Fault]:
        if not _ABSOLUTE.match(value["url"]):
            return (
                Fault(VALUE, "The url of an extension is absolute, unless it is inside another extension.", ("url",)),
            )
        return one(value, parent, surroundings)

    return step


def _one(target: str) -> Step:
    plan: _Plan | None = None

    def step(value: Any, _: dict[str, Any], surroundings: Surroundings) -> Sequence[Fault]:
        nonlocal plan
        plan = plan or _plan(target)
        return _NONE if plan.passes_by(value) else _visit(plan, value, surroundings)

    return step


def _each(one: Step) -> Step:
    def step(values: Any, parent: dict[str, Any], surroundings: Surroundings) -> Sequence[Fault]:
        found: list[Fault] | None = None
        for place, value in enumerate(values):
            if faults := one(value, parent, surroundings):
                found = found or []
                found += (fault.under(place) for fault in faults)
        return found or _NONE

    return step


def _primitives(sibling: str, one: Step | None) -> Step:
    """Each value of an array; a null only where the sibling describes what is not there. Source: R4 json.html#primitive."""

    def step(values: Any, parent: dict[str, Any], surroundings: Surroundings) -> Sequence[Fault]:
        found: list[Fault] = []
        for place, value in enumerate(values):
            if value is None:
                others = parent.get(sibling, ())
                if place >= len(others) or others[place] is None:
                    found.append(Fault(STRUCTURE, f"A null needs an element at its place in {sibling}.", (place,)))
            elif one is not None:
                found += (fault.under(place) for fault in one(value, parent, surroundings))
        return found

    return step


def _sibling(name: str) -> Step:
    """The id and extensions of a primitive element; an id alone needs a value to belong to."""
    extensions = _each(_absolute(_one("Extension")))

    def step(value: Any, parent: dict[str, Any], surroundings: Surroundings) -> Sequence[Fault]:
        if "extension" in value:
            return [one.under("extension") for one in extensions(value["extension"], value, surroundings)]
        return _NONE if name in parent else [broken("ele-1", BY_SCHEMA["ele-1"])]

    return step


def _siblings(name: str) -> Step:
    """The siblings of an array of primitive values, each at the place of its value."""
    alone, beside = _sibling(""), _sibling(name)

    def step(values: Any, parent: dict[str, Any], surroundings: Surroundings) -> Sequence[Fault]:
        found: list[Fault] = []
        plain = parent.get(name, ())
        for place, value in enumerate(values):
            if value is not None:
                one = beside if place < len(plain) and plain[place] is not None else alone
                found += (fault.under(place) for fault in one(value, parent, surroundings))
        if not plain and not any(values):
            found.append(Fault(STRUCTURE, "An array cannot consist of nulls."))
        return found

    return step


def _primitive(target: str) -> Step | None:
    """What a schema cannot say of a primitive type."""
    if target in _DATES:
        return _date
    if target in _INTEGERS:
        return _integer
    return _narrative if target == "xhtml" else None


def _date(value: Any, _: dict[str, Any], __: Surroundings) -> Sequence[Fault]:
    return _NONE if dates.is_real(value) else (Fault(VALUE, "There is no such day in the calendar."),)


def _integer(value: Any, _: dict[str, Any], __: Surroundings) -> Sequence[Fault]:
    """To JSON Schema 1.0 and -0 are integers, to FHIR they are not."""
    return (
        _NONE
        if type(value) is int
        else (Fault(VALUE, "An integer has no decimal point, no exponent, and no sign where it is 0."),)
    )


def narrative(div: str) -> Sequence[Fault]:
    """What is wrong with a narrative (txt-1, txt-2)."""
    rule, how = narratives.fault(div)
    if not rule:
        return _NONE
    return (broken(rule, f"{BY_CODE[rule]}: {how}." if how else BY_CODE[rule]),)


def _narrative(value: Any, _: dict[str, Any], __: Surroundings) -> Sequence[Fault]:
    return narrative(value)


def _only_one(stems: dict[str, str]) -> Check:
    """Of the names of a choice only one may be used, with its sibling. Source: R4 formats.html#choice."""
    names = frozenset(stems) | frozenset(f"_{name}" for name in stems)

    def check(value: dict[str, Any], _: Surroundings) -> Sequence[Fault]:
        used = [member for member in value if member in names]
        if len(used) < 2:
            return _NONE
        first: dict[str, str] = {}
        found: dict[str, Fault] = {}
        for name in (member.removeprefix("_") for member in used):
            stem = stems[name]
            if first.setdefault(stem, name) != name:
                words = f"{stem} has one type only: {first[stem]} and {name} cannot both be given."
                found.setdefault(stem, Fault(STRUCTURE, words, (stem,)))
        return tuple(found.values())

    return check


__all__ = ["narrative", "walk"]
