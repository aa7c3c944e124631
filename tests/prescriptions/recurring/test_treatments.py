"""Recurring treatments over HTTP: what they hold, who changes them, and what is refused."""

from datetime import UTC, date, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from core.db import tenant_context
from ledger.models import Event
from prescriptions.recurring.models import RecurringTreatment
from tests import factories
from tests.prescriptions.ward import done, item, refused, ward

BASE = "/v1/prescriptions/recurring"
TODAY = datetime.now(UTC).date()
START = TODAY + timedelta(days=40)


def body(house, **more):
    schedule = {"every": 1, "unit": "week", "start_date": START.isoformat()} | more.pop("schedule", {})
    content = {} if "template_id" in more else {"items": [item()]}
    return {"patient_id": house.patient_id, **content, "schedule": schedule, **more}


def made(house, **more):
    return done(house.prescriber.post(BASE, json=body(house, **more)), 201)


def path(one, action=""):
    return f"{BASE}/{one['id']}{action and '/' + action}"


def fetch(house, one):
    return done(house.prescriber.get(path(one)))


def told(house, one):
    with tenant_context(house.clinic.tenant.id):
        rows = Event.objects.filter(tenant_id=house.clinic.tenant.id, resource_id=one["id"]).order_by("id")
        return [(row.type.removeprefix("recurring_treatment."), row.data, row.resource_version) for row in rows]


def template(house, **more):
    made = {"name": uuid4().hex, "visibility": "tenant", "items": [item()], **more}
    return done(house.prescriber.post("/v1/prescriptions/templates", json=made), 201)


@pytest.fixture(scope="module")
def house(ward):
    ward.clinic.join("clinical_lead")
    ward.clinic.join("nurse", "other nurse")
    return ward


def test_treatment_is_begun_and_read(house):
    answer = house.prescriber.post(BASE, json=body(house, review_by="2030-01-01"))
    one = done(answer, 201)
    assert answer.headers["Location"] == path(one)
    assert (one["status"], one["pause_reason"], one["version"], one["lead_days"]) == ("active", None, 1, 3)
    assert (one["occurrences_created"], one["occurrences_skipped"], one["auto_create_draft"]) == (0, 0, True)
    assert one["prescriber_id"] == house.practitioner_id
    assert one["next_due_on"] == START.isoformat()
    assert one["schedule"] == {
        "every": 1, "unit": "week", "start_date": START.isoformat(), "end_date": None, "max_occurrences": None,
    }  # fmt: skip
    assert one["items"][0]["quantity"] == {"value": "21", "unit": "tablet"}
    assert fetch(house, one) == one
    assert told(house, one) == [("created", {"status": "active"}, 1)]


def test_occurrences_before_today_are_skipped_at_the_beginning(house):
    start = TODAY - timedelta(days=8)
    one = made(house, schedule={"start_date": start.isoformat(), "max_occurrences": 5})
    assert one["occurrences_skipped"] == 2
    assert one["next_due_on"] == (start + timedelta(days=14)).isoformat()


def test_list_is_filtered_and_recorded(house):
    other = house.fhir.made({"resourceType": "Patient", "name": [{"family": "Other"}]})["id"]
    one = made(house, patient_id=other)
    two = made(house, patient_id=other)
    done(house.prescriber.post(path(two, "pause")))

    def ids(query):
        answer = house.prescriber.get(f"{BASE}?{query}")
        assert answer.status_code == 200, answer.content
        return [row["id"] for row in answer.json()["data"]]

    assert ids(f"patient_id={other}") == [two["id"], one["id"]]
    assert ids(f"patient_id={other}&status=paused") == [two["id"]]
    assert ids(f"patient_id={other}&status=active,paused&sort=created_at") == [one["id"], two["id"]]
    refused(house.prescriber.get(f"{BASE}?status=gone"), 400, "validation_error")
    fetch(house, one)
    assert [(kind, who) for kind, who in reads(house) if other in who][:2] == [
        ("rx.read", [other]),
        ("rx.list", [other]),
    ]


def reads(house):
    from fhir_api.models import AccessRecord

    with tenant_context(house.clinic.tenant.id):
        rows = AccessRecord.objects.filter(tenant_id=house.clinic.tenant.id).order_by("-created_at", "-id")[:20]
        return [(row.interaction, list(row.patients)) for row in rows]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"items": None}, "items"),
        ({"items": [{"medication": item()["medication"]}]}, "items.0.dosage"),
        ({"items": [{**item(), "medication": None, "medication_text": "Something"}]}, "items.0.medication"),
        ({"schedule": {"every": 0}}, "schedule.every"),
        ({"schedule": {"unit": "year"}}, "schedule.unit"),
        ({"schedule": {"start_date": "2300-01-01"}}, "schedule.start_date"),
        ({"schedule": {"end_date": (START - timedelta(days=1)).isoformat()}}, "schedule.end_date"),
        ({"schedule": {"start_date": "2020-01-01", "end_date": "2021-01-01"}}, "schedule.end_date"),
        ({"schedule": {"start_date": "2020-01-01", "max_occurrences": 2}}, "schedule.end_date"),
        ({"lead_days": -1}, "lead_days"),
        ({"patient_id": "a b"}, "patient_id"),
        ({"status": "paused"}, "status"),
    ],
)
def test_invalid_body_is_refused(house, wrong, field):
    answer = house.prescriber.post(BASE, json=body(house, **wrong))
    assert answer.status_code == 400, answer.content
    assert field in [error["field"] for error in answer.json()["errors"]]


def test_items_and_template_exclude_each_other_and_must_be_whole(house):
    one = template(house)
    answer = house.prescriber.post(BASE, json=body(house, items=[item()], template_id=one["id"]))
    assert refused(answer, 400, "validation_error")["errors"][0]["field"] == "template_id"
    sparse = template(house, items=[{"medication": item()["medication"]}])
    refused(house.prescriber.post(BASE, json=body(house, template_id=sparse["id"])), 400, "validation_error")
    by_template = made(house, template_id=one["id"])
    assert (by_template["items"], by_template["template_id"]) == (None, one["id"])


def test_prescriber_is_the_caller_or_must_be_named(house):
    nurse = house.clinic.people["nurse"]
    problem = refused(nurse.post(BASE, json=body(house)), 400, "validation_error")
    assert problem["errors"][0]["field"] == "prescriber_id"
    one = done(nurse.post(BASE, json=body(house, prescriber_id=house.practitioner_id)), 201)
    assert one["prescriber_id"] == house.practitioner_id


def test_what_is_not_there_is_refused(house):
    api = house.prescriber
    refused(api.post(BASE, json=body(house, patient_id="nobody")), 422, "patient_not_found")
    refused(api.post(BASE, json=body(house, template_id=str(uuid4()))), 422, "template_not_found")
    refused(api.post(BASE, json=body(house, location_id=str(uuid4()))), 422, "location_not_found")
    foreign = ward()
    refused(api.post(BASE, json=body(house, patient_id=foreign.patient_id)), 422, "patient_not_found")
    theirs = template(foreign)
    refused(api.post(BASE, json=body(house, template_id=theirs["id"])), 422, "template_not_found")
    one = made(house)
    for answer in (
        foreign.prescriber.get(path(one)),
        foreign.prescriber.patch(path(one), json={"lead_days": 1}),
        *(foreign.prescriber.post(path(one, action)) for action in ("pause", "resume", "end")),
    ):
        refused(answer, 404, "not_found")
    assert fetch(house, one) == one


def test_who_may_change(house):
    nurse, other = house.clinic.people["nurse"], house.clinic.people["other nurse"]
    one = done(nurse.post(BASE, json=body(house, prescriber_id=house.practitioner_id)), 201)
    refused(other.patch(path(one), json={"lead_days": 1}), 403, "recurring_not_permitted")
    for action in ("pause", "resume", "end"):
        refused(other.post(path(one, action)), 403, "recurring_not_permitted")
    assert fetch(house, one) == one
    for number, api in enumerate((nurse, house.prescriber, house.clinic.people["clinical_lead"]), 4):
        assert done(api.patch(path(one), json={"lead_days": number}))["lead_days"] == number
    by_prescription = house.clinic.join("nurse", "named", practitioner_id=house.practitioner_id)
    assert done(by_prescription.patch(path(one), json={"lead_days": 9}))["lead_days"] == 9


def test_places_limit_what_is_seen_and_changed(house):
    here, there = house.clinic.place(name="Ward 1"), house.clinic.place(name="Ward 2")
    away = house.clinic.join("prescriber", "away", location_ids=[UUID(there)])
    one = made(house, location_id=here)
    refused(away.get(path(one)), 404, "not_found")
    refused(away.post(path(one, "pause")), 404, "not_found")
    refused(away.post(BASE, json=body(house, location_id=here, prescriber_id="x")), 422, "location_not_found")
    assert one["id"] not in [row["id"] for row in away.get(f"{BASE}?limit=200").json()["data"]]


def test_patch_changes_what_it_names(house):
    one = made(house)
    changed = done(
        house.prescriber.patch(
            path(one),
            json={"lead_days": 5, "review_by": "2031-01-01", "schedule": {"end_date": "2031-02-01"}, "version": 1},
        )
    )
    assert (changed["lead_days"], changed["review_by"], changed["version"]) == (5, "2031-01-01", 2)
    assert changed["schedule"] == {**one["schedule"], "end_date": "2031-02-01"}
    assert changed["items"] == one["items"]
    refused(house.prescriber.patch(path(one), json={"lead_days": 6, "version": 1}), 409, "version_conflict")
    assert done(house.prescriber.patch(path(one), json={"lead_days": 5})) == changed
    cleared = done(house.prescriber.patch(path(one), json={"review_by": None, "schedule": {"end_date": None}}))
    assert (cleared["review_by"], cleared["schedule"]) == (None, one["schedule"])


def test_patch_replaces_items_by_a_template_and_back(house):
    one, kept = made(house), template(house)
    by_template = done(house.prescriber.patch(path(one), json={"template_id": kept["id"]}))
    assert (by_template["items"], by_template["template_id"]) == (None, kept["id"])
    back = done(house.prescriber.patch(path(one), json={"items": [item()]}))
    assert (back["items"], back["template_id"]) == (one["items"], None)
    refused(house.prescriber.patch(path(one), json={"items": None}), 400, "validation_error")
    incomplete = {"items": [{"medication": item()["medication"]}]}
    refused(house.prescriber.patch(path(one), json=incomplete), 400, "validation_error")
    refused(house.prescriber.patch(path(one), json={"template_id": str(uuid4())}), 422, "template_not_found")
    assert fetch(house, one) == back


def test_patch_of_the_interval_keeps_the_next_date(house):
    one = made(house)
    changed = done(house.prescriber.patch(path(one), json={"schedule": {"every": 3, "unit": "month"}}))
    assert changed["next_due_on"] == one["next_due_on"]
    later = START + timedelta(days=3)
    moved = done(house.prescriber.patch(path(one), json={"schedule": {"start_date": later.isoformat()}}))
    assert moved["next_due_on"] == moved["schedule"]["start_date"] == later.isoformat()
    wrong = {"schedule": {"end_date": START.isoformat()}}
    refused(house.prescriber.patch(path(one), json=wrong), 400, "validation_error")


def test_states_and_their_refusals(house):
    one = made(house)
    refusal = refused(house.prescriber.post(path(one, "resume")), 409, "invalid_transition")
    assert (refusal["from"], refusal["action"], refusal["allowed"]) == ("active", "resume", ["end", "pause", "update"])
    paused = done(house.prescriber.post(path(one, "pause")))
    assert (paused["status"], paused["pause_reason"], paused["version"]) == ("paused", "by_person", 2)
    refusal = refused(house.prescriber.post(path(one, "pause")), 409, "invalid_transition")
    assert (refusal["from"], refusal["allowed"]) == ("paused", ["end", "resume", "update"])
    resumed = done(house.prescriber.post(path(one, "resume")))
    assert (resumed["status"], resumed["pause_reason"], resumed["version"]) == ("active", None, 3)
    ended = done(house.prescriber.post(path(one, "end")))
    assert (ended["status"], ended["next_due_on"], ended["version"]) == ("ended", None, 4)
    for action in ("pause", "resume", "end"):
        assert refused(house.prescriber.post(path(one, action)), 409, "invalid_transition")["allowed"] == []
    refused(house.prescriber.patch(path(one), json={"lead_days": 1}), 409, "invalid_transition")
    assert [name for name, *_ in told(house, one)] == ["created", "paused", "resumed", "ended"]
    assert fetch(house, one) == ended


def test_patch_that_leaves_nothing_ahead_completes(house):
    one = made(house, schedule={"start_date": (TODAY - timedelta(days=1)).isoformat()})
    done_ = done(house.prescriber.patch(path(one), json={"schedule": {"end_date": TODAY.isoformat()}}))
    assert (done_["status"], done_["next_due_on"], done_["version"]) == ("completed", None, 2)
    assert [name for name, *_ in told(house, one)] == ["created", "completed"]


def test_resuming_skips_what_was_missed(house):
    one = made(house)
    done(house.prescriber.post(path(one, "pause")))
    with tenant_context(house.clinic.tenant.id):
        past = TODAY - timedelta(days=15)
        rows = RecurringTreatment.objects.filter(tenant_id=house.clinic.tenant.id, pk=one["id"])
        rows.update_versions(at=datetime.now(UTC), start_date=past, base_date=past, next_due_on=past)
    resumed = done(house.prescriber.post(path(one, "resume")))
    assert resumed["occurrences_skipped"] == 3
    assert date.fromisoformat(resumed["next_due_on"]) == past + timedelta(days=21)


def test_repeat_is_replayed_and_judged_again(house):
    nurse = house.clinic.join("nurse", "leaving")
    one = done(nurse.post(BASE, json=body(house, prescriber_id=house.practitioner_id)), 201)
    key = {"Idempotency-Key": str(uuid4())}
    first = nurse.post(path(one, "pause"), headers=key)
    again = nurse.post(path(one, "pause"), headers=key)
    assert (again.json(), again.headers["Idempotency-Replayed"]) == (first.json(), "true")
    assert [name for name, *_ in told(house, one)] == ["created", "paused"]


def test_pharmacists_have_no_right_to_write(house):
    pharmacist = factories.as_member(house.clinic.tenant, ["pharmacist"])
    refused(pharmacist.post(BASE, json=body(house)), 403, "insufficient_scope")
