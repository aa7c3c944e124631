"""What several operations of a pharmacy do to the route and the items of a prescription."""

from collections.abc import Sequence
from typing import Any

from core.db import bind_call
from core.pipeline import ReadBack, run
from prescriptions.lifecycle.changes import Change
from prescriptions.lifecycle.models import Prescription, PrescriptionItem, Route
from prescriptions.lifecycle.targets import LockedPrescription
from prescriptions.states import DispenseStatus, RouteState

from .arithmetic import ItemState, counters, dispense_status
from .models import Dispensation, DispensationLine


def route_of(target: LockedPrescription) -> Route:
    """Return the live route of a prescription that a pharmacy holds."""
    assert target.route is not None
    return target.route


def acknowledge_route(route: Route, at: Any) -> list[str]:
    """Take the route as acknowledged, unless it is; return the columns that have changed."""
    if route.state == RouteState.ACKNOWLEDGED:
        return []
    route.state, route.acknowledged_at = RouteState.ACKNOWLEDGED, at
    return ["state", "acknowledged_at"]


def clear_progress(route: Route) -> list[str]:
    """Forget that something is ready for collection; return the columns that have changed."""
    if not route.progress:
        return []
    route.progress, route.ready_at = "", None
    return ["progress", "ready_at"]


def count(change: Change, states: Sequence[ItemState]) -> None:
    """Save the counters of the items that have changed, and what was given of the prescription."""
    held = {item.id: item for item in change.target.items}
    for state in states:
        item, new = held[state.id], counters(state)
        changed = [name for name, value in new.items() if getattr(item, name) != value]
        for name in changed:
            setattr(item, name, new[name])
        if changed:
            change.save_item(item, *changed)
    given = dispense_status(states)
    if change.row.dispense_status != given:
        change.row.dispense_status = DispenseStatus(given)
        change.save("dispense_status")


def booked(made: Dispensation, lines: Sequence[DispensationLine], items: Sequence[PrescriptionItem]) -> dict[str, Any]:
    """Return what was handed over, as stock is booked from it: the figures of its fact."""
    ordered = {item.id: item.medication for item in items}
    given = [
        {
            "id": str(line.id),
            "product": _coding(line.product or ordered[line.item_id]),
            "lot_number": line.lot_number or None,
            "quantity": f"{line.quantity.normalize() + 0:f}",
            "unit": line.unit,
        }
        for line in lines
        if line.quantity is not None
    ]
    where = str(made.pharmacy_location_id)
    return {"dispensation_id": str(made.id), "pharmacy_location_id": where, "lines": given}


def _coding(held: Any) -> dict[str, Any] | None:
    return {name: held.get(name) for name in ("system", "code", "display")} if held else None


def unchanged(target: LockedPrescription, reading: ReadBack | None) -> Prescription:
    """Answer a repeated step, which changes nothing; the caller's tenant is bound again."""
    calls = [bind_call(target.actor.tenant_id), *([reading.call(target.row.id)] if reading else [])]
    *_, last = run(calls)
    if reading:
        reading.rows = last
    row: Prescription = target.row
    return row
