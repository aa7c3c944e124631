"""Care over HTTP at every endpoint of prescriptions and appointments, with planted words in each text a caller may send."""

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.demo_care import ITEM, RXNORM, person
from bench.demo_http import Caller, expect
from bench.receiver import Receiver

FHIR = {"Content-Type": "application/fhir+json"}
IBUPROFEN = {"system": RXNORM, "code": "310965", "display": "Ibuprofen 200 MG Oral Tablet"}
V1 = "/v1/prescriptions"
EVENTS = ["prescription.*", "prescription_request.*", "recurring_treatment.*", "appointment.*"]


@dataclass
class Care:
    """The people of both demo tenants and the words that they write; each word is unique and begins with `mark`."""

    demo: dict[str, Any]
    mark: str = field(default_factory=lambda: f"zq{secrets.token_hex(5)}")
    words: set[str] = field(default_factory=set)
    answers: list[str] = field(default_factory=list)
    asked: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        names = ("prescriber", "nurse", "auditor", "tenant_admin", "pharmacist", "pharmacy_admin")
        self.people: dict[str, Caller] = {name: person(self.demo, name) for name in names}
        self.patient = self.place = ""

    def plant(self, what: str) -> str:
        """Make the word for one field."""
        word = f"{self.mark}{what}"
        self.words.add(word)
        return word

    def ask(self, who: str, method: str, path: str, body: Any = None, status: int = 200, **headers: str) -> Any:
        """Send a request that is to be answered with a status; return its `data`, or the whole body without."""
        self.asked.add((method, path))
        found = expect(self.people[who].call(method, path, body, **headers), status, f"{who}: {method} {path}")
        self.answers.append(str(found))
        return found["data"] if isinstance(found, dict) and "data" in found else found

    def item(self, code: dict[str, str] = IBUPROFEN) -> dict[str, Any]:
        """An item whose texts are planted."""
        dosage = [{**ITEM["dosage"][0], "text": self.plant("dosage"), "as_needed_reason": self.plant("asneeded")}]
        quantity = {"value": "9", "unit": "tablet"}
        return {
            **ITEM,
            "medication": code,
            "dosage": dosage,
            "quantity": quantity,
            "days_supply": 3,
            "fills_allowed": 1,
        }

    def draft(self, code: dict[str, str] = IBUPROFEN) -> dict[str, Any]:
        """Draft for the planted patient."""
        reason = {"system": "http://snomed.info/sct", "code": self.plant("code"), "display": self.plant("reason")}
        texts = {"notes_to_pharmacy": self.plant("notes"), "patient_instructions": self.plant("instructions")}
        body = {"patient_id": self.patient, "items": [self.item(code)], "reason_codes": [reason], **texts}
        made: dict[str, Any] = self.ask("prescriber", "POST", V1, body, 201)
        return made

    def new_patient(self) -> None:
        """Go on with another patient, who takes nothing yet."""
        body = {
            "resourceType": "Patient", "gender": "female", "birthDate": "1980-05-04",
            "name": [{"family": self.plant("family"), "given": [self.plant("given")]}],
            "identifier": [{"system": "urn:mrn", "value": self.plant("mrn")}],
            "telecom": [{"system": "phone", "value": self.plant("phone")}],
            "address": [{"line": [self.plant("street")], "city": self.plant("city")}],
        }  # fmt: skip
        self.patient = self.ask("prescriber", "POST", "/fhir/R4/Patient", body, 201, **FHIR)["id"]

    def signed(self) -> dict[str, Any]:
        """A signed prescription of a new patient."""
        self.new_patient()
        made: dict[str, Any] = self.ask("prescriber", "POST", f"{V1}/{self.draft()['id']}/sign", {})
        return made

    def routed(self) -> dict[str, Any]:
        """A prescription at the pharmacy."""
        signed = self.signed()
        body = {"pharmacy_location_id": self.place, "note": self.plant("routenote")}
        made: dict[str, Any] = self.ask("prescriber", "POST", f"{V1}/{signed['id']}/route", body)
        return made


def walk(care: Care, receiver: Receiver) -> list[str]:
    """Walk all of it; return the ids of the prescriptions."""
    for who in ("tenant_admin", "pharmacy_admin"):
        body = {"url": receiver.url, "events": EVENTS, "description": "care"}
        made = care.ask(who, "POST", "/v1/webhooks", body, 201, **{"Idempotency-Key": secrets.token_hex(16)})
        receiver.secrets.append(made["secret"])
    _record(care)
    found = [_blocked_and_dispensed(care), _asked(care), _returned(care), _claimed_and_cancelled(care)]
    _templates(care)
    _treatments(care)
    _appointments(care)
    _looks(care, found[0])
    return found


def _record(care: Care) -> None:
    care.new_patient()
    allergy = {
        "resourceType": "AllergyIntolerance", "patient": {"reference": f"Patient/{care.patient}"},
        "clinicalStatus": _code("http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical", "active"),
        "verificationStatus": _code("http://terminology.hl7.org/CodeSystem/allergyintolerance-verification", "confirmed"),
        "code": _code("http://snomed.info/sct", "764146007"), "note": [{"text": care.plant("allergynote")}],
    }  # fmt: skip
    care.ask("prescriber", "POST", "/fhir/R4/AllergyIntolerance", allergy, 201, **FHIR)
    family = f"{care.mark}family"
    found = care.ask("prescriber", "GET", f"/fhir/R4/Patient?family={family}")
    assert found["entry"][0]["resource"]["id"] == care.patient
    care.ask("prescriber", "POST", "/fhir/R4/Patient", {"resourceType": "Patient", "gender": family}, 422, **FHIR)
    care.place = care.ask("prescriber", "GET", "/v1/locations?directory=pharmacy&search=demo")[0]["id"]
    care.ask("prescriber", "GET", "/v1/medications?search=amoxicillin")
    care.ask("prescriber", "GET", "/v1/medications/rxnorm/308192")


def _code(system: str, code: str) -> dict[str, Any]:
    return {"coding": [{"system": system, "code": code}]}


def _blocked_and_dispensed(care: Care) -> str:
    drafted = care.draft(ITEM["medication"])
    path = f"{V1}/{drafted['id']}"
    body = {
        "patient_id": care.patient,
        "items": [care.item(ITEM["medication"])],
        "notes_to_pharmacy": care.plant("put"),
    }
    care.ask("prescriber", "PUT", path, body)
    issues = care.ask("prescriber", "POST", f"{path}/validate", {})["validation"]["issues"]
    prints = [one["fingerprint"] for one in issues if one["code"] == "allergy.class"]
    refused = {"overrides": [{"fingerprint": prints[0], "reason_code": "other", "text": "short"}]}
    care.ask("prescriber", "POST", f"{path}/sign", refused, 400)
    text = care.plant("override")
    body = {"overrides": [{"fingerprint": one, "reason_code": "other", "text": text} for one in prints]}
    care.ask("prescriber", "POST", f"{path}/validate", body)
    care.ask("prescriber", "GET", f"{path}/signing-payload")
    care.ask("prescriber", "POST", f"{path}/sign", {})
    care.ask("prescriber", "POST", f"{path}/route", {"pharmacy_location_id": care.place, "note": care.plant("note")})
    item = care.ask("pharmacist", "POST", f"{path}/acknowledge")["items"][0]["id"]
    receiver = {"name": care.plant("receiver"), "relationship": care.plant("relationship")}
    part = {"lines": [{"item_id": item, "quantity": "4", "lot_number": "LOT-1"}], "receiver": receiver}
    given = care.ask("pharmacist", "POST", f"{path}/dispense", part, 201)
    dispensation = given.get("dispensation", given)["id"]
    reason = {"reason_code": "other", "reason_text": care.plant("reversal")}
    care.ask("pharmacist", "POST", f"{path}/dispensations/{dispensation}/reverse", reason)
    care.ask("pharmacist", "POST", f"{path}/ready")
    care.ask("pharmacist", "POST", f"{path}/dispense", {}, 201)
    care.ask("pharmacist", "POST", f"{path}/dispense", {}, 409)
    care.ask("pharmacist", "GET", f"{path}/dispensations")
    care.ask("pharmacist", "GET", f"{path}/dispensations/{dispensation}")
    return str(drafted["id"])


def _asked(care: Care) -> str:
    one = care.routed()
    path = f"{V1}/{one['id']}/requests"
    body = {"kind": "clarification", "item_id": one["items"][0]["id"], "text": care.plant("question")}
    asked = care.ask("pharmacist", "POST", path, body, 201)
    answer = {"decision": "answered", "note": care.plant("answer")}
    care.ask("prescriber", "POST", f"{V1}/requests/{asked['id']}/respond", answer)
    change = {"kind": "change", "item_id": one["items"][0]["id"], "text": care.plant("change")}
    proposed = {"proposed": {"dosage_text": care.plant("proposed")}}
    asked = care.ask("pharmacist", "POST", path, change | proposed, 201)
    denied = {"decision": "denied", "reason_code": "other", "note": care.plant("denial")}
    care.ask("prescriber", "POST", f"{V1}/requests/{asked['id']}/respond", denied)
    for who in ("prescriber", "pharmacist"):
        care.ask(who, "GET", f"{V1}/requests")
        care.ask(who, "GET", f"{V1}/requests/{asked['id']}")
    return str(one["id"])


def _returned(care: Care) -> str:
    one = care.routed()
    reason = {"reason_code": "other", "reason_text": care.plant("returned")}
    care.ask("pharmacist", "POST", f"{V1}/{one['id']}/return", reason)
    return str(one["id"])


def _claimed_and_cancelled(care: Care) -> str:
    signed = care.signed()
    token = care.ask("prescriber", "POST", f"{V1}/{signed['id']}/token", None, 201)["token"]
    care.words.add(token)
    claim = {"token": token, "pharmacy_location_id": care.place}
    care.ask("pharmacist", "POST", f"{V1}/claim", claim)
    reason = {"reason_code": "other", "reason_text": care.plant("cancelled")}
    care.ask("prescriber", "POST", f"{V1}/{signed['id']}/cancel", reason)
    care.ask("pharmacist", "POST", f"{V1}/{signed['id']}/acknowledge")
    return str(signed["id"])


def _templates(care: Care) -> None:
    body = {
        "name": care.plant("template"), "description": care.plant("description"), "specialty": care.plant("specialty"),
        "default_notes": care.plant("defaultnotes"), "items": [care.item()],
    }  # fmt: skip
    made = care.ask("prescriber", "POST", f"{V1}/templates", body, 201)
    path = f"{V1}/templates/{made['id']}"
    care.ask("prescriber", "GET", f"{V1}/templates?search={body['name']}")
    care.ask("prescriber", "GET", path)
    care.ask("prescriber", "PUT", path, body | {"default_notes": care.plant("newnotes")})
    care.ask("prescriber", "POST", V1, {"patient_id": care.patient, "template_id": made["id"]}, 201)
    care.ask("prescriber", "DELETE", path, None, 204)


def _treatments(care: Care) -> None:
    start = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    schedule = {"every": 1, "unit": "month", "start_date": start}
    body = {"patient_id": care.patient, "items": [care.item()], "schedule": schedule}
    made = care.ask("prescriber", "POST", f"{V1}/recurring", body, 201)
    path = f"{V1}/recurring/{made['id']}"
    care.ask("prescriber", "GET", f"{V1}/recurring")
    care.ask("prescriber", "PATCH", path, {"items": [care.item()], "lead_days": 2})
    for action in ("pause", "resume", "end"):
        care.ask("prescriber", "POST", f"{path}/{action}")
    care.ask("prescriber", "GET", path)


def _appointments(care: Care) -> None:
    base = "/v1/appointments"
    mine = f"{base}/schedules/demo-prescriber"
    at = (datetime.now(UTC) + timedelta(days=40 + secrets.randbelow(200))).replace(
        hour=9, minute=0, second=0, microsecond=0
    )
    away = {"starts_at": (at + timedelta(days=90)).isoformat(), "ends_at": (at + timedelta(days=91)).isoformat()}
    week = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    hours = [{"days": week, "opens": "00:00", "closes": "24:00"}]
    absences = [{**away, "note": care.plant("absence")}]
    care.ask("prescriber", "PUT", mine, {"hours": hours, "absences": absences}, 201)
    care.ask("prescriber", "GET", mine)
    times = f"from={at:%Y-%m-%dT%H:%M:%SZ}&to={at + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"
    care.ask("nurse", "GET", f"{base}/availability?practitioner_id=demo-prescriber&{times}&minutes=15")
    ids = []
    for n in range(3):
        span = {
            "starts_at": (at + timedelta(hours=n)).isoformat(),
            "ends_at": (at + timedelta(hours=n, minutes=15)).isoformat(),
        }
        who = {"patient_id": care.patient, "practitioner_id": "demo-prescriber"}
        texts = {"reason": care.plant("visit"), "service_type": care.plant("service")}
        ids.append(care.ask("nurse", "POST", base, {**who, **span, **texts}, 201)["id"])
        if n == 0:
            care.ask("nurse", "POST", base, {**who, **span, **texts}, 409)
    care.ask("nurse", "PATCH", f"{base}/{ids[0]}", {"reason": care.plant("newvisit")})
    for action in ("confirm", "check-in", "start", "complete"):
        care.ask("nurse", "POST", f"{base}/{ids[0]}/{action}")
    care.ask("nurse", "POST", f"{base}/{ids[1]}/cancel", {"reason_code": "patient_request"})
    care.ask("nurse", "POST", f"{base}/{ids[2]}/no-show", None, 409)
    care.ask("nurse", "GET", f"{base}/{ids[0]}")
    care.ask("nurse", "GET", base)


def _looks(care: Care, prescription_id: str) -> None:
    """Read what is proven and recorded; the answers hold the words, which shows that they were stored."""
    path = f"{V1}/{prescription_id}"
    for who in ("prescriber", "pharmacist"):
        care.ask(who, "GET", path)
        care.ask(who, "GET", V1)
        jws = care.ask(who, "GET", f"{path}/snapshot")["jws"]
    assert care.ask("prescriber", "POST", f"{V1}/verify", {"jws": jws})["signature_ok"]
    assert care.ask("prescriber", "GET", f"{path}/verification")["chain_ok"]
    _let_auditors_read(care)
    care.ask("auditor", "GET", f"{path}/evidence")
    care.ask("auditor", "GET", f"{path}/audit")
    care.ask("auditor", "GET", f"{V1}/audit")
    care.ask("prescriber", "GET", f"/fhir/R4/Patient/{care.patient}/$everything")
    care.ask("prescriber", "GET", f"/fhir/R4/MedicationRequest?patient={care.patient}")


def _let_auditors_read(care: Care) -> None:
    path = f"/v1/tenants/{care.demo['tenants']['hospital']['id']}/configuration"
    tag = {name.lower(): value for name, value in care.people["tenant_admin"].call("GET", path).headers.items()}["etag"]
    care.ask("tenant_admin", "PATCH", path, {"policies": {"auditor_reads_prescriptions": True}}, **{"If-Match": tag})
