"""One search as it was asked, read into what is sought and how it is given, with warnings for what was left out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from fhir_api.compartments import types_of
from fhir_api.outcomes import WARNING, Issue
from fhir_api.resources.types import NUMBERS
from fhir_api.smart import SEARCH, UNNARROWED, Access
from fhir_api.store import Name
from fhir_api.value_sets.queries import NONE, Members

from .access import in_compartment_of, within
from .conditions import Condition, Sought, flat
from .control import EVERYTHING, MOST_COUNT, Control, apply, check, takes_list
from .parse import Criterion, Pair, checked_pairs, criterion, leaves, read_pairs
from .refusals import InvalidSearch, UnknownSearchParameter, wrong_value
from .translate import condition
from .values import Context, bare, patients

CURSOR: Final = "_cursor"
MOST_NAMED: Final = 1_000
_OF_HTTP: Final = frozenset({"_format", "_pretty"})


@dataclass(frozen=True, slots=True)
class Ask:
    """A search: of one type, or of all (""); the pairs of address and body; `strict` refuses unknown parameters.

    `compartment` names the resource in whose compartment it is held.
    """

    tenant_id: UUID
    type: str
    pairs: tuple[Pair, ...]
    at: datetime
    strict: bool = False
    access: Access = UNNARROWED
    compartment: Name | None = None

    @property
    def path(self) -> str:
        """The address below the base, to which links lead."""
        return f"{'/'.join(self.compartment)}/{self.type or EVERYTHING}" if self.compartment else self.type


@dataclass(slots=True)
class Plan:
    """What an `Ask` means: what is sought of each type, how it is given, what was used, what was left out.

    `bare` are the ids that came without a type: for each the parameter and the keys of what it may mean. `patients` are
    the ids of those whom the criteria name, at most `MOST_NAMED`.
    """

    sought: list[Sought]
    control: Control
    used: list[Pair]
    warnings: list[Issue] = field(default_factory=list)
    bare: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    patients: list[str] = field(default_factory=list)


def is_feed(pairs: Sequence[Pair]) -> bool:
    """Tell whether a search asks for what is newer than a time."""
    begins = (part.strip()[:2] for name, value in pairs if name == "_lastUpdated" for part in value.split(","))
    return not {"gt", "ge", "sa"}.isdisjoint(begins)


def plan(ask: Ask, pairs: Sequence[Pair], value_sets: Members = NONE, until: datetime | None = None) -> Plan:
    """Read a search; `value_sets` are those of the tenant that it names, `until` where a feed ends.

    :raises UnknownSearchParameter: an unknown parameter, if the search is strict.
    :raises InvalidSearch, UnsupportedSearch: a value, a modifier, a combination.
    """
    types, pairs = _types(ask, checked_pairs(pairs))
    found = Plan([], Control(), [])
    conditions: dict[str, list[Condition]] = {name: [] for name in types}
    readable = partial(ask.access.allows, interaction=SEARCH)
    context = Context(ask.at, ask.access, value_sets, until)
    for name, value in pairs:
        if name in _OF_HTTP or name == CURSOR or left_empty(ask, found, name, value):
            continue
        try:
            if (name != "_type" or ask.type) and not apply(found.control, types, name, value):
                asked = [criterion(type_name, name, value, readable=readable) for type_name in types]
                found.bare.extend((name, keys) for keys in _bare(asked))
                found.patients.extend(_patients(asked))
                for type_name, one in zip(types, asked, strict=True):
                    conditions[type_name] += flat(condition(one, context, ask.access)) if one else ()
        except UnknownSearchParameter as error:
            if ask.strict:
                raise
            found.warnings.append(ignored(error))
            continue
        found.used.append((name, value))
    check(found.control)
    tell_count(found)
    if ask.compartment and ask.compartment[0] == "Patient":
        found.patients.append(ask.compartment[1])
    found.patients = list(dict.fromkeys(found.patients))[:MOST_NAMED]
    found.sought = [Sought(name, (*conditions[name], *_held(ask, name))) for name in types]
    return found


def _held(ask: Ask, type_name: str) -> tuple[Condition, ...]:
    """What holds the resources of a type to the compartment that is searched, and to what the request may see."""
    inside = (in_compartment_of(ask.compartment, type_name),) if ask.compartment else ()
    return (*inside, *within(ask.access, type_name))


def _bare(asked: Sequence[Criterion | None]) -> dict[tuple[int, ...], None]:
    """The keys of what the ids without a type may mean, those of each choice of types once."""
    return dict.fromkeys(keys for one in asked if one for leaf in leaves(one) for keys in bare(leaf))


def patients_named(type_name: str, criteria: str) -> list[str]:
    """The ids of patients whom criteria name that were read before."""
    return _patients([criterion(type_name, name, value) for name, value in read_pairs(criteria)])[:MOST_NAMED]


def _patients(asked: Sequence[Criterion | None]) -> list[str]:
    return [one for criterion in asked if criterion for leaf in leaves(criterion) for one in patients(leaf)]


def _types(ask: Ask, pairs: list[Pair]) -> tuple[tuple[str, ...], list[Pair]]:
    """The types that are searched; without a type in the address, `_type` names them."""
    if ask.type:
        return (ask.type,), pairs
    possible = types_of(ask.compartment[0]) if ask.compartment else tuple(NUMBERS)
    named = [part for name, value in pairs if name == "_type" for part in value.split(",") if part]
    if unknown := next((name for name in named if name not in possible), None):
        where = "types of this compartment" if ask.compartment else "types of this server"
        raise wrong_value("_type", f"{where}; '{unknown[:40]}' is none")
    allowed = tuple(name for name in dict.fromkeys(named or possible) if ask.access.allows(name, SEARCH))
    return allowed, pairs


def left_empty(ask: Ask, found: Plan, name: str, value: str) -> bool:
    """Tell whether a list of nothing but commas was left out, with a warning.

    :raises InvalidSearch: the search is strict.
    """
    if value.strip(", ") or not takes_list(name):
        return False
    error = InvalidSearch(f"The parameter '{name}' has nothing between its commas.", issue_type="value")
    if ask.strict:
        raise error
    found.warnings.append(Issue("value", f"{error.detail} It was ignored.", details=error.code, severity=WARNING))
    return True


def tell_count(found: Plan) -> None:
    """Say that `_count` was too much, and show the number that was used."""
    if not found.control.capped:
        return
    found.used = [(name, str(found.control.count) if name == "_count" else value) for name, value in found.used]
    found.warnings.append(count_capped())


def count_capped() -> Issue:
    """The warning that a page has fewer entries than `_count` wants."""
    text = f"_count is at most {MOST_COUNT}; the page has {MOST_COUNT}."
    return Issue("too-costly", text, details="count_capped", severity=WARNING)


def ignored(error: UnknownSearchParameter) -> Issue:
    """The warning that a parameter was left out."""
    return Issue("not-supported", f"{error.detail} It was ignored.", details=error.code, severity=WARNING)
