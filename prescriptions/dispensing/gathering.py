"""What dispensing reads beside the locked prescription, in one trip: earlier fills, the pharmacy's rules and people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from core.db import bind_call
from core.pipeline import Call, Rows, Statement, run
from fhir_api import public as record
from organizations import public as organizations
from prescriptions.lifecycle.models import PrescriptionItem
from prescriptions.lifecycle.targets import LockedPrescription
from prescriptions.states import Schedule

from .arithmetic import ItemState

DISPENSE = "prescriptions.dispense"
LOT_NUMBER = "lot_number_required_on_dispense"


class LastGiven(NamedTuple):
    """When an item was given last, by the lines that were not reversed."""

    item_id: UUID
    given_at: datetime


_LAST_GIVEN = Statement.of(
    "SELECT l.item_id, max(d.handed_over_at) AS given_at FROM prescriptions_dispensation d"
    " JOIN prescriptions_dispensationline l ON l.tenant_id = d.tenant_id AND l.dispensation_id = d.id"
    " WHERE d.tenant_id = $1 AND d.prescription_id = $2 AND d.status = 'completed' AND l.tenant_id = $1"
    " AND l.quantity IS NOT NULL GROUP BY l.tenant_id, l.item_id",
    row=LastGiven,
)


@dataclass(frozen=True, slots=True)
class Grounds:
    """What a dispensation is judged by. `known` are the pharmacist and the place where they are resources of the owner."""

    items: tuple[ItemState, ...]
    needs_lot_number: bool
    witness: organizations.Holder | None
    known: frozenset[tuple[str, str]]


def gather(target: LockedPrescription, witness: Mapping[str, Any] | None) -> Grounds:
    """Read it; the owner's tenant is bound again afterwards."""
    row, pharmacy = target.row, target.actor.tenant_id
    wanted = record.lookup(target.owner, own_names(target, target.actor.practitioner_id))
    *found, last, _, policies, holder, _ = run(
        [
            *wanted.calls,
            Call(_LAST_GIVEN, [str(row.tenant_id), str(row.id)]),
            bind_call(pharmacy),
            organizations.policies_call(pharmacy),
            organizations.holder_call(pharmacy, witness["membership_id"] if witness else None, DISPENSE),
            bind_call(row.tenant_id),
        ]
    )
    return Grounds(
        items=states_of(target.items, last),
        needs_lot_number=bool(organizations.policies_of(policies)[LOT_NUMBER]),
        witness=organizations.holder_of(holder),
        known=frozenset(wanted.found(found)),
    )


def own_names(target: LockedPrescription, practitioner_id: str) -> Sequence[tuple[str, str]]:
    """Return which resources of the record may stand for place and pharmacist: those of a pharmacy of the owner's own."""
    if target.row.dispenser_tenant_id != target.owner_id:
        return []
    practitioner = [("Practitioner", practitioner_id)] if practitioner_id else []
    return [("Location", str(target.row.pharmacy_location_id)), *practitioner]


def states_of(items: Sequence[PrescriptionItem], last: Rows | None = None) -> tuple[ItemState, ...]:
    """Return items as the arithmetic takes them; without `last`, their latest handing over is unknown."""
    times = {one.item_id: one.given_at for one in last.of(LastGiven)} if last is not None else {}
    return tuple(
        ItemState(
            id=item.id,
            quantity=item.quantity_value,
            unit=item.quantity_unit,
            fills_allowed=item.fills_allowed,
            dispensed=item.dispensed_quantity,
            closed=item.not_dispensed_reason,
            interval_days=item.dispense_interval_days or item.days_supply,
            is_controlled=is_controlled(item),
            last_given_at=times.get(item.id),
        )
        for item in items
    )


def is_controlled(item: PrescriptionItem) -> bool:
    """Tell whether an item is of a schedule of controlled substances."""
    return item.effective_schedule != Schedule.NONE
