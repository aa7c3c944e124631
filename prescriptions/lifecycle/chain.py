"""The audit history of one prescription: entries, each with the hash of the one before.

`hash` is the SHA-256 of the bytes of the hash before and of the canonical JSON of the entry without its hash. The end of
the chain stands in the prescription's row, which is locked while an entry is added. Source: contract, prescriptions.md
"Audit chain"; RFC 8785.
"""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from core import rows
from core.actor import Actor
from core.canonical import canonical_json, sha256_hex
from core.clock import rfc3339
from core.ids import uuid7
from core.pipeline import Call

from .chain_models import AuditEntry, AuditOrigin

START: Final = "0" * 64
LONGEST_NAME, LONGEST_AGENT = 255, 255


@dataclass(frozen=True, slots=True)
class Act:
    """One step as the history tells it; `details` holds codes and ids only, no free text."""

    action: str
    from_status: str = ""
    to_status: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Witness:
    """Who acts, for the history: the actor, what he is called in the owner's tenant, and whether he belongs to it."""

    actor: Actor
    display: str = ""
    is_owner: bool = True

    def shown(self) -> dict[str, Any]:
        """The actor as entries hold him. Of another tenant's people the history holds the id alone."""
        subject, own = self.actor.subject, self.is_owner
        return {
            "type": str(subject.kind),
            "id": str(subject.id),
            "tenant_id": str(self.actor.tenant_id),
            "membership_id": str(self.actor.membership_id) if own and self.actor.membership_id else None,
            "role": ",".join(sorted(self.actor.roles)) if own and self.actor.roles else None,
            "client_id": subject.client_id or None if own else None,
        }

    def origin(self) -> tuple[str, str, str]:
        """Name, address and browser; nothing of another tenant's people."""
        if not self.is_owner:
            return "", "", ""
        found = self.actor.origin
        return self.display[:LONGEST_NAME], found.address, found.user_agent[:LONGEST_AGENT]


def entry_calls(prescription: Any, act: Act, witness: Witness, *, at: datetime) -> list[Call]:
    """Return the statements that add an entry; the end of the chain in the prescription's row follows.

    The caller saves the columns `chain_length` and `chain_hash` of the locked prescription.
    """
    entry, origin = entry_rows(prescription, act, witness, at=at)
    return [rows.insert_values(AuditEntry, entry), rows.insert_values(AuditOrigin, origin)]


def entry_rows(prescription: Any, act: Act, witness: Witness, *, at: datetime) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return an entry and its origin by column name; the end of the chain in the prescription's row follows."""
    key, salt = uuid7(), secrets.token_hex(16)
    display, ip, agent = witness.origin()
    values = {
        "id": key,
        "tenant_id": prescription.tenant_id,
        "prescription_id": prescription.id,
        "patient_id": prescription.patient_id,
        "sequence": prescription.chain_length + 1,
        "action": act.action,
        "actor": witness.shown(),
        "actor_id": witness.actor.subject_id,
        "from_status": act.from_status,
        "to_status": act.to_status,
        "details": dict(act.details),
        "request_id": witness.actor.request_id if witness.is_owner else "",
        "origin_digest": origin_digest(salt, display, ip, agent),
        "occurred_at": in_milliseconds(at),
        "prev_hash": prescription.chain_hash,
    }
    values["hash"] = hash_of(values)
    prescription.chain_length, prescription.chain_hash = values["sequence"], values["hash"]
    named = {"salt": salt, "display": display, "ip": ip, "user_agent": agent}
    return values, {"id": key, "tenant_id": prescription.tenant_id, **named}


def hashed_form(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry as it is hashed, and as evidence shows it beside `hash`: JSON values only.

    Ids and the instant may be given as the texts that are hashed.
    """
    at = values["occurred_at"]
    return {
        "id": str(values["id"]),
        "tenant_id": str(values["tenant_id"]),
        "prescription_id": str(values["prescription_id"]),
        "patient_id": values["patient_id"],
        "sequence": values["sequence"],
        "action": values["action"],
        "actor": values["actor"],
        "from_status": values["from_status"] or None,
        "to_status": values["to_status"] or None,
        "details": values["details"],
        "request_id": values["request_id"] or None,
        "origin_digest": values["origin_digest"],
        "occurred_at": at if isinstance(at, str) else rfc3339(at),
        "prev_hash": values["prev_hash"],
    }


def hash_of(values: Mapping[str, Any]) -> str:
    """Return the hash of an entry in lower-case hexadecimal digits; `values` are its columns."""
    return chained(values["prev_hash"], hashed_form(values))


def chained(prev_hash: str, entry: Mapping[str, Any]) -> str:
    """Hash an entry in its hashed form."""
    return hashlib.sha256(bytes.fromhex(prev_hash) + canonical_json(entry)).hexdigest()


def origin_digest(salt: str, display: str, ip: str, user_agent: str) -> str:
    """Return the salted digest of what the history keeps apart, so that it can be deleted and not be guessed."""
    return sha256_hex(canonical_json({"display": display, "ip": ip, "salt": salt, "user_agent": user_agent}))


def in_milliseconds(at: datetime) -> datetime:
    """Cut an instant to milliseconds, as entries write it."""
    return at.replace(microsecond=at.microsecond // 1000 * 1000)
