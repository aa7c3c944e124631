"""The owner's side: drafts, validation, signature, routing, cancellation, and what each refuses."""

from uuid import UUID, uuid4

import pytest

from core.db import tenant_context
from fhir_api.models import AccessRecord
from organizations.models import Tenant
from tests import factories
from tests.factories import Api
from tests.prescriptions.ward import AMOXICILLIN, RXNORM, Side, done, item, practitioner, refused
from tests.prescriptions.ward import ward as new_ward

WARFARIN = {"system": RXNORM, "code": "855332", "display": "warfarin sodium 5 MG Oral Tablet"}
OXYCODONE = {"system": RXNORM, "code": "1049221", "display": "acetaminophen 325 MG / oxycodone 5 MG Oral Tablet"}


def fetch(ward, one):
    return done(ward.prescriber.get(f"/v1/prescriptions/{one['id']}"))


def controlled(**more):
    return item(OXYCODONE, quantity={"value": "10", "unit": "tablet"}, quantity_in_words="ten", **more)


# -- the way through ---------------------------------------------------------------------------------------------------


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
    assert "encounter_id" not in received
    cancelled = ward.act(drafted, "cancel", reason_code="patient_request")
    assert cancelled["status"] == "cancelled"
    assert done(ward.pharmacist.get(f"/v1/prescriptions/{drafted['id']}"))["status"] == "cancelled"


def test_signing_a_draft_validates_first_and_raises_the_version_once(ward):
    drafted = ward.draft()
    signed = ward.act(drafted, "sign")
    assert (signed["status"], signed["version"]) == ("signed", 2)
    assert signed["validation"]["outcome"] == "passed"


def test_numbers_count_up_in_the_local_year(ward):
    first, second = ward.draft(), ward.draft()
    year, number = first["number"].split("-")[1:]
    assert second["number"] == f"RX-{year}-{int(number) + 1:06}"


def test_put_keeps_ids_by_position_and_makes_the_validation_stale(ward):
    drafted = ward.draft(item(), item(WARFARIN, quantity={"value": "5", "unit": "tablet"}))
    ward.act(drafted, "validate", overrides=[])
    body = ward.body(item(WARFARIN, quantity={"value": "7", "unit": "tablet"}))
    path = f"/v1/prescriptions/{drafted['id']}"
    changed = done(ward.prescriber.put(path, json={**body, "version": fetch(ward, drafted)["version"]}))
    assert [one["id"] for one in changed["items"]] == [drafted["items"][0]["id"]]
    assert changed["items"][0]["medication"]["code"] == WARFARIN["code"]
    assert (changed["status"], changed["validation"]["stale"]) == ("draft", True)
    gone = ward.fhir.get(f"/MedicationRequest/{drafted['items'][1]['id']}").json()
    assert gone["status"] == "entered-in-error"
    refused(ward.prescriber.put(path, json={**body, "version": 1}), 409, "version_conflict")


def test_record_shows_each_item_as_a_medication_request(ward):
    routed = ward.routed()
    shown = ward.fhir.get(f"/MedicationRequest/{routed['items'][0]['id']}").json()
    assert shown["status"] == "active"
    assert shown["groupIdentifier"]["value"] == routed["number"]
    assert shown["subject"]["reference"] == f"Patient/{ward.patient_id}"
    assert shown["requester"]["reference"] == f"Practitioner/{ward.practitioner_id}"
    assert shown["extension"][0]["valueInteger"] == routed["version"]
    assert shown["dispenseRequest"]["performer"]["identifier"]["value"] == ward.pharmacy_id
    assert "reference" not in shown["dispenseRequest"]["performer"]
    assert shown["contained"][0]["resourceType"] == "Provenance"
    history = ward.fhir.get(f"/MedicationRequest/{routed['items'][0]['id']}/_history").json()
    assert history["total"] == routed["version"]


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_record_refuses_to_write_what_prescriptions_keep(ward, method):
    drafted = ward.draft()
    path = f"/MedicationRequest/{drafted['items'][0]['id']}"
    shown = ward.fhir.get(path).json()
    body = {
        "put": [{**shown, "status": "active"}],
        "patch": [[{"op": "replace", "path": "/status", "value": "active"}]],
        "delete": [],
    }[method]
    answer = getattr(ward.fhir, method)(path, *body)
    assert answer.status_code == 409
    assert answer.json()["issue"][0]["details"]["coding"][0]["code"] == "projected_resource"
    assert drafted["id"] in answer.json()["issue"][0]["diagnostics"]


# -- clinical checks ---------------------------------------------------------------------------------------------------


def test_allergy_blocks_and_an_override_by_another_prescriber_lets_it_pass():
    from tests.prescriptions.ward import ward as made

    ward = made()
    ward.fhir.made(
        {
            "resourceType": "AllergyIntolerance",
            "clinicalStatus": _status("allergyintolerance-clinical", "active"),
            "verificationStatus": _status("allergyintolerance-verification", "confirmed"),
            "patient": {"reference": f"Patient/{ward.patient_id}"},
            "code": {"coding": [{"system": "http://snomed.info/sct", "code": "764146007"}]},
        }
    )
    drafted = ward.draft(item(AMOXICILLIN))
    blocked = ward.act(drafted, "validate")
    issue = next(one for one in blocked["validation"]["issues"] if one["code"] == "allergy.class")
    assert (blocked["status"], blocked["validation"]["outcome"]) == ("draft", "blocked")
    assert (issue["severity"], issue["needs"], issue["lines"]) == ("high", "override", [1])
    answer = ward.prescriber.post(f"/v1/prescriptions/{drafted['id']}/sign", json={})
    failed = refused(answer, 422, "clinical_validation_failed")
    assert failed["run"]["outcome"] == "blocked"
    assert fetch(ward, drafted)["version"] == blocked["version"] + 1
    override = {"fingerprint": issue["fingerprint"], "reason_code": "tolerated_before"}
    unknown = {**override, "fingerprint": "ab" * 32}
    path = f"/v1/prescriptions/{drafted['id']}/validate"
    nurse = ward.clinic.people["nurse"]
    refused(nurse.post(path, json={"overrides": [override]}), 403, "override_not_permitted")
    refused(ward.prescriber.post(path, json={"overrides": [unknown]}), 422, "unknown_issue")
    without = {"fingerprint": issue["fingerprint"]}
    refused(ward.prescriber.post(path, json={"overrides": [without]}), 422, "override_reason_required")
    signed = ward.act(drafted, "sign", overrides=[override])
    assert signed["validation"]["outcome"] == "passed_with_overrides"


def _status(name, code):
    return {"coding": [{"system": f"http://terminology.hl7.org/CodeSystem/{name}", "code": code}]}


def test_failed_signature_is_replayed_as_it_was():
    from tests.prescriptions.ward import ward as made

    ward = made()
    drafted = ward.draft(controlled())
    path, key = f"/v1/prescriptions/{drafted['id']}/sign", {"Idempotency-Key": str(uuid4())}
    ward.fhir.put(f"/Patient/{ward.patient_id}", {**_patient(ward), "deceasedBoolean": True})
    first = ward.prescriber.post(path, json={}, headers=key)
    refused(first, 422, "clinical_validation_failed")
    again = ward.prescriber.post(path, json={}, headers=key)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.headers["Content-Type"] == first.headers["Content-Type"] == "application/problem+json"
    assert again.json()["run"] == first.json()["run"]


def _patient(ward):
    return ward.fhir.get(f"/Patient/{ward.patient_id}").json()


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_draft_names_what_is_not_there(ward):
    post = ward.prescriber.post
    refused(post("/v1/prescriptions", json=ward.body(patient_id="nobody")), 422, "patient_not_found")
    refused(post("/v1/prescriptions", json=ward.body(template_id=str(uuid4()))), 422, "template_not_found")
    refused(post("/v1/prescriptions", json=ward.body(encounter_id="none")), 422, "encounter_not_found")
    refused(post("/v1/prescriptions", json=ward.body(location_id=str(uuid4()))), 422, "location_not_found")


def test_patient_of_another_tenant_is_not_found(ward):
    other = factories.provision("provider")
    stranger = Side(other).join("prescriber")
    refused(stranger.post("/v1/prescriptions", json=ward.body()), 422, "patient_not_found")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"quantity": {"value": 3, "unit": "tablet"}}, "items.0.quantity.value"),
        ({"quantity": {"value": "0", "unit": "tablet"}}, "items.0.quantity.value"),
        ({"medication": None}, "items.0.medication"),
        ({"dosage": []}, "items.0.dosage"),
        ({"fills_allowed": 100}, "items.0.fills_allowed"),
        ({"medication": None, "medication_text": "something"}, "items.0.medication"),
    ],
)
def test_item_that_is_not_whole_is_refused(ward, change, field):
    answer = ward.prescriber.post("/v1/prescriptions", json=ward.body(item(**change)))
    assert answer.status_code == 400, answer.content
    assert answer.json()["errors"][0]["field"].startswith(field)


def test_only_the_prescriber_signs(ward):
    other = ward.fhir.made(practitioner("L-2"))
    colleague = ward.clinic.join("prescriber", "colleague", practitioner_id=other["id"])
    drafted = ward.draft()
    refused(colleague.post(f"/v1/prescriptions/{drafted['id']}/sign", json={}), 403, "not_the_prescriber")
    nurse = ward.clinic.people["nurse"]
    refused(nurse.post(f"/v1/prescriptions/{drafted['id']}/sign", json={}), 403, "insufficient_scope")
    assert fetch(ward, drafted)["version"] == 1


def test_controlled_item_needs_a_fresh_second_factor(ward):
    drafted = ward.draft(controlled())
    weak = Api(token=factories.bearer(ward.clinic.users["prescriber"]), tenant=ward.clinic.tenant)
    found = refused(weak.post(f"/v1/prescriptions/{drafted['id']}/sign", json={}), 403, "step_up_required")
    assert found["max_age"] == 300
    assert drafted["items"][0]["effective_schedule"] == "II"


def test_first_day_after_the_last_one_is_refused(ward):
    drafted = ward.draft(valid_from="2099-01-01")
    answer = ward.prescriber.post(f"/v1/prescriptions/{drafted['id']}/sign", json={})
    refused(answer, 422, "valid_from_out_of_range")
    assert fetch(ward, drafted) == drafted


def test_route_leads_to_pharmacies_only(ward):
    signed = ward.signed()
    path = f"/v1/prescriptions/{signed['id']}/route"
    refused(ward.prescriber.post(path, json={"pharmacy_location_id": str(uuid4())}), 422, "pharmacy_not_found")
    answer = ward.prescriber.post(path, json={})
    assert answer.json()["errors"][0]["field"] == "pharmacy_location_id"
    ward.act(signed, "route", pharmacy_location_id=ward.pharmacy_id)
    refused(ward.prescriber.post(path, json={"pharmacy_location_id": ward.pharmacy_id}), 409, "already_routed")


def test_reroute_hides_the_prescription_from_the_former_pharmacy(ward):
    routed = ward.routed()
    second = Side(factories.provision("pharmacy"))
    second.join("pharmacist")
    place = second.place(name="Second pharmacy", type="pharmacy", listed=True)
    ward.act(routed, "route", pharmacy_location_id=place)
    refused(ward.pharmacist.get(f"/v1/prescriptions/{routed['id']}"), 404, "not_found")
    assert done(second.people["pharmacist"].get(f"/v1/prescriptions/{routed['id']}"))["route"]["state"] == "sent"


def test_cancelling_is_the_signers(ward):
    nurse = ward.clinic.people["nurse"]
    drafted = ward.draft()
    refused(nurse.post(f"/v1/prescriptions/{drafted['id']}/cancel", json={}), 403, "cancel_not_permitted")
    signed = ward.signed()
    other = ward.clinic.join("prescriber", "cover")
    refused(other.post(f"/v1/prescriptions/{signed['id']}/cancel", json={}), 403, "cancel_not_permitted")
    lead = ward.clinic.join("clinical_lead")
    assert done(lead.post(f"/v1/prescriptions/{signed['id']}/cancel", json={}))["cancel_reason_code"] == "unspecified"


def test_controlled_prescription_is_cancelled_with_a_reason(ward):
    drafted = ward.draft(controlled())
    answer = ward.prescriber.post(f"/v1/prescriptions/{drafted['id']}/cancel", json={})
    assert answer.json()["errors"][0]["field"] == "reason_code"
    assert ward.act(drafted, "cancel", reason_code="duplicate")["status"] == "cancelled"


# -- lists -------------------------------------------------------------------------------------------------------------


def test_lists_of_both_boxes(ward):
    routed = ward.routed()
    own = ward.prescriber.get(f"/v1/prescriptions?number={routed['number']}").json()["data"]
    assert [one["id"] for one in own] == [routed["id"]]
    assert "items" not in own[0]
    path = f"/v1/prescriptions?status=routed&pharmacy_location_id={ward.pharmacy_id}&include=items"
    held = ward.pharmacist.get(path).json()["data"]  # a pharmacy only: its default box is what it received
    found = next(one for one in held if one["id"] == routed["id"])
    assert found["items"] == routed["items"]
    assert found["created_at"] == routed["route"]["routed_at"]
    assert ward.pharmacist.get("/v1/prescriptions?box=issued").json()["data"] == []


def test_list_without_a_box_follows_the_kinds_of_the_tenant():
    ward = new_ward()
    routed = ward.routed()
    tenant = ward.pharmacy.tenant
    for kinds, shown in (
        (["pharmacy"], [routed["id"]]),
        (["provider", "pharmacy"], []),
        (["pharmacy"], [routed["id"]]),
    ):
        factories.committed(lambda kinds=kinds: Tenant.objects.filter(pk=tenant.pk).update(kinds=kinds))
        for _ in range(2):
            held = ward.pharmacist.get("/v1/prescriptions").json()["data"]
            assert [one["id"] for one in held] == shown


def test_list_is_filtered_by_time_and_expiry(ward):
    ward.signed()
    for query in ("from=2026-01-01T00:00:00Z", "to=2099-01-01T00:00:00Z", "expired=false", "dispense_status=none"):
        assert ward.prescriber.get(f"/v1/prescriptions?{query}").json()["data"], query
    for query in ("status=signed", "status=cancelled,signed", "dispense_status=complete,none"):
        assert ward.prescriber.get(f"/v1/prescriptions?{query}").json()["data"], query
    refused(ward.prescriber.get("/v1/prescriptions?status=signed'"), 400, "validation_error")
    assert ward.prescriber.get("/v1/prescriptions?dispense_status=complete").json()["data"] == []
    assert ward.prescriber.get("/v1/prescriptions?expired=true").json()["data"] == []
    assert ward.prescriber.get(f"/v1/prescriptions?patient_id={ward.patient_id}").json()["data"]


def test_foreign_tenant_sees_nothing(ward):
    routed = ward.routed()
    stranger = Side(factories.provision("provider")).join("prescriber")
    refused(stranger.get(f"/v1/prescriptions/{routed['id']}"), 404, "not_found")
    refused(stranger.post(f"/v1/prescriptions/{routed['id']}/cancel", json={}), 404, "not_found")


def test_auditor_reads_where_the_policy_lets_him():
    from tests.prescriptions.ward import ward as made

    ward = made()
    drafted = ward.draft()
    auditor = ward.clinic.join("auditor")
    path = f"/v1/prescriptions/{drafted['id']}"
    refused(auditor.get(path), 403, "insufficient_scope")
    ward.clinic.policies(auditor_reads_prescriptions=True)
    assert done(auditor.get(path))["id"] == drafted["id"]


def test_place_limits_what_a_member_sees(ward):
    here, there = ward.clinic.place(name="Ward A"), ward.clinic.place(name="Ward B")
    limited = ward.clinic.join("nurse", "limited", location_ids=[UUID(here)])
    at_both = [ward.draft(location_id=place) for place in (here, there)]
    assert done(limited.get(f"/v1/prescriptions/{at_both[0]['id']}"))["location_id"] == here
    refused(limited.get(f"/v1/prescriptions/{at_both[1]['id']}"), 404, "not_found")
    refused(limited.post(f"/v1/prescriptions/{at_both[1]['id']}/validate", json={}), 404, "not_found")
    answer = limited.post("/v1/prescriptions", json=ward.body(location_id=there))
    refused(answer, 422, "location_not_found")


def test_list_is_recorded_under_the_patients_of_its_page_whatever_it_shows(ward):
    for _ in range(2):
        ward.draft()
    shown = ward.prescriber.get("/v1/prescriptions?fields=number&limit=1").json()
    assert [set(one) for one in shown["data"]] == [{"id", "number"}]
    assert shown["has_more"]
    with tenant_context(ward.clinic.tenant.id):
        rows = AccessRecord.objects.filter(tenant_id=ward.clinic.tenant.id, interaction="rx.list")
        kept = rows.order_by("created_at", "id").last()
    assert (kept.patients, kept.count) == ([ward.patient_id], 1)
