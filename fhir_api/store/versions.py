"""Versions of resources: lock what is there, write what shall be. A statement for each five hundred resources.

Whoever writes holds the row of the current version, or a lock of its name where there is none yet, so that of two writers
the second sees what the first did. Source: R4 http.html, sections on update, history and transactions.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any
from uuid import UUID

from core import arrays
from core.db import needs_transaction
from core.pipeline import Call, Rows, Statement, run
from fhir_api.entries import Entries
from fhir_api.indexing import index
from fhir_api.keys import hashed, target_key
from fhir_api.reading import read_stored
from fhir_api.resources import Json, stamped, written
from fhir_api.resources.types import NAMES, NUMBERS
from fhir_api.statements import CREATE, LOCK_NAMES, LOCK_TO_CHANGE, LOCK_TO_DELETE, WRITE

from .models import Method

Name = tuple[str, str]  # type, id


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a resource; `body` None is a deletion. `row` is the resource's own number in the tables."""

    row: int
    type: str
    fhir_id: str
    version: int
    last_updated: datetime
    method: Method
    body: bytes | None
    sort_date: str = ""

    @property
    def name(self) -> Name:
        """Type and id."""
        return self.type, self.fhir_id

    @property
    def etag(self) -> str:
        """The weak tag that answers carry. Source: R4 http.html#versioning."""
        return f'W/"{self.version}"'


@dataclass(frozen=True, slots=True)
class Change:
    """What shall become of one resource: `resource` None deletes it. `before` is the locked current version, if any."""

    method: Method
    type: str
    fhir_id: str
    resource: Json | None
    before: Version | None = None


_TO_CHANGE, _TO_DELETE = Statement.of(LOCK_TO_CHANGE), Statement.of(LOCK_TO_DELETE)
_NAMES = Statement.of(LOCK_NAMES)
_CREATE, _WRITE = Statement.of(CREATE), Statement.of(WRITE)
_NONE = Entries()
_TICK = timedelta(milliseconds=1)
_AT_ONCE = 500  # resources of one statement: thousands would not end within its time-out where others are at work, too


@needs_transaction
def locked(tenant_id: UUID, names: Iterable[Name], *, deleting: Iterable[Name] = ()) -> dict[Name, Version]:
    """The current versions of those that exist (deleted ones too), held until the transaction ends.

    Those that shall be deleted are held against everybody who refers to them. What does not exist is held by name, so
    that nobody else creates it meanwhile.
    """
    ending = set(deleting)
    wanted = [name for name in sorted(set(names)) if name not in ending]
    found = _read(tenant_id, wanted, _TO_CHANGE) | _read(tenant_id, sorted(ending), _TO_DELETE)
    if absent := [name for name in wanted if name not in found]:
        locks = sorted(hashed(f"{tenant_id}/{kind}/{fhir_id}") for kind, fhir_id in absent)
        run([Call(_NAMES, [arrays.numbers(locks)])])
        found |= _read(tenant_id, absent, _TO_CHANGE)
    return found


def write(tenant_id: UUID, changes: Sequence[Change], *, at: datetime) -> list[Version]:
    """Write the new versions, their past and what they are found by; answer them in the order of the changes.

    :raises django.db.IntegrityError: a resource was created twice, which `locked` prevents.
    """
    return write_along(tenant_id, prepare(changes, at=at), ())[0]


def prepare(changes: Sequence[Change], *, at: datetime) -> list["Prepared"]:
    """Make of changes what will stand in the tables; nothing is asked of the database.

    Who waited for a row read the clock before whoever held it: so each version is later than the one that it follows.
    """
    return [_prepare(change, _after(change.before, at)) for change in changes]


@needs_transaction
def write_along(
    tenant_id: UUID, prepared: Sequence["Prepared"], along: Sequence[Call]
) -> tuple[list[Version], list[Rows]]:
    """Write what was prepared, with statements that run right after, in its trip; their answers come second.

    :raises django.db.IntegrityError: a resource was created twice, which `locked` prevents.
    """
    if not prepared:
        return [], []
    *early, late = write_calls(tenant_id, prepared)
    answers = [run([call])[0] for call in early]
    last, *others = run([late, *along])
    return versions_of(prepared, [*answers, last]), others


def write_calls(tenant_id: UUID, prepared: Sequence["Prepared"]) -> list[Call]:
    """Return the statements that write what was prepared; `versions_of` takes their rows."""
    parts = (prepared[start : start + _AT_ONCE] for start in range(0, len(prepared), _AT_ONCE))
    return [_call(tenant_id, part) for part in parts]


def versions_of(prepared: Sequence["Prepared"], answers: Sequence[Rows]) -> list[Version]:
    """Return the versions that the statements of `write_calls` have written, in the order of the changes."""
    numbers = {int(rows.value(n, 1) or 0): int(rows.value(n, 0) or 0) for rows in answers for n in range(len(rows))}
    return [item.version(numbers[item.target]) for item in prepared]


def _after(before: Version | None, at: datetime) -> datetime:
    """The time of the version that follows, as a resource tells it: to the millisecond."""
    if before is not None:
        at = max(at, before.last_updated + _TICK)
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


@dataclass(frozen=True, slots=True)
class Prepared:
    """The next version of one resource: its bytes, and the entries it adds and drops."""

    change: Change
    number: int
    at: datetime
    target: int
    body: bytes | None
    sort_date: str
    moved: bool  # another sort date: all postings move
    parameters: str
    added: Entries
    dropped: Entries
    size: int  # of the entries that it has afterwards

    def version(self, row: int) -> Version:
        """The version, once its row is known."""
        change = self.change
        return Version(row, change.type, change.fhir_id, self.number, self.at, change.method, self.body, self.sort_date)


def _prepare(change: Change, at: datetime) -> Prepared:
    before, number = change.before, (change.before.version if change.before else 0) + 1
    body, now_found = None, _NONE
    if change.resource is not None:
        resource = stamped(change.resource, fhir_id=change.fhir_id, version=number, at=at)
        body, now_found = written(resource), index(resource)
    was_found = index_of_body(before.body) if before and before.body else _NONE
    sort_date = now_found.sort_date or (before.sort_date if before else "") or at.isoformat()
    moved = before is not None and sort_date != before.sort_date
    return Prepared(
        change=change,
        number=number,
        at=at,
        target=target_key(change.type, change.fhir_id),
        body=body,
        sort_date=sort_date,
        moved=moved,
        parameters=numbered(now_found),
        added=_less(now_found, was_found, moved=moved) if before else now_found,
        dropped=_less(was_found, now_found, moved=moved) if before else _NONE,
        size=now_found.size,
    )


def numbered(entries: Entries) -> str:
    """The numbers of the search parameters that have a value, as the resource's row keeps them."""
    return "".join(f" {one}" for one in sorted(entries.parameters)) + " "


def index_of_body(body: bytes) -> Entries:
    """What a stored body is found by."""
    return index(read_stored(body))


def _less(one: Entries, other: Entries, *, moved: bool) -> Entries:
    return Entries(
        postings=one.postings if moved else one.postings - other.postings,
        dates=one.dates - other.dates,
        strings=one.strings - other.strings,
        quantities=one.quantities - other.quantities,
        positions=one.positions - other.positions,
    )


def _call(tenant_id: UUID, prepared: Sequence[Prepared]) -> Call:
    made = [item for item in prepared if item.change.before is None]
    changed = [(item.change.before.row, item) for item in prepared if item.change.before is not None]
    parameters: list[str | bytes | None] = [
        str(tenant_id),
        arrays.moments(item.at for item in made),
        arrays.numbers(NUMBERS[item.change.type] for item in made),
        arrays.array_literal(item.change.fhir_id for item in made),
        arrays.numbers(int(item.change.method) for item in made),
        arrays.array_literal(item.sort_date for item in made),
        arrays.numbers(item.target for item in made),
        arrays.array_literal(item.parameters for item in made),
        _lines(item.body for item in made),
    ]
    # The owner of an entry is told by its target key, since a new row has no number yet.
    added = columns([(item.target, item.added) for item in prepared])
    if not changed:
        return Call(_CREATE, [*parameters, *added])
    parameters += [
        arrays.numbers(row for row, _ in changed),
        arrays.moments(item.at for _, item in changed),
        arrays.numbers(int(item.change.method) for _, item in changed),
        arrays.array_literal(item.sort_date for _, item in changed),
        arrays.array_literal(item.parameters for _, item in changed),
        _lines(item.body for _, item in changed),
    ]
    return Call(_WRITE, [*parameters, *added, *_dropped(changed)])


def columns(found: Sequence[tuple[int, Entries]]) -> list[str]:
    """The columns of entries to add, each with the number by which its owner is told."""
    return [
        arrays.repeated((owner, len(entries.postings)) for owner, entries in found),
        arrays.numbers(chain.from_iterable(entries.postings for _, entries in found)),
        *_rows([(owner, entries.dates) for owner, entries in found], 3),
        *_rows([(owner, entries.strings) for owner, entries in found], 2),
        *_rows([(owner, entries.quantities) for owner, entries in found], 2),
        *_rows([(owner, entries.positions) for owner, entries in found], 2),
    ]


def _rows(found: Sequence[tuple[int, AbstractSet[tuple[Any, ...]]]], width: int) -> list[str]:
    rows = chain.from_iterable(rows for _, rows in found)
    return [arrays.repeated((owner, len(rows)) for owner, rows in found), *arrays.columns(rows, width)]


def _dropped(changed: Sequence[tuple[int, Prepared]]) -> list[str]:
    """The keys of entries that are no more, with the number of their resource."""
    postings = (
        (row, key, item.change.before.sort_date)
        for row, item in changed
        if item.change.before
        for key in item.dropped.postings
    )
    return [
        *arrays.columns(postings, 3),
        *arrays.columns(((owner, *row) for owner, item in changed for row in item.dropped.dates), 4),
        *arrays.columns(((owner, *row) for owner, item in changed for row in item.dropped.strings), 3),
        *arrays.columns(((owner, *row) for owner, item in changed for row in item.dropped.quantities), 3),
        *arrays.columns(((owner, *row) for owner, item in changed for row in item.dropped.positions), 3),
    ]


def _lines(bodies: Iterable[bytes | None]) -> bytes:
    return b"\n".join(body or b"" for body in bodies)


def _read(tenant_id: UUID, names: Sequence[Name], statement: Statement) -> dict[Name, Version]:
    if not names:
        return {}
    kinds, ids = (
        arrays.numbers(NUMBERS[kind] for kind, _ in names),
        arrays.array_literal(fhir_id for _, fhir_id in names),
    )
    (rows,) = run([Call(statement, [str(tenant_id), kinds, ids])])
    return by_name(rows)


def by_name(rows: Rows) -> dict[Name, Version]:
    """Return the versions of rows that have the columns of `version_of`."""
    versions = [version_of(rows, n) for n in range(len(rows))]
    return {version.name: version for version in versions}


def version_of(rows: Rows, n: int = 0) -> Version:
    """One row of id, type, fhir_id, version, last_updated, method, sort_date, body."""
    row, kind, fhir_id, version, at, method, sort_date, body = rows.row(n)
    return Version(
        row=int(row or 0),
        type=NAMES[int(kind or 0)],
        fhir_id=(fhir_id or b"").decode(),
        version=int(version or 0),
        last_updated=datetime.fromisoformat((at or b"").decode()),
        method=Method(int(method or 0)),
        body=body,
        sort_date=(sort_date or b"").decode(),
    )


__all__ = [
    "Change",
    "Name",
    "Prepared",
    "Version",
    "by_name",
    "columns",
    "index_of_body",
    "locked",
    "numbered",
    "prepare",
    "version_of",
    "versions_of",
    "write",
    "write_along",
    "write_calls",
]
