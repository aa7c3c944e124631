"""Whether a signature may be trusted once its key is compromised: only what a checkpoint has sealed before then counts.

Source: contract, prescriptions.md "Compromise".
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from core.db import bind_call
from core.merkle import check_inclusion
from core.pipeline import run
from organizations import public as organizations
from organizations.public import KeyPurpose, Verified

from .chains import EntryRow, chain_call, chain_of, faults_of
from .growing_trees import inclusion_spans
from .tree_rows import (
    CheckpointRow,
    LeafRow,
    checkpoints_call,
    checkpoints_of,
    digest_of_jws,
    leaf_entry,
    leaves_call,
    leaves_of,
    nodes_call,
    path_of,
    payload_of,
    read_nodes,
)

ACTIVE, RETIRED, COMPROMISED, UNKNOWN = "active", "retired", "compromised", "unknown"
KEY_STATUSES: Final = (ACTIVE, RETIRED, COMPROMISED, UNKNOWN)
CLOCK_SKEW: Final = timedelta(minutes=5)


def key_status(found: Verified, signed_at: datetime) -> str:
    """Return what the key was at the time that the signature names; "unknown" also for a key made later."""
    if found.key_created_at is None or signed_at < found.key_created_at - CLOCK_SKEW:
        return UNKNOWN
    if found.compromised_at is not None and signed_at >= found.compromised_at:
        return COMPROMISED
    if found.retired_at is not None and signed_at > found.retired_at + CLOCK_SKEW:
        return RETIRED
    return ACTIVE


def is_trusted(found: Verified, status: str, tenant_id: UUID, prescription_id: UUID, digest: str) -> bool:
    """Tell whether a sound signature of a snapshot may be trusted; that of a compromised key needs a witness."""
    if not found.signature_ok or status in (RETIRED, UNKNOWN):
        return False
    if found.compromised_at is None:
        return True
    return is_witnessed(tenant_id, prescription_id, digest, before=found.compromised_at)


def is_witnessed(tenant_id: UUID, prescription_id: UUID, digest: str, *, before: datetime) -> bool:
    """Tell whether a checkpoint that counts, older than `before`, holds the audit entry of a signature."""
    calls = [bind_call(tenant_id), chain_call(tenant_id, prescription_id), leaves_call(tenant_id, prescription_id)]
    _, chain, leaves = run(calls)
    entries = chain_of(chain)
    signed = next((one.sequence for one in entries if _signs(one, digest)), None)
    leaf = next((one for one in leaves_of(leaves) if signed is not None and one.sequence >= signed), None)
    if leaf is None:
        return False
    sealed = [one for one in entries if one.sequence <= leaf.sequence]
    if any(True for _ in faults_of(sealed)) or sealed[-1].hash != leaf.hash:
        return False
    _, found = run([bind_call(tenant_id), checkpoints_call(tenant_id, leaf.checkpoint_number)])
    following = checkpoints_of(found)
    return bool(
        following
        and following[0].at < before
        and does_count(tenant_id, following)
        and _is_included(tenant_id, prescription_id, leaf, following[0])
    )


def _signs(entry: EntryRow, digest: str) -> bool:
    return entry.action == "signed" and entry.details.get("digest") == digest


def _is_included(tenant_id: UUID, prescription_id: UUID, leaf: LeafRow, checkpoint: CheckpointRow) -> bool:
    if not 0 <= leaf.position < checkpoint.size:
        return False
    spans = list(inclusion_spans(leaf.position, checkpoint.size))
    _, rows = run([bind_call(tenant_id), nodes_call(tenant_id, spans)])
    path = path_of(spans, read_nodes(rows))
    entry = leaf_entry(prescription_id, leaf.sequence, leaf.hash)
    return path is not None and check_inclusion(
        entry, index=leaf.position, size=checkpoint.size, path=path, root=bytes.fromhex(checkpoint.root)
    )


def signature_of(tenant_id: UUID, row: CheckpointRow) -> Verified | None:
    """Return what is known of a checkpoint's signature; None where it is not one over the row."""
    found = organizations.verify(KeyPurpose.CHECKPOINT, row.jws)
    return found if found.signature_ok and found.payload == payload_of(tenant_id, row) else None


def counts(tenant_id: UUID, row: CheckpointRow) -> bool:
    """Tell whether a checkpoint counts; those that follow it are read only where its key is compromised."""
    found = signature_of(tenant_id, row)
    if found is None or found.compromised_at is None:
        return found is not None
    _, rows = run([bind_call(tenant_id), checkpoints_call(tenant_id, row.number)])
    return does_count(tenant_id, checkpoints_of(rows))


def does_count(tenant_id: UUID, following: Sequence[CheckpointRow]) -> bool:
    """Tell whether a checkpoint counts, given itself and those that follow it.

    One by a compromised key counts if it is older than the mark and the first one by a sound key leads back to it.
    """
    own = signature_of(tenant_id, following[0])
    if own is None:
        return False
    if own.compromised_at is None:
        return True
    if following[0].at >= own.compromised_at:
        return False
    named = digest_of_jws(following[0].jws)
    for row in following[1:]:
        found = signature_of(tenant_id, row)
        if found is None or row.previous != named:
            return False
        if found.compromised_at is None:
            return True
        named = digest_of_jws(row.jws)
    return False
