"""All that is kept of one prescription, read in one trip: the row, its items, the snapshot, the history, the checkpoint."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from uuid import UUID

import orjson

from core.crypto import SealBroken
from core.model_rows import row_of, rows_of
from core.pipeline import Call, Rows, Statement
from organizations import public as organizations
from prescriptions.lifecycle.models import Prescription, PrescriptionItem
from prescriptions.lifecycle.sealing import unseal
from prescriptions.lifecycle.targets import WITHIN

from .chains import EntryRow, chain_call, chain_of
from .growing_trees import Node
from .models import Snapshot
from .tree_rows import (
    CheckpointRow,
    LeafRow,
    checkpoints_of,
    last_leaf_calls,
    leaves_call,
    leaves_of,
    newest_call,
    read_nodes,
)


def _columns(model: Any) -> str:
    return ", ".join(f"t.{field.column}" for field in model._meta.concrete_fields)


_ROW: Final = Statement.of(
    f"SELECT {_columns(Prescription)} FROM prescriptions_prescription t WHERE t.tenant_id = $1 AND t.id = $2"
    f" AND {WITHIN.sql}"
)
_ITEMS: Final = Statement.of(
    f"SELECT {_columns(PrescriptionItem)} FROM prescriptions_prescriptionitem t WHERE t.tenant_id = $1"
    " AND t.prescription_id = $2 ORDER BY t.line"
)
_SNAPSHOT: Final = Statement.of(
    f"SELECT {_columns(Snapshot)} FROM prescriptions_snapshot t WHERE t.tenant_id = $1 AND t.prescription_id = $2"
)


@dataclass(frozen=True)
class HeldEvidence:
    """What the owner keeps of a prescription; `checkpoint` holds the chain's last leaf, `newest` is the newest of all.

    `text`, `jws` and `external` are "" where the snapshot cannot be opened.
    """

    row: Prescription
    items: Sequence[PrescriptionItem]
    snapshot: Snapshot | None
    entries: Sequence[EntryRow]
    leaves: Sequence[LeafRow]
    checkpoint: CheckpointRow | None
    nodes: Mapping[Node, bytes]
    newest: CheckpointRow | None
    policies: Mapping[str, Any]

    @cached_property
    def text(self) -> str:
        """The canonical text that was signed."""
        return self._opened("text")

    @cached_property
    def jws(self) -> str:
        """The signature of the text."""
        return self._opened("jws")

    @cached_property
    def external(self) -> str:
        """The prescriber's own signature, "" for none."""
        return self._opened("external_signature")

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The signed text as JSON; empty where it is none."""
        try:
            found = orjson.loads(self.text)
        except orjson.JSONDecodeError:
            return {}
        return found if isinstance(found, dict) else {}

    def _opened(self, column: str) -> str:
        sealed = getattr(self.snapshot, column) if self.snapshot else ""
        try:
            return unseal(self.row.tenant_id, self.row.id, sealed) if sealed else ""
        except (SealBroken, ValueError):
            return ""


def evidence_calls(tenant_id: UUID, prescription_id: UUID) -> list[Call]:
    """Return the calls that read it all, within the places that are bound; `held_of` reads their rows."""
    keys = [str(tenant_id), str(prescription_id)]
    return [
        Call(_ROW, keys),
        Call(_ITEMS, keys),
        Call(_SNAPSHOT, keys),
        chain_call(tenant_id, prescription_id),
        leaves_call(tenant_id, prescription_id),
        *last_leaf_calls(tenant_id, prescription_id),
        newest_call(tenant_id),
        organizations.policies_call(tenant_id),
        organizations.tenant_key_call(tenant_id),
    ]


def held_of(tenant_id: UUID, found: Sequence[Rows]) -> HeldEvidence | None:
    """Return what `evidence_calls` read; None where the tenant has no such prescription in reach."""
    row, items, snapshot, chain, leaves, checkpoint, nodes, newest, policies, key = found
    prescription = row_of(Prescription, row)
    if prescription is None:
        return None
    organizations.keep_tenant_key(tenant_id, key)
    return HeldEvidence(
        row=prescription,
        items=rows_of(PrescriptionItem, items),
        snapshot=row_of(Snapshot, snapshot),
        entries=chain_of(chain),
        leaves=leaves_of(leaves),
        checkpoint=next(iter(checkpoints_of(checkpoint)), None),
        nodes=read_nodes(nodes),
        newest=next(iter(checkpoints_of(newest)), None),
        policies=organizations.policies_of(policies),
    )
