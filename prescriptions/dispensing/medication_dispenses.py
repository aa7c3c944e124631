"""Each line of a dispensation as a MedicationDispense of the owner's record.

Source: contract, prescriptions.md "FHIR mapping"; FHIR R4, MedicationDispense.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from core.clock import rfc3339
from prescriptions.lifecycle.medication_requests import (
    UCUM,
    address,
    medication,
    pharmacy,
    quantity,
    reason_of,
)
from prescriptions.lifecycle.models import PrescriptionItem, Route
from prescriptions.states import DispensationStatus

from .models import Dispensation, DispensationLine

Json = dict[str, Any]
SUBSTITUTION: Final = "http://terminology.hl7.org/CodeSystem/v3-substanceAdminSubstitution"
SUBSTITUTION_REASON: Final = "http://terminology.hl7.org/CodeSystem/v3-ActReason"


@dataclass(frozen=True, slots=True)
class Dispensed:
    """What the resources are made of; `known` names the resources of the record that a dispensation may refer to."""

    dispensation: Dispensation
    items: Mapping[Any, PrescriptionItem]
    patient_id: str
    route: Route
    known: frozenset[tuple[str, str]] = frozenset()


def medication_dispenses(source: Dispensed, lines: Iterable[DispensationLine]) -> list[Json]:
    """Return a MedicationDispense for each line."""
    return [_dispense(source, line) for line in lines]


def _dispense(source: Dispensed, line: DispensationLine) -> Json:
    item, held = source.items[line.item_id], source.dispensation
    given = line.quantity is not None
    found = {
        "resourceType": "MedicationDispense",
        "id": str(line.id),
        "status": _status(held, line),
        "statusReasonCodeableConcept": reason_of(_reason(held, line)),
        "medicationCodeableConcept": _product(line) or medication(item),
        "subject": {"reference": f"Patient/{source.patient_id}"},
        "performer": [{"actor": one} for one in _performers(source)],
        "location": _location(source),
        "authorizingPrescription": [{"reference": f"MedicationRequest/{item.id}"}],
        "quantity": quantity(line.quantity, line.unit) if line.quantity is not None else None,
        "daysSupply": {"value": Decimal(line.days_supply), "unit": "d", "system": UCUM, "code": "d"}
        if line.days_supply
        else None,
        "whenHandedOver": rfc3339(held.handed_over_at) if given else None,
        "substitution": _substitution(line.substitution),
    }
    return {name: value for name, value in found.items() if value not in (None, [], {})}


def _status(held: Dispensation, line: DispensationLine) -> str:
    if held.status == DispensationStatus.REVERSED:
        return "entered-in-error"
    return "completed" if line.quantity is not None else "declined"


def _reason(held: Dispensation, line: DispensationLine) -> str:
    return held.reversal_reason_code if held.status == DispensationStatus.REVERSED else line.not_dispensed_reason


def _product(line: DispensationLine) -> Json | None:
    held = line.product
    if not held:
        return None
    return {"coding": [{name: held[name] for name in ("system", "code", "display") if held.get(name)}]}


def _performers(source: Dispensed) -> list[Json]:
    """The pharmacist, where he is a resource of the owner's record, else the pharmacy."""
    named = [{"reference": f"{kind}/{key}"} for kind, key in sorted(source.known) if kind == "Practitioner"]
    return named or [pharmacy(source.route)]


def _location(source: Dispensed) -> Json:
    key = str(source.route.pharmacy_location_id)
    if ("Location", key) in source.known:
        return {"reference": f"Location/{key}", "display": source.route.pharmacy_name}
    return {
        "type": "Location",
        "identifier": {"system": address("/v1/locations"), "value": key},
        "display": source.route.pharmacy_name,
    }


def _substitution(held: Mapping[str, Any] | None) -> Json | None:
    if not held:
        return None
    found: Json = {"wasSubstituted": held["was_substituted"]}
    if held.get("type"):
        found["type"] = {"coding": [{"system": SUBSTITUTION, "code": held["type"]}]}
    if held.get("reason"):
        found["reason"] = [{"coding": [{"system": SUBSTITUTION_REASON, "code": held["reason"]}]}]
    return found
