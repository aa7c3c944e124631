"""Dispensing: what is handed over is counted, and the prescription ends when nothing is left of it.

Source: contract, prescriptions.md "Dispensing".
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from core import rows
from core.actor import Actor
from core.db import needs_transaction
from core.ids import uuid7
from core.pipeline import ReadBack
from prescriptions.lifecycle.changes import Change
from prescriptions.lifecycle.refusals import WrongPharmacy
from prescriptions.lifecycle.targets import LockedPrescription, demand

from .arithmetic import Line, Outcome, give, is_finished, lines_of_rest
from .demands import Given, demand_facts, demand_times
from .gathering import Grounds, gather
from .medication_dispenses import Dispensed, medication_dispenses
from .models import DISPENSATIONS, Dispensation, DispensationLine
from .steps import acknowledge_route, booked, clear_progress, count, route_of

Body = Mapping[str, Any]


@needs_transaction
def dispense_prescription(
    actor: Actor, target: LockedPrescription, data: Body, at: datetime, reading: ReadBack | None = None
) -> Dispensation:
    """Record what was handed over; the first dispensation also acknowledges the prescription.

    :raises WrongPharmacy: the body names another place than the route.
    :raises InvalidTransition: the prescription is not routed.
    :raises HandedOverAtOutOfRange, PrescriptionExpired, NotYetValid: as in `demand_times`.
    :raises UnknownItem, UnitMismatch, OverDispensed, TooEarly: as in `arithmetic.give`.
    :raises LotNumberRequired, ProductExpired, SubstitutionRequired, SubstitutionNotVerifiable, SubstitutionNotAllowed,
        IdentityCheckRequired, WitnessRequired: as in `demand_facts`.
    """
    row = target.row
    if data["pharmacy_location_id"] not in (None, row.pharmacy_location_id):
        raise WrongPharmacy
    demand(row, "dispense")
    handed_over_at = data["handed_over_at"] or at
    demand_times(target, handed_over_at, at)
    grounds = gather(target, data["witness"])
    bodies = data["lines"] or [_plain(line) for line in lines_of_rest(grounds.items)]
    ratio = Decimal(target.policies["early_refill_ratio"])
    outcome = give(grounds.items, [_line(body) for body in bodies], at=handed_over_at, ratio=ratio)
    items = {item.id: item for item in target.items}
    given = [Given(items[body["item_id"]], body) for body in bodies if body["quantity"] is not None]
    demand_facts(target, grounds, given, data, handed_over_at.astimezone(target.zone).date())
    return _record(Change(target, at), {**data, "handed_over_at": handed_over_at}, bodies, outcome, grounds, reading)


def _line(body: Body) -> Line:
    return Line(body["item_id"], body["quantity"], body["unit"] or "", body["not_dispensed_reason"] or "")


def _plain(line: Line) -> dict[str, Any]:
    """The rest of a fill as a line of a body."""
    absent = ("not_dispensed_reason", "product", "lot_number", "expires_on", "days_supply", "substitution")
    return {"item_id": line.item_id, "quantity": line.quantity, "unit": line.unit, **dict.fromkeys(absent)}


def _record(
    change: Change, data: Body, bodies: Sequence[Body], outcome: Outcome, grounds: Grounds, reading: ReadBack | None
) -> Dispensation:
    """Write the dispensation, the counters, and what follows for the prescription."""
    target, row, at, route = change.target, change.row, change.at, route_of(change.target)
    items = {item.id: item for item in target.items}
    before = row.status
    count(change, outcome.items)
    if columns := [*acknowledge_route(route, at), *clear_progress(route)]:
        change.save_route(*columns)
    if finished := is_finished(outcome.items):
        row.finish(at)
        change.save("status", "dispensed_at")
    made = _dispensation(change, data, is_partial=not finished, fill_number=max(outcome.fill_numbers))
    lines = [
        _stored(made, body, number, items[body["item_id"]].quantity_unit)
        for body, number in zip(bodies, outcome.fill_numbers, strict=True)
    ]
    change.calls += [rows.insert(made), *(rows.insert(line) for line in lines)]
    change.made |= {str(line.id) for line in lines}
    change.resources += medication_dispenses(Dispensed(made, items, row.patient_id, route, grounds.known), lines)
    action = "dispensed" if finished else "partially_dispensed"
    details = {"dispensation_id": str(made.id), "fill_number": made.fill_number}
    change.enter(action, before=before, to_pharmacy=True, **details)
    change.measure(action, **booked(made, lines, target.items))
    change.commit(reading, answers=(DISPENSATIONS, made.id))
    return made


def _dispensation(change: Change, data: Body, *, is_partial: bool, fill_number: int) -> Dispensation:
    target, row, at, actor = change.target, change.row, change.at, change.target.actor
    receiver, witness, route = data["receiver"], data["witness"], route_of(target)
    own = route.dispenser_tenant_id == target.owner_id
    return Dispensation(
        tenant_id=row.tenant_id,
        prescription_id=row.id,
        fill_number=fill_number,
        pharmacy_location_id=route.pharmacy_location_id,
        dispenser_tenant_id=route.dispenser_tenant_id,
        dispensed_by=actor.subject_id,
        practitioner_id=actor.practitioner_id if own else "",
        handed_over_at=data["handed_over_at"],
        is_partial=is_partial,
        receiver=receiver
        and {**receiver, "name": receiver["name"] or None, "relationship": receiver["relationship"] or None},
        witness=witness and {"membership_id": str(witness["membership_id"])},
        created_at=at,
        updated_at=at,
    )


def _stored(made: Dispensation, body: Body, fill_number: int, unit: str) -> DispensationLine:
    product, said, given = body["product"], body["substitution"], body["quantity"] is not None
    return DispensationLine(
        id=uuid7(),
        tenant_id=made.tenant_id,
        dispensation_id=made.id,
        item_id=body["item_id"],
        fill_number=fill_number,
        quantity=body["quantity"],
        unit=unit if given else "",
        not_dispensed_reason=body["not_dispensed_reason"] or "",
        product=product and {**product, "display": product["display"] or None},
        lot_number=body["lot_number"] or "",
        expires_on=body["expires_on"],
        days_supply=body["days_supply"],
        substitution=said and {**said, "type": said["type"] or None, "reason": said["reason"] or None},
        created_at=made.created_at,
        updated_at=made.created_at,
    )
