"""Owner and pharmacy: what each may do and read, whatever became of the other; and a tenant that is both."""

from django.db import transaction

from core.clock import now
from core.db import tenant_context
from fhir_api.models import AccessRecord
from ledger.models import Event
from organizations.actions import tenants
from organizations.actions.provisioning import platform_actor
from organizations.models import Tenant
from tests.prescriptions.dispensing.counter import (
    BASE,
    as_owner,
    as_pharmacy,
    assert_whole,
    dispense,
    entered,
    line,
    nothing_changes,
    refills,
    told,
)
from tests.prescriptions.ward import done, refused
from tests.prescriptions.ward import ward as new_ward


def test_each_side_is_told_what_the_contract_says(ward):
    one = ward.routed(refills(2))
    assert told(ward.pharmacy, one) == ["routed"]
    done(ward.at_pharmacy(one, "acknowledge"))
    done(ward.at_pharmacy(one, "acknowledge"))
    done(ward.at_pharmacy(one, "ready"))
    part = dispense(ward, one, lines=[line(one, quantity="1.50", lot_number="L7")])
    assert as_owner(ward, one)["route"]["progress"] is None
    dispense(ward, one)
    last = dispense(ward, one)
    path = f"{BASE}/{one['id']}/dispensations/{last['id']}/reverse"
    done(ward.pharmacist.post(path, json={"reason_code": "returned_by_patient"}))
    done(ward.prescriber.post(f"{BASE}/{one['id']}/cancel", json={"reason_code": "patient_request"}))
    done(ward.at_pharmacy(one, "acknowledge"))
    done(ward.at_pharmacy(one, "acknowledge"))
    assert as_owner(ward, one)["cancellation_acknowledged_at"] == as_pharmacy(ward, one)["cancellation_acknowledged_at"]
    steps = [
        ("acknowledged", "routed", "routed"),
        ("ready_for_collection", "routed", "routed"),
        ("partially_dispensed", "routed", "routed"),
        ("partially_dispensed", "routed", "routed"),
        ("dispensed", "routed", "dispensed"),
        ("dispense_reversed", "dispensed", "routed"),
        ("cancelled", "routed", "cancelled"),
        ("acknowledged", "cancelled", "cancelled"),
    ]
    assert entered(ward, one)[-8:] == steps
    assert told(ward.clinic, one)[-8:] == [action for action, _, _ in steps]
    assert told(ward.pharmacy, one) == [
        "routed",
        "partially_dispensed",
        "partially_dispensed",
        "dispensed",
        "dispense_reversed",
        "cancelled",
    ]
    with tenant_context(ward.pharmacy.tenant.id):
        events = list(Event.objects.filter(resource_id=one["id"], figures__isnull=False).order_by("occurred_at", "id"))
    assert [event.figures["pharmacy_location_id"] for event in events] == [ward.pharmacy_id] * 4
    product = {name: one["items"][0]["medication"][name] for name in ("system", "code", "display")}
    given = [event.figures["lines"] for event in events]
    first = {"id": part["lines"][0]["id"], "product": product, "lot_number": "L7", "quantity": "1.5", "unit": "tablet"}
    assert given[0] == [first]
    assert events[0].figures["dispensation_id"] == part["id"]
    assert [lines[0]["quantity"] for lines in given[1:]] == ["19.5", "21", "21"]
    assert all("lines" not in str(event.data) for event in events)
    assert part["fill_number"] == 1
    assert_whole(ward)


def test_first_dispensation_acknowledges_without_an_entry(ward):
    one = ward.routed()
    given = dispense(ward, one)
    assert as_owner(ward, one)["route"]["acknowledged_at"] == given["created_at"]
    assert [action for action, _, _ in entered(ward, one)][-2:] == ["routed", "dispensed"]


def test_one_request_raises_the_version_by_one(ward):
    one = ward.routed()
    given = dispense(ward, one)
    path = f"{BASE}/{one['id']}/dispensations/{given['id']}/reverse"
    assert as_pharmacy(ward, one)["version"] == one["version"] + 1
    back = done(ward.pharmacist.post(path, json={"reason_code": "other"}))
    assert (given["version"], back["version"]) == (1, 2)
    assert as_pharmacy(ward, one)["version"] == as_owner(ward, one)["version"] == one["version"] + 2


def test_lines_are_medication_dispenses_of_the_owner(ward):
    one = ward.routed(refills(1), refills(1, code={"system": "urn:x", "code": "B", "display": "Bee"}))
    lines = [line(one, quantity="21", days_supply=7), line(one, 1, not_dispensed_reason="patient_refused")]
    given = dispense(ward, one, lines=lines)
    first, second = (_resource(ward, found["id"]) for found in given["lines"])
    pharmacy = {
        "identifier": {"system": first["location"]["identifier"]["system"], "value": ward.pharmacy_id},
        "display": "Pharmacy at the Corner",
    }
    assert first["status"] == "completed"
    assert first["quantity"] == {"value": 21, "unit": "tablet"}
    assert first["whenHandedOver"] == given["handed_over_at"]
    assert first["authorizingPrescription"] == [{"reference": f"MedicationRequest/{one['items'][0]['id']}"}]
    assert first["subject"] == {"reference": f"Patient/{ward.patient_id}"}
    assert first["daysSupply"]["value"] == 7
    assert first["location"] == {"type": "Location", **pharmacy}
    assert first["performer"] == [{"actor": {"type": "Organization", **pharmacy}}]
    assert (second["status"], second["statusReasonCodeableConcept"]["text"]) == ("declined", "patient_refused")
    assert "quantity" not in second
    assert "whenHandedOver" not in second
    path = f"{BASE}/{one['id']}/dispensations/{given['id']}/reverse"
    done(ward.pharmacist.post(path, json={"reason_code": "wrong_patient"}))
    for found in given["lines"]:
        resource = _resource(ward, found["id"])
        assert (resource["status"], resource["meta"]["versionId"]) == ("entered-in-error", "2")
    assert ward.fhir.put(f"/MedicationDispense/{first['id']}", first).status_code == 409


def _resource(ward, key):
    answer = ward.fhir.get(f"/MedicationDispense/{key}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_pharmacy_keeps_its_own_dispensations(ward):
    """It is re-routed after a reversal: the former pharmacy reads what it gave, and no more."""
    one = ward.routed()
    given = dispense(ward, one)
    path = f"{BASE}/{one['id']}/dispensations"
    done(ward.pharmacist.post(f"{path}/{given['id']}/reverse", json={"reason_code": "not_collected"}))
    other = new_ward()
    other.clinic, other.fhir, other.patient_id = ward.clinic, ward.fhir, ward.patient_id
    ward.act(one, "route", pharmacy_location_id=other.pharmacy_id)
    refused(ward.pharmacist.get(f"{BASE}/{one['id']}"), 404, "not_found")
    assert [found["id"] for found in done(ward.pharmacist.get(path))] == [given["id"]]
    assert done(ward.pharmacist.get(f"{path}/{given['id']}"))["status"] == "reversed"
    with nothing_changes(ward, one):
        answer = ward.pharmacist.post(f"{path}/{given['id']}/reverse", json={"reason_code": "other"})
        refused(answer, 404, "not_found")
    assert done(other.pharmacist.get(path)) == []
    refused(other.pharmacist.get(f"{path}/{given['id']}"), 404, "not_found")
    answer = other.pharmacist.post(f"{path}/{given['id']}/reverse", json={"reason_code": "other"})
    refused(answer, 404, "not_found")
    newer = dispense(other, one)
    assert [found["id"] for found in done(ward.prescriber.get(path))] == [newer["id"], given["id"]]
    assert [found["id"] for found in done(other.pharmacist.get(path))] == [newer["id"]]
    stranger = new_ward()
    for api in (stranger.pharmacist, stranger.prescriber):
        refused(api.get(path), 404, "not_found")
        refused(api.get(f"{path}/{newer['id']}"), 404, "not_found")
    assert_whole(ward)
    assert_whole(other)


def test_reads_leave_access_records_of_the_reader(ward):
    one = ward.routed()
    given = dispense(ward, one)
    path = f"{BASE}/{one['id']}/dispensations"
    for side, api in ((ward.clinic, ward.prescriber), (ward.pharmacy, ward.pharmacist)):
        done(api.get(path))
        done(api.get(f"{path}/{given['id']}"))
        with tenant_context(side.tenant.id):
            found = AccessRecord.objects.filter(tenant_id=side.tenant.id, resource_id=one["id"]).order_by(
                "created_at", "id"
            )
            kept = [(record.interaction, record.patients, record.count) for record in found]
        assert kept[-2:] == [("rx.list", [ward.patient_id], 1), ("rx.read", [ward.patient_id], 1)]


def test_a_tenant_of_both_sides_is_told_once(ward):
    own = ward.clinic.place(name="Pharmacy of the house", type="pharmacy")
    pharmacist = ward.clinic.join("pharmacist", "house", practitioner_id=ward.practitioner_id)
    one = ward.signed(refills(2))
    ward.act(one, "route", pharmacy_location_id=own)
    path = f"{BASE}/{one['id']}"
    known = done(pharmacist.post(f"{path}/acknowledge"))
    assert known["route"]["dispenser_tenant_id"] == str(ward.clinic.tenant.id)
    given = done(pharmacist.post(f"{path}/dispense", json={}), 201)
    back = done(pharmacist.post(f"{path}/dispensations/{given['id']}/reverse", json={"reason_code": "other"}))
    assert back["status"] == "reversed"
    assert told(ward.clinic, one)[-3:] == ["acknowledged", "partially_dispensed", "dispense_reversed"]
    with tenant_context(ward.clinic.tenant.id):
        figures = [event.figures for event in Event.objects.filter(resource_id=one["id"], figures__isnull=False)]
    assert [len(found["lines"]) for found in figures] == [1, 1]
    for api in (ward.prescriber, pharmacist):
        assert [found["id"] for found in done(api.get(f"{path}/dispensations"))] == [given["id"]]
    resource = _resource(ward, given["lines"][0]["id"])
    assert resource["performer"] == [{"actor": {"reference": f"Practitioner/{ward.practitioner_id}"}}]
    assert_whole(ward)


def test_suspended_owner_does_not_stop_the_pharmacy():
    ward = new_ward()
    one = ward.routed(refills(2))
    tenant = ward.clinic.tenant
    _administer(tenant, tenants.suspend_tenant, "unpaid")
    refused(ward.prescriber.post(f"{BASE}/{one['id']}/cancel", json={}), 403, "tenant_suspended")
    done(ward.at_pharmacy(one, "acknowledge"))
    given = dispense(ward, one)
    path = f"{BASE}/{one['id']}/dispensations/{given['id']}/reverse"
    done(ward.pharmacist.post(path, json={"reason_code": "other"}))
    done(ward.at_pharmacy(one, "ready"))
    done(ward.at_pharmacy(one, "return", reason_code="other"))
    assert_whole(ward)


def test_nothing_is_written_about_a_closed_owner():
    ward = new_ward()
    one = ward.routed(refills(2))
    given = dispense(ward, one)
    signed = ward.signed()
    token = done(ward.prescriber.post(f"{BASE}/{signed['id']}/token"), 201)["token"]
    tenant = ward.clinic.tenant
    _administer(tenant, tenants.offboard_tenant)
    _administer(tenant, tenants.close_tenant)
    elsewhere = {"handed_over_at": "2020-01-01T00:00:00Z", "pharmacy_location_id": str(ward.clinic.tenant.id)}
    bodies = {"acknowledge": {}, "ready": {}, "return": {"reason_code": "other"}, "dispense": elsewhere}
    with nothing_changes(ward, one):
        for action, body in bodies.items():
            refused(ward.at_pharmacy(one, action, **body), 409, "owner_closed")
        path = f"{BASE}/{one['id']}/dispensations/{given['id']}"
        refused(ward.pharmacist.post(f"{path}/reverse", json={"reason_code": "other"}), 409, "owner_closed")
        body = {"token": token, "pharmacy_location_id": ward.pharmacy_id}
        refused(ward.pharmacist.post(f"{BASE}/claim", json=body), 404, "not_found")
    assert as_pharmacy(ward, one)["status"] == "routed"
    assert done(ward.pharmacist.get(path))["id"] == given["id"]


def _administer(tenant, action, *reason):
    with transaction.atomic():
        action(platform_actor(), Tenant.objects.select_for_update().get(pk=tenant.pk), now(), *reason)


def test_idempotency_keys_are_those_of_the_caller(ward):
    one = ward.routed(refills(3))
    key = {"Idempotency-Key": "again"}
    path = f"{BASE}/{one['id']}/dispense"
    first = ward.pharmacist.post(path, json={}, headers=key)
    again = ward.pharmacist.post(path, json={}, headers=key)
    assert done(again, 201) == done(first, 201)
    assert again.headers["Location"] == first.headers["Location"]
    assert again.headers["Idempotency-Replayed"] == "true"
    other = ward.pharmacist.post(path, json={"lines": [line(one, quantity="1")]}, headers=key)
    assert other.status_code == 422
    assert as_owner(ward, one)["items"][0]["dispensed_quantity"] == "21"


def test_return_is_answered_again(ward):
    one = ward.routed()
    key, body = {"Idempotency-Key": f"return-{one['id']}"}, {"reason_code": "other"}
    first = ward.pharmacist.post(f"{BASE}/{one['id']}/return", json=body, headers=key)
    again = ward.pharmacist.post(f"{BASE}/{one['id']}/return", json=body, headers=key)
    assert (again.content, again.headers["ETag"]) == (first.content, first.headers["ETag"])
    refused(ward.pharmacist.post(f"{BASE}/{one['id']}/return", json=body), 404, "not_found")
