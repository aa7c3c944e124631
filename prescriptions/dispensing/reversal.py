"""Reversal: a dispensation counts no more; nothing is deleted. Source: contract, prescriptions.md "Reversal"."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import InvalidTransition, NotFound
from core.model_rows import lock_call, row_of, rows_of, save_call
from core.pipeline import Call, ReadBack, Rows, Statement, run
from fhir_api import public as record
from prescriptions.lifecycle.changes import Change
from prescriptions.lifecycle.targets import AtPharmacy, Judged, LockedPrescription, demand
from prescriptions.states import DispensationStatus, Status

from .arithmetic import Line, take_back
from .gathering import own_names, states_of
from .medication_dispenses import Dispensed, medication_dispenses
from .models import DISPENSATIONS, Dispensation, DispensationLine
from .refusals import ReversalWindowClosed
from .steps import booked, clear_progress, count, route_of

_LINES = Statement.of(
    f"SELECT {', '.join(str(field.column) for field in DispensationLine._meta.concrete_fields)}"
    " FROM prescriptions_dispensationline WHERE tenant_id = $1 AND dispensation_id = $2 ORDER BY id"
)


@dataclass(frozen=True, slots=True, eq=False)
class LockedDispensation:
    """A locked dispensation with its lines and its locked prescription; `known` as in `Dispensed`."""

    prescription: LockedPrescription
    row: Dispensation
    lines: tuple[DispensationLine, ...]
    known: frozenset[tuple[str, str]]

    @property
    def version(self) -> int:
        """The version that the caller's ETag shows."""
        found: int = self.row.version
        return found


@dataclass(frozen=True, slots=True, eq=False)
class OwnDispensation(Judged):
    """The `find` of what a pharmacy does to one of its own dispensations."""

    prescription: AtPharmacy

    def locate(self, tenant_id: UUID, *path: Any) -> Call:
        """Return the statement that finds the received copy of the prescription."""
        return self.prescription.locate(tenant_id, *path)

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> LockedDispensation:
        """Lock the prescription, then the dispensation.

        :raises NotFound, OwnerClosed, WrongPharmacy: as in `AtPharmacy`.
        :raises NotFound: the pharmacy has no such dispensation of it.
        """
        target = self.prescription(actor, path[0], located=located)
        owner = target.owner_id
        found, lines = run(
            [lock_call(Dispensation, owner, path[1]), Call(_LINES, [str(owner), str(path[1])])],
        )
        row = row_of(Dispensation, found)
        if row is None or row.prescription_id != target.row.id or row.dispenser_tenant_id != actor.tenant_id:
            raise NotFound("No such dispensation.")
        names = own_names(target, row.practitioner_id)
        wanted = record.lookup(target.owner, names)
        known = wanted.found(run(wanted.calls)) if names else {}
        return LockedDispensation(target, row, tuple(rows_of(DispensationLine, lines)), frozenset(known))

    @needs_transaction
    def judge_again(self, actor: Actor, *path: Any) -> None:
        """Judge by the place of the prescription.

        :raises WrongPharmacy: it is not among the caller's places.
        """
        self.prescription.judge_again(actor, path[0])


@needs_transaction
def reverse_dispensation(
    actor: Actor, target: LockedDispensation, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Dispensation:
    """Reverse a dispensation: its quantities count no more, and items that it closed are open again.

    :raises InvalidTransition: it is reversed already, or the prescription is neither routed nor dispensed.
    :raises ReversalWindowClosed: it was recorded too long ago.
    """
    held, prescription = target.row, target.prescription
    demand(prescription.row, "reverse")
    if held.status == DispensationStatus.REVERSED:
        raise InvalidTransition(state=held.status, action="reverse", allowed=())
    if at - held.created_at > timedelta(hours=prescription.policies["dispense_reversal_hours"]):
        raise ReversalWindowClosed
    change, row = Change(prescription, at), prescription.row
    before, route = row.status, route_of(prescription)
    lines = [Line(one.item_id, one.quantity, one.unit, one.not_dispensed_reason) for one in target.lines]
    count(change, take_back(states_of(prescription.items), lines))
    if row.status == Status.DISPENSED:
        row.resume()
        change.save("status", "dispensed_at")
    if columns := clear_progress(route):
        change.save_route(*columns)
    held.status, held.reversed_at = DispensationStatus.REVERSED, at
    held.reversal_reason_code, held.reversal_reason_text = data["reason_code"], data["reason_text"] or ""
    change.calls.append(save_call(held, "status", "reversed_at", "reversal_reason_code", "reversal_reason_text", at=at))
    _tell(change, target, before)
    change.commit(reading, answers=(DISPENSATIONS, held.id))
    return held


def _tell(change: Change, target: LockedDispensation, before: str) -> None:
    """Enter the reversal, take back what stock was booked from, and project the lines as entered in error."""
    held, prescription = target.row, target.prescription
    details = {"dispensation_id": str(held.id), "reason_code": held.reversal_reason_code}
    change.enter("dispense_reversed", before=before, to_pharmacy=True, **details)
    change.measure("dispense_reversed", **booked(held, target.lines, prescription.items))
    items = {item.id: item for item in prescription.items}
    source = Dispensed(held, items, prescription.row.patient_id, route_of(prescription), target.known)
    change.resources += medication_dispenses(source, target.lines)
