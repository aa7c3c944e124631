"""Conditional interactions: whom the criteria name, held against everybody who asks the same at this moment.

Source: R4 http.html#ccreate, #cond-update, #cdelete. Whoever holds a criterion's lock sees what the one before has written,
so that of any number of equal conditional creates exactly one creates.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import parse_qsl, urlencode

from django.conf import settings

from core import arrays
from core.actor import Actor
from core.pipeline import Call, Statement

from .access.records import Access
from .ids import new_id
from .intentions import Addressed, IdMismatch, MultipleMatches, NoMatch, TooManyMatches, Write
from .keys import hashed
from .search import InvalidSearch, matches_each, patients_named
from .search.parse import Pair
from .smart import access_of
from .statements import LOCK_NAMES
from .store import Name
from .store.models import Method

_LOCKS = Statement.of(LOCK_NAMES)
_Criterion = tuple[str, str]
_Found = Mapping[_Criterion, Mapping[Name, int]]
MOST_DELETED: Final = 200  # as many as one transaction holds locked without keeping others waiting
_HEAD: Final = re.compile(r"([^?=&]*)\?")
_OF_ANSWER: Final = frozenset({"_format", "_pretty", "_summary", "_elements"})


def address(actor: Actor, writes: Sequence[Write]) -> list[Addressed]:
    """Answer the conditions of all writes, by what the actor may see, and give new resources their ids.

    Each write has one address, but a conditional delete with `_count` has one for each resource that it matches.

    :raises MultipleMatches: criteria match more than one resource, or more than `_count`.
    :raises NoMatch: those of a patch match none.
    :raises IdMismatch: those of an update match a resource with another id than the body's.
    :raises InvalidSearch, UnknownSearchParameter, UnsupportedSearch: they cannot be read.
    """
    criteria: dict[_Criterion, int] = {}
    places: dict[_Criterion, str] = {}
    for write in writes:
        if write.criteria:
            one = criterion(write)
            criteria[one] = max(_most(write) + 1, criteria.get(one, 0))
            places.setdefault(one, _place(write))
    found = _ask(actor, criteria, places)
    made: dict[_Criterion, Addressed] = {}
    return [one for write in writes for one in _addresses(write, found, made)]


def _ask(actor: Actor, criteria: Mapping[_Criterion, int], places: Mapping[_Criterion, str]) -> _Found:
    if not criteria:
        return {}
    locks = sorted(hashed(f"{actor.tenant_id}/{kind}?{query}") for kind, query in criteria)
    # Each statement sees what was committed before it began, so those behind the locks see what their last holder wrote.
    before = Call(_LOCKS, [arrays.numbers(locks)])
    return matches_each(actor.tenant_id, criteria, access=access_of(actor), before=before, places=places)


def check_sole(actor: Actor, addressed: Sequence[Addressed]) -> None:
    """Refuse what a condition creates if something that the same transaction writes without one meets it, too.

    :raises MultipleMatches: as said; everything is written by now.
    """
    otherwise = {one.write.type for one in addressed if not (one.write.criteria or one.write.method is Method.DELETE)}
    created = {
        criterion(one.write): one.write
        for one in addressed
        if one.write.criteria
        and not one.matched
        and one.write.method in (Method.POST, Method.PUT)
        and one.write.type in otherwise
    }
    if not created:
        return
    places = {one: _place(write) for one, write in created.items()}
    found = matches_each(actor.tenant_id, dict.fromkeys(created, 2), access=access_of(actor), places=places)
    for one, write in created.items():
        if len(found[one]) > 1:
            raise _several(write, found[one])


def criterion(write: Write) -> _Criterion:
    """The type and criteria of a conditional write in one spelling, so that equal ones meet at one lock.

    :raises InvalidSearch: they are of another type.
    """
    return write.type, urlencode(sorted(pair for pair in _pairs(write) if not _is_count(write, pair[0])))


def criteria_only(pairs: Sequence[Pair]) -> list[Pair]:
    """What chooses a resource, of a query in which clients also say how they want the answer."""
    return [pair for pair in pairs if pair[0] not in _OF_ANSWER]


def _pairs(write: Write) -> list[Pair]:
    """The criteria, without the address of the type that may stand before them.

    :raises InvalidSearch: it is another type's or another server's.
    """
    head = _HEAD.match(write.criteria)
    if head and head[1].removeprefix(settings.FHIR_BASE_URL).removeprefix("/") not in ("", write.type):
        text = f"The criteria of a {write.type} name another type or another server."
        raise InvalidSearch(text, expression=_place(write), issue_type="value")
    return criteria_only(parse_qsl(write.criteria[head.end() if head else 0 :], keep_blank_values=True))


def _place(write: Write) -> str:
    """Where the criteria stand in a Bundle; "" outside of one."""
    name = "ifNoneExist" if write.method is Method.POST else "url"
    return f"{write.place}.request.{name}" if write.place else ""


def _is_count(write: Write, name: str) -> bool:
    return name == "_count" and write.method is Method.DELETE


def _most(write: Write) -> int:
    """How many resources a write may concern: one, but for a delete as many as its `_count` says.

    :raises InvalidSearch: `_count` is no whole number from 1 up.
    """
    counts = [value for name, value in _pairs(write) if _is_count(write, name)]
    if not counts:
        return 1
    if len(counts) > 1 or not (counts[0].isascii() and counts[0].isdigit()) or not int(counts[0][:9]):
        raise InvalidSearch(
            "_count of a conditional delete is a whole number from 1 up.", expression=write.place, issue_type="value"
        )
    return min(int(counts[0][:9]), MOST_DELETED)


def _addresses(write: Write, found: _Found, made: dict[_Criterion, Addressed]) -> list[Addressed]:
    if not (write.criteria and write.method is Method.DELETE):
        return [_address(write, found, made)]
    names, most = found[criterion(write)], _most(write)
    if len(names) > most:
        counted = any(_is_count(write, name) for name, _ in _pairs(write))
        text = f"`_count` allows {most}; it may say up to {MOST_DELETED}." if counted else ""
        raise _several(write, names, TooManyMatches if counted else MultipleMatches, text)
    if not names:
        return [Addressed(write, "")]
    return [Addressed(write, name[1], matched=True, version=version) for name, version in names.items()]


def _address(write: Write, found: _Found, made: dict[_Criterion, Addressed]) -> Addressed:
    if not write.criteria:
        fresh = write.method is Method.POST
        return Addressed(write, new_id(write.type) if fresh else write.fhir_id, fresh=fresh)
    asked = criterion(write)
    names = found[asked]
    if len(names) > 1:
        raise _several(write, names)
    if names:
        return _matched(write, next(iter(names))[1])
    if write.method is Method.POST and asked in made:  # its twin in the same transaction creates it
        return Addressed(write, made[asked].fhir_id, matched=True, fresh=True)
    made[asked] = addressed = _unmatched(write)
    return addressed


def _several(
    write: Write, names: Mapping[Name, int], kind: type[MultipleMatches] = MultipleMatches, text: str = ""
) -> MultipleMatches:
    refusal = kind(text, expression=_place(write), issue_type="multiple-matches")
    refusal.access = _asked(write, names, outcome=412)
    return refusal


def _asked(write: Write, names: Iterable[Name], *, outcome: int) -> Access:
    """The record of a question by criteria whose answer is a refusal."""
    kind, query = criterion(write)
    parameters = sorted({name for name, _ in _pairs(write)})
    whose = {fhir_id for name, fhir_id in names if name == "Patient"} | set(patients_named(kind, query))
    return Access("search", kind, parameters=parameters, patients=sorted(whose), outcome=outcome)


def _matched(write: Write, fhir_id: str) -> Addressed:
    sent = (write.resource or {}).get("id")
    if write.method is Method.PUT and sent not in (None, fhir_id):
        raise IdMismatch("The matching resource has another id.", expression=write.place)
    return Addressed(write, fhir_id, matched=True)


def _unmatched(write: Write) -> Addressed:
    if write.method is Method.PATCH:
        refusal = NoMatch(expression=write.place)
        refusal.access = _asked(write, (), outcome=404)
        raise refusal
    sent = (write.resource or {}).get("id")
    if write.method is Method.PUT and isinstance(sent, str):
        return Addressed(write, sent)
    return Addressed(write, new_id(write.type), fresh=True)
