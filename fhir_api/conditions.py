"""Conditional interactions: whom the criteria name, held against everybody who asks the same at this moment.

Source: R4 http.html#ccreate, #cond-update, #cdelete. Whoever holds a criterion's lock sees what the one before has written,
so that of any number of equal conditional creates exactly one creates.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from core.pipeline import Call, Statement

from . import arrays
from .ids import new_id
from .intentions import Addressed, IdMismatch, MultipleMatches, NoMatch, Write
from .keys import hashed
from .models import Method
from .search import matches_each
from .statements import LOCK_NAMES
from .store import Name

_LOCKS = Statement.of(LOCK_NAMES)
_Criterion = tuple[str, str]


def address(tenant_id: UUID, writes: Sequence[Write]) -> list[Addressed]:
    """Answer the conditions of all writes and give new resources their ids.

    :raises MultipleMatches: criteria match more than one resource.
    :raises NoMatch: those of a patch match none.
    :raises IdMismatch: those of an update match a resource with another id than the body's.
    """
    found = _ask(tenant_id, {_criterion(write) for write in writes if write.criteria})
    made: dict[_Criterion, Addressed] = {}
    return [_address(write, found, made) for write in writes]


def _ask(tenant_id: UUID, criteria: set[_Criterion]) -> Mapping[_Criterion, Sequence[Name]]:
    if not criteria:
        return {}
    locks = sorted(hashed(f"{tenant_id}/{kind}?{query}") for kind, query in criteria)
    # Each statement sees what was committed before it began, so those behind the locks see what their last holder wrote.
    return matches_each(tenant_id, criteria, before=Call(_LOCKS, [arrays.numbers(locks)]))


def _criterion(write: Write) -> _Criterion:
    """The criteria in one spelling, so that equal ones meet at one lock."""
    query = write.criteria.rpartition("?")[2]
    return write.type, urlencode(sorted(parse_qsl(query, keep_blank_values=True)))


def _address(write: Write, found: Mapping[_Criterion, Sequence[Name]], made: dict[_Criterion, Addressed]) -> Addressed:
    if not write.criteria:
        fresh = write.method is Method.POST
        return Addressed(write, new_id(write.type) if fresh else write.fhir_id, fresh=fresh)
    criterion = _criterion(write)
    names = found[criterion]
    if len(names) > 1:
        raise MultipleMatches(expression=write.place, issue_type="multiple-matches")
    if names:
        return _matched(write, names[0][1])
    if write.method is Method.POST and criterion in made:  # its twin in the same transaction creates it
        return Addressed(write, made[criterion].fhir_id, matched=True, fresh=True)
    made[criterion] = addressed = _unmatched(write)
    return addressed


def _matched(write: Write, fhir_id: str) -> Addressed:
    sent = (write.resource or {}).get("id")
    if write.method is Method.PUT and sent not in (None, fhir_id):
        raise IdMismatch("The matching resource has another id.", expression=write.place)
    return Addressed(write, fhir_id, matched=True)


def _unmatched(write: Write) -> Addressed:
    if write.method is Method.PATCH:
        raise NoMatch(expression=write.place)
    if write.method is Method.DELETE:
        return Addressed(write, "")
    sent = (write.resource or {}).get("id")
    if write.method is Method.PUT and isinstance(sent, str):
        return Addressed(write, sent)
    return Addressed(write, new_id(write.type), fresh=True)
