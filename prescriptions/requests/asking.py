"""Asking of the prescriber by the pharmacy. Source: contract, prescriptions.md "Requests of the pharmacy"."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from core import rows
from core.actor import Actor
from core.canonical import decimal_text
from core.db import needs_transaction
from core.errors import Conflict, InvalidTransition
from core.model_rows import save_call
from core.pipeline import ReadBack
from prescriptions.lifecycle.changes import Change
from prescriptions.lifecycle.models import Prescription
from prescriptions.lifecycle.refusals import UnknownItem
from prescriptions.lifecycle.targets import LockedPrescription
from prescriptions.states import ALLOWED, RequestKind, Status

from .closing import close, open_requests
from .models import REQUESTS, PrescriptionRequest
from .telling import asked

WORD: Final = "requests"  # of the path
_FROM: Final[dict[str, tuple[str, ...]]] = {
    RequestKind.RENEWAL: (Status.ROUTED, Status.DISPENSED),
    RequestKind.CHANGE: (Status.ROUTED,),
    RequestKind.CLARIFICATION: (Status.ROUTED,),
}


class RequestOpen(Conflict):
    """The same is asked already and waits for an answer; `follow_up` asks again."""

    code = "request_open"
    title = "This was asked already and is not answered yet."
    extensions = {"request_id": "0197b0c8-7b7e-7000-8000-000000000001"}


@needs_transaction
def ask_prescriber(
    actor: Actor, target: LockedPrescription, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PrescriptionRequest:
    """Ask for a renewal, a change or a clarification, or ask again; the version of the prescription does not rise.

    The same request of a pharmacy that no longer holds the prescription is closed.

    :raises InvalidTransition: this is not asked of a prescription in its status.
    :raises RequestOpen: it is asked already, and the body does not say that it is a follow-up.
    :raises UnknownItem: the prescription has no such item.
    """
    row: Prescription = target.row
    if row.status not in _FROM[data["kind"]]:
        raise InvalidTransition(state=row.status, action=WORD, allowed=ALLOWED[row.status])
    change = Change(target, at)
    request = _open_one(change, data)
    if request is not None:
        _follow_up(change, request, data)
    else:
        request = _new(change, data)
    asked(change, request)
    change.commit(reading, answers=(REQUESTS, request.id), versioned=False)
    return request


def _open_one(change: Change, data: Mapping[str, Any]) -> PrescriptionRequest | None:
    """Return the caller's open request of the same kind about the same item; one of a former pharmacy is closed."""
    row = change.row
    for found in open_requests(row.tenant_id, row.id):
        if (found.kind, found.item_id) == (data["kind"], data["item_id"]):
            if found.dispenser_tenant_id == row.dispenser_tenant_id:
                return found
            close(change, found)
    return None


def _follow_up(change: Change, request: PrescriptionRequest, data: Mapping[str, Any]) -> None:
    """Ask again; what the pharmacy writes now replaces what it wrote before.

    :raises RequestOpen: the body does not say that it is a follow-up.
    """
    if not data["follow_up"]:
        raise RequestOpen(request_id=str(request.id))
    request.follow_ups += 1
    given = {name: value for name, value in _wording(data).items() if value}
    change.calls.append(save_call(request, "follow_ups", *request.assign(given), at=change.at))


def _new(change: Change, data: Mapping[str, Any]) -> PrescriptionRequest:
    """Make a request.

    :raises UnknownItem: the prescription has no such item.
    """
    target, row = change.target, change.row
    if data["item_id"] is not None and data["item_id"] not in {item.id for item in target.items}:
        raise UnknownItem
    assert row.pharmacy_location_id is not None
    assert row.dispenser_tenant_id is not None
    request = PrescriptionRequest(
        tenant_id=row.tenant_id,
        prescription_id=row.id,
        item_id=data["item_id"],
        kind=data["kind"],
        prescriber_id=row.prescriber_id,
        location_id=row.location_id,
        pharmacy_location_id=row.pharmacy_location_id,
        dispenser_tenant_id=row.dispenser_tenant_id,
        asked_by=target.actor.subject_id,
        created_at=change.at,
        updated_at=change.at,
        **_wording(data),
    )
    change.calls.append(rows.insert(request))
    return request


def _wording(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": data["text"] or "", "proposed": _proposed(data["proposed"])}


def _proposed(given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a proposal as its column and the answers hold it: decimals as strings, absent members null."""
    if not given:
        return None
    product, quantity = given["product"], given["quantity"]
    return {
        "product": product and {name: product[name] or None for name in ("system", "code", "display")},
        "quantity": quantity and {"value": decimal_text(quantity["value"]), "unit": quantity["unit"]},
        "dosage_text": given["dosage_text"] or None,
    }
