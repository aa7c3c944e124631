"""The patient's choice of a pharmacy: a token for a signed prescription, and the pharmacy that claims it.

Source: contract, prescriptions.md "Routing", Patient's choice.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields, NotFound
from core.pipeline import Call, ReadBack, Statement, run
from organizations import public as organizations
from prescriptions.lifecycle.changes import Change
from prescriptions.lifecycle.models import Prescription, Route
from prescriptions.lifecycle.refusals import OwnerClosed
from prescriptions.lifecycle.routes import demand_good, lead_to
from prescriptions.lifecycle.targets import LockedPrescription, demand, demand_place, locked
from prescriptions.lifecycle.tokens import digest_of, keep_call, new_token
from prescriptions.states import RouteState, Status


class LiveToken(NamedTuple):
    """Whose token it is."""

    prescription_id: UUID
    tenant_id: UUID


_LIVE = Statement.of(
    "SELECT k.prescription_id, k.tenant_id FROM prescriptions_prescriptiontoken k"
    " WHERE k.digest = $1 AND k.expires_at > $2::timestamptz",
    row=LiveToken,
)


@needs_transaction
def issue_token(actor: Actor, target: LockedPrescription, at: datetime) -> tuple[Prescription, str]:
    """Issue a token in place of the former one; return it beside the prescription. Only its digest is kept.

    :raises InvalidTransition: the prescription is not signed, or already routed.
    :raises PrescriptionExpired: it is no longer good.
    """
    row: Prescription = target.row
    demand(row, "token")
    demand_good(row, at)
    token = new_token()
    change = Change(target, at)
    change.calls.append(keep_call(row, token, at))
    change.enter("token_issued")
    return change.commit(), token


@needs_transaction
def claim_prescription(
    actor: Actor, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Prescription:
    """Route a prescription to the caller's pharmacy, as its patient wishes who has shown the token.

    :raises WrongPharmacy: the caller does not work at the place.
    :raises InvalidFields: the place is left out, and the caller reaches not exactly one.
    :raises PharmacyNotFound: the tenant has no such dispensing place.
    :raises NotFound: the token is unknown, used, replaced or dead.
    """
    call = Call(_LIVE, [digest_of(data["token"]), at.isoformat()])
    pharmacy, tokens = _place(actor, data["pharmacy_location_id"], call)
    target = _claimed(actor, tokens, call)
    change, before = Change(target, at), target.row.status
    route = Route(
        pharmacy_location_id=pharmacy.location_id,
        pharmacy_name=pharmacy.name,
        dispenser_tenant_id=pharmacy.tenant_id,
        state=RouteState.ACKNOWLEDGED,
        acknowledged_at=at,
        priority=target.row.priority,
    )
    lead_to(change, route)
    change.enter("claimed", before=before, pharmacy_location_id=str(pharmacy.location_id))
    return change.commit(reading)


def _place(actor: Actor, asked: UUID | None, token: Call) -> tuple[organizations.Pharmacy, list[LiveToken]]:
    """Return the place that claims, and whose token it is, both found in one trip."""
    if asked is not None:
        demand_place(actor, asked)
    place = organizations.pharmacy_call(asked, actor) if asked else organizations.own_pharmacies_call(actor)
    places, tokens = run([place, token])
    if asked is None:
        found = organizations.only_pharmacy_of(places)
        if found is None:
            message = "Name the place that is to dispense."
            raise InvalidFields(errors=[FieldError("pharmacy_location_id", "required", message)])
        return found, tokens.of(LiveToken)
    pharmacy = organizations.pharmacy_of(places)
    if pharmacy.tenant_id != actor.tenant_id:
        raise organizations.PharmacyNotFound
    return pharmacy, tokens.of(LiveToken)


def _claimed(actor: Actor, tokens: Sequence[LiveToken], call: Call) -> LockedPrescription:
    """Lock the prescription of a live token; whoever claims it at the same moment waits, and finds the token used."""
    dead = NotFound("No such token.")
    for token in tokens:
        try:
            target = locked(actor, token.tenant_id, token.prescription_id)
        except (NotFound, OwnerClosed) as error:
            raise dead from error
        (again,) = run([call])
        if not len(again) or target.row.status != Status.SIGNED:
            raise dead
        return target
    raise dead
