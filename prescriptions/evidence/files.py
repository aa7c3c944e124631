"""The evidence of a prescription in one document, which anybody can check without this platform.

The form is described in docs/evidence.md.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final
from uuid import UUID

from core.clock import rfc3339
from core.pipeline import Call
from organizations import public as organizations
from organizations.public import KeyPurpose

from .growing_trees import Span, consistency_spans, inclusion_spans
from .held_evidence import HeldEvidence
from .tree_rows import CheckpointRow, leaf_shown, path_of

SCHEMA: Final = "hp.prescription.evidence/1"
Json = dict[str, Any]
Read = Callable[[Iterable[Span]], list[bytes] | None]


def spans_of(held: HeldEvidence) -> list[Span]:
    """Return the spans of the tree whose digests the document needs."""
    if held.checkpoint is None or held.newest is None or not held.leaves:
        return []
    size = held.checkpoint.size
    beside = list(inclusion_spans(held.leaves[-1].position, size))
    return beside + (consistency_spans(size, held.newest.size) if held.newest.size > size else [])


def evidence_of(held: HeldEvidence, nodes: Any, dispensations: Sequence[Any]) -> Json:
    """Make the document of a signed prescription; `nodes` are those of `spans_of`."""
    snapshot = held.snapshot
    assert snapshot is not None
    found: Json = {
        "schema": SCHEMA,
        "tenant_id": str(held.row.tenant_id),
        "prescription_id": str(held.row.id),
        "snapshot": {
            "text": held.text,
            "jws": held.jws,
            "digest": snapshot.digest,
            "kid": snapshot.kid,
            "schema": snapshot.schema,
            "external_signature": held.external or None,
        },
        "chain": [entry.shown() for entry in held.entries],
        "dispensations": list(dispensations),
        "checkpoint": _checkpoint(held, nodes),
        "consistency": _consistency(held, nodes),
    }
    return found | {"keys": _keys(held)}


def _checkpoint(held: HeldEvidence, nodes: Any) -> Json | None:
    if held.checkpoint is None or not held.leaves:
        return None
    leaf = held.leaves[-1]
    path = path_of(inclusion_spans(leaf.position, held.checkpoint.size), nodes)
    return {
        "jws": held.checkpoint.jws,
        "leaf": leaf_shown(held.row.id, leaf.sequence, leaf.hash),
        "position": leaf.position,
        "path": [digest.hex() for digest in path or ()],
    }


def _consistency(held: HeldEvidence, nodes: Any) -> Json | None:
    """The newest checkpoint, and the proof that its tree continues the one before; None where it is the same."""
    checkpoint, newest = held.checkpoint, held.newest
    if checkpoint is None or newest is None or newest.number == checkpoint.number:
        return None
    proof = path_of(consistency_spans(checkpoint.size, newest.size), nodes)
    return {"jws": newest.jws, "proof": [digest.hex() for digest in proof or ()]}


def _keys(held: HeldEvidence) -> dict[str, Json]:
    """The public halves of the keys that signed, by id."""
    assert held.snapshot is not None
    signers: set[tuple[str, str]] = {(KeyPurpose.SNAPSHOT, held.snapshot.kid)}
    signers |= {
        (KeyPurpose.CHECKPOINT, one.kid) for one in (held.checkpoint, held.newest) if isinstance(one, CheckpointRow)
    }
    return {kid: found for purpose, kid in sorted(signers) if (found := _key(purpose, kid))}


def _key(purpose: str, kid: str) -> Json | None:
    key = organizations.key_named(purpose, kid)
    if key is None:
        return None
    dates = {"created_at": key.created_at, "retired_at": key.retired_at, "compromised_at": key.compromised_at}
    return {
        "purpose": str(purpose),
        "jwk": key.public_jwk(),
        **{name: at and rfc3339(at) for name, at in dates.items()},
    }


_dispensations: list[Callable[[UUID, UUID], Call]] = []


def show_dispensations(call: Callable[[UUID, UUID], Call]) -> None:
    """Name the statement that reads the dispensations of a prescription of a tenant, each as one JSON text."""
    _dispensations[:] = [call]


def dispensations_call(tenant_id: UUID, prescription_id: UUID) -> Call:
    """Return the call that reads the dispensations of a prescription, the oldest first."""
    (call,) = _dispensations
    return call(tenant_id, prescription_id)
