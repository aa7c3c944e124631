"""The job of recurring treatments: drafts on their local dates, once each, and the reasons that pause a treatment."""

from datetime import UTC, date, datetime, timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest

from core.db import tenant_context
from organizations.models import Quota, Tenant
from prescriptions.lifecycle.models import Prescription, PrescriptionCounter
from prescriptions.recurring.drafting import make_drafts
from prescriptions.recurring.models import RecurringTreatment
from tests.prescriptions.recurring.test_treatments import START, fetch, made, path, template, told
from tests.prescriptions.ward import done, item, practitioner, ward
from tests.races import race

pytestmark = pytest.mark.usefixtures("each_number_of_lanes")
QUOTA = "prescriptions_per_month"


@pytest.fixture
def house(ward):
    return ward


def drafts(house, one):
    with tenant_context(house.clinic.tenant.id):
        rows = Prescription.objects.filter(tenant_id=house.clinic.tenant.id, recurring_treatment_id=one["id"])
        return list(rows.order_by("occurrence_index"))


def due(one, **more):
    """The instant from which the next draft is due, at the tenant's zone."""
    with tenant_context(one["tenant_id"]):
        found = RecurringTreatment.objects.get(tenant_id=one["tenant_id"], pk=one["id"]).drafts_from
    assert found is not None
    return found + timedelta(**more)


def names(house, one):
    return [name for name, *_ in told(house, one)][1:]


def test_draft_is_made_on_its_date_and_once(house):
    one = made(house, lead_days=5)
    make_drafts(at=due(one, seconds=-1))
    assert drafts(house, one) == []
    at = due(one)
    for _ in range(3):
        make_drafts(at=at)
    (draft,) = drafts(house, one)
    creator = house.clinic.users["prescriber"].id
    assert (draft.status, draft.occurrence_index, draft.created_by) == ("draft", 0, creator)
    assert (draft.prescriber_id, draft.patient_id) == (house.practitioner_id, house.patient_id)
    now = fetch(house, one)
    assert (now["occurrences_created"], now["last_prescription_id"], now["version"]) == (1, str(draft.id), 2)
    assert now["next_due_on"] == (START + timedelta(days=7)).isoformat()
    assert told(house, one)[1:] == [("due", {"status": "active"}, 2)]
    shown = done(house.prescriber.get(f"/v1/prescriptions/{draft.id}"))
    assert shown["recurring_treatment_id"] == one["id"]
    assert shown["items"][0]["quantity"] == {"value": "21", "unit": "tablet"}
    assert done(house.prescriber.post(f"/v1/prescriptions/{draft.id}/sign", json={}))["status"] == "signed"


def test_days_are_local_ones_of_the_location(house):
    day = date(START.year + 1, 4, 30)
    samoa = house.clinic.place(name="Apia", time_zone="Pacific/Apia")
    one = made(house, location_id=samoa, lead_days=0, schedule={"start_date": day.isoformat()})
    assert due(one) == datetime(day.year, day.month, day.day, tzinfo=ZoneInfo("Pacific/Apia")).astimezone(UTC)


def test_workers_that_meet_make_one_draft_for_each_occurrence(house):
    treatments = [made(house) for _ in range(4)]
    at = due(treatments[0], days=15)
    outcomes = race(*(lambda: make_drafts(at=at) for _ in range(4)))
    assert not [one for one in outcomes if isinstance(one, Exception)], outcomes
    make_drafts(at=at)
    for one in treatments:
        assert [draft.occurrence_index for draft in drafts(house, one)] == [0, 1, 2]
        assert names(house, one) == ["due"] * 3
        assert fetch(house, one)["occurrences_created"] == 3


def test_treatment_that_makes_no_drafts_only_tells(house):
    one = made(house, auto_create_draft=False)
    make_drafts(at=due(one))
    assert drafts(house, one) == []
    now = fetch(house, one)
    assert (now["occurrences_created"], now["last_prescription_id"]) == (0, None)
    assert names(house, one) == ["due"]
    earlier = {"schedule": {"start_date": (START + timedelta(days=1)).isoformat()}}
    assert house.prescriber.patch(path(one), json=earlier).status_code == 400


@pytest.mark.parametrize(
    "bound", [{"max_occurrences": 2}, {"end_date": (START + timedelta(days=7)).isoformat()}], ids=["count", "end_date"]
)
def test_last_occurrence_completes(house, bound):
    one = made(house, schedule=bound)
    make_drafts(at=due(one, days=30))
    assert [draft.occurrence_index for draft in drafts(house, one)] == [0, 1]
    now = fetch(house, one)
    assert (now["status"], now["next_due_on"], now["occurrences_created"]) == ("completed", None, 2)
    assert names(house, one) == ["due", "due", "completed"]
    make_drafts(at=due_after(one))
    assert len(drafts(house, one)) == 2


def due_after(one):
    return datetime.combine(START, datetime.min.time(), UTC) + timedelta(days=400)


def paused(house, one, at, reason):
    """Run the job twice, which must pause the treatment once and make nothing."""
    for _ in range(2):
        make_drafts(at=at)
    now = fetch(house, one)
    assert (now["status"], now["pause_reason"]) == ("paused", reason)
    assert names(house, one)[-1:] == ["paused"]
    assert names(house, one).count("paused") == 1
    assert (drafts(house, one), now["occurrences_created"]) == ([], 0)
    return now


def test_patient_who_died_or_is_gone_pauses(house):
    for change, reason in (
        (
            lambda key, body: house.fhir.put(f"/Patient/{key}", {**body, "deceasedDateTime": "2026-01-01"}),
            "patient_deceased",
        ),
        (lambda key, body: house.fhir.delete(f"/Patient/{key}"), "patient_not_found"),
    ):
        patient = house.fhir.made({"resourceType": "Patient", "name": [{"family": "Some"}]})
        one = made(house, patient_id=patient["id"])
        assert change(patient["id"], patient).status_code < 300
        paused(house, one, due(one), reason)


def test_inactive_prescriber_pauses(house):
    doctor = house.fhir.made(practitioner("L-1"))
    one = made(house, prescriber_id=doctor["id"])
    house.fhir.put(f"/Practitioner/{doctor['id']}", {**doctor, "active": False})
    at = due(one)
    paused(house, one, at, "prescriber_inactive")
    house.fhir.put(f"/Practitioner/{doctor['id']}", {**doctor, "active": True})
    make_drafts(at=at)
    assert drafts(house, one) == []  # a person resumes it
    done(house.prescriber.post(path(one, "resume")))
    make_drafts(at=at)
    assert len(drafts(house, one)) == 1


def test_archived_or_sparse_template_pauses(house):
    for change in (
        house.prescriber.delete,
        lambda where: house.prescriber.put(
            where, json={"name": uuid4().hex, "items": [{"medication": item()["medication"]}]}
        ),
    ):
        kept = template(house, visibility="private")
        one = made(house, template_id=kept["id"])
        assert change(f"/v1/prescriptions/templates/{kept['id']}").status_code < 300
        paused(house, one, due(one), "template_gone")


def test_private_template_of_the_creator_is_used_as_it_is_then(house):
    kept = template(house, visibility="private")
    one = made(house, template_id=kept["id"])
    changed = {"name": kept["name"], "items": [item(quantity={"value": "5", "unit": "tablet"})]}
    done(house.prescriber.put(f"/v1/prescriptions/templates/{kept['id']}", json=changed))
    make_drafts(at=due(one))
    (draft,) = drafts(house, one)
    assert (str(draft.template_id), draft.template_version) == (kept["id"], 2)
    assert done(house.prescriber.get(f"/v1/prescriptions/{draft.id}"))["items"][0]["quantity"]["value"] == "5"


def test_review_that_is_over_pauses(house):
    one = made(house, lead_days=0, review_by=START.isoformat())
    make_drafts(at=due(one))
    assert len(drafts(house, one)) == 1
    late = made(house, lead_days=0, review_by=(START - timedelta(days=1)).isoformat())
    now = paused(house, late, due(late), "review_due")
    done(house.prescriber.patch(path(late), json={"review_by": None}))
    assert now["next_due_on"] == START.isoformat()


def limit(house, number):
    with tenant_context(house.clinic.tenant.id):
        rows = Quota.objects.filter(tenant_id=house.clinic.tenant.id, key=QUOTA)
        assert rows.update_versions(at=datetime.now(UTC), limit=number, used=0, enforcement="hard") == 1


def numbers(house):
    with tenant_context(house.clinic.tenant.id):
        return list(PrescriptionCounter.objects.filter(tenant_id=house.clinic.tenant.id).values_list("year", "last"))


def test_quota_pauses_and_the_job_resumes():
    house = ward()
    house.draft()
    one = made(house)
    at, before = due(one), numbers(house)
    limit(house, 0)
    paused(house, one, at, "quota_exceeded")
    assert numbers(house) == before
    limit(house, 1000)
    make_drafts(at=at + timedelta(days=1))
    assert [draft.occurrence_index for draft in drafts(house, one)] == [0]
    assert names(house, one) == ["paused", "resumed", "due"]
    assert fetch(house, one)["status"] == "active"


def test_what_a_quota_let_pass_is_skipped():
    house = ward()
    house.draft()
    one = made(house)
    limit(house, 0)
    make_drafts(at=due(one))
    limit(house, 1000)
    make_drafts(at=due(one, days=16))  # the occurrences of week 0 and 1 are over, that of week 2 is due
    assert [draft.occurrence_index for draft in drafts(house, one)] == [2]
    now = fetch(house, one)
    assert (now["occurrences_skipped"], now["occurrences_created"], now["status"]) == (2, 1, "active")


def test_suspended_tenant_is_left_alone():
    house = ward()
    one = made(house)
    at = due(one)
    Tenant.objects.filter(pk=house.clinic.tenant.id).update(status="suspended")
    try:
        make_drafts(at=at)
        assert drafts(house, one) == []
    finally:
        Tenant.objects.filter(pk=house.clinic.tenant.id).update(status="active")
    make_drafts(at=at)
    assert len(drafts(house, one)) == 1


def test_fault_in_one_treatment_does_not_stop_the_others(house):
    broken, sound = made(house), made(house)
    with tenant_context(house.clinic.tenant.id):
        rows = RecurringTreatment.objects.filter(tenant_id=house.clinic.tenant.id, pk=broken["id"])
        rows.update_versions(at=datetime.now(UTC), unit="eon")
    at = due(sound)
    make_drafts(at=at)
    assert len(drafts(house, sound)) == 1
    with tenant_context(house.clinic.tenant.id):
        rows.update_versions(at=datetime.now(UTC), unit="week")
    make_drafts(at=at)
    assert len(drafts(house, broken)) == 1
