"""Verifying what is kept of a prescription, and a signature that somebody presents. Source: contract, prescriptions.md.

Nothing is fetched, and no key counts but the platform's own.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from core.canonical import sha256_hex
from core.clock import rfc3339
from core.ids import parse_uuid
from core.merkle import check_inclusion
from organizations import public as organizations
from organizations.public import KeyPurpose, Verified

from .chains import is_whole
from .external_signatures import is_external_sound
from .growing_trees import inclusion_spans
from .held_evidence import HeldEvidence
from .snapshots import SCHEMA, content_of, plain, text_of, text_of_plain
from .tree_rows import LeafRow, leaf_entry, path_of
from .trust import UNKNOWN, counts, is_trusted, key_status

Json = dict[str, Any]


def verify_held(held: HeldEvidence) -> Json:
    """Verify a signed prescription of the bound tenant; every member says what was found, nothing is raised."""
    assert held.snapshot is not None
    found = organizations.verify(KeyPurpose.SNAPSHOT, held.jws)
    status = key_status(found, held.snapshot.signed_at)
    digest_ok = is_digest_sound(held, found)
    row = held.row
    return {
        "digest_ok": digest_ok,
        "signature_ok": found.signature_ok,
        "kid": held.snapshot.kid,
        "key_status_at_signing": status,
        "trusted": digest_ok and is_trusted(found, status, row.tenant_id, row.id, held.snapshot.digest),
        "external_signature_ok": is_external_held(held),
        "row_matches_snapshot": does_row_match(held),
        "chain_ok": is_whole(held.entries, row.chain_length, row.chain_hash),
        "chain_length": len(held.entries),
        "checkpoint": _checkpoint(held),
    }


def is_digest_sound(held: HeldEvidence, found: Verified) -> bool:
    """Tell whether text, digest and what was signed are one, and the row names this snapshot."""
    snapshot = held.snapshot
    if snapshot is None or not held.text:
        return False
    named = (held.row.snapshot_id, held.row.snapshot_digest, held.row.snapshot_kid)
    return (
        sha256_hex(held.text.encode()) == snapshot.digest
        and (found.payload is None or found.payload == held.text.encode())
        and named == (snapshot.id, snapshot.digest, snapshot.kid)
        and found.kid == snapshot.kid
    )


def does_row_match(held: HeldEvidence) -> bool:
    """Tell whether prescription and items say what was signed."""
    row, content = held.row, held.document.get("content")
    seal = held.document.get("seal")
    if not isinstance(content, dict) or not isinstance(seal, dict) or row.signed_at is None or row.expires_at is None:
        return False
    version = content.get("settings_version", 0)
    shown = plain(content_of(row, held.items, row.patient or {}, row.prescriber or {}, version))
    return bool(
        held.document.get("schema") == SCHEMA
        and shown == content
        and seal.get("content_digest") == sha256_hex(text_of_plain(shown).encode())
        and (seal.get("signed_at"), seal.get("expires_at")) == (rfc3339(row.signed_at), rfc3339(row.expires_at))
    )


def is_external_held(held: HeldEvidence) -> bool | None:
    """Tell whether the prescriber's own signature holds; None where there is none, and none was sealed."""
    sealed = held.document.get("seal", {}).get("external_signature_digest")
    if not held.external and not sealed and not (held.snapshot and held.snapshot.external_signature):
        return None
    content = held.document.get("content", {})
    licence = content.get("prescriber", {}).get("licence")
    roots = held.policies["external_signing_roots"]
    assert held.snapshot is not None
    return sealed == sha256_hex(held.external.encode()) and is_external_sound(
        held.external, text_of(content), roots, licence, held.snapshot.signed_at
    )


def _checkpoint(held: HeldEvidence) -> Json | None:
    """Tell which checkpoint holds the chain's last leaf, and whether it truly does."""
    leaf, checkpoint = _last_leaf(held), held.checkpoint
    if leaf is None or checkpoint is None:
        return None
    return {"number": checkpoint.number, "at": rfc3339(checkpoint.at), "included": _is_included(held, leaf)}


def _last_leaf(held: HeldEvidence) -> LeafRow | None:
    return held.leaves[-1] if held.leaves else None


def _is_included(held: HeldEvidence, leaf: LeafRow) -> bool:
    row, checkpoint = held.row, held.checkpoint
    assert checkpoint is not None
    sealed = next((entry.hash for entry in held.entries if entry.sequence == leaf.sequence), None)
    if sealed != leaf.hash or leaf.position >= checkpoint.size or not counts(row.tenant_id, checkpoint):
        return False
    path = path_of(inclusion_spans(leaf.position, checkpoint.size), held.nodes)
    entry = leaf_entry(row.id, leaf.sequence, leaf.hash)
    return path is not None and check_inclusion(
        entry, index=leaf.position, size=checkpoint.size, path=path, root=bytes.fromhex(checkpoint.root)
    )


class Presented:
    """A signed snapshot that somebody presents, as far as it can be read."""

    def __init__(self, jws: str) -> None:
        self.found = organizations.verify(KeyPurpose.SNAPSHOT, jws)
        self.payload = _object(self.found.payload)
        content, seal = _member(self.payload, "content"), _member(self.payload, "seal")
        self.tenant_id = _id(content.get("tenant_id"))
        self.prescription_id = _id(content.get("id"))
        self.patient_id = str(content.get("patient_id") or "")
        self._signed_at = seal.get("signed_at")

    def shown(self) -> Json:
        """Return what a verifier is told: nothing of any tenant but the payload that was given."""
        found = self.found
        status = UNKNOWN if found.key_created_at is None else None
        if found.signature_ok and isinstance(self._signed_at, str):
            status = key_status(found, datetime.fromisoformat(self._signed_at))
        return {
            "signature_ok": found.signature_ok,
            "kid": found.kid or None,
            "key_status_at_signing": status,
            "trusted": status is not None and self._is_trusted(status),
            "payload": self.payload,
        }

    def _is_trusted(self, status: str) -> bool:
        if self.tenant_id is None or self.prescription_id is None or self.found.payload is None:
            return False
        digest = sha256_hex(self.found.payload)
        return is_trusted(self.found, status, self.tenant_id, self.prescription_id, digest)


def _object(payload: bytes | None) -> Json | None:
    try:
        found = orjson.loads(payload) if payload is not None else None
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _member(held: Mapping[str, Any] | None, name: str) -> Mapping[str, Any]:
    found = (held or {}).get(name)
    return found if isinstance(found, Mapping) else {}


def _id(value: Any) -> UUID | None:
    return parse_uuid(value) if isinstance(value, str) else None
