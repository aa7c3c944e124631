"""What the prescriber answers, the draft that an approval makes, and each refusal."""

from uuid import UUID, uuid4

import pytest

from organizations.models import Tenant
from tests import factories
from tests.prescriptions.requests.desk import (
    BASE,
    REQUESTS,
    answer,
    asked,
    assert_whole,
    fetch,
    history,
    rows_of,
    told,
)
from tests.prescriptions.ward import AMOXICILLIN, PLAIN, Side, done, item, refused
from tests.prescriptions.ward import ward as made_ward
from tests.races import race

ANSWERED = "prescription_request.answered"
OTHER = {"system": "urn:tests", "code": "other", "display": "other"}
CODING = {"system": "http://hl7.org/fhir/sid/icd-10", "code": "I10", "display": "Hypertension"}


def drafts_after(ward, one):
    found = ward.prescriber.get(f"{BASE}?box=issued&status=draft&limit=200").json()["data"]
    return [row for row in found if row["prior_prescription_id"] == one["id"]]


def test_renewal_of_what_is_still_open_is_signed_without_an_override():
    ward = made_ward()
    one = ward.routed(item(AMOXICILLIN))
    found = done(answer(ward, asked(ward, one, item_id=one["items"][0]["id"]), "approved"))
    signed = ward.act({"id": found["draft_prescription_id"]}, "sign")
    assert signed["status"] == "signed"
    told = {(issue["code"], issue["severity"]) for issue in signed["validation"]["issues"]}
    assert ("duplicate.ingredient", "low") in told


def test_renewal_leads_to_a_draft_that_is_signed(ward):
    one = ward.routed(item(), item(OTHER, quantity={"value": "5", "unit": "tablet"}), reason_codes=[CODING])
    done(ward.at_pharmacy(one, "dispense"), 201)
    one = fetch(ward, one)
    request = asked(ward, one, item_id=one["items"][1]["id"])
    before = ward.prescriber.get(f"{BASE}/{one['id']}")
    response = answer(ward, request, "approved", note="See you in May.")
    found = done(response)
    assert (found["status"], found["version"]) == ("approved", 2)
    assert found["answer"] == {"reason_code": None, "note": "See you in May."}
    assert (found["answered_by"], bool(found["answered_at"])) == (str(ward.clinic.users["prescriber"].id), True)
    assert done(ward.pharmacist.get(f"{REQUESTS}/{request['id']}")) == found
    assert response.headers["ETag"] == ward.prescriber.get(f"{REQUESTS}/{request['id']}").headers["ETag"]
    draft = fetch(ward, {"id": found["draft_prescription_id"]})
    assert (draft["status"], draft["version"], draft["prior_prescription_id"]) == ("draft", 1, one["id"])
    assert (draft["prescriber_id"], draft["reason_codes"]) == (one["prescriber_id"], one["reason_codes"])
    (renewed,) = draft["items"]
    asked_for = one["items"][1]
    same = ("medication", "dosage", "quantity", "days_supply", "fills_allowed", "substitution_allowed")
    assert {name: renewed[name] for name in same} == {name: asked_for[name] for name in same}
    assert (renewed["dispensed_quantity"], renewed["status"]) == ("0", "pending")
    shown = ward.fhir.get(f"/MedicationRequest/{renewed['id']}").json()
    assert shown["priorPrescription"]["reference"] == f"MedicationRequest/{asked_for['id']}"
    after = ward.prescriber.get(f"{BASE}/{one['id']}")
    assert (after.content, after.headers["ETag"]) == (before.content, before.headers["ETag"])
    said = {"number": one["number"], "kind": "renewal", "status": "approved", "by": "prescriber"}
    for side in (ward.clinic, ward.pharmacy):
        assert told(side, request)[-1] == (ANSWERED, said, 2)
    assert (history(ward, one)[-1].action, history(ward, one)[-1].details["status"]) == ("request_answered", "approved")
    assert [entry.action for entry in history(ward, draft)] == ["created"]
    assert ward.act(draft, "sign")["status"] == "signed"
    assert_whole(ward)


def test_approved_change_is_drafted_as_proposed(ward):
    words = {"quantity_in_words": "twenty-one", "authorization_number": "A-1", "fills_allowed": 2}
    one = ward.routed(item(**words))
    proposed = {
        "product": {"system": "urn:tests", "code": "newer"},
        "quantity": {"value": "30", "unit": "tablet"},
        "dosage_text": "1 tablet at night",
    }
    found = done(answer(ward, asked(ward, one, "change", proposed=proposed), "approved"))
    (changed,) = fetch(ward, {"id": found["draft_prescription_id"]})["items"]
    assert (changed["medication"]["code"], changed["medication"]["display"]) == ("newer", "newer")
    assert (changed["quantity"], changed["quantity_in_words"], changed["days_supply"]) == (
        proposed["quantity"], None, None,
    )  # fmt: skip
    assert [one["text"] for one in changed["dosage"]] == ["1 tablet at night"]
    assert changed["dosage"][0]["dose"] is None
    assert (changed["authorization_number"], changed["fills_allowed"]) == (None, 2)
    assert fetch(ward, one) == one


def test_approval_with_changes_takes_the_items_of_the_answer(ward):
    one = ward.routed()
    items = [item(OTHER, quantity={"value": "7", "unit": "tablet"}), item(PLAIN)]
    found = done(answer(ward, asked(ward, one), "approved_with_changes", items=items))
    assert found["status"] == "approved_with_changes"
    drafted = fetch(ward, {"id": found["draft_prescription_id"]})["items"]
    assert [one["medication"]["code"] for one in drafted] == ["other", PLAIN["code"]]


def test_denial_and_answer_make_no_draft(ward):
    one = ward.routed()
    denied = done(answer(ward, asked(ward, one), "denied", reason_code="too_soon"))
    assert (denied["status"], denied["answer"]) == ("denied", {"reason_code": "too_soon", "note": None})
    question = asked(ward, one, "clarification", text="Before meals?", item_id=None)
    told_so = done(answer(ward, question, "answered", note="After meals."))
    assert (told_so["status"], told_so["answer"]["note"]) == ("answered", "After meals.")
    second = asked(ward, one, "clarification", text="Really?", item_id=None)
    assert done(answer(ward, second, "denied", reason_code="other"))["status"] == "denied"
    assert (denied["draft_prescription_id"], drafts_after(ward, one)) == (None, [])
    asked(ward, one)  # what is answered may be asked anew
    assert_whole(ward)


@pytest.mark.parametrize(
    ("kind", "decision", "allowed"),
    [
        ("renewal", "answered", ["approved", "approved_with_changes", "denied"]),
        ("change", "answered", ["approved", "approved_with_changes", "denied"]),
        ("clarification", "approved", ["answered", "denied"]),
        ("clarification", "approved_with_changes", ["answered", "denied"]),
    ],
)
def test_answer_to_another_question_is_refused(ward, kind, decision, allowed):
    one = ward.routed()
    request = asked(ward, one, kind, text="Why?")
    more = {"items": [item()]} if decision == "approved_with_changes" else {}
    found = refused(answer(ward, request, decision, **more), 409, "invalid_transition")
    assert (found["from"], found["action"], found["allowed"]) == ("open", "respond", allowed)
    assert done(ward.prescriber.get(f"{REQUESTS}/{request['id']}")) == request
    assert drafts_after(ward, one) == []


def test_answer_is_given_once(ward):
    one = ward.routed()
    request = asked(ward, one)
    body = {"decision": "approved"}

    def work():
        return ward.clinic.client("prescriber").post(f"{REQUESTS}/{request['id']}/respond", json=body)

    assert sorted(found.status_code for found in race(*[work] * 4)) == [200, 409, 409, 409]
    found = refused(answer(ward, request, "denied", reason_code="other"), 409, "invalid_transition")
    assert (found["from"], found["allowed"]) == ("approved", [])
    assert len(drafts_after(ward, one)) == 1
    ward.act(one, "cancel")
    closed = asked_then_cancelled(ward)
    assert refused(answer(ward, closed, "approved"), 409, "invalid_transition")["from"] == "closed"


def asked_then_cancelled(ward):
    other = ward.routed()
    request = asked(ward, other)
    ward.act(other, "cancel")
    return request


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "decision"),
        ({"decision": "open"}, "decision"),
        ({"decision": "closed"}, "decision"),
        ({"decision": "denied"}, "reason_code"),
        ({"decision": "denied", "reason_code": "tired"}, "reason_code"),
        ({"decision": "approved", "reason_code": "other"}, "reason_code"),
        ({"decision": "approved_with_changes"}, "items"),
        ({"decision": "approved_with_changes", "items": []}, "items"),
        ({"decision": "denied", "reason_code": "other", "items": [item()]}, "items"),
        ({"decision": "approved", "note": "x" * 501}, "note"),
    ],
)
def test_answer_that_is_not_whole_is_refused(ward, body, field):
    request = asked(ward, ward.routed())
    found = ward.prescriber.post(f"{REQUESTS}/{request['id']}/respond", json=body)
    assert found.status_code == 400, found.content
    assert found.json()["errors"][0]["field"].startswith(field)
    assert done(ward.prescriber.get(f"{REQUESTS}/{request['id']}")) == request


def test_answer_to_a_former_version_is_a_conflict(ward):
    one = ward.routed()
    request = asked(ward, one)
    done(ward.at_pharmacy(one, "requests", kind="renewal", item_id=request["item_id"], follow_up=True))
    found = refused(answer(ward, request, "approved", version=1), 409, "version_conflict")
    assert found["current_version"] == 2
    assert done(answer(ward, request, "approved", version=2))["version"] == 3


def test_repeat_with_one_key_makes_one_draft(ward):
    one = ward.routed()
    request, key = asked(ward, one), {"Idempotency-Key": str(uuid4())}
    path = f"{REQUESTS}/{request['id']}/respond"
    first, again = (ward.prescriber.post(path, json={"decision": "approved"}, headers=key) for _ in range(2))
    assert (first.status_code, again.content, again.headers["Idempotency-Replayed"]) == (200, first.content, "true")
    assert len(drafts_after(ward, one)) == 1


def test_refused_draft_leaves_the_request_open():
    ward = made_ward()
    ward.clinic.policies(free_text_medication_allowed=True)
    one = ward.routed(item(code=None, medication_text="a salve of the pharmacy's own"))
    request = asked(ward, one)
    ward.clinic.policies(free_text_medication_allowed=False)
    found = answer(ward, request, "approved")
    assert (found.status_code, found.json()["errors"][0]["field"]) == (400, "items.0.medication")
    assert [row.status for row in rows_of(ward, one)] == ["open"]
    assert history(ward, one)[-1].action == "requested"
    assert done(answer(ward, request, "approved_with_changes", items=[item()]))["draft_prescription_id"]


def test_only_the_owner_answers(ward):
    one = ward.routed()
    request = asked(ward, one)
    path, body = f"{REQUESTS}/{request['id']}/respond", {"decision": "approved"}
    stranger = Side(factories.provision("provider")).join("prescriber")
    for method, client in (("get", stranger), ("post", stranger)):
        target = path if method == "post" else f"{REQUESTS}/{request['id']}"
        refused(getattr(client, method)(target, **({"json": body} if method == "post" else {})), 404, "not_found")
    assert ward.pharmacist.post(path, json=body).status_code in (403, 404)
    refused(ward.prescriber.post(f"{REQUESTS}/{uuid4()}/respond", json=body), 404, "not_found")
    assert done(ward.prescriber.get(f"{REQUESTS}/{request['id']}")) == request


def test_place_limits_who_reads_and_answers(ward):
    here, there = ward.clinic.place(name="Ward A"), ward.clinic.place(name="Ward B")
    limited = ward.clinic.join("nurse", "limited", location_ids=[UUID(here)])
    mine, other, free = (asked(ward, ward.routed(location_id=place)) for place in (here, there, None))
    ids = {row["id"] for row in limited.get(f"{REQUESTS}?limit=200").json()["data"]}
    assert {one["id"] in ids for one in (mine, free)} == {True}
    assert other["id"] not in ids
    refused(limited.get(f"{REQUESTS}/{other['id']}"), 404, "not_found")
    body = {"decision": "denied", "reason_code": "other"}
    refused(limited.post(f"{REQUESTS}/{other['id']}/respond", json=body), 404, "not_found")
    for one in (mine, free):
        assert done(limited.get(f"{REQUESTS}/{one['id']}")) == one
        assert done(limited.post(f"{REQUESTS}/{one['id']}/respond", json=body))["status"] == "denied"


def test_closed_pharmacy_hinders_neither_answer_nor_cancellation():
    ward = made_ward()
    one = ward.routed()
    request = asked(ward, one)
    for status in ("offboarding", "closed"):
        Tenant.objects.filter(pk=ward.pharmacy.tenant.pk).update(status=status)
    assert done(answer(ward, request, "approved"))["status"] == "approved"
    assert [kind for kind, _, _ in told(ward.clinic, request)][-1] == ANSWERED
    assert ward.act(one, "cancel")["status"] == "cancelled"


def test_pharmacy_of_a_closed_owner_cannot_ask_but_reads():
    ward = made_ward()
    one = ward.routed()
    request = asked(ward, one)
    for status in ("offboarding", "closed"):
        Tenant.objects.filter(pk=ward.clinic.tenant.pk).update(status=status)
    body = {"kind": "change", "item_id": one["items"][0]["id"]}
    refused(ward.pharmacist.post(f"{BASE}/{one['id']}/requests", json=body), 409, "owner_closed")
    assert done(ward.pharmacist.get(f"{REQUESTS}/{request['id']}")) == request
