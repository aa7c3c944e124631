"""Verifying everything that a tenant keeps of its prescriptions: snapshots, histories, checkpoints, and rows against them.

The history is read in batches of prescriptions, each in one snapshot of the database. Nothing is changed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import connection, transaction

from core.arrays import array_literal
from core.db import bind_call
from core.model_rows import rows_of
from core.pipeline import Call, Rows, Statement, run
from organizations import public as organizations
from organizations.public import KeyPurpose
from prescriptions.lifecycle.chain import START, origin_digest
from prescriptions.lifecycle.models import Prescription, PrescriptionItem

from .chains import ENTRY_COLUMNS, EntryRow, faults_of
from .held_evidence import HeldEvidence
from .models import Snapshot
from .tree_audit import Fault, LeafOf, tree_faults
from .verification import does_row_match, is_digest_sound, is_external_held

BATCH: Final = 500
_FIRST: Final = UUID(int=0)


class _Private(NamedTuple):
    """What an entry's salted digest covers; `salt` is None once it was deleted."""

    salt: str | None
    display: str | None
    ip: str | None
    user_agent: str | None


class _Found(NamedTuple):
    """The id of a prescription that has a row, an entry or a snapshot."""

    id: UUID


def _columns(model: Any) -> str:
    return ", ".join(f"t.{one.column}" for one in model._meta.concrete_fields)


# Of every prescription that any of the tables knows, so that a chain without its row shows, and a row without its chain.
_WALK: Final = Statement.of(
    "SELECT found.id FROM ("
    "(SELECT t.id FROM prescriptions_prescription t WHERE t.tenant_id = $1 AND (t.tenant_id, t.id) > ($1, $2) ORDER BY t.id LIMIT $3) UNION"
    " (SELECT DISTINCT e.prescription_id FROM prescriptions_auditentry e WHERE e.tenant_id = $1 AND e.prescription_id > $2"
    " ORDER BY e.prescription_id LIMIT $3) UNION"
    " (SELECT s.prescription_id FROM prescriptions_snapshot s WHERE s.tenant_id = $1 AND s.prescription_id > $2"
    " ORDER BY s.prescription_id LIMIT $3)) found (id) ORDER BY found.id LIMIT $3",
    row=_Found,
)
_ROWS: Final = Statement.of(
    f"SELECT {_columns(Prescription)} FROM prescriptions_prescription t WHERE t.tenant_id = $1 AND t.id = ANY($2::uuid[])"
)
_ITEMS: Final = Statement.of(
    f"SELECT {_columns(PrescriptionItem)} FROM prescriptions_prescriptionitem t WHERE t.tenant_id = $1"
    " AND t.prescription_id = ANY($2::uuid[]) ORDER BY t.prescription_id, t.line"
)
_SNAPSHOTS: Final = Statement.of(
    f"SELECT {_columns(Snapshot)} FROM prescriptions_snapshot t WHERE t.tenant_id = $1"
    " AND t.prescription_id = ANY($2::uuid[])"
)
_CHAINS: Final = Statement.of(
    f"SELECT {ENTRY_COLUMNS}, o.salt, o.display, o.ip, o.user_agent FROM prescriptions_auditentry e"
    " LEFT JOIN prescriptions_auditorigin o ON o.tenant_id = $1 AND o.id = e.id"
    " WHERE e.tenant_id = $1 AND e.prescription_id = ANY($2::uuid[]) ORDER BY e.prescription_id, e.sequence"
)
_OPEN: Final = Statement.of(
    "SELECT 1 FROM organizations_tenantkey k WHERE k.tenant_id = $1 AND k.destroyed_at IS NOT NULL"
)


@dataclass
class Audited:
    """What was verified, and what was found wrong; of a closed tenant only histories and checkpoints are left."""

    prescriptions: int = 0
    entries: int = 0
    snapshots: int = 0
    checkpoints: int = 0
    is_closed: bool = False
    faults: list[Fault] = field(default_factory=list)


@dataclass(frozen=True)
class _Batch:
    """The rows of some prescriptions, by their ids."""

    keys: Sequence[UUID]
    rows: Mapping[UUID, Prescription]
    items: Mapping[UUID, list[PrescriptionItem]]
    snapshots: Mapping[UUID, Snapshot]
    chains: Mapping[UUID, list[EntryRow]]
    forged: Sequence[EntryRow]
    policies: Mapping[str, Any]


def audit(tenant_id: UUID, *, prescription_id: UUID | None = None) -> Audited:
    """Verify all prescriptions of a tenant with its checkpoints, or one of them with its place in the tree."""
    found, leaves = Audited(is_closed=_is_closed(tenant_id)), LeafOf(tenant_id)
    with _snapshot(tenant_id):
        found.checkpoints, faults = tree_faults(tenant_id, leaves, prescription_id)
        found.faults += faults
    after: UUID | None = _FIRST
    while after is not None:
        with _snapshot(tenant_id):
            keys = [prescription_id] if prescription_id else _keys(tenant_id, after)
            _verify(tenant_id, _batch(tenant_id, keys), leaves, found)
        after = keys[-1] if not prescription_id and len(keys) == BATCH else None
    if prescription_id is None:
        found.faults += leaves.missing()
    return found


def _keys(tenant_id: UUID, after: UUID) -> list[UUID]:
    (rows,) = run([Call(_WALK, [str(tenant_id), str(after), str(BATCH)])])
    return [one.id for one in rows.of(_Found)]


def _batch(tenant_id: UUID, keys: Sequence[UUID]) -> _Batch:
    arguments = [str(tenant_id), array_literal(keys)]
    calls = [Call(one, arguments) for one in (_ROWS, _ITEMS, _SNAPSHOTS, _CHAINS)]
    rows, items, snapshots, chains, policies = run([*calls, organizations.policies_call(tenant_id)])
    entries, forged = _entries(chains)
    return _Batch(
        keys=keys,
        rows={row.id: row for row in rows_of(Prescription, rows)},
        items={key: list(some) for key, some in groupby(rows_of(PrescriptionItem, items), lambda i: i.prescription_id)},
        snapshots={one.prescription_id: one for one in rows_of(Snapshot, snapshots)},
        chains={UUID(key): list(some) for key, some in groupby(entries, lambda entry: entry.prescription_id)},
        forged=forged,
        policies=organizations.policies_of(policies),
    )


def _entries(rows: Rows) -> tuple[list[EntryRow], list[EntryRow]]:
    """Return the entries, and those whose origin differs from its digest."""
    entries, forged, width = rows.of(EntryRow), [], len(EntryRow._fields)
    for number, entry in enumerate(entries):
        held = [rows.value(number, width + place) for place in range(len(_Private._fields))]
        if held[0] is not None:
            private = _Private(*((value or b"").decode() for value in held))
            if origin_digest(*private) != entry.origin_digest:  # type: ignore[arg-type]
                forged.append(entry)
    return entries, forged


def _verify(tenant_id: UUID, batch: _Batch, leaves: LeafOf, found: Audited) -> None:
    found.prescriptions += len(batch.keys)
    found.entries += sum(map(len, batch.chains.values()))
    found.snapshots += len(batch.snapshots)
    for entry in batch.forged:
        found.faults.append(_fault(tenant_id, UUID(entry.prescription_id), "name and address differ", entry.sequence))
    for key in batch.keys:
        chain = batch.chains.get(key, [])
        for sequence, what in faults_of(chain):
            found.faults.append(_fault(tenant_id, key, what, sequence))
        found.faults += leaves.check(key, {entry.sequence: entry.hash for entry in chain})
        row = batch.rows.get(key)
        if found.is_closed:
            continue
        if row is None:
            found.faults.append(_fault(tenant_id, key, "the prescription is missing"))
            continue
        found.faults += _of_row(tenant_id, row, chain, batch)


def _of_row(tenant_id: UUID, row: Prescription, chain: Sequence[EntryRow], batch: _Batch) -> Iterator[Fault]:
    ends = (chain[-1].sequence, chain[-1].hash) if chain else (0, START)
    if ends != (row.chain_length, row.chain_hash):
        yield _fault(tenant_id, row.id, "the history does not end where the prescription says", row.chain_length)
    snapshot = batch.snapshots.get(row.id)
    if snapshot is None:
        if row.snapshot_id is not None or any(entry.action == "signed" for entry in chain):
            yield _fault(tenant_id, row.id, "the snapshot is missing")
        return
    held = HeldEvidence(row, batch.items.get(row.id, []), snapshot, chain, (), None, {}, None, batch.policies)
    for what in _of_snapshot(held):
        yield _fault(tenant_id, row.id, what)


def _of_snapshot(held: HeldEvidence) -> Iterator[str]:
    """Tell what is wrong with a snapshot, its signature, or the row that it was made of."""
    assert held.snapshot is not None
    found = organizations.verify(KeyPurpose.SNAPSHOT, held.jws)
    if not found.signature_ok:
        yield "the signature of the snapshot does not hold"
    if not is_digest_sound(held, found):
        yield "the snapshot differs from its digest"
    if not any(one.action == "signed" and one.details.get("digest") == held.snapshot.digest for one in held.entries):
        yield "no entry names the snapshot"
    if not does_row_match(held):
        yield "the prescription differs from its snapshot"
    if held.snapshot.external_signature and not is_external_held(held):
        yield "the prescriber's own signature does not hold"


def _fault(tenant_id: UUID, key: UUID, what: str, sequence: int | None = None) -> Fault:
    return Fault(tenant_id, key, sequence, what)


def _is_closed(tenant_id: UUID) -> bool:
    """Tell whether the tenant's key was destroyed, so that nothing which it sealed can be read."""
    _, rows = run([bind_call(tenant_id), Call(_OPEN, [str(tenant_id)])])
    return bool(len(rows))


@contextmanager
def _snapshot(tenant_id: UUID) -> Iterator[None]:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        run([bind_call(tenant_id)])
        yield


def faults_as_json(faults: Iterable[Fault]) -> list[dict[str, Any]]:
    """Return faults as JSON objects."""
    return [
        {name: str(value) if value is not None else None for name, value in one._asdict().items()} for one in faults
    ]
