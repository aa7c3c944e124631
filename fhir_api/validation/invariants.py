"""Invariants that compare values; each is a function of an element and its surroundings. Source: R4, named by their keys."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from . import dates
from .faults import VALUE, Fault, broken
from .rules import BY_CODE

Json = dict[str, Any]
_UUID: Final = re.compile(r"urn:uuid:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.ASCII)
_OID: Final = re.compile(r"urn:oid:[0-2](?:\.(?:0|[1-9][0-9]*))+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an element must know of the resource around it."""

    contained: frozenset[str] = frozenset()
    is_contained: bool = False
    is_transaction: bool = False


Check = Callable[[Json, Surroundings], Sequence[Fault]]
_NONE: Final[tuple[Fault, ...]] = ()


def _extension(value: Json, _: Surroundings) -> Sequence[Fault]:
    has_value = any(name.startswith(("value", "_value")) for name in value)
    return (broken("ext-1", BY_CODE["ext-1"]),) if has_value == ("extension" in value) else _NONE


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


def _component(value: Json, _: Surroundings) -> Sequence[Fault]:
    codings = value.get("code", {}).get("coding", ())
    if not codings or not any(name.startswith(("value", "_value")) for name in value):
        return _NONE
    for component in value.get("component", ()):
        if any(one in codings for one in component.get("code", {}).get("coding", ())):
            return (broken("obs-7", BY_CODE["obs-7"]),)
    return _NONE


def _reference(value: Json, surroundings: Surroundings) -> Sequence[Fault]:
    reference = value.get("reference")
    if reference is None:
        return _NONE
    if reference[0] == "#":
        found = surroundings.is_contained if reference == "#" else reference[1:] in surroundings.contained
        return _NONE if found else (broken("ref-1", BY_CODE["ref-1"], "reference"),)
    if reference[0].isupper():
        return _literal(reference, value.get("type"), surroundings)
    if reference.startswith("urn:uuid:") and not _UUID.fullmatch(reference):
        return (Fault(VALUE, "After urn:uuid: a UUID is needed.", ("reference",)),)
    if reference.startswith("urn:oid:") and not _OID.fullmatch(reference):
        return (Fault(VALUE, "After urn:oid: an OID is needed.", ("reference",)),)
    return _NONE


def _literal(reference: str, stated: str | None, surroundings: Surroundings) -> Sequence[Fault]:
    """A reference by type and id, or by a search. Source: R4 references.html#Reference, http.html#trules."""
    kind, mark, _ = reference.partition("?")
    if mark and not surroundings.is_transaction:
        return (Fault(VALUE, "A conditional reference is for transactions only.", ("reference",)),)
    kind = kind.partition("/")[0]
    if stated is not None and stated.rpartition("/")[2] != kind:
        return (Fault(VALUE, f"The type is not that of the reference, {kind}.", ("type",)),)
    return _NONE


CHECKS: Final[dict[str, tuple[Check, ...]]] = {
    "Extension": (_extension,),
    "MedicationDispense": (_handed_over,),
    "Observation": (_component,),
    "Period": (_period,),
    "Range": (_range,),
    "Reference": (_reference,),
}

__all__ = ["CHECKS", "Check", "Surroundings"]
