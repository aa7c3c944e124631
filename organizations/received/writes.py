"""Writes to a document of two parties, by its owner or by the other party, in five steps and at most six trips.

    PARCELS = ReceivedKind(document=Parcel, copy=ReceivedParcel, ...)

    "accept": Operation("Accept a parcel", find=TwoParty(PARCELS, acts=Party.OTHER), run=accept_parcel)

    @needs_transaction
    def accept_parcel(actor, parcel, at, reading=None):
        parcel.row.accept()
        parcel.write(
            [save_call(parcel.row, "status", at=at, versions=parcel.versions)],
            told=parcel.told(owner=[ParcelAccepted(by="carrier")], other=[ParcelAccepted(by="carrier")]),
            at=at,
            reading=reading,
        )
        return parcel.row

1. The trip of the proof finds the document: the caller's own row, or the received copy, which names the owner.
2. `TwoParty` binds the owner, locks the owner's row, and checks the party.
3. `write` sends the changes bound to the owner, reads what the other party may see, and writes that bound to them.
4. Facts are recorded for each tenant. 5. The answer is read bound to the caller.
Source: contract, supply.md 3.3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from typing import Any, NamedTuple
from uuid import UUID

from core.actor import Actor, SubjectKind, system_actor
from core.db import bind_actor_call, bind_call, needs_transaction
from core.errors import Conflict, Forbidden, NotFound
from core.ids import uuid7_text
from core.model_rows import lock_call, row_of
from core.pipeline import Call, ReadBack, Rows, Statement, run
from core.targets import Located
from core.watermark import mark_call
from ledger import public as ledger

from .copies import CLOSED, Copy, compute_calls, copies_of, write_calls
from .kinds import ReceivedKind

Told = Mapping[UUID, Sequence[ledger.Occurrence]]

_STATUS = Statement.of("SELECT n.status FROM organizations_tenant n WHERE n.id = $1")


class PartyClosed(Conflict):
    """The tenant of the other party is closed, so nothing can be written there any more."""

    code = "party_closed"
    title = "The other party's tenant is closed."


class CounterpartyOnly(Forbidden):
    """The action belongs to the other party of the document."""

    code = "counterparty_only"
    title = "Only the other party of the document may do this."


class Party(Enum):
    """Who may run an action on a document of two parties."""

    OWNER = auto()
    OTHER = auto()
    EITHER = auto()


@dataclass(frozen=True, slots=True, eq=False)
class SharedDocument:
    """A locked document of two parties as the target of a write; the owner's tenant is bound.

    `actor` is the caller. `row` is the owner's row. `parties` are the tenants that the document was handed to. `read` are
    the rows of `TwoParty.reads_behind`.
    """

    kind: ReceivedKind
    actor: Actor
    row: Any
    parties: frozenset[UUID]
    read: Sequence[Rows] = field(default=(), kw_only=True)

    @property
    def owner_id(self) -> UUID:
        """The owner's tenant."""
        found: UUID = getattr(self.row, self.kind.tenant_column)
        return found

    @property
    def is_owner(self) -> bool:
        """Tell whether the caller's tenant owns the document."""
        return self.owner_id == self.actor.tenant_id

    @property
    def version(self) -> int:
        """The version that the caller's ETag shows: the row's, or what the received copy has."""
        found: int = getattr(self.row, "version" if self.is_owner else self.kind.version)
        return found

    @property
    def versions(self) -> tuple[str, ...]:
        """The counters that a change which the other party sees raises."""
        return tuple(dict.fromkeys(("version", self.kind.version)))

    @property
    def owner(self) -> Actor:
        """The actor in the owner's rows: the caller, or the platform where the other party acts."""
        return self.actor if self.is_owner else system_actor(self.owner_id, request_id=uuid7_text())

    def told(
        self,
        *,
        owner: Sequence[ledger.EventType] = (),
        other: Sequence[ledger.EventType] = (),
        handed_to: UUID | None = None,
    ) -> Told:
        """Return what the owner and each other party are told of the document, with the version that each reads.

        It is to be called once the new versions stand in the row. `handed_to` is the tenant that this very change hands
        the document to.
        """
        others = {*self.parties, *([handed_to] if handed_to else [])} - {self.owner_id}
        seen = getattr(self.row, self.kind.version)
        mine = {self.owner_id: _occurrences(self.row, owner, self.row.version)}
        return mine | {party: _occurrences(self.row, other, seen) for party in others}

    def write(
        self,
        calls: Sequence[Call],
        *,
        told: Told,
        at: datetime,
        reading: ReadBack | None = None,
        is_answered_first: bool = False,
    ) -> list[Rows]:
        """Run the changes of the owner's rows and all that follows from them; see `write_documents`."""
        given: dict[str, Any] = {"told": told, "at": at, "reading": reading, "is_answered_first": is_answered_first}
        return write_documents(self.actor, self.owner_id, [(self.kind, self.row.pk)], calls, **given)


@dataclass(frozen=True, slots=True, eq=False)
class TwoParty(Located):
    """The `find` of an operation on a document of two parties; `acts` says which of them may run it.

    The id of the document is the first one in the path.
    """

    kind: ReceivedKind
    acts: Party = Party.EITHER

    def locate(self, tenant_id: UUID, *path: Any) -> Call:
        """Return the statement that finds the document's owner in the trip of the proof."""
        return Call(self.kind.located, [str(path[0]), str(tenant_id)])

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> SharedDocument:
        """Bind the owner, and lock and return the document.

        :raises NotFound: the tenant is neither party, or no longer.
        :raises PartyClosed: the owner's tenant is closed.
        :raises CounterpartyOnly: the action belongs to the other party.
        """
        if not len(located):
            raise NotFound(f"No such {self.kind.name}.")
        owner_id = UUID((located.value() or b"").decode())
        keys = [str(path[0]), str(owner_id)]
        locked = lock_call(self.kind.document, owner_id, path[0])
        before = [bind_call(owner_id), mark_call(owner_id), *self.locks_before(owner_id, *path)]
        behind = [Call(self.kind.parties, keys), Call(_STATUS, [str(owner_id)]), *self.reads_behind(owner_id, *path)]
        found, parties, status, *read = run([*before, locked, *behind])[len(before) :]
        if owner_id != actor.tenant_id and status.value() == CLOSED.encode():
            raise PartyClosed
        row = row_of(self.kind.document, found)
        others = frozenset(UUID((parties.value(n) or b"").decode()) for n in range(len(parties)))
        if row is None or actor.tenant_id not in {owner_id, *others}:
            raise NotFound(f"No such {self.kind.name}.")
        document = SharedDocument(self.kind, actor, row, others, read=read)
        self._check_party(document)
        return document

    def locks_before(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Return the statements that lock what the lock order puts before the document, bound to its owner."""
        return ()

    def reads_behind(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Return statements that read behind the lock of the document, in its trip; bound to its owner."""
        return ()

    def _check_party(self, document: SharedDocument) -> None:
        may_act = {
            Party.OWNER: document.is_owner,
            Party.OTHER: document.actor.tenant_id in document.parties,
            Party.EITHER: True,
        }
        if not may_act[self.acts]:
            raise CounterpartyOnly


@needs_transaction
def write_documents(  # noqa: PLR0913  # one keyword argument for each part of the write
    actor: Actor,
    owner_id: UUID,
    touched: Sequence[tuple[ReceivedKind, UUID]],
    calls: Sequence[Call],
    *,
    told: Told,
    at: datetime,
    reading: ReadBack | None = None,
    counts: Sequence[Call] = (),
    is_answered_first: bool = False,
) -> list[Rows]:
    """Change rows of one owner, rewrite the copies of the touched documents, record facts, and read the answer.

    `calls` run bound to the owner. The copies are written in the tenants that read them, and the facts in the tenants of
    `told`. Afterwards the caller's tenant is bound. This takes two trips; reactions to the facts add their own.
    `reading` reads the first of the touched documents. The rows of `calls` are returned, so that the action can refuse
    where a conditional change found nothing. `counts` are counters of the owner, written behind the copies.

    `is_answered_first`: the owner's answer tells nothing of copies, counters and facts. Where the caller is the owner, it is
    read in the first trip then, and the second is left to `ReadBack.last`, unless something reacts to the facts.

    :raises PartyClosed: a tenant that is to be told of the first document is closed; see `_heard`.
    """
    computing = compute_calls(owner_id, touched)
    is_first = is_answered_first and owner_id == actor.tenant_id
    first = [reading.call(touched[0][1])] if reading is not None and is_first else []
    _, *found = run([bind_call(owner_id), *calls, *(call for _, call in computing), *first])
    if reading is not None and first:
        reading.rows = found.pop()
    changed, computed = found[: len(calls)], found[len(calls) :]
    copies = [copy for (kind, _), rows in zip(computing, computed, strict=True) for copy in copies_of(kind, rows)]
    recording = ledger.recording_for(_heard(actor, told, copies, touched[0][1]), actor=actor, at=at)
    counting = [bind_call(owner_id), *counts] if counts else []
    _finish(actor, [*write_calls(copies, at), *counting], recording, touched[0][1], reading)
    return changed


class Part(NamedTuple):
    """What a write changes in the rows of one owner, and which of its documents it touches."""

    owner_id: UUID
    touched: Sequence[tuple[ReceivedKind, UUID]]
    calls: Sequence[Call]


@needs_transaction
def write_together(  # as `write_documents`
    actor: Actor,
    parts: Sequence[Part],
    document_id: UUID | None,
    *,
    told: Told,
    at: datetime,
    reading: ReadBack | None = None,
    counts: Sequence[Call] = (),
) -> list[list[Rows]]:
    """As `write_documents`, of documents of several owners, in two trips whatever their number; the rows come by part.

    `reading` reads the document that is named, None where all are touched by the way; `counts` are counters of the first
    owner. Whoever calls it has locked the documents in the lock order.

    :raises PartyClosed: a tenant that is to be told of the named document is closed; see `_heard`.
    """
    computing = [compute_calls(part.owner_id, part.touched) for part in parts]
    found = run(
        [
            call
            for part, computed in zip(parts, computing, strict=True)
            for call in (bind_call(part.owner_id), *part.calls, *(one for _, one in computed))
        ]
    )
    copies, changed, place = list[Copy](), list[list[Rows]](), 0
    for part, computed in zip(parts, computing, strict=True):
        first, place = place + 1, place + 1 + len(part.calls) + len(computed)
        changed.append(found[first : first + len(part.calls)])
        rows = found[first + len(part.calls) : place]
        copies += [copy for (kind, _), one in zip(computed, rows, strict=True) for copy in copies_of(kind, one)]
    recording = ledger.recording_for(_heard(actor, told, copies, document_id), actor=actor, at=at)
    counting = [bind_call(parts[0].owner_id), *counts] if counts else []
    _finish(actor, [*write_calls(copies, at), *counting], recording, document_id, reading)
    return changed


@needs_transaction
def write_unshared(
    actor: Actor,
    owner_id: UUID,
    document_id: UUID,
    calls: Sequence[Call],
    *,
    told: Told,
    at: datetime,
    reading: ReadBack | None = None,
) -> list[Rows]:
    """As `write_documents`, of a document that was not handed over yet, so that nobody has a copy; this takes one trip."""
    recording = ledger.recording_for(told, actor=actor, at=at)
    found = _finish(actor, [bind_call(owner_id), *calls], recording, document_id, reading)
    return found[1 : len(calls) + 1]


def _heard(actor: Actor, told: Told, copies: Sequence[Copy], document_id: UUID | None) -> Told:
    """Return what the tenants are told that are not closed.

    A closed tenant stops whoever acts on a document that it shares. It stops neither the platform's own work nor an act
    that touches its document by the way, as one that ends a reservation whose time is over.

    :raises PartyClosed: the caller acts on the document `document_id`, whose party is to be told, and is closed.
    """
    closed = {copy.tenant_id for copy in copies if copy.is_closed and told.get(copy.tenant_id)}
    if not closed:
        return told
    acts_on = {copy.tenant_id for copy in copies if copy.id == document_id}
    if closed & acts_on and actor.subject.kind is not SubjectKind.SYSTEM:
        raise PartyClosed
    return {tenant_id: facts for tenant_id, facts in told.items() if tenant_id not in closed}


def _finish(
    actor: Actor, calls: Sequence[Call], recording: ledger.Recording, document_id: UUID | None, reading: ReadBack | None
) -> list[Rows]:
    """Run the last changes, record the facts and read the answer in one trip; then run the reactions to the facts.

    The caller is bound with its locations, so that the answer shows a member who is limited to places no more than a read.

    Where the answer was read before and nothing reacts, all of it is left to the trip that commits, if somebody sends that.
    """
    back = bind_actor_call(actor)
    is_read = reading is not None and reading.rows is not None
    if reading is not None and reading.last is not None and is_read and not recording.is_followed:
        reading.last += [*calls, *recording.calls, back]
        return []
    read = [reading.call(document_id)] if reading and document_id and not (is_read or recording.is_followed) else []
    found = run([*calls, *recording.calls, back, *read])
    if reading is not None and read:
        reading.rows = found[-1]
    if recording.is_followed:
        recording.react()
        run([back])
    return found


def _occurrences(row: Any, events: Sequence[ledger.EventType], version: int) -> list[ledger.Occurrence]:
    return [ledger.Occurrence(event, row.pk, version) for event in events]
