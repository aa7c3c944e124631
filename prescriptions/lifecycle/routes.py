"""Routes: the live one ends, another becomes it."""

from datetime import datetime

from core import rows
from core.model_rows import save_call
from prescriptions.states import RouteState, Status

from .changes import Change
from .models import Prescription, Route
from .received_snapshots import snapshot_calls
from .refusals import PrescriptionExpired
from .tokens import forget_call

_ROUTE_COLUMNS = ("route_id", "route_state", "pharmacy_location_id", "dispenser_tenant_id")


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
