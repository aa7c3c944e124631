"""Validation of a prescription: the run is made, kept, and decides between draft and clinically validated.

Source: contract, prescriptions.md "Clinical validation".
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from core import rows
from core.actor import Actor
from core.clock import rfc3339
from core.db import needs_transaction
from core.ids import uuid7
from core.pipeline import ReadBack
from fhir_api.public import PatientNotFound
from prescriptions.lifecycle.changes import OVERRIDE_RECORDED, Change
from prescriptions.lifecycle.models import Prescription
from prescriptions.lifecycle.refusals import LEAD, SIGN
from prescriptions.lifecycle.targets import LockedPrescription, demand
from prescriptions.states import Status

from .digests import inputs_digest
from .engine import Outcome, Run, run
from .gathering import gather
from .inputs import Inputs
from .issues import Issue, Override, overrides_of
from .models import ValidationRun
from .overrides import Overrider, OverrideRequest, demand_may_override


@needs_transaction
def validate_prescription(
    actor: Actor, target: LockedPrescription, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Prescription:
    """Run the clinical checks; the prescription is clinically validated unless an issue stays open.

    :raises OverrideNotPermitted, UnknownIssue, OverrideReasonRequired, SeparationOfDuties, OverrideNotAllowed: as named.
    :raises InvalidTransition: the prescription is signed, or cancelled.
    :raises PatientNotFound: the patient was deleted meanwhile.
    """
    row: Prescription = target.row
    requests = requests_of(data["overrides"])
    demand_may_override(overrider_of(actor, row), requests)
    demand(row, "validate")
    change = Change(target, at)
    check(change, gather(target, row.prescriber_id, at), requests)
    return change.commit(reading)


def requests_of(overrides: Sequence[Mapping[str, Any]]) -> list[OverrideRequest]:
    """Return the overrides of a body."""
    return [
        OverrideRequest(one["fingerprint"], one["reason_code"] or "", (one["text"] or "").strip()) for one in overrides
    ]


def overrider_of(actor: Actor, row: Prescription) -> Overrider:
    """Return what an actor may override of a prescription."""
    return Overrider(
        by=str(actor.subject_id),
        may_override=actor.may(SIGN) or LEAD in actor.roles,
        may_sign=actor.may(SIGN),
        is_author=row.created_by == actor.subject_id,
    )


def check(change: Change, inputs: Inputs, requests: Sequence[OverrideRequest]) -> Run:
    """Run the rules as part of a change: keep the run, enter it, and move the prescription.

    :raises PatientNotFound: there is no such patient any more.
    """
    row, at = change.row, change.at
    if inputs.record.patient is None:
        raise PatientNotFound
    former = overrides_of(row.validation["issues"] if row.validation else ())
    found = run(inputs, requests, overrider_of(change.target.actor, row), former=former)
    shown = _shown(found, at)
    change.calls.append(
        rows.insert_values(
            ValidationRun,
            {
                **{name: shown[name] for name in ("id", "outcome", "issues", "engine_version", "knowledge")},
                **{name: shown[name] for name in ("inputs_digest", "duration_ms")},
                "tenant_id": row.tenant_id,
                "prescription_id": row.id,
                "at": at,
            },
        )
    )
    before = row.status
    row.validation = shown
    change.save("validation")
    _move(change, found)
    for issue in _newly_overridden(found, former):
        details: dict[str, Any] = {"rule": issue.code, "fingerprint": issue.fingerprint}
        details["reason_code"] = issue.override.reason_code if issue.override else ""
        change.enter(OVERRIDE_RECORDED, before=before, run_id=shown["id"], **details)
    blocked = found.outcome is Outcome.BLOCKED
    change.enter("validation_blocked" if blocked else "validated", before=before, run_id=shown["id"])
    return found


def _move(change: Change, found: Run) -> None:
    row = change.row
    if found.outcome is Outcome.BLOCKED and row.status == Status.CLINICALLY_VALIDATED:
        row.reopen()
        change.save("status")
    elif found.outcome is not Outcome.BLOCKED and row.status == Status.DRAFT:
        row.validate()
        change.save("status")


def _newly_overridden(found: Run, former: Mapping[str, Override]) -> list[Issue]:
    return [one for one in found.issues if one.override and one.fingerprint not in former]


def is_current(row: Prescription, inputs: Inputs, policies: Mapping[str, Any], at: datetime) -> bool:
    """Tell whether the last run still holds: nothing that it read has changed, and it is not too old."""
    held = row.validation
    if not held or held["stale"]:
        return False
    oldest = at - timedelta(hours=policies["validation_max_age_hours"])
    return bool(held["inputs_digest"] == inputs_digest(inputs) and datetime.fromisoformat(held["at"]) >= oldest)


def _shown(found: Run, at: datetime) -> dict[str, Any]:
    """The run as it is stored and answered."""
    return {
        "id": str(uuid7()),
        "outcome": str(found.outcome),
        "issues": [one.as_json() for one in found.issues],
        "engine_version": found.engine_version,
        "knowledge": [asdict(one) for one in found.knowledge],
        "inputs_digest": found.inputs_digest,
        "duration_ms": found.duration_ms,
        "at": rfc3339(at),
        "stale": False,
    }
