"""Reading the audit history of one prescription, and checking that its entries are chained."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from core.pipeline import Call, Rows, Statement
from prescriptions.lifecycle.chain import START, chained, hashed_form


class EntryRow(NamedTuple):
    """An entry of the audit history as it is stored; ids and the instant are the texts that are hashed."""

    id: str
    tenant_id: str
    prescription_id: str
    patient_id: str
    sequence: int
    action: str
    actor: Any
    from_status: str
    to_status: str
    details: Any
    request_id: str
    origin_digest: str
    occurred_at: str
    prev_hash: str
    hash: str

    def form(self) -> dict[str, Any]:
        """Return the entry as it is hashed."""
        return hashed_form(self._asdict())

    def shown(self) -> dict[str, Any]:
        """Return the entry as evidence shows it."""
        return {**self.form(), "hash": self.hash}


_TEXTS = {name: f"e.{name}::text" for name in ("id", "tenant_id", "prescription_id")} | {
    "occurred_at": """to_char(e.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""
}
ENTRY_COLUMNS = ", ".join(f"{_TEXTS.get(name, f'e.{name}')} AS {name}" for name in EntryRow._fields)
_CHAIN = Statement.of(
    f"SELECT {ENTRY_COLUMNS} FROM prescriptions_auditentry e WHERE e.tenant_id = $1 AND e.prescription_id = $2"
    " ORDER BY e.sequence",
    row=EntryRow,
)


def chain_call(tenant_id: UUID, prescription_id: UUID) -> Call:
    """Return the call that reads the history of a prescription, the oldest entry first; `chain_of` reads its rows."""
    return Call(_CHAIN, [str(tenant_id), str(prescription_id)])


def chain_of(rows: Rows) -> list[EntryRow]:
    """Return the entries that were read."""
    return rows.of(EntryRow)


def faults_of(entries: Iterable[EntryRow]) -> Iterable[tuple[int, str]]:
    """Yield what is wrong with a chain: the sequence number that was expected there, and the fault."""
    expected, before = 1, START
    for entry in entries:
        if entry.sequence != expected:
            yield expected, "the entry is missing"
        if entry.prev_hash != before and entry.sequence == expected:
            yield entry.sequence, "the entry does not follow the one before"
        if chained(entry.prev_hash, entry.form()) != entry.hash:
            yield entry.sequence, "the entry differs from its hash"
        expected, before = entry.sequence + 1, entry.hash


def is_whole(entries: Sequence[EntryRow], length: int, last_hash: str) -> bool:
    """Tell whether a chain holds, and ends where the prescription's row says."""
    if len(entries) != length or (entries[-1].hash if entries else START) != last_hash:
        return False
    return not any(True for _ in faults_of(entries))
