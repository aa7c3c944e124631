"""The signed snapshot of a prescription, in two layers: the content that the prescriber signs, and the platform's seal.

The text is canonical JSON: decimals as strings, instants in UTC with milliseconds, NFC, members without a value left out.
Source: contract, prescriptions.md "Snapshot, signature, verification"; RFC 8785; RFC 7515.
"""

import base64
import json
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from core import rows
from core.actor import Actor
from core.canonical import canonical_json, decimal_text, sha256_hex
from core.clock import rfc3339
from core.ids import uuid7
from core.pipeline import Call
from organizations import public as organizations
from organizations.public import KeyPurpose
from prescriptions.lifecycle.models import Prescription, PrescriptionItem
from prescriptions.lifecycle.sealing import seal

from .models import Snapshot

SCHEMA: Final = "hp.prescription.snapshot/1"
TYP: Final = "prescription-snapshot+jws"
ATTESTATIONS: Final = {
    "1": "I have reviewed this prescription and sign it as its prescriber.",
}
CURRENT_ATTESTATION: Final = "1"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Signed:
    """A signed snapshot: its canonical text, the digest of the text, the JWS over it, and the key's id."""

    id: UUID
    text: str
    digest: str
    jws: str
    kid: str


def patient_shown(patient: Mapping[str, Any]) -> Json:
    """The patient as the snapshot and the pharmacy's copy show him: name, birth date, sex, address."""
    address: Mapping[str, Any] = next(iter(patient.get("address", ())), {})
    lines = [*address.get("line", ()), address.get("postalCode"), address.get("city"), address.get("country")]
    return {
        "name": _name(patient),
        "birth_date": patient.get("birthDate"),
        "sex": patient.get("gender"),
        "address": address.get("text") or ", ".join(part for part in lines if part) or None,
    }


def prescriber_shown(practitioner: Mapping[str, Any] | None, display: str, today: date) -> Json:
    """The prescriber: name, licence and telephone number as the record knows them, else what he is called here."""
    held = practitioner or {}
    phones = (one.get("value") for one in held.get("telecom", ()) if one.get("system") == "phone")
    return {
        "name": _name(held) or display or None,
        "licence": licence_of(held, today),
        "phone": next(iter(phones), None),
    }


def licence_of(practitioner: Mapping[str, Any], today: date) -> str | None:
    """The identifier of a qualification that covers the day; None where the record knows none."""
    for one in practitioner.get("qualification", ()):
        period = one.get("period", {})
        starts, ends = period.get("start", "")[:10], period.get("end", "")[:10]
        covers = (not starts or starts <= today.isoformat()) and (not ends or ends >= today.isoformat())
        for identifier in one.get("identifier", ()) if covers else ():
            if identifier.get("value"):
                return str(identifier["value"])
    return None


def _name(person: Mapping[str, Any]) -> str | None:
    names = person.get("name", ())
    best = next((one for one in names if one.get("use") == "official"), None) or next(iter(names), None)
    if best is None:
        return None
    parts = [*best.get("prefix", ()), *best.get("given", ()), best.get("family")]
    return best.get("text") or " ".join(part for part in parts if part) or None


def content_of(
    row: Prescription, items: Iterable[PrescriptionItem], patient: Json, prescriber: Json, settings_version: int
) -> Json:
    """Return what the prescriber signs."""
    run = row.validation or {}
    overridden = [one for one in run.get("issues", ()) if one["override"]]
    return {
        "id": str(row.id),
        "number": row.number,
        "tenant_id": str(row.tenant_id),
        "location_id": row.location_id and str(row.location_id),
        "patient_id": row.patient_id,
        "patient": patient,
        "prescriber_id": row.prescriber_id,
        "prescriber": prescriber,
        "priority": row.priority,
        "category": row.category,
        "reason_codes": row.reason_codes,
        "valid_from": row.valid_from and row.valid_from.isoformat(),
        "notes_to_pharmacy": row.notes_to_pharmacy,
        "patient_instructions": row.patient_instructions,
        "items": [_item(one) for one in items],
        "validation": {
            "run_id": run.get("id"),
            "outcome": run.get("outcome"),
            "engine_version": run.get("engine_version"),
            "knowledge": run.get("knowledge"),
            "inputs_digest": run.get("inputs_digest"),
            "issues": [{name: one[name] for name in ("code", "severity", "lines", "fingerprint")} for one in run.get("issues", ())],
            "overrides": [
                {"fingerprint": one["fingerprint"], **{n: one["override"][n] for n in ("reason_code", "by", "at")}}
                for one in overridden
            ],
        },
        "settings_version": settings_version,
    }  # fmt: skip


def _item(item: PrescriptionItem) -> Json:
    return {
        "id": str(item.id),
        "line": item.line,
        "medication": item.medication,
        "medication_text": item.medication_text,
        "dosage": item.dosage,
        "quantity": {"value": decimal_text(item.quantity_value), "unit": item.quantity_unit},
        "quantity_in_words": item.quantity_in_words,
        "days_supply": item.days_supply,
        "fills_allowed": item.fills_allowed,
        "dispense_interval_days": item.dispense_interval_days,
        "substitution_allowed": item.substitution_allowed,
        "substitution_reason": item.substitution_reason,
        "authorization_number": item.authorization_number,
        "schedule": item.schedule,
        "effective_schedule": item.effective_schedule,
    }


def text_of(content: Json) -> str:
    """Write the canonical text of a content, which a prescriber's own key signs."""
    return text_of_plain(plain(content))


def text_of_plain(content: Json) -> str:
    """Write the canonical text of a content that `plain` has returned."""
    return canonical_json({"schema": SCHEMA, "content": content}).decode()


def plain(value: Any) -> Any:
    """Return JSON without members that have no value, its texts in NFC. Source: Unicode Standard Annex 15."""
    if isinstance(value, str):
        return value if value.isascii() else unicodedata.normalize("NFC", value)
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items() if one is not None and one != ""}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def sign_snapshot(
    actor: Actor, row: Prescription, content: Json, *, at: datetime, key_id: str, attestation: str, external: str = ""
) -> tuple[Signed, Call]:
    """Seal and sign a content; return the snapshot and the statement that stores it.

    The row has its instants of signing and expiry already. `key_id` names the key that signs now. `external` is the
    prescriber's own signature, if there is one.
    """
    sealed = _sealed(actor, row, content, attestation, external)
    text = canonical_json(plain({"schema": SCHEMA, "content": content, "seal": sealed}))
    jws = organizations.sign(KeyPurpose.SNAPSHOT, text, TYP, kid=key_id)
    signed = Signed(uuid7(), text.decode(), sha256_hex(text), jws, kid_of(jws))
    return signed, rows.insert_values(
        Snapshot,
        {
            "id": signed.id,
            "tenant_id": row.tenant_id,
            "prescription_id": row.id,
            "schema": SCHEMA,
            "text": seal(row.tenant_id, row.id, signed.text),
            "jws": seal(row.tenant_id, row.id, jws),
            "digest": signed.digest,
            "kid": signed.kid,
            "external_signature": seal(row.tenant_id, row.id, external) if external else "",
            "signed_at": at,
        },
    )


def _sealed(actor: Actor, row: Prescription, content: Json, attestation: str, external: str) -> Json:
    """What the platform adds to the content: when, until when, by whom, how proved, and what he attested."""
    subject = actor.subject
    assert row.signed_at is not None
    assert row.expires_at is not None
    return {
        "content_digest": sha256_hex(text_of(content).encode()),
        "signed_at": rfc3339(row.signed_at),
        "expires_at": rfc3339(row.expires_at),
        "authentication": {
            "subject_id": str(subject.id),
            "acr": subject.acr,
            "amr": list(subject.amr),
            "auth_time": subject.authenticated_at and rfc3339(subject.authenticated_at),
            "session_id": subject.session_id,
            "client_id": subject.client_id,
        },
        "attestation": {"version": attestation, "text": ATTESTATIONS[attestation]},
        "external_signature_digest": sha256_hex(external.encode()) if external else None,
    }


def kid_of(jws: str) -> str:
    """Return the id of the key that a JWS of this platform names."""
    head = jws.partition(".")[0]
    return str(json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))["kid"])
