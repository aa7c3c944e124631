"""Each item of a prescription as a MedicationRequest of its owner's record.

Source: contract, prescriptions.md "FHIR mapping"; FHIR R4, MedicationRequest and Dosage.
"""

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from django.conf import settings

from core.clock import rfc3339
from prescriptions.states import ItemStatus, Status
from prescriptions.vocabularies import ENTERED_IN_ERROR

from .models import Prescription, PrescriptionItem, Route

VERSION_EXTENSION: Final = "/fhir/StructureDefinition/prescription-version"
Json = dict[str, Any]

UCUM: Final = "http://unitsofmeasure.org"
CATEGORY: Final = "http://terminology.hl7.org/CodeSystem/medicationrequest-category"
SIGNATURE_TYPE: Final = {"system": "urn:iso-astm:E1762-95:2013", "code": "1.2.840.10065.1.12.1.1"}
_INSTANT_END: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Projected:
    """What a prescription's resources are made of; `jws` is the signed snapshot, "" before it."""

    prescription: Prescription
    items: tuple[PrescriptionItem, ...]
    route: Route | None
    at: datetime
    jws: str = ""

    @property
    def is_expired(self) -> bool:
        """Tell whether the prescription is no longer good."""
        ends = self.prescription.expires_at
        return ends is not None and ends <= self.at


def address(path: str) -> str:
    """Return the system of an identifier, or the address of an extension, of this platform."""
    return f"{settings.BASE_URL}{path}"


def medication_requests(source: Projected, gone: Iterable[PrescriptionItem] = ()) -> list[Json]:
    """Return a MedicationRequest for each item; those of `gone` are entered in error."""
    made = [_request(source, item, *_status(source, item)) for item in source.items]
    return [*made, *(_request(source, item, ENTERED_IN_ERROR.replace("_", "-"), "") for item in gone)]


def _status(source: Projected, item: PrescriptionItem) -> tuple[str, str]:
    """The status of an item's request, and the code of the reason where there is one."""
    status = source.prescription.status
    if status in (Status.DRAFT, Status.CLINICALLY_VALIDATED):
        return "draft", ""
    if item.status == ItemStatus.COMPLETE:
        return "completed", ""
    if status == Status.CANCELLED:
        reason = source.prescription.cancel_reason_code
        if item.dispensed_quantity > 0:
            return "stopped", reason
        return ("entered-in-error", "") if reason == ENTERED_IN_ERROR else ("cancelled", reason)
    if item.not_dispensed_reason:
        return "stopped", item.not_dispensed_reason
    return ("stopped", "expired") if source.is_expired else ("active", "")


def _request(source: Projected, item: PrescriptionItem, status: str, reason: str) -> Json:
    row = source.prescription
    found: Json = {
        "resourceType": "MedicationRequest",
        "id": str(item.id),
        "extension": [
            {"url": address(VERSION_EXTENSION), "valueInteger": row.version},
        ],
        "status": status,
        "intent": "order",
        "category": [{"coding": [{"system": CATEGORY, "code": row.category}]}],
        "priority": row.priority,
        "medicationCodeableConcept": medication(item),
        "subject": {"reference": f"Patient/{row.patient_id}"},
        "groupIdentifier": {"system": address("/v1/prescriptions"), "value": row.number},
        "dosageInstruction": dosage_instructions(item, row.patient_instructions),
        "dispenseRequest": _dispense_request(source, item),
        "substitution": _present(
            {"allowedBoolean": item.substitution_allowed, "reason": _text(item.substitution_reason)}
        ),
    }
    if row.status == Status.CLINICALLY_VALIDATED:
        found["meta"] = {"tag": [{"system": address("/fhir/CodeSystem/prescription-status"), "code": "validated"}]}
    found |= _present(
        {
            "statusReason": reason_of(reason),
            "encounter": row.encounter_id and {"reference": f"Encounter/{row.encounter_id}"},
            "requester": _requester(source),
            "reasonCode": [{"coding": [one]} for one in row.reason_codes],
            "note": row.notes_to_pharmacy and [{"text": row.notes_to_pharmacy}],
            "priorPrescription": item.prior_item_id and {"reference": f"MedicationRequest/{item.prior_item_id}"},
            "authoredOn": row.signed_at and rfc3339(row.signed_at),
        }
    )
    if source.jws and row.signed_at:
        found["contained"] = [_provenance(source)]
        found["eventHistory"] = [{"reference": "#signature"}]
    return found


def medication(item: PrescriptionItem) -> Json:
    """The medication of an item as a CodeableConcept."""
    held = item.medication
    if not held:
        return {"text": item.medication_text}
    coding = {name: held[name] for name in ("system", "code", "display") if held.get(name)}
    return _present({"coding": [coding], "text": held.get("display")})


def dosage_instructions(item: PrescriptionItem, patient_instructions: str = "") -> list[Json]:
    """The dosages of an item. Source: FHIR R4, Dosage."""
    return [
        _present({"sequence": number, **_dosage(one), "patientInstruction": patient_instructions})
        for number, one in enumerate(item.dosage, 1)
    ]


def _dosage(one: Mapping[str, Any]) -> Json:
    dose, most = one.get("dose"), one.get("max_dose_per_day")
    repeat = {
        "boundsDuration": _duration(one.get("duration")),
        "frequency": one.get("frequency"),
        "period": _number(one.get("period")),
        "periodUnit": one.get("period_unit"),
    }
    repeat = _present(repeat)
    return {
        "text": one["text"],
        "timing": {"repeat": repeat} if repeat else None,
        "route": _text(one.get("route")),
        "site": _text(one.get("site")),
        "method": _text(one.get("method")),
        **({"asNeededBoolean": True} if one.get("as_needed") and not one.get("as_needed_reason") else {}),
        "asNeededCodeableConcept": _text(one.get("as_needed_reason")) if one.get("as_needed") else None,
        "doseAndRate": [{"doseQuantity": quantity(Decimal(dose["value"]), dose["unit"])}] if dose else None,
        "maxDosePerPeriod": most
        and {
            "numerator": quantity(Decimal(most["value"]), most["unit"]),
            "denominator": {"value": Decimal(1), "system": UCUM, "code": "d", "unit": "d"},
        },
    }


def quantity(value: Decimal, unit: str) -> Json:
    """A quantity in a unit as the prescriber wrote it; only what UCUM knows would have a system."""
    return {"value": value.normalize() + 0, "unit": unit}


def _duration(held: Any) -> Json | None:
    if not held:
        return None
    return {"value": _number(held["value"]), "system": UCUM, "code": held["unit"], "unit": held["unit"]}


def _dispense_request(source: Projected, item: PrescriptionItem) -> Json:
    row = source.prescription
    days, interval = item.days_supply, item.dispense_interval_days
    found = {
        "numberOfRepeatsAllowed": item.fills_allowed - 1,
        "quantity": quantity(item.quantity_value, item.quantity_unit),
        "expectedSupplyDuration": _days(days) if days else None,
        "dispenseInterval": _days(interval) if interval else None,
        "validityPeriod": _validity(row),
        "performer": pharmacy(source.route) if source.route and row.is_routed_live else None,
    }
    return _present(found)


def _validity(row: Prescription) -> Json | None:
    if row.expires_at is None or row.signed_at is None:
        return None
    return {"start": row.valid_from.isoformat() if row.valid_from else rfc3339(row.signed_at),
            "end": rfc3339(row.expires_at - _INSTANT_END)}  # fmt: skip


def pharmacy(route: Route) -> Json:
    """The pharmacy by name and address of the directory: it may belong to another tenant, so no literal reference."""
    return {
        "type": "Organization",
        "identifier": {"system": address("/v1/locations"), "value": str(route.pharmacy_location_id)},
        "display": route.pharmacy_name,
    }


def _requester(source: Projected) -> Json | None:
    """Who prescribes: the practitioner, else whom the signature names, whoever acts now."""
    row = source.prescription
    if row.prescriber_id:
        return {"reference": f"Practitioner/{row.prescriber_id}"}
    name = (row.prescriber or {}).get("name")
    return {"display": name} if name else None


def _provenance(source: Projected) -> Json:
    row = source.prescription
    assert row.signed_at is not None
    who = _requester(source) or {"display": "prescriber"}
    return {
        "resourceType": "Provenance",
        "id": "signature",
        "target": [{"reference": "#"}],
        "recorded": rfc3339(row.signed_at),
        "agent": [{"who": who}],
        "signature": [
            {
                "type": [SIGNATURE_TYPE],
                "when": rfc3339(row.signed_at),
                "who": who,
                "sigFormat": "application/jose",
                "data": base64.b64encode(source.jws.encode()).decode(),
            }
        ],
    }


def reason_of(code: str) -> Json | None:
    """A reason of this platform's lists as a CodeableConcept; None for no reason."""
    if not code:
        return None
    return {"coding": [{"system": address("/fhir/CodeSystem/prescription-reason"), "code": code}], "text": code}


def _days(count: int) -> Json:
    return {"value": Decimal(count), "unit": "d", "system": UCUM, "code": "d"}


def _number(text: Any) -> Decimal | None:
    return None if text is None else Decimal(text).normalize() + 0


def _text(text: Any) -> Json | None:
    return {"text": text} if text else None


def _present(found: Mapping[str, Any]) -> Json:
    return {name: value for name, value in found.items() if value not in (None, "", [], {})}
