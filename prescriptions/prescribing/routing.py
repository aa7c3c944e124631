"""Actions that lead a prescription to a pharmacy. Source: contract, prescriptions.md "Routing"."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from core import rows
from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.model_rows import save_call
from core.pipeline import ReadBack
from organizations import public as organizations
from prescriptions.dispensing.received_snapshots import snapshot_calls
from prescriptions.dispensing.tokens import forget_call
from prescriptions.states import DispenseStatus, RouteState, Status

from .changes import Change
from .models import Prescription, Route
from .refusals import AlreadyRouted, PartiallyDispensed, PrescriptionExpired
from .targets import LockedPrescription, demand

_ROUTE_COLUMNS = ("route_id", "route_state", "pharmacy_location_id", "dispenser_tenant_id")


@needs_transaction
def route_prescription(
    actor: Actor, target: LockedPrescription, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Prescription:
    """Route a signed prescription to a pharmacy, or lead it to another while nothing is dispensed.

    :raises InvalidTransition, PrescriptionExpired, PartiallyDispensed, AlreadyRouted: as named.
    :raises PharmacyNotFound: there is no such place that dispenses for this tenant.
    :raises InvalidFields: neither the body nor the policies name a pharmacy.
    """
    row: Prescription = target.row
    place = _place(target, data)
    demand(row, "route")
    demand_good(row, at)
    if row.dispense_status != DispenseStatus.NONE:
        raise PartiallyDispensed
    if row.is_routed_live and row.pharmacy_location_id == place:
        raise AlreadyRouted
    pharmacy = organizations.pharmacy(place, actor)
    before, former = row.status, row.dispenser_tenant_id if row.is_routed_live else None
    change = Change(target, at)
    end_route(change, RouteState.SUPERSEDED)
    lead_to(
        change,
        Route(
            pharmacy_location_id=pharmacy.location_id,
            pharmacy_name=pharmacy.name,
            dispenser_tenant_id=pharmacy.tenant_id,
            note=data["note"] or "",
            priority=data["priority"] or row.priority,
        ),
    )
    change.enter("rerouted" if former else "routed", before=before, pharmacy_location_id=str(place))
    if former and former != row.tenant_id:
        change.tell(former, "rerouted")
    if row.dispenser_tenant_id != row.tenant_id:
        change.tell(pharmacy.tenant_id, "routed")
    return change.commit(reading)


def _place(target: LockedPrescription, data: Mapping[str, Any]) -> UUID:
    found = data["pharmacy_location_id"] or target.policies["default_pharmacy_location_id"]
    if not found:
        message = "Name a pharmacy, or set the policy default_pharmacy_location_id."
        raise InvalidFields(errors=[FieldError("pharmacy_location_id", "required", message)])
    return UUID(str(found))


def demand_good(row: Prescription, at: datetime) -> None:
    """Refuse what is no longer good.

    :raises PrescriptionExpired: the last day is over.
    """
    if row.expires_at is not None and row.expires_at <= at:
        raise PrescriptionExpired


def end_route(change: Change, state: RouteState) -> None:
    """End the live route, if there is one; its row stays."""
    route = change.target.route
    if route is None or not change.row.is_routed_live:
        return
    route.state, route.progress, route.ready_at = state, "", None
    change.calls.append(save_call(route, "state", "progress", "ready_at", at=change.at))


def lead_to(change: Change, route: Route) -> None:
    """Make a route the live one; a token of the patient's dies, and the pharmacy gets the signed snapshot."""
    row, at = change.row, change.at
    route.tenant_id, route.prescription_id = row.tenant_id, row.id
    route.routed_at = route.created_at = route.updated_at = at
    if row.status == Status.SIGNED:
        row.hand_over()
        change.save("status")
    row.route_id, row.route_state = route.id, route.state
    row.pharmacy_location_id, row.dispenser_tenant_id = route.pharmacy_location_id, route.dispenser_tenant_id
    change.save(*_ROUTE_COLUMNS)
    change.calls += [rows.insert(route), forget_call(row)]
    change.received += snapshot_calls(change.target, route)
    change.route = route
