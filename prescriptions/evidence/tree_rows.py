"""Reading the rows of a tenant's tree: the checkpoints, the leaves of one chain, and the nodes that proofs need."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core.arrays import numbers
from core.canonical import canonical_json, sha256_hex
from core.clock import rfc3339
from core.pipeline import Call, Rows, Statement

from .growing_trees import Node, Span, digest_of, nodes_of


class CheckpointRow(NamedTuple):
    """A checkpoint as it is stored."""

    number: int
    previous: str
    size: int
    root: str
    at: datetime
    jws: str
    kid: str
    digest: str


class LeafRow(NamedTuple):
    """The end of a chain in the tree."""

    checkpoint_number: int
    position: int
    sequence: int
    hash: str


class NodeRow(NamedTuple):
    """A node of the tree."""

    level: int
    place: int
    digest: str


_COLUMNS: Final = ", ".join(f"c.{name}" for name in CheckpointRow._fields)
_LEAF: Final = ", ".join(f"l.{name}" for name in LeafRow._fields)
_NEWEST = Statement.of(
    f"SELECT {_COLUMNS} FROM prescriptions_checkpoint c WHERE c.tenant_id = $1 ORDER BY c.number DESC LIMIT 1",
    row=CheckpointRow,
)
_FROM = Statement.of(
    f"SELECT {_COLUMNS} FROM prescriptions_checkpoint c WHERE c.tenant_id = $1 AND c.number >= $2 ORDER BY c.number",
    row=CheckpointRow,
)
_LEAVES = Statement.of(
    f"SELECT {_LEAF} FROM prescriptions_checkpointleaf l WHERE l.tenant_id = $1 AND l.prescription_id = $2"
    " ORDER BY l.sequence, l.position",
    row=LeafRow,
)
# The checkpoint with the last leaf of the chain $2.
_LAST_LEAF: Final = (
    "SELECT l.checkpoint_number, l.position FROM prescriptions_checkpointleaf l WHERE l.tenant_id = $1"
    " AND l.prescription_id = $2 ORDER BY l.sequence DESC, l.position DESC LIMIT 1"
)
_OF_LAST_LEAF = Statement.of(
    f"WITH last AS ({_LAST_LEAF}) SELECT {_COLUMNS} FROM last JOIN prescriptions_checkpoint c"
    " ON c.number = last.checkpoint_number WHERE c.tenant_id = $1",
    row=CheckpointRow,
)
# The whole subtrees beside that leaf's way up, and those that its tree was made of.
_PROOF_OF_LAST_LEAF = Statement.of(
    f"WITH last AS ({_LAST_LEAF}), tree AS (SELECT last.position, c.size FROM last JOIN prescriptions_checkpoint c"
    " ON c.number = last.checkpoint_number WHERE c.tenant_id = $1),"
    " wanted AS (SELECT k AS level, (position >> k) # 1 AS place FROM tree, generate_series(0, 62) k"
    " WHERE size >> k > 0 UNION SELECT k, (size >> k) - 1 FROM tree, generate_series(0, 62) k WHERE (size >> k) & 1 = 1)"
    " SELECT n.level, n.place, n.digest FROM wanted JOIN prescriptions_checkpointnode n"
    " ON n.level = wanted.level AND n.place = wanted.place WHERE n.tenant_id = $1",
    row=NodeRow,
)
_NODES = Statement.of(
    "SELECT n.level, n.place, n.digest FROM unnest($2::smallint[], $3::bigint[]) AS wanted (level, place)"
    " JOIN prescriptions_checkpointnode n ON n.level = wanted.level AND n.place = wanted.place WHERE n.tenant_id = $1",
    row=NodeRow,
)


def newest_call(tenant_id: UUID) -> Call:
    """Return the call that reads the newest checkpoint; `checkpoints_of` reads its rows."""
    return Call(_NEWEST, [str(tenant_id)])


def checkpoints_call(tenant_id: UUID, first: int) -> Call:
    """Return the call that reads the checkpoints from a number on, in their order."""
    return Call(_FROM, [str(tenant_id), str(first)])


def checkpoints_of(rows: Rows) -> list[CheckpointRow]:
    """Return the checkpoints that were read."""
    return rows.of(CheckpointRow)


def leaves_call(tenant_id: UUID, prescription_id: UUID) -> Call:
    """Return the call that reads the leaves of one chain, the oldest first; `leaves_of` reads its rows."""
    return Call(_LEAVES, [str(tenant_id), str(prescription_id)])


def leaves_of(rows: Rows) -> list[LeafRow]:
    """Return the leaves that were read."""
    return rows.of(LeafRow)


def last_leaf_calls(tenant_id: UUID, prescription_id: UUID) -> list[Call]:
    """Return the calls that read the checkpoint with the last leaf of a chain, and the nodes that prove it there."""
    keys = [str(tenant_id), str(prescription_id)]
    return [Call(_OF_LAST_LEAF, keys), Call(_PROOF_OF_LAST_LEAF, keys)]


def nodes_call(tenant_id: UUID, spans: Iterable[Span]) -> Call:
    """Return the call that reads the nodes of some spans; `read_nodes` reads its rows."""
    wanted = sorted({node for span in spans for node in nodes_of(span)})
    return Call(_NODES, [str(tenant_id), *(numbers(one[side] for one in wanted) for side in (0, 1))])


def read_nodes(rows: Rows) -> dict[Node, bytes]:
    """Return the nodes that were read, by level and place."""
    return {(row.level, row.place): bytes.fromhex(row.digest) for row in rows.of(NodeRow)}


def path_of(spans: Iterable[Span], nodes: Mapping[Node, bytes]) -> list[bytes] | None:
    """Return the digests of spans; None where a node is missing."""
    try:
        return [digest_of(span, nodes) for span in spans]
    except KeyError:
        return None


def leaf_entry(prescription_id: UUID, sequence: int, entry_hash: str) -> bytes:
    """Return the bytes of a leaf: canonical JSON of the chain's prescription, length and last hash."""
    return canonical_json(leaf_shown(prescription_id, sequence, entry_hash))


def leaf_shown(prescription_id: UUID, sequence: int, entry_hash: str) -> dict[str, str | int]:
    """Return a leaf as evidence shows it."""
    return {"prescription_id": str(prescription_id), "sequence": sequence, "hash": entry_hash}


def checkpoint_payload(tenant_id: UUID, number: int, previous: str, size: int, root: str, at: datetime) -> bytes:
    """Return what a checkpoint's signature covers."""
    shown = {"tenant": str(tenant_id), "number": number, "previous": previous or None, "size": size, "root": root}
    return canonical_json({**shown, "at": rfc3339(at)})


def payload_of(tenant_id: UUID, row: CheckpointRow) -> bytes:
    """Return what the signature of a stored checkpoint must cover."""
    return checkpoint_payload(tenant_id, row.number, row.previous, row.size, row.root, row.at)


def digest_of_jws(jws: str) -> str:
    """Return the digest by which the next checkpoint names this one."""
    return sha256_hex(jws.encode())


def is_chained(rows: Sequence[CheckpointRow]) -> bool:
    """Tell whether checkpoints follow one another without a gap, each naming the one before."""
    pairs = itertools.pairwise(rows)
    return all(b.number == a.number + 1 and b.previous == digest_of_jws(a.jws) and b.size > a.size for a, b in pairs)
