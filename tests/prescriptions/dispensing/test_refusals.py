"""Each refusal of a pharmacy's step with its code, in the contract's order, and nothing changed by any."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from core.clock import now, rfc3339
from tests.prescriptions.dispensing.counter import BASE, dispense, line, move, nothing_changes, refills
from tests.prescriptions.medications.files import load_rows, medication
from tests.prescriptions.ward import RXNORM, done, item, refused

DAY = timedelta(days=1)


def coded(code):
    return {"system": RXNORM, "code": code, "display": f"medication {code}"}


def controlled(**more):
    return item(schedule="II", quantity_in_words="twenty-one", **more)


@pytest.fixture(scope="module")
def tables(ward):
    same = {"ingredients": "testin", "classes": "tests", "form": "oral capsule", "strength": "250", "unit": "mg"}
    load_rows(
        ward.clinic.tenant,
        "medications",
        medication(code="T1", display="Testin 250", **same),
        medication(code="T2", display="Generic testin 250", **same),
        medication(code="T3", display="Testin 500", **same | {"strength": "500"}),
        medication(code="T4", display="Testin of unknown form", **same | {"form": ""}),
    )


@pytest.fixture(scope="module")
def held(ward):
    return ward.routed()


def dispensing_refused(ward, one, status, code, **body):
    with nothing_changes(ward, one):
        return refused(ward.at_pharmacy(one, "dispense", **body), status, code)


def newcomer(ward):
    """A patient without other prescriptions."""
    return ward.fhir.made({"resourceType": "Patient", "name": [{"family": "Neu"}], "birthDate": "1980-01-01"})["id"]


def test_facts_of_lines_in_their_order(ward, tables):
    """One request breaks every rule; one fault after the other is mended, and the next one answers."""
    ward.pharmacy.policies(lot_number_required_on_dispense=True)
    ward.clinic.policies(controlled_witness_required=True)
    witness = ward.pharmacy.join("pharmacist", "second")
    assert witness
    one = ward.routed(
        refills(3, code={**coded("A1")}, dispense_interval_days=30),
        item(coded("T1")),
        controlled(code=coded("A2")),
        item(coded("T1"), substitution_allowed=False),
        patient_id=newcomer(ward),
    )
    dispense(ward, one, lines=[line(one, quantity="21", lot_number="L")])
    unknown = {"item_id": str(uuid4()), "quantity": "1", "lot_number": "L"}
    sound = [line(one, place, quantity="1", lot_number="L") for place in (1, 2, 3)]
    lines = [
        line(one, 1, quantity="1", unit="capsule", product=coded("U1"), expires_on="2020-01-01"),
        line(one, 1, quantity="21", product=coded("T2")),
        line(one, 0, quantity="1"),
        sound[1],
    ]
    body = {"lines": [unknown, *lines], "witness": {"membership_id": str(uuid4())}}

    dispensing_refused(ward, one, 422, "unknown_item", **body)
    body["lines"] = lines
    dispensing_refused(ward, one, 422, "unit_mismatch", **body)
    lines[0]["unit"] = "tablet"
    found = dispensing_refused(ward, one, 409, "over_dispensed", **body)
    assert (found["item_id"], found["remaining"]) == (one["items"][1]["id"], "20")
    lines[1]["quantity"] = "20"
    found = dispensing_refused(ward, one, 409, "too_early", **body)
    assert found["item_id"] == one["items"][0]["id"]
    assert found["earliest_at"] > rfc3339(now() + 22 * DAY)
    del lines[2]
    dispensing_refused(ward, one, 422, "lot_number_required", **body)
    lines[0]["lot_number"] = lines[1]["lot_number"] = "L"
    dispensing_refused(ward, one, 422, "product_expired", **body)
    lines[0]["expires_on"] = rfc3339(now() + 2 * DAY)[:10]
    dispensing_refused(ward, one, 422, "substitution_required", **body)
    lines[0]["substitution"] = {"was_substituted": True, "type": "G"}
    dispensing_refused(ward, one, 422, "substitution_required", **body)
    lines[0]["substitution"]["reason"] = "FP"
    dispensing_refused(ward, one, 422, "substitution_required", **body)
    lines[1]["substitution"] = {"was_substituted": True, "type": "G", "reason": "FP"}
    dispensing_refused(ward, one, 422, "substitution_not_verifiable", **body)
    lines[0]["product"] = coded("T4")
    dispensing_refused(ward, one, 422, "substitution_not_verifiable", **body)
    lines[0]["product"] = coded("T3")
    dispensing_refused(ward, one, 422, "substitution_not_allowed", **body)
    lines[0]["product"] = coded("T2")
    lines[0]["substitution"]["type"] = "TE"
    dispensing_refused(ward, one, 422, "substitution_not_allowed", **body)
    lines[0]["substitution"]["type"] = "E"
    forbidden = sound[2] | {"product": coded("T2"), "substitution": lines[1]["substitution"]}
    dispensing_refused(ward, one, 422, "substitution_not_allowed", **body | {"lines": [*lines, forbidden]})
    dispensing_refused(ward, one, 422, "identity_check_required", **body)
    body["receiver"] = {"name": "Eva", "id_checked": False}
    dispensing_refused(ward, one, 422, "identity_check_required", **body)
    body["receiver"]["id_checked"] = True
    dispensing_refused(ward, one, 422, "witness_required", **body)
    for role in ("pharmacist", "technician", "prescriber"):
        if role == "technician":
            ward.pharmacy.join("pharmacy_technician", role)
        side = ward.clinic if role == "prescriber" else ward.pharmacy
        body["witness"] = {"membership_id": str(side.memberships[role].id)}
        dispensing_refused(ward, one, 422, "witness_required", **body)
    del body["witness"]
    dispensing_refused(ward, one, 422, "witness_required", **body)
    body["witness"] = {"membership_id": str(ward.pharmacy.memberships["second"].id)}
    given = dispense(ward, one, **body)
    assert given["witness"] == body["witness"]
    assert given["receiver"] == {"name": "Eva", "relationship": None, "id_checked": True}
    assert given["lines"][0]["substitution"] == {"was_substituted": True, "type": "E", "reason": "FP"}
    ward.pharmacy.policies(lot_number_required_on_dispense=False)
    ward.clinic.policies(controlled_witness_required=False)


def test_times_in_their_order(ward):
    one = ward.routed(valid_from=rfc3339(now() + 3 * DAY)[:10])
    hour = timedelta(hours=1)
    for at in (now() - hour, now() + timedelta(minutes=6)):
        dispensing_refused(ward, one, 422, "handed_over_at_out_of_range", handed_over_at=rfc3339(at))
    found = dispensing_refused(ward, one, 409, "not_yet_valid")
    assert found["valid_from"] == rfc3339(now() + 3 * DAY)[:10]
    dispensing_refused(ward, one, 409, "not_yet_valid", lines=[{"item_id": str(uuid4()), "quantity": "1"}])
    move(one, signed_at=now() - DAY, expires_at=now())
    dispensing_refused(ward, one, 409, "prescription_expired")
    move(one, valid_from=None)
    dispensing_refused(ward, one, 409, "prescription_expired", lines=[{"item_id": str(uuid4()), "quantity": "1"}])


def test_late_entry_counts_as_of_the_handing_over(ward):
    one = ward.routed()
    handed = now()
    move(one, signed_at=now() - DAY, expires_at=now() + timedelta(milliseconds=1))
    given = dispense(ward, one, handed_over_at=rfc3339(handed + timedelta(milliseconds=1)))
    assert given["handed_over_at"] < given["created_at"]


def test_places_and_states_before_all_else(ward):
    one = ward.routed()
    body = {"handed_over_at": "2020-01-01T00:00:00Z", "pharmacy_location_id": str(uuid4())}
    dispensing_refused(ward, one, 403, "wrong_pharmacy", **body)
    done(ward.prescriber.post(f"{BASE}/{one['id']}/cancel", json={}))
    dispensing_refused(ward, one, 403, "wrong_pharmacy", **body)
    body["pharmacy_location_id"] = ward.pharmacy_id
    found = dispensing_refused(ward, one, 409, "invalid_transition", **body)
    assert (found["from"], found["action"], found["allowed"]) == ("cancelled", "dispense", ["acknowledge"])


def test_members_of_other_places_do_not_act(ward):
    elsewhere = ward.pharmacy.place(name="Elsewhere", type="pharmacy")
    other = ward.pharmacy.join("pharmacist", "elsewhere", location_ids=(UUID(elsewhere),))
    one = ward.routed()
    bodies = {"acknowledge": {}, "ready": {}, "return": {"reason_code": "other"}, "dispense": {}}
    for action, body in bodies.items():
        with nothing_changes(ward, one):
            refused(other.post(f"{BASE}/{one['id']}/{action}", json=body), 403, "wrong_pharmacy")
    assert done(other.get(f"{BASE}/{one['id']}"))["id"] == one["id"]
    given = dispense(ward, one)
    path = f"{BASE}/{one['id']}/dispensations/{given['id']}/reverse"
    with nothing_changes(ward, one):
        refused(other.post(path, json={"reason_code": "other"}), 403, "wrong_pharmacy")


def test_strangers_and_owners_find_nothing(ward):
    one = ward.routed()
    stranger = ward.clinic.join("pharmacist", "own pharmacist")
    bodies = {"acknowledge": {}, "ready": {}, "return": {"reason_code": "other"}, "dispense": {}}
    for action, body in bodies.items():
        with nothing_changes(ward, one):
            refused(stranger.post(f"{BASE}/{one['id']}/{action}", json=body), 404, "not_found")
    refused(ward.prescriber.post(f"{BASE}/{one['id']}/dispense", json={}), 403, "insufficient_scope")


def test_states_that_refuse(ward):
    given = ward.routed()
    dispense(ward, given)
    cancelled = ward.routed()
    done(ward.prescriber.post(f"{BASE}/{cancelled['id']}/cancel", json={}))
    for one, actions in ((given, ("acknowledge", "ready", "return", "dispense")), (cancelled, ("ready", "return"))):
        for action in actions:
            with nothing_changes(ward, one):
                body = {"reason_code": "other"} if action == "return" else {}
                found = refused(ward.at_pharmacy(one, action, **body), 409, "invalid_transition")
                assert found["action"] == action


def test_what_was_begun_is_not_returned_nor_rerouted(ward):
    one = ward.routed()
    dispense(ward, one, lines=[line(one, quantity="1")])
    with nothing_changes(ward, one):
        refused(ward.at_pharmacy(one, "return", reason_code="other"), 409, "partially_dispensed")
        other = ward.pharmacy.place(name="Third", type="pharmacy", listed=True)
        answer = ward.prescriber.post(f"{BASE}/{one['id']}/route", json={"pharmacy_location_id": other})
        refused(answer, 409, "partially_dispensed")


def test_reversal_in_its_order(ward):
    one, two = ward.routed(), ward.routed()
    given, other = dispense(ward, one), dispense(ward, two)

    def reverse(key, status, code, **headers):
        path = f"{BASE}/{one['id']}/dispensations/{key}/reverse"
        with nothing_changes(ward, one):
            return refused(ward.pharmacist.post(path, json={"reason_code": "other"}, headers=headers), status, code)

    reverse(other["id"], 404, "not_found")
    reverse(str(uuid4()), 404, "not_found")
    reverse(given["id"], 409, "version_conflict", **{"If-Match": '"9"'})
    ward.clinic.policies(dispense_reversal_hours=0)
    reverse(given["id"], 409, "reversal_window_closed")
    path = f"{BASE}/{one['id']}/dispensations/{given['id']}/reverse"
    ward.clinic.policies(dispense_reversal_hours=1)
    done(ward.pharmacist.post(path, json={"reason_code": "other"}))
    ward.clinic.policies(dispense_reversal_hours=0)
    found = reverse(given["id"], 409, "invalid_transition")
    assert (found["from"], found["allowed"]) == ("reversed", [])
    ward.clinic.policies(dispense_reversal_hours=24)
    done(ward.prescriber.post(f"{BASE}/{one['id']}/cancel", json={}))
    reverse(given["id"], 409, "invalid_transition")


def test_reversal_is_possible_after_expiry_and_not_after_cancelling(ward):
    one = ward.routed(refills(2))
    given = dispense(ward, one)
    path = f"{BASE}/{one['id']}/dispensations/{given['id']}/reverse"
    move(one, signed_at=now() - DAY, expires_at=now())
    assert done(ward.pharmacist.post(path, json={"reason_code": "other"}))["status"] == "reversed"
    two = ward.routed(refills(2))
    given = dispense(ward, two)
    done(ward.prescriber.post(f"{BASE}/{two['id']}/cancel", json={}))
    path = f"{BASE}/{two['id']}/dispensations/{given['id']}/reverse"
    with nothing_changes(ward, two):
        refused(ward.pharmacist.post(path, json={"reason_code": "other"}), 409, "invalid_transition")


def test_signer_does_not_dispense_unless_the_owner_lets_him(ward):
    one = ward.routed()
    person = ward.clinic.users["prescriber"]
    signer = ward.pharmacy.join("pharmacist", "signer", person=person)
    path = f"{BASE}/{one['id']}/dispense"
    with nothing_changes(ward, one):
        refused(signer.post(path, json={"handed_over_at": "2020-01-01T00:00:00Z"}), 403, "separation_of_duties")
    ward.pharmacy.policies(dispensing_prescriber_allowed=True)
    with nothing_changes(ward, one):
        refused(signer.post(path, json={}), 403, "separation_of_duties")
    ward.clinic.policies(dispensing_prescriber_allowed=True)
    done(signer.post(path, json={}), 201)
    ward.clinic.policies(dispensing_prescriber_allowed=False)


@pytest.mark.parametrize(
    ("found", "fields"),
    [
        ({"quantity": "1", "not_dispensed_reason": "other"}, {"lines.0.quantity"}),
        ({}, {"lines.0.quantity"}),
        ({"quantity": "0"}, {"lines.0.quantity"}),
        ({"quantity": 1}, {"lines.0.quantity"}),
        ({"quantity": "1.00001"}, {"lines.0.quantity"}),
        ({"quantity": "1", "expires_on": "soon"}, {"lines.0.expires_on"}),
        ({"quantity": "1", "substitution": {"was_substituted": True}}, {"lines.0.product"}),
        ({"not_dispensed_reason": "bored"}, {"lines.0.not_dispensed_reason"}),
    ],
)
def test_forms(ward, held, found, fields):
    body = {"item_id": str(uuid4()), **found}
    answer = dispensing_refused(ward, held, 400, "validation_error", lines=[body])
    assert {error["field"] for error in answer["errors"]} == fields


def test_instants_need_an_offset(ward, held):
    for at in ("2026-01-01T00:00:00", "0001-01-01T00:00:00+10:00", "yesterday"):
        dispensing_refused(ward, held, 400, "validation_error", handed_over_at=at)
