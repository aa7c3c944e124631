"""Actions that lead a prescription to a pharmacy. Source: contract, prescriptions.md "Routing"."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.pipeline import ReadBack
from organizations import public as organizations
from prescriptions.lifecycle.changes import Change
from prescriptions.lifecycle.models import Prescription, Route
from prescriptions.lifecycle.refusals import AlreadyRouted, PartiallyDispensed
from prescriptions.lifecycle.routes import demand_good, end_route, lead_to
from prescriptions.lifecycle.targets import LockedPrescription, demand
from prescriptions.states import DispenseStatus, RouteState


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
