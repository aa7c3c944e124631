"""Making checkpoints: the ends of the chains that have changed become leaves of the tenant's tree, and its root is signed.

The time of a checkpoint is cut to milliseconds, as its signature writes it. Source: contract, prescriptions.md
"Checkpoints"; RFC 6962.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from core import rows
from core.actor import system_actor
from core.clock import rfc3339
from core.db import needs_transaction, tenant_context
from core.ids import uuid7_text
from core.pipeline import Call, Statement, run
from ledger import public as ledger
from organizations import public as organizations
from organizations.public import KeyPurpose
from prescriptions.lifecycle.chain import in_milliseconds

from .events import AuditCheckpointCreated
from .growing_trees import Node, Span, edge, grow, root_of
from .models import Checkpoint, CheckpointLeaf, CheckpointNode
from .snapshots import kid_of
from .tree_rows import (
    CheckpointRow,
    checkpoint_payload,
    checkpoints_of,
    digest_of_jws,
    leaf_entry,
    newest_call,
    nodes_call,
    read_nodes,
)

TYP: Final = "audit-checkpoint+jws"
OVERLAP: Final = timedelta(hours=1)  # longer than any transaction lasts: an entry is older than its commit
BATCH: Final = 10_000


class _End(NamedTuple):
    """The end of a chain."""

    prescription_id: UUID
    sequence: int
    hash: str


_TAKE = Statement.of("SELECT pg_try_advisory_xact_lock(hashtextextended('audit checkpoint ' || $1, 0))")
_CHANGED = Statement.of(
    "SELECT DISTINCT ON (e.prescription_id) e.prescription_id, e.sequence, e.hash FROM prescriptions_auditentry e"
    " WHERE e.tenant_id = $1 AND e.occurred_at >= $2::timestamptz AND NOT EXISTS ("
    " SELECT 1 FROM prescriptions_checkpointleaf l WHERE l.tenant_id = $1 AND l.prescription_id = e.prescription_id"
    " AND l.sequence >= e.sequence) ORDER BY e.prescription_id, e.sequence DESC",
    row=_End,
)
_EVER: Final = "-infinity"


def make_checkpoints(*, at: datetime) -> int:
    """Make a checkpoint for each tenant whose history has grown; return their number.

    Tenants are taken one by one, each in a transaction of its own; one that another worker has taken is left out.
    """
    made = 0
    for tenant_id in organizations.tenants_with("prescriptions"):
        with tenant_context(tenant_id):
            made += make_checkpoint(tenant_id, at=at) is not None
    return made


@needs_transaction
def make_checkpoint(tenant_id: UUID, *, at: datetime) -> int | None:
    """Make the next checkpoint of the bound tenant and return its number; None where there is nothing new."""
    taken, newest = run([Call(_TAKE, [str(tenant_id)]), newest_call(tenant_id)])
    if taken.value() != b"t":
        return None
    last = next(iter(checkpoints_of(newest)), None)
    since = rfc3339(last.at - OVERLAP) if last else _EVER
    size = last.size if last else 0
    found, held = run([Call(_CHANGED, [str(tenant_id), since]), nodes_call(tenant_id, [Span(0, size)] if size else [])])
    ends = found.of(_End)
    if not ends:
        return None
    nodes = read_nodes(held)
    made = grow(size, nodes, [leaf_entry(*end) for end in ends])
    whole = size + len(ends)
    root = root_of(whole, {node: made.get(node) or nodes[node] for node in edge(whole)}).hex()
    number = _store(tenant_id, last, whole, root, in_milliseconds(at))
    _store_tree(tenant_id, number, size, ends, made)
    return number


def _store(tenant_id: UUID, last: CheckpointRow | None, size: int, root: str, at: datetime) -> int:
    """Sign and store the checkpoint, and tell of it."""
    number, previous = (last.number + 1, digest_of_jws(last.jws)) if last else (1, "")
    (active,) = run([organizations.signing_key_call(KeyPurpose.CHECKPOINT)])
    payload = checkpoint_payload(tenant_id, number, previous, size, root, at)
    jws = organizations.sign(KeyPurpose.CHECKPOINT, payload, TYP, kid=organizations.signing_key_of(active))
    row = Checkpoint(
        tenant_id=tenant_id,
        number=number,
        previous=previous,
        size=size,
        root=root,
        at=at,
        jws=jws,
        kid=kid_of(jws),
        digest=digest_of_jws(jws),
    )
    run([rows.insert(row)])
    fact = AuditCheckpointCreated(number=number, size=size, root=root)
    ledger.record(actor=system_actor(tenant_id), event=fact, resource_id=row.id, at=at, resource_version=1)
    return number


def _store_tree(tenant_id: UUID, number: int, size: int, ends: list[_End], made: Mapping[Node, bytes]) -> None:
    tenant = str(tenant_id)
    leaves = [
        {
            "id": uuid7_text(),
            "tenant_id": tenant,
            "checkpoint_number": number,
            "position": size + n,
            "prescription_id": str(end.prescription_id),
            "sequence": end.sequence,
            "hash": end.hash,
        }
        for n, end in enumerate(ends)
    ]
    nodes = [
        {"id": uuid7_text(), "tenant_id": tenant, "level": level, "place": place, "digest": digest.hex()}
        for (level, place), digest in made.items()
    ]
    for first in range(0, len(leaves), BATCH):
        run([rows.insert_all(CheckpointLeaf, leaves[first : first + BATCH])])
    for first in range(0, len(nodes), BATCH):
        run([rows.insert_all(CheckpointNode, nodes[first : first + BATCH])])
