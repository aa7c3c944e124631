"""What a pharmacy does with a prescription before it dispenses. Source: contract, prescriptions.md "Routing"."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core.actor import Actor
from core.db import needs_transaction
from core.pipeline import ReadBack
from prescriptions.lifecycle.changes import Change
from prescriptions.lifecycle.models import Prescription
from prescriptions.lifecycle.refusals import PartiallyDispensed
from prescriptions.lifecycle.targets import LockedPrescription, demand
from prescriptions.states import DispenseStatus, Progress, RouteState, Status

from .steps import acknowledge_route, clear_progress, route_of, unchanged


@needs_transaction
def acknowledge_prescription(
    actor: Actor, target: LockedPrescription, at: datetime, reading: ReadBack | None = None
) -> Prescription:
    """Confirm that the pharmacy has received the prescription, or that it has seen its cancellation.

    :raises InvalidTransition: nothing is to be acknowledged.
    """
    row: Prescription = target.row
    demand(row, "acknowledge")
    change = Change(target, at)
    if row.status == Status.CANCELLED:
        if row.cancellation_acknowledged_at is not None:
            return unchanged(target, reading)
        row.cancellation_acknowledged_at = at
        change.save("cancellation_acknowledged_at")
    else:
        columns = acknowledge_route(route_of(target), at)
        if not columns:
            return unchanged(target, reading)
        change.save_route(*columns)
    change.enter("acknowledged")
    return change.commit(reading)


@needs_transaction
def report_ready(
    actor: Actor, target: LockedPrescription, at: datetime, reading: ReadBack | None = None
) -> Prescription:
    """Report that what was prescribed is ready for collection.

    :raises InvalidTransition: the prescription is not routed.
    """
    demand(target.row, "ready")
    route = route_of(target)
    if route.progress == Progress.READY_FOR_COLLECTION:
        return unchanged(target, reading)
    change = Change(target, at)
    columns = acknowledge_route(route, at)
    route.progress, route.ready_at = Progress.READY_FOR_COLLECTION, at
    change.save_route(*columns, "progress", "ready_at")
    change.enter("ready_for_collection")
    return change.commit(reading)


@needs_transaction
def return_prescription(
    actor: Actor, target: LockedPrescription, data: Mapping[str, Any], at: datetime
) -> Prescription:
    """Hand an untouched prescription back; before it is acknowledged, that is a rejection.

    :raises InvalidTransition: the prescription is not routed.
    :raises PartiallyDispensed: something of it was dispensed.
    """
    row: Prescription = target.row
    demand(row, "return")
    if row.dispense_status != DispenseStatus.NONE:
        raise PartiallyDispensed
    route, before = route_of(target), row.status
    is_known = route.state == RouteState.ACKNOWLEDGED
    route.state = RouteState.RETURNED if is_known else RouteState.REJECTED
    route.returned_at = at
    route.return_reason_code, route.return_reason_text = data["reason_code"], data["reason_text"] or ""
    row.take_back()
    change = Change(target, at)
    change.save("status")
    change.save_route("state", "returned_at", "return_reason_code", "return_reason_text", *clear_progress(route))
    change.enter("returned" if is_known else "rejected", before=before, reason_code=route.return_reason_code)
    return change.commit()
