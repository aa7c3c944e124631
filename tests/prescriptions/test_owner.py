"""The owner's side: draft, validate, sign, route, cancel."""

from tests.prescriptions.ward import done


def test_prescription_goes_from_draft_to_pharmacy(ward):
    drafted = ward.draft()
    assert (drafted["status"], drafted["version"], drafted["validation"]) == ("draft", 1, None)
    validated = ward.act(drafted, "validate")
    assert (validated["status"], validated["version"]) == ("clinically_validated", 2)
    assert validated["validation"]["outcome"] == "passed"
    signed = ward.act(drafted, "sign")
    assert (signed["status"], signed["version"]) == ("signed", 3)
    assert signed["patient"]["name"] == "Eva Muster"
    assert signed["prescriber"] == {"name": "Dr. Ada Arzt", "licence": "L-4711", "phone": "+49 30 1234567"}
    routed = ward.act(drafted, "route", pharmacy_location_id=ward.pharmacy_id)
    assert (routed["status"], routed["route"]["state"]) == ("routed", "sent")
    received = done(ward.pharmacist.get(f"/v1/prescriptions/{drafted['id']}"))
    assert (received["status"], received["version"]) == ("routed", 4)
    assert received["items"] == routed["items"]
    cancelled = ward.act(drafted, "cancel", reason_code="patient_request")
    assert cancelled["status"] == "cancelled"
    assert done(ward.pharmacist.get(f"/v1/prescriptions/{drafted['id']}"))["status"] == "cancelled"
