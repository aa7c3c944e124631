"""Invariants that compare values, and units; each is a function of an element and its surroundings. Source: R4, named by their keys."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from . import dates, ucum
from .definitions import choices, extensions
from .faults import CODE_INVALID, VALUE, Fault, broken, listed
from .rules import BY_CODE

Json = dict[str, Any]
_LITERAL: Final = re.compile(
    r"(?:https?://[^?#\s]+/)?([A-Z][A-Za-z]{1,63})/[A-Za-z0-9.\-]{1,64}(?:/_history/[A-Za-z0-9.\-]{1,64})?"
)
_VALUES: Final = frozenset(
    member for name, stem in choices("Extension").items() if stem == "value" for member in (name, f"_{name}")
)
_FOUND_BY: Final = extensions()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an element must know of the resource around it: the types of those contained, by id, and of their container."""

    contained: Mapping[str, str] = field(default_factory=dict)
    container: str = ""

    def type_of(self, reference: str) -> str:
        """The type of what a reference names, or nothing where it does not tell."""
        if reference[:1] == "#":
            return self.contained.get(reference[1:], "") if len(reference) > 1 else self.container
        return _type_named(reference)


Check = Callable[[Json, Surroundings], Sequence[Fault]]
_NONE: Final[tuple[Fault, ...]] = ()


def _extension(value: Json, _: Surroundings) -> Sequence[Fault]:
    has_value = not _VALUES.isdisjoint(value)
    return (broken("ext-1", BY_CODE["ext-1"]),) if has_value == ("extension" in value) else _NONE


def _extension_value(value: Json, _: Surroundings) -> Sequence[Fault]:
    """The value of an extension of HL7's that a search parameter reads: of a type that such a parameter can find."""
    wanted = _FOUND_BY.get(value["url"])
    if wanted is None:
        return _NONE
    others = [name for name in value if name.removeprefix("_") in _VALUES - wanted]
    words = f"The value of this extension is in {listed(sorted(wanted))}."
    return tuple(Fault(VALUE, words, (name,)) for name in others)


def _period(value: Json, _: Surroundings) -> Sequence[Fault]:
    return _ordered(value, "start", "end", "per-1")


def _handed_over(value: Json, _: Surroundings) -> Sequence[Fault]:
    return _ordered(value, "whenPrepared", "whenHandedOver", "mdd-1")


def _ordered(value: Json, first: str, second: str, rule: str) -> Sequence[Fault]:
    start, end = value.get(first), value.get(second)
    if start is None or end is None or not (dates.is_real(start) and dates.is_real(end)):
        return _NONE
    return (broken(rule, BY_CODE[rule]),) if dates.is_certainly_after(start, end) else _NONE


def _range(value: Json, _: Surroundings) -> Sequence[Fault]:
    low, high = value.get("low", {}), value.get("high", {})
    if "value" not in low or "value" not in high or _unit(low) != _unit(high):
        return _NONE
    return (broken("rng-2", BY_CODE["rng-2"]),) if Decimal(low["value"]) > Decimal(high["value"]) else _NONE


def _unit(quantity: Json) -> tuple[Any, ...]:
    if "code" in quantity:
        return (quantity.get("system"), quantity["code"])
    return (quantity.get("unit"),)


def _quantity(value: Json, _: Surroundings) -> Sequence[Fault]:
    """The code of a unit of UCUM. Source: R4 datatypes.html#Quantity."""
    if value.get("system") != ucum.SYSTEM or "code" not in value or ucum.is_code(value["code"]):
        return _NONE
    return (Fault(CODE_INVALID, "The code is not one of UCUM.", ("code",)),)


def _participant(value: Json, surroundings: Surroundings) -> Sequence[Fault]:
    """Of a member whose type cannot be told, nothing is said."""
    member = value.get("member", {})
    kind = surroundings.type_of(member.get("reference", "")) or member.get("type", "")
    breaks = "onBehalfOf" in value and kind not in ("", "Practitioner")
    return (broken("ctm-1", BY_CODE["ctm-1"], "onBehalfOf"),) if breaks else _NONE


def _component(value: Json, _: Surroundings) -> Sequence[Fault]:
    components = value.get("component", ())
    if not components or _VALUES.isdisjoint(value):
        return _NONE
    codings = value.get("code", {}).get("coding", ())
    for component in components:
        if any(one in codings for one in component.get("code", {}).get("coding", ())):
            return (broken("obs-7", BY_CODE["obs-7"]),)
    return _NONE


def _reference(value: Json, surroundings: Surroundings) -> Sequence[Fault]:
    reference = value.get("reference")
    if reference is None:
        return _NONE
    if reference[0].isupper() and "?" in reference:
        return (Fault(VALUE, "A conditional reference is for transactions only.", ("reference",)),)
    named, stated = surroundings.type_of(reference), value.get("type", "").rpartition("/")[2]
    if reference[0] == "#" and not named:
        return (broken("ref-1", BY_CODE["ref-1"], "reference"),)
    if named and stated and named != stated:
        return (Fault(VALUE, f"The type is not that of the reference, {named}.", ("type",)),)
    return _NONE


def _type_named(reference: str) -> str:
    """The type that a relative or absolute reference to a resource of some server names, or nothing."""
    match = _LITERAL.fullmatch(reference)
    return match[1] if match else ""


CHECKS: Final[dict[str, tuple[Check, ...]]] = {
    **dict.fromkeys(("Age", "Count", "Distance", "Duration", "Quantity"), (_quantity,)),
    "CareTeam.participant": (_participant,),
    "Extension": (_extension, _extension_value),
    "MedicationDispense": (_handed_over,),
    "Observation": (_component,),
    "Period": (_period,),
    "Range": (_range,),
    "Reference": (_reference,),
}

__all__ = ["CHECKS", "Check", "Surroundings"]
