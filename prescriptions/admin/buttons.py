"""What staff may do with a prescription: verify its evidence, bring its record up to date. Each asks for a reason and is told to the tenant."""

from typing import Final

from fhir_api import public as record
from organizations.staff.buttons import Button, ButtonClick
from organizations.staff.roles import Permission
from prescriptions.lifecycle.medication_requests import Projected, medication_requests
from prescriptions.lifecycle.targets import LockedPrescription, locked

from .verifying import verify_evidence


def _project(click: ButtonClick) -> str:
    """Write the MedicationRequests anew; those that are as the prescription has them stay as they are."""
    target = locked(click.actor, click.row.tenant_id, click.row.pk)
    made = medication_requests(_source(target, click))
    names = [(one["resourceType"], one["id"]) for one in made]
    before = {(one.type, one.id, one.version) for one in record.past_versions(target.owner_id, names)}
    shown = record.project(target.owner, made, at=click.at)
    changed = sum((one.type, one.id, one.version) not in before for one in shown)
    if not changed:
        return f"The record agrees with the prescription: {len(shown)} compared, none written."
    return f"{changed} of {len(shown)} MedicationRequests differed and were written anew."


def _source(target: LockedPrescription, click: ButtonClick) -> Projected:
    return Projected(target.row, target.items, target.route, click.at, target.jws)


PRESCRIPTION_BUTTONS: Final = (
    Button(
        name="verify",
        label="Verify evidence",
        permission=Permission.VERIFY_RECORDS,
        run=verify_evidence,
        explains="Computes the digest of what was signed, the signature, the hashes of the history and its place in a "
        "checkpoint anew, and compares the prescription with what was signed. Nothing is changed; the tenant’s audit shows "
        "that it was done.",
        shown=lambda row: row.snapshot_id is not None,
        icon="verified_user",
    ),
    Button(
        name="project",
        label="Project again",
        permission=Permission.PROJECT_RECORDS,
        run=_project,
        explains="Compares the MedicationRequests of the tenant’s record with the prescription, and writes those anew that "
        "differ, each as a further version. The prescription itself and its history stay as they are.",
        icon="sync",
    ),
)
