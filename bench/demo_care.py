"""The clinical story of `./dev demo`: a prescription from the allergy in the record to the last tablet.

A patient is allergic; the draft is blocked, the prescriber overrides, signs and routes; the pharmacy acknowledges, gives a
part, reports the rest ready and gives it. The record shows it, both tenants' webhooks tell it, anybody can verify it.
"""

import secrets
import time
from typing import Any

from bench.demo_http import WAIT_SECONDS, Caller, DemoFailed, expect, listen, step
from bench.receiver import Receiver

RXNORM = "http://www.nlm.nih.gov/research/umls/rxnorm"
SNOMED = "http://snomed.info/sct"
CLINICAL = "http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical"
VERIFICATION = "http://terminology.hl7.org/CodeSystem/allergyintolerance-verification"

ITEM = {
    "medication": {"system": RXNORM, "code": "308192", "display": "Amoxicillin 500 MG Oral Tablet"},
    "dosage": [
        {
            "text": "1 tablet three times a day",
            "dose": {"value": "1", "unit": "tablet"},
            "route": "oral",
            "frequency": 3,
            "period": "1",
            "period_unit": "d",
        }
    ],
    "quantity": {"value": "21", "unit": "tablet"},
    "days_supply": 7,
}


def person(demo: dict[str, Any], name: str) -> Caller:
    """Sign a person of demo.json in."""
    held = demo["users"][name]
    body = {"email": held["email"], "password": held["password"]}
    pair = expect(Caller(demo["base_url"]).call("POST", "/v1/auth/token", body), 200, f"sign {name} in")
    token = (pair.get("data") or pair)["access_token"]
    tenant = demo["tenants"][held["tenant"]]["id"]
    return Caller(demo["base_url"], {"Authorization": f"Bearer {token}", "X-Tenant-Id": tenant})


def walk_care(demo: dict[str, Any]) -> None:
    """Walk the story with the people of demo.json.

    :raises DemoFailed: a step did not end as it should.
    """
    prescriber, pharmacist = person(demo, "prescriber"), person(demo, "pharmacist")
    admins = [person(demo, name) for name in ("tenant_admin", "pharmacy_admin")]
    with Receiver() as receiver:
        endpoints = [listen(admin, receiver, "prescription.*") for admin in admins]
        patient = allergic_patient(prescriber)
        prescription = prescribe(prescriber, patient)
        place = pharmacy_of(prescriber)
        act(prescriber, prescription, "route", {"pharmacy_location_id": place})
        step("routed to the pharmacy of the directory; it holds a copy")
        dispense(pharmacist, prescription)
        read_as_fhir(prescriber, prescription)
        renew(prescriber, pharmacist, prescription)
        claim_and_cancel(prescriber, pharmacist, patient, place)
        evidence(prescriber, person(demo, "auditor"), prescription)
        hear(receiver, prescription, demo)
        for admin, endpoint in zip(admins, endpoints, strict=True):
            once = {"Idempotency-Key": secrets.token_hex(16)}
            expect(admin.call("DELETE", f"/v1/webhooks/{endpoint}", **once), 204, "delete the endpoint")


def allergic_patient(prescriber: Caller) -> str:
    """Record a patient with an allergy to penicillins."""
    fhir = {"Content-Type": "application/fhir+json"}
    body: dict[str, Any] = {
        "resourceType": "Patient",
        "name": [{"family": f"Demo {secrets.token_hex(3)}", "given": ["Pat"]}],
        "gender": "female",
        "birthDate": "1980-05-04",
    }
    patient = expect(prescriber.call("POST", "/fhir/R4/Patient", body, **fhir), 201, "record a patient")["id"]
    allergy = {
        "resourceType": "AllergyIntolerance",
        "clinicalStatus": {"coding": [{"system": CLINICAL, "code": "active"}]},
        "verificationStatus": {"coding": [{"system": VERIFICATION, "code": "confirmed"}]},
        "code": {"coding": [{"system": SNOMED, "code": "764146007", "display": "Penicillin"}]},
        "patient": {"reference": f"Patient/{patient}"},
    }
    expect(prescriber.call("POST", "/fhir/R4/AllergyIntolerance", allergy, **fhir), 201, "record the allergy")
    step(f"patient {patient} recorded, allergic to penicillins")
    return str(patient)


def prescribe(prescriber: Caller, patient: str) -> dict[str, Any]:
    """Draft, meet the allergy, override, sign."""
    made = prescriber.call("POST", "/v1/prescriptions", {"patient_id": patient, "items": [ITEM]})
    drafted: dict[str, Any] = expect(made, 201, "draft")["data"]
    step(f"draft {drafted['number']}")
    blocked = act(prescriber, drafted, "validate", {})
    issue = next((one for one in blocked["validation"]["issues"] if one["code"] == "allergy.class"), None)
    if blocked["validation"]["outcome"] != "blocked" or issue is None:
        raise DemoFailed("the allergy does not block the prescription")
    step(f"validation blocked: {issue['message']}")
    override = {"fingerprint": issue["fingerprint"], "reason_code": "tolerated_before"}
    signed = act(prescriber, drafted, "sign", {"overrides": [override]})
    step(
        f"overridden with a reason and signed; snapshot {signed['snapshot']['digest'][:16]}…, expires {signed['expires_at']}"
    )
    return signed


def pharmacy_of(prescriber: Caller) -> str:
    """Find a pharmacy in the public directory."""
    listed = expect(prescriber.call("GET", "/v1/locations?directory=pharmacy&search=demo"), 200, "find a pharmacy")
    return str(listed["data"][0]["id"])


def dispense(pharmacist: Caller, prescription: dict[str, Any]) -> None:
    """Acknowledge, give a part, report the rest ready, give it."""
    path = f"/v1/prescriptions/{prescription['id']}"
    item = expect(pharmacist.call("GET", path), 200, "read the copy")["data"]["items"][0]["id"]
    act(pharmacist, prescription, "acknowledge", None)
    part = {"lines": [{"item_id": item, "quantity": "10"}]}
    expect(pharmacist.call("POST", f"{path}/dispense", part), 201, "dispense a part")
    act(pharmacist, prescription, "ready", None)
    rest = {"lines": [{"item_id": item, "quantity": "11"}]}
    expect(pharmacist.call("POST", f"{path}/dispense", rest), 201, "dispense the rest")
    held = expect(pharmacist.call("GET", path), 200, "read it")["data"]
    if held["status"] != "dispensed":
        raise DemoFailed(f"the prescription is {held['status']}")
    step("acknowledged, dispensed in two parts, ready in between: dispensed")
    refused = pharmacist.call("POST", f"{path}/dispense", rest)
    expect(refused, 409, "dispense more")
    step(f"dispensing more: 409 {refused.body['code']}")


def read_as_fhir(prescriber: Caller, prescription: dict[str, Any]) -> None:
    """Read the item as a MedicationRequest with fhirclient."""
    from fhirclient.models.medicationrequest import MedicationRequest

    path = f"/fhir/R4/MedicationRequest?group-identifier={prescription['number']}"
    found = expect(prescriber.call("GET", path), 200, "search the record")
    request = MedicationRequest(found["entry"][0]["resource"])
    step(f"fhirclient reads MedicationRequest/{request.id}: {request.status}, {request.groupIdentifier.value}")


def renew(prescriber: Caller, pharmacist: Caller, prescription: dict[str, Any]) -> None:
    """The pharmacy asks for a renewal, the prescriber approves: a draft is made."""
    item = prescription["items"][0]["id"]
    path = f"/v1/prescriptions/{prescription['id']}/requests"
    asked = expect(pharmacist.call("POST", path, {"kind": "renewal", "item_id": item}), 201, "ask for a renewal")[
        "data"
    ]
    answer = prescriber.call("POST", f"/v1/prescriptions/requests/{asked['id']}/respond", {"decision": "approved"})
    draft = expect(answer, 200, "approve it")["data"]["draft_prescription_id"]
    step(f"renewal asked by the pharmacy and approved: draft {draft}")


def claim_and_cancel(prescriber: Caller, pharmacist: Caller, patient: str, place: str) -> None:
    """The patient brings a token to the pharmacy; the prescriber cancels, and the pharmacy sees it."""
    plain = {**ITEM, "medication": {"system": RXNORM, "code": "310965", "display": "Ibuprofen 200 MG Oral Tablet"}}
    body = {"patient_id": patient, "items": [{**plain, "quantity": {"value": "9", "unit": "tablet"}, "days_supply": 3}]}
    drafted = expect(prescriber.call("POST", "/v1/prescriptions", body), 201, "draft another")["data"]
    signed = act(prescriber, drafted, "sign", {})
    token = expect(prescriber.call("POST", f"/v1/prescriptions/{signed['id']}/token"), 201, "issue a token")["data"]
    claim = {"token": token["token"].lower(), "pharmacy_location_id": place}
    held = expect(pharmacist.call("POST", "/v1/prescriptions/claim", claim), 200, "claim it")["data"]
    step(f"claimed by the patient's token: route {held['route']['state']}")
    act(prescriber, signed, "cancel", {"reason_code": "patient_request"})
    seen = act(pharmacist, signed, "acknowledge", None)
    step(f"cancelled; the pharmacy has seen it at {seen['cancellation_acknowledged_at']}")


def evidence(prescriber: Caller, auditor: Caller, prescription: dict[str, Any]) -> None:
    """Verify the signature and the history."""
    path = f"/v1/prescriptions/{prescription['id']}"
    found = expect(prescriber.call("GET", f"{path}/verification"), 200, "verify")["data"]
    if not (found["digest_ok"] and found["signature_ok"] and found["chain_ok"] and found["row_matches_snapshot"]):
        raise DemoFailed(f"the verification fails: {found}")
    entries = expect(auditor.call("GET", f"{path}/audit"), 200, "read the history")["data"]
    step(
        f"verified: digest, signature, row, chain of {found['chain_length']}; history: {', '.join(e['action'] for e in entries)}"
    )


def hear(receiver: Receiver, prescription: dict[str, Any], demo: dict[str, Any]) -> None:
    """Wait for the events of both tenants and hold their signatures."""
    wanted = {"prescription.signed", "prescription.routed", "prescription.dispensed"}
    until = time.monotonic() + WAIT_SECONDS
    tenants: set[str] = set()
    while time.monotonic() < until:
        of_it = [a for a in list(receiver.received) if a.event()["data"]["object"]["id"] == prescription["id"]]
        if not all(arrival.verified_by(receiver.secrets) for arrival in of_it):
            raise DemoFailed("a signature does not verify")
        tenants = {arrival.event()["tenant_id"] for arrival in of_it}
        if wanted <= {arrival.event()["type"] for arrival in of_it} and len(tenants) == 2:
            step(f"{len(of_it)} signed events of it arrived, of both tenants, all verified, none with patients' data")
            return
        time.sleep(0.1)
    raise DemoFailed(f"events are missing within {WAIT_SECONDS:.0f} s; tenants that told: {len(tenants)}")


def act(caller: Caller, prescription: dict[str, Any], action: str, body: dict[str, Any] | None) -> dict[str, Any]:
    """Run an action of a prescription and return what it answered."""
    answer = caller.call("POST", f"/v1/prescriptions/{prescription['id']}/{action}", body)
    found: dict[str, Any] = expect(answer, 200, action)["data"]
    return found
