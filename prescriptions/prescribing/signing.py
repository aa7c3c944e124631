"""Signing: the prescriber's act that fixes a prescription for good. Source: contract, prescriptions.md "Lifecycle"."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core.actor import Actor
from core.clock import now
from core.db import needs_transaction
from core.errors import Unprocessable
from core.pipeline import ReadBack
from core.results import Refusal
from core.step_up import demand_step_up
from fhir_api.public import PatientNotFound
from organizations import public as organizations
from prescriptions.evidence.contents import content_for
from prescriptions.evidence.external_signatures import demand_external
from prescriptions.evidence.snapshots import (
    CURRENT_ATTESTATION,
    sign_snapshot,
    text_of,
)
from prescriptions.lifecycle.changes import Change
from prescriptions.lifecycle.expiry import expires_at, last_valid_day, notice_from
from prescriptions.lifecycle.models import Prescription
from prescriptions.lifecycle.refusals import NotThePrescriber, ValidFromOutOfRange
from prescriptions.lifecycle.steps import validated_call
from prescriptions.lifecycle.targets import LockedPrescription, demand
from prescriptions.states import Schedule, Status
from prescriptions.validation.actions import check, is_current, overrider_of, requests_of
from prescriptions.validation.engine import Outcome
from prescriptions.validation.gathering import gather
from prescriptions.validation.inputs import Inputs
from prescriptions.validation.overrides import demand_may_override

_SIGNED = (
    "status", "signed_at", "signed_by", "expires_at", "expiring_from", "patient", "prescriber", "prescriber_id", "snapshot_id",
    "snapshot_digest", "snapshot_kid",
)  # fmt: skip


class ClinicalValidationFailed(Unprocessable):
    """The clinical checks found what stands against signing; `run` is the run, which is kept."""

    code = "clinical_validation_failed"
    title = "The clinical validation found issues that are not settled."
    extensions = {"run": {"outcome": "blocked", "issues": []}}


def may_sign(actor: Actor, target: LockedPrescription) -> None:
    """Refuse who is not the prescriber, and whose second factor is too old for a controlled item.

    :raises NotThePrescriber, StepUpRequired: as named.
    """
    named = target.row.prescriber_id
    if named and named != actor.practitioner_id:
        raise NotThePrescriber
    if any(item.effective_schedule != Schedule.NONE for item in target.items):
        demand_step_up(actor.subject, target.policies["controlled_step_up_seconds"], at=now())


@needs_transaction
def sign_prescription(
    actor: Actor, target: LockedPrescription, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Prescription | Refusal:
    """Sign; a draft, or one whose validation no longer holds, is validated first.

    What blocks is answered as `ClinicalValidationFailed`; the run is kept, and the prescription is a draft.

    :raises OverrideNotPermitted, InvalidTransition: as named, and further as in `validate_prescription`.
    :raises ValidFromOutOfRange, ExternalSignatureUntrusted, ExternalSignatureMismatch: as named.
    """
    row: Prescription = target.row
    requests = requests_of(data["overrides"])
    demand_may_override(overrider_of(actor, row), requests)
    demand(row, "sign")
    prescriber_id = row.prescriber_id or actor.practitioner_id
    inputs, key = gather(target, prescriber_id, at), target.read[-1]
    change, stored = Change(target, at), row.status
    if row.status == Status.DRAFT or requests or not is_current(row, inputs, target.policies, at):
        found = check(change, inputs, requests)
        if found.outcome is Outcome.BLOCKED:
            change.commit()
            return Refusal(ClinicalValidationFailed(run=row.validation))
    elif inputs.record.patient is None:
        raise PatientNotFound
    if stored == Status.DRAFT:
        change.leading.append(validated_call(row))
    row.prescriber_id = prescriber_id
    before = row.status
    row.sign(at)
    row.signed_by = actor.subject_id
    _fix(change, inputs, data, organizations.signing_key_of(key))
    change.save(*_SIGNED)
    change.enter("signed", before=before, digest=row.snapshot_digest, kid=row.snapshot_kid)
    return change.commit(reading)


def _fix(change: Change, inputs: Inputs, data: Mapping[str, Any], key_id: str) -> None:
    """Fix expiry, people and snapshot, which is signed with the key of this id.

    :raises ValidFromOutOfRange: it would expire before its first day.
    """
    target, row, at = change.target, change.row, change.at
    last = last_valid_day(at, target.zone, target.items, target.policies)
    if row.valid_from and row.valid_from > last:
        raise ValidFromOutOfRange
    row.expires_at = expires_at(last, target.zone)
    row.expiring_from = notice_from(row.expires_at, target.policies)
    content = content_for(target, inputs)
    external = data["external_signature"] or ""
    row.patient, row.prescriber = content["patient"], content["prescriber"]
    if external:
        demand_external(
            external, text_of(content), target.policies["external_signing_roots"], row.prescriber["licence"], at
        )
    attestation = data["attestation_version"] or CURRENT_ATTESTATION
    signed, stored = sign_snapshot(
        target.actor, row, content, at=at, key_id=key_id, attestation=attestation, external=external
    )
    change.calls.append(stored)
    change.jws = signed.jws
    row.snapshot_id, row.snapshot_digest, row.snapshot_kid = signed.id, signed.digest, signed.kid
