"""What a prescriber's own key is to sign. Source: contract, prescriptions.md "Own key"."""

from datetime import datetime
from typing import Any

from core.actor import Actor
from core.canonical import sha256_hex
from core.db import needs_transaction
from prescriptions.lifecycle.targets import LockedPrescription, demand
from prescriptions.states import Status
from prescriptions.validation.gathering import gather

from .contents import content_for
from .snapshots import ATTESTATIONS, CURRENT_ATTESTATION, text_of


@needs_transaction
def signing_payload(actor: Actor, target: LockedPrescription, at: datetime) -> dict[str, Any]:
    """Return the canonical text of a validated prescription, as the caller would sign it.

    :raises InvalidTransition: it is not clinically validated.
    :raises PatientNotFound: there is no such patient any more.
    """
    row = target.row
    if row.status != Status.CLINICALLY_VALIDATED:
        demand(row, "signing-payload")
    row.prescriber_id = row.prescriber_id or actor.practitioner_id
    text = text_of(content_for(target, gather(target, row.prescriber_id, at)))
    return {
        "text": text,
        "digest": sha256_hex(text.encode()),
        "version": row.version,
        "run_id": (row.validation or {}).get("id"),
        "attestation": {"version": CURRENT_ATTESTATION, "text": ATTESTATIONS[CURRENT_ATTESTATION]},
    }
