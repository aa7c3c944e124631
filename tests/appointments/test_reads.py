"""Reading appointments: records of access, filters and sorts, who may read."""

from datetime import UTC
from uuid import UUID

import pytest

from appointments.models import Appointment
from bench.statements import recording
from core.clock import now
from core.db import tenant_context
from core.ids import uuid7_text
from fhir_api.access.models import AccessPatient, AccessRecord
from tests import factories
from tests.appointments import practice
from tests.appointments.practice import BASE, clinic, monday
from tests.factories import Api


def test_reads_leave_one_record_each_with_the_patients(free):
    first, other = free.book(monday(10)), practice.patient(free.tenant)
    free.book(monday(11), patient_id=other)
    free.read(first["id"])
    query = f"{BASE}?practitioner_id={free.practitioner}&limit=10"
    assert len(free.api.get(query).json()["data"]) == 2
    assert len(free.api.get(f"{query}&fields=id").json()["data"]) == 2
    with tenant_context(free.tenant.id):
        found = AccessRecord.objects.filter(
            tenant_id=free.tenant.id, interaction__startswith="appt.", patients__contains=[free.patient]
        ).order_by("created_at")
        got = [(one.interaction, one.resource_type, one.resource_id, sorted(one.patients), one.count) for one in found]
        named = AccessPatient.objects.filter(tenant_id=free.tenant.id, id=found[1].id)
        assert {one.patient for one in named} == {free.patient, other}
    both = sorted([free.patient, other])
    assert got == [
        ("appt.read", "Appointment", first["id"], [free.patient], 1),
        ("appt.list", "Appointment", "", both, 2),
        ("appt.list", "Appointment", "", both, 2),
    ]


def test_a_list_is_one_trip_and_its_record(free):
    for hour in (10, 11, 12):
        free.book(monday(hour))
        with recording() as record:
            assert free.api.get(f"{BASE}?practitioner_id={free.practitioner}").status_code == 200
        assert len(record) == 2, record.texts()


def test_the_list_is_narrowed_and_sorted(free):
    made = [free.book(monday(hour)) for hour in (10, 12, 11)]
    assert free.act(made[0], "cancel").status_code == 200

    def ids(query):
        answer = free.api.get(f"{BASE}?practitioner_id={free.practitioner}&{query}")
        assert answer.status_code == 200, answer.content
        return [one["id"] for one in answer.json()["data"]]

    first, second, third = (one["id"] for one in made)
    assert ids("") == [third, second, first]
    assert ids("sort=starts_at") == [first, third, second]
    assert ids("status=booked,confirmed") == [third, second]
    since, to = (monday(hour).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for hour in (11, 12))
    assert ids(f"from={since}&to={to}") == [third]
    assert ids(f"patient_id={free.patient}&location_id={free.location}&sort=updated_at")[-1] == first
    assert ids(f"patient_id={uuid7_text()}") == []
    assert free.api.get(f"{BASE}?patient={free.patient}").json()["code"] == "unknown_parameter"
    assert free.api.get(f"{BASE}?status=late").json()["code"] == "validation_error"


def test_a_foreign_tenant_sees_nothing(free):
    made, stranger = free.book(monday(10)), clinic()
    assert stranger.api.get(f"{BASE}/{made['id']}").status_code == 404
    assert stranger.api.patch(f"{BASE}/{made['id']}", json={"reason": "x"}).status_code == 404
    for action in ("confirm", "check-in", "start", "complete", "no-show", "cancel"):
        assert stranger.act(made, action).status_code == 404
    assert stranger.api.get(BASE).json()["data"] == []
    assert free.read(made["id"]) == made


def test_a_membership_with_locations_reaches_these_and_no_others(free):
    elsewhere = practice.place(free.tenant, name="Elsewhere")
    person, _ = factories.member(free.tenant, ["nurse"], location_ids=[UUID(elsewhere)])
    limited = Api(token=factories.bearer(person), tenant=free.tenant)
    there = free.book(monday(11), location_id=elsewhere)
    here = free.book(monday(10))
    assert limited.get(f"{BASE}/{here['id']}").status_code == 404
    assert limited.post(f"{BASE}/{here['id']}/confirm").status_code == 404
    assert limited.get(f"{BASE}/{there['id']}").status_code == 200
    found = limited.get(f"{BASE}?practitioner_id={free.practitioner}").json()["data"]
    assert [one["id"] for one in found] == [there["id"]]
    answer = limited.post(BASE, json=free.body(monday(12)))
    assert (answer.status_code, answer.json()["code"]) == (422, "location_not_found")
    answer = limited.patch(f"{BASE}/{there['id']}", json={"location_id": free.location})
    assert (answer.status_code, answer.json()["code"]) == (422, "location_not_found")

    key = {"Idempotency-Key": uuid7_text()}
    assert limited.post(f"{BASE}/{there['id']}/confirm", headers=key).status_code == 200
    booked = limited.post(BASE, json=free.body(monday(14), location_id=elsewhere), headers={"Idempotency-Key": "b-1"})
    assert booked.status_code == 201
    with tenant_context(free.tenant.id):
        Appointment.objects.filter(tenant_id=free.tenant.id).update_versions(at=now(), location_id=UUID(free.location))
    assert limited.post(f"{BASE}/{there['id']}/confirm", headers=key).status_code == 404
    again = limited.post(BASE, json=free.body(monday(14), location_id=elsewhere), headers={"Idempotency-Key": "b-1"})
    assert again.status_code == 404


def test_a_token_of_one_patient_reaches_that_patients_appointments(free):
    person, _ = factories.member(free.tenant, ["nurse"])
    other = practice.patient(free.tenant)
    mine, others = free.book(monday(10)), free.book(monday(11), patient_id=other)
    token = factories.bearer(
        person, tenant=free.tenant, scopes="appointments.read appointments.write", patient=free.patient
    )
    bound = Api(token=token, tenant=free.tenant)
    seen = bound.get(f"{BASE}/{mine['id']}")
    if seen.status_code == 403:  # such tokens get no scope of appointments at all
        assert seen.json()["code"] == "insufficient_scope"
        return
    assert bound.get(f"{BASE}/{others['id']}").status_code == 404
    assert bound.post(f"{BASE}/{others['id']}/confirm").status_code == 404


def test_api_keys_are_not_taken(free):
    key = factories.api_key(free.tenant, ["nurse"])
    for path in (BASE, f"{BASE}/availability", f"{BASE}/schedules/{free.practitioner}"):
        answer = Api(key=key, tenant=free.tenant).get(path)
        assert (answer.status_code, answer.json()["code"]) == (403, "credential_not_accepted")


@pytest.mark.parametrize(("role", "reads"), [("pharmacist", False), ("clinic_receptionist", True)])
def test_the_scopes_decide(free, role, reads):
    api = factories.as_member(free.tenant, [role])
    assert api.get(BASE).status_code == (200 if reads else 403)
    assert api.post(BASE, json=free.body(monday(10))).status_code == (201 if reads else 403)
