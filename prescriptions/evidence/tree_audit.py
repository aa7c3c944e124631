"""Verifying a tenant's tree: every checkpoint's signature and root, the leaves, and the chains that they were taken of.

The tree is built anew from its leaves, a checkpoint at a time; a root needs no more than the digests at the tree's edge.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final, NamedTuple
from uuid import UUID

from core.merkle import check_inclusion
from core.pipeline import Call, Statement, run
from organizations import public as organizations
from organizations.public import KeyPurpose

from .growing_trees import Node, edge, grow, inclusion_spans, root_of
from .tree_rows import (
    CheckpointRow,
    checkpoints_call,
    checkpoints_of,
    digest_of_jws,
    leaf_entry,
    nodes_call,
    path_of,
    payload_of,
    read_nodes,
)

MOST: Final = 10_000


class Fault(NamedTuple):
    """Something that does not hold, and its place; `sequence` is that of an entry, where it is one."""

    tenant_id: UUID
    prescription_id: UUID | None
    sequence: int | None
    what: str


class _Leaf(NamedTuple):
    """A leaf with the chain that it was taken of."""

    position: int
    checkpoint_number: int
    prescription_id: UUID
    sequence: int
    hash: str


_COLUMNS: Final = ", ".join(f"l.{name}" for name in _Leaf._fields)
_LEAVES: Final = Statement.of(
    f"SELECT {_COLUMNS} FROM prescriptions_checkpointleaf l WHERE l.tenant_id = $1 AND l.position >= $2"
    f" ORDER BY l.position LIMIT {MOST}",
    row=_Leaf,
)
_OF_ONE: Final = Statement.of(
    f"SELECT {_COLUMNS} FROM prescriptions_checkpointleaf l WHERE l.tenant_id = $1 AND l.prescription_id = $2"
    " ORDER BY l.position",
    row=_Leaf,
)


class LeafOf:
    """The leaves of each chain, which the chains are held against once they are read."""

    def __init__(self, tenant_id: UUID) -> None:
        self._tenant_id = tenant_id
        self._leaves: dict[UUID, list[tuple[int, str]]] = {}

    def note(self, leaf: _Leaf) -> None:
        """Note a leaf."""
        self._leaves.setdefault(leaf.prescription_id, []).append((leaf.sequence, leaf.hash))

    def check(self, key: UUID, hashes: Mapping[int, str]) -> Iterator[Fault]:
        """Yield the leaves of one chain that its entries do not bear out."""
        for sequence, sealed in self._leaves.pop(key, ()):
            if hashes.get(sequence) != sealed:
                yield Fault(self._tenant_id, key, sequence, "the entry is not the one that a checkpoint has sealed")

    def missing(self) -> Iterator[Fault]:
        """Yield the chains that a checkpoint has sealed, and of which nothing is left."""
        for key in self._leaves:
            yield Fault(self._tenant_id, key, None, "the whole history is missing that a checkpoint has sealed")


def tree_faults(tenant_id: UUID, leaves: LeafOf, prescription_id: UUID | None) -> tuple[int, list[Fault]]:
    """Verify the checkpoints of the bound tenant; return their number and what is wrong.

    With a prescription only its own leaves are looked at, by their proofs; otherwise the whole tree is built anew.
    """
    (rows,) = run([checkpoints_call(tenant_id, 0)])
    checkpoints = checkpoints_of(rows)
    faults = [Fault(tenant_id, None, None, what) for what in _of_checkpoints(tenant_id, checkpoints)]
    if prescription_id is None:
        return len(checkpoints), [*faults, *_of_tree(tenant_id, checkpoints, leaves)]
    return len(checkpoints), [*faults, *_of_one(tenant_id, checkpoints, leaves, prescription_id)]


def _of_checkpoints(tenant_id: UUID, checkpoints: list[CheckpointRow]) -> Iterator[str]:
    """Tell which checkpoints are not signed as they stand, do not follow one another, or are missing."""
    if checkpoints and (checkpoints[0].number, checkpoints[0].previous) != (1, ""):
        yield f"checkpoint {checkpoints[0].number} is the first that is left"
    for row in checkpoints:
        found = organizations.verify(KeyPurpose.CHECKPOINT, row.jws)
        if not found.signature_ok or found.payload != payload_of(tenant_id, row):
            yield f"the signature of checkpoint {row.number} does not hold"
        if row.digest != digest_of_jws(row.jws) or row.kid != found.kid:
            yield f"checkpoint {row.number} differs from its signature"
    for before, after in pairwise(checkpoints):
        if after.number != before.number + 1:
            yield f"checkpoint {before.number + 1} is missing"
        elif after.previous != digest_of_jws(before.jws) or after.size <= before.size:
            yield f"checkpoint {after.number} does not follow the one before"


def _of_tree(tenant_id: UUID, checkpoints: Iterable[CheckpointRow], leaves: LeafOf) -> Iterator[Fault]:
    """Build the tree anew, and compare its root at each checkpoint."""
    size, nodes, read = 0, dict[Node, bytes](), _walked(tenant_id)
    for row in checkpoints:
        entries: list[bytes] = []
        for leaf in read:
            leaves.note(leaf)
            if leaf.position != size + len(entries) or leaf.checkpoint_number != row.number:
                what = f"leaf {size + len(entries)} of checkpoint {row.number} is missing or not its own"
                yield Fault(tenant_id, leaf.prescription_id, leaf.sequence, what)
            entries.append(leaf_entry(leaf.prescription_id, leaf.sequence, leaf.hash))
            if size + len(entries) >= row.size:
                break
        nodes |= grow(size, nodes, entries)
        size += len(entries)
        if size != row.size or root_of(size, nodes).hex() != row.root:
            yield Fault(tenant_id, None, None, f"the leaves of checkpoint {row.number} do not make its root")
        nodes = {node: nodes[node] for node in edge(size)}
    for leaf in read:
        leaves.note(leaf)
        yield Fault(tenant_id, leaf.prescription_id, leaf.sequence, f"leaf {leaf.position} belongs to no checkpoint")


def _walked(tenant_id: UUID) -> Iterator[_Leaf]:
    start = 0
    while True:
        (rows,) = run([Call(_LEAVES, [str(tenant_id), str(start)])])
        found = rows.of(_Leaf)
        yield from found
        if len(found) < MOST:
            return
        start = found[-1].position + 1


def _of_one(
    tenant_id: UUID, checkpoints: Iterable[CheckpointRow], leaves: LeafOf, prescription_id: UUID
) -> Iterator[Fault]:
    """Prove each leaf of one chain in the tree of its checkpoint."""
    rows = {row.number: row for row in checkpoints}
    (found,) = run([Call(_OF_ONE, [str(tenant_id), str(prescription_id)])])
    for leaf in found.of(_Leaf):
        leaves.note(leaf)
        row = rows.get(leaf.checkpoint_number)
        if row is None or not _is_included(tenant_id, leaf, row):
            what = f"checkpoint {leaf.checkpoint_number} does not hold the entry"
            yield Fault(tenant_id, prescription_id, leaf.sequence, what)


def _is_included(tenant_id: UUID, leaf: _Leaf, row: CheckpointRow) -> bool:
    if leaf.position >= row.size:
        return False
    spans = list(inclusion_spans(leaf.position, row.size))
    (rows,) = run([nodes_call(tenant_id, spans)])
    path = path_of(spans, read_nodes(rows))
    entry = leaf_entry(leaf.prescription_id, leaf.sequence, leaf.hash)
    return path is not None and check_inclusion(
        entry, index=leaf.position, size=row.size, path=path, root=bytes.fromhex(row.root)
    )
