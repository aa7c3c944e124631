"""What a pharmacy asks: renewal, change, clarification, follow-ups, and each refusal."""

from datetime import datetime
from uuid import UUID, uuid4

import pytest

from prescriptions.prescribing.sweeping import sweep
from tests import factories
from tests.prescriptions.requests.desk import (
    BASE,
    REQUESTS,
    ask,
    asked,
    assert_whole,
    fetch,
    history,
    rows_of,
    told,
)
from tests.prescriptions.ward import Side, done, refused
from tests.prescriptions.ward import ward as made_ward
from tests.races import race

CREATED, ANSWERED = "prescription_request.created", "prescription_request.answered"


def test_request_is_told_to_both_and_leaves_the_prescription_as_it_is(ward):
    one = ward.routed()
    before = ward.prescriber.get(f"{BASE}/{one['id']}")
    proposed = {"quantity": {"value": "30.0", "unit": "tablet"}, "product": None, "dosage_text": "1 tablet at night"}
    answer = ask(ward, one, "change", text="Packs of 30 only.", proposed=proposed)
    made = done(answer, 201)
    assert answer.headers["Location"] == f"{REQUESTS}/{made['id']}"
    assert made == {
        **made,
        "tenant_id": str(ward.clinic.tenant.id),
        "prescription_id": one["id"],
        "item_id": one["items"][0]["id"],
        "kind": "change",
        "text": "Packs of 30 only.",
        "proposed": {**proposed, "quantity": {"value": "30", "unit": "tablet"}},
        "status": "open",
        "pharmacy_location_id": ward.pharmacy_id,
        "prescriber_id": ward.practitioner_id,
        "follow_ups": 0,
        "answered_at": None,
        "answered_by": None,
        "answer": None,
        "draft_prescription_id": None,
        "version": 1,
        "created_by": str(ward.pharmacy.users["pharmacist"].id),
    }
    again = ward.pharmacist.get(answer.headers["Location"])
    assert (done(again), again.headers["ETag"]) == (made, answer.headers["ETag"])
    assert done(ward.prescriber.get(answer.headers["Location"])) == made
    after = ward.prescriber.get(f"{BASE}/{one['id']}")
    assert (after.content, after.headers["ETag"]) == (before.content, before.headers["ETag"])
    shown = ward.fhir.get(f"/MedicationRequest/{one['items'][0]['id']}/_history").json()
    assert shown["total"] == one["version"]
    said = {"number": one["number"], "kind": "change", "status": "open", "by": "pharmacy"}
    for side in (ward.clinic, ward.pharmacy):
        assert told(side, made) == [(CREATED, said, 1)]
    entry = history(ward, one)[-1]
    assert (entry.action, entry.from_status, entry.to_status) == ("requested", "routed", "routed")
    assert entry.details == {"request_id": made["id"], "kind": "change", "status": "open"}
    assert entry.actor["membership_id"] is None
    assert_whole(ward)


def test_history_goes_on_after_a_request(ward):
    one = ward.routed()
    asked(ward, one)
    known = done(ward.at_pharmacy(one, "acknowledge"))
    assert known["version"] == one["version"] + 1
    assert [entry.action for entry in history(ward, one)][-2:] == ["requested", "acknowledged"]
    assert_whole(ward)


def test_same_request_is_open_once_and_followed_up(ward):
    one = ward.routed()
    made = asked(ward, one, text="Soon, please.")
    found = refused(ask(ward, one, text="And now?"), 409, "request_open")
    assert found["request_id"] == made["id"]
    answer = ask(ward, one, follow_up=True)
    again = done(answer, 200)
    assert "Location" not in answer.headers
    assert again == {**made, "follow_ups": 1, "version": 2, "updated_at": again["updated_at"]}
    assert answer.headers["ETag"] == ward.pharmacist.get(f"{REQUESTS}/{made['id']}").headers["ETag"]
    newer = done(ask(ward, one, follow_up=True, text="The patient waits."), 200)
    assert (newer["follow_ups"], newer["text"], newer["version"]) == (2, "The patient waits.", 3)
    assert [(kind, version) for kind, _, version in told(ward.clinic, made)] == [
        (CREATED, 1),
        (CREATED, 2),
        (CREATED, 3),
    ]
    assert told(ward.pharmacy, made) == told(ward.clinic, made)
    assert [entry.action for entry in history(ward, one)][-3:] == ["requested"] * 3
    assert fetch(ward, one)["version"] == one["version"]
    asked(ward, one, "change")  # another kind
    asked(ward, one, "clarification", text="Which strength?")
    asked(ward, one, "clarification", text="Whose name?", item_id=None)
    assert len(rows_of(ward, one)) == 4
    assert_whole(ward)


def test_follow_up_of_nothing_is_a_request(ward):
    made = asked(ward, ward.routed(), follow_up=True)
    assert (made["follow_ups"], made["version"]) == (0, 1)


def test_eight_at_once_make_one_request(ward):
    one = ward.routed()
    body = {"kind": "renewal", "item_id": one["items"][0]["id"]}

    def work():
        return ward.pharmacy.client("pharmacist").post(f"{BASE}/{one['id']}/requests", json=body)

    answers = race(*[work] * 8)
    assert sorted(found.status_code for found in answers) == [201] + [409] * 7
    (row,) = rows_of(ward, one)
    assert {found.json()["request_id"] for found in answers if found.status_code == 409} == {str(row.id)}
    assert [entry.action for entry in history(ward, one)].count("requested") == 1
    assert_whole(ward)


def test_repeat_with_one_key_is_one_request(ward):
    one = ward.routed()
    key = {"Idempotency-Key": str(uuid4())}
    body = {"kind": "renewal", "item_id": one["items"][0]["id"]}
    first, again = (ward.pharmacist.post(f"{BASE}/{one['id']}/requests", json=body, headers=key) for _ in range(2))
    assert (again.status_code, again.content) == (first.status_code, first.content) == (201, first.content)
    assert (again.headers["Idempotency-Replayed"], again.headers["Location"]) == ("true", first.headers["Location"])
    assert len(rows_of(ward, one)) == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "renewal", "item_id": None}, "item_id"),
        ({"kind": "change", "item_id": None}, "item_id"),
        ({"kind": "clarification", "text": " "}, "text"),
        ({"kind": "recall"}, "kind"),
        ({"kind": "renewal", "text": "x" * 501}, "text"),
        ({"kind": "renewal", "proposed": {"quantity": {"value": 3, "unit": "tablet"}}}, "proposed.quantity.value"),
        ({"kind": "renewal", "proposed": {"colour": "red"}}, "proposed.colour"),
    ],
)
def test_body_that_is_not_whole_is_refused(ward, body, field):
    one = ward.routed()
    found = ask(ward, one, **body)
    assert (found.status_code, found.json()["errors"][0]["field"]) == (400, field), found.content
    assert rows_of(ward, one) == []


def test_item_of_another_prescription_is_unknown(ward):
    one, other = ward.routed(), ward.routed()
    for unknown in (other["items"][0]["id"], str(uuid4())):
        refused(ask(ward, one, item_id=unknown), 422, "unknown_item")
    assert (rows_of(ward, one), fetch(ward, one)) == ([], one)


def test_what_may_be_asked_in_which_state(ward):
    given = ward.routed()
    done(ward.at_pharmacy(given, "dispense"), 201)
    for kind in ("change", "clarification"):
        found = refused(ask(ward, given, kind, text="Why?"), 409, "invalid_transition")
        assert (found["from"], found["action"], found["allowed"]) == ("dispensed", "requests", ["reverse"])
    assert asked(ward, given)["status"] == "open"
    cancelled = ward.routed()
    ward.act(cancelled, "cancel")
    for kind in ("renewal", "change", "clarification"):
        refused(ask(ward, cancelled, kind, text="Why?"), 409, "invalid_transition")
    expired = ward.routed()
    sweep(at=datetime.fromisoformat(expired["expires_at"]))
    assert asked(ward, expired)["status"] == "open"
    assert rows_of(ward, cancelled) == []


def test_only_the_pharmacy_of_the_live_route_asks(ward):
    one = ward.routed()
    body = {"kind": "renewal", "item_id": one["items"][0]["id"]}
    second = Side(factories.provision("pharmacy"))
    second.join("pharmacist")
    path = f"{BASE}/{one['id']}/requests"
    refused(second.people["pharmacist"].post(path, json=body), 404, "not_found")
    refused(ward.prescriber.post(path, json=body), 403, "insufficient_scope")
    refused(ward.pharmacist.post(f"{BASE}/{uuid4()}/requests", json=body), 404, "not_found")
    done(ward.at_pharmacy(one, "return", reason_code="out_of_stock"))
    refused(ward.pharmacist.post(path, json=body), 404, "not_found")
    assert rows_of(ward, one) == []


def test_member_of_another_place_does_not_ask(ward):
    elsewhere = ward.pharmacy.place(name="Branch", type="pharmacy")
    limited = ward.pharmacy.join("pharmacist", "branch", location_ids=[UUID(elsewhere)])
    given = ward.routed()
    done(ward.at_pharmacy(given, "dispense"), 201)
    body = {"kind": "change", "item_id": str(uuid4())}
    refused(limited.post(f"{BASE}/{given['id']}/requests", json=body), 403, "wrong_pharmacy")


def test_request_of_a_former_pharmacy_is_closed_when_the_next_one_asks():
    ward = made_ward()
    one = ward.routed()
    former = asked(ward, one, "change")
    second = Side(factories.provision("pharmacy"))
    second.join("pharmacist")
    place = second.place(name="Second pharmacy", type="pharmacy", listed=True)
    ward.act(one, "route", pharmacy_location_id=place)
    assert done(ward.pharmacist.get(f"{REQUESTS}/{former['id']}")) == former
    body = {"kind": "change", "item_id": one["items"][0]["id"], "follow_up": True}
    client = second.people["pharmacist"]
    made = done(client.post(f"{BASE}/{one['id']}/requests", json=body), 201)
    assert (made["pharmacy_location_id"], made["follow_ups"]) == (place, 0)
    closed = done(ward.pharmacist.get(f"{REQUESTS}/{former['id']}"))
    assert (closed["status"], closed["answer"], closed["answered_by"]) == ("closed", None, None)
    assert [kind for kind, _, _ in told(ward.pharmacy, former)] == [CREATED, ANSWERED]
    assert told(second, former) == []
    refused(client.get(f"{REQUESTS}/{former['id']}"), 404, "not_found")
    refused(ward.pharmacist.get(f"{REQUESTS}/{made['id']}"), 404, "not_found")
    assert [row.status for row in rows_of(ward, one)] == ["closed", "open"]
    assert_whole(ward)


def test_cancelling_closes_what_is_open(ward):
    one = ward.routed()
    requests = [asked(ward, one), asked(ward, one, "clarification", text="How often?")]
    cancelled = ward.act(one, "cancel")
    assert cancelled["version"] == one["version"] + 1
    for request in requests:
        closed = done(ward.pharmacist.get(f"{REQUESTS}/{request['id']}"))
        assert (closed["status"], closed["version"], closed["answer"]) == ("closed", 2, None)
        assert (closed["answered_at"], closed["answered_by"]) == (cancelled["cancelled_at"], cancelled["cancelled_by"])
        for side in (ward.clinic, ward.pharmacy):
            kind, said, version = told(side, request)[-1]
            assert (kind, said["status"], said["by"], version) == (ANSWERED, "closed", "prescriber", 2)
    assert sorted(entry.action for entry in history(ward, one)[-3:]) == [
        "cancelled", "request_answered", "request_answered",
    ]  # fmt: skip
    assert_whole(ward)


def test_one_tenant_of_both_sides_is_told_once():
    ward = made_ward()
    place = ward.clinic.place(name="Own dispensary", type="pharmacy", listed=False)
    own = ward.clinic.join("pharmacist")
    one = ward.act(ward.signed(), "route", pharmacy_location_id=place)
    body = {"kind": "renewal", "item_id": one["items"][0]["id"]}
    made = done(own.post(f"{BASE}/{one['id']}/requests", json=body), 201)
    assert [kind for kind, _, _ in told(ward.clinic, made)] == [CREATED]
    for box in ("issued", "received"):
        found = own.get(f"{REQUESTS}?box={box}&prescription_id={one['id']}").json()["data"]
        assert found == [made]
    assert_whole(ward)
