"""The pharmacy's steps as clients see them: acknowledge, ready, return, dispense, reverse."""

from tests.prescriptions.dispensing.counter import BASE, as_owner, as_pharmacy, assert_whole, dispense, line, refills
from tests.prescriptions.ward import done, refused


def test_pharmacy_acknowledges_once(ward):
    one = ward.routed()
    answer = ward.at_pharmacy(one, "acknowledge")
    known = done(answer)
    assert (known["route"]["state"], known["version"]) == ("acknowledged", one["version"] + 1)
    assert known["route"]["acknowledged_at"]
    again = ward.at_pharmacy(one, "acknowledge")
    assert done(again) == known
    assert again.headers["ETag"] == answer.headers["ETag"]
    assert as_owner(ward, one)["version"] == known["version"]
    assert_whole(ward)


def test_ready_implies_the_acknowledgement(ward):
    one = ward.routed()
    ready = done(ward.at_pharmacy(one, "ready"))
    assert (ready["route"]["state"], ready["route"]["progress"]) == ("acknowledged", "ready_for_collection")
    assert ready["route"]["ready_at"] == ready["route"]["acknowledged_at"]
    assert done(ward.at_pharmacy(one, "ready")) == ready
    assert_whole(ward)


def test_return_before_and_after_an_acknowledgement(ward):
    for acknowledged, state in ((False, "rejected"), (True, "returned")):
        one = ward.routed()
        if acknowledged:
            done(ward.at_pharmacy(one, "ready"))
        answer = ward.at_pharmacy(one, "return", reason_code="out_of_stock", reason_text="none left")
        back = done(answer)
        assert (back["status"], back["route"]["state"], back["route"]["progress"]) == ("signed", state, None)
        assert back["route"]["return_reason_code"] == "out_of_stock"
        assert back["route"]["returned_at"]
        refused(ward.pharmacist.get(f"{BASE}/{one['id']}"), 404, "not_found")
        refused(ward.at_pharmacy(one, "acknowledge"), 404, "not_found")
        assert as_owner(ward, one)["status"] == "signed"
        assert_whole(ward)
        again = ward.act(one, "route", pharmacy_location_id=ward.pharmacy_id)
        assert again["route"]["state"] == "sent"
        assert as_pharmacy(ward, one)["route"]["state"] == "sent"


def test_dispense_without_lines_gives_all(ward):
    one = ward.routed()
    answer = ward.at_pharmacy(one, "dispense")
    given = done(answer, 201)
    assert answer.headers["Location"] == f"{BASE}/{one['id']}/dispensations/{given['id']}"
    assert [(found["quantity"], found["unit"], found["fill_number"]) for found in given["lines"]] == [
        ("21", "tablet", 1)
    ]
    assert (given["status"], given["is_partial"], given["fill_number"]) == ("completed", False, 1)
    assert done(ward.pharmacist.get(answer.headers["Location"])) == given
    held = as_owner(ward, one)
    assert (held["status"], held["dispense_status"]) == ("dispensed", "complete")
    assert held["route"]["state"] == "acknowledged"
    assert [found["status"] for found in held["items"]] == ["complete"]
    assert as_pharmacy(ward, one)["items"] == held["items"]
    assert_whole(ward)


def test_parts_owing_and_fills(ward):
    one = ward.routed(refills(2))
    first = dispense(ward, one, lines=[line(one, quantity="20.5")])
    assert (first["is_partial"], first["fill_number"]) == (True, 1)
    found = refused(ward.at_pharmacy(one, "dispense", lines=[line(one, quantity="0.5001")]), 409, "over_dispensed")
    assert (found["item_id"], found["remaining"]) == (one["items"][0]["id"], "0.5")
    rest = dispense(ward, one)
    assert [part["quantity"] for part in rest["lines"]] == ["0.5"]
    held = as_owner(ward, one)
    assert (held["status"], held["dispense_status"], held["items"][0]["fills_used"]) == ("routed", "partial", 1)
    second = dispense(ward, one)
    assert (second["fill_number"], second["is_partial"]) == (2, False)
    held = as_owner(ward, one)
    assert (held["status"], held["items"][0]["dispensed_quantity"]) == ("dispensed", "42")
    assert_whole(ward)


def test_reason_closes_an_item_and_reversal_opens_it(ward):
    one = ward.routed(refills(), refills(code={**_IBUPROFEN}))
    closed = dispense(ward, one, lines=[line(one, 1, not_dispensed_reason="out_of_stock")])
    held = as_owner(ward, one)
    assert [found["status"] for found in held["items"]] == ["pending", "not_dispensed"]
    assert (held["dispense_status"], held["status"]) == ("none", "routed")
    dispense(ward, one)
    given = dispense(ward, one)
    assert as_owner(ward, one)["status"] == "dispensed"
    assert as_owner(ward, one)["dispense_status"] == "partial"
    path = f"{BASE}/{one['id']}/dispensations"
    back = done(ward.pharmacist.post(f"{path}/{given['id']}/reverse", json={"reason_code": "not_collected"}))
    assert (back["status"], back["reversal_reason_code"]) == ("reversed", "not_collected")
    assert back["reversed_at"]
    held = as_owner(ward, one)
    assert (held["status"], held["dispensed_at"], held["items"][0]["dispensed_quantity"]) == ("routed", None, "21")
    done(ward.pharmacist.post(f"{path}/{closed['id']}/reverse", json={"reason_code": "entered_in_error"}))
    held = as_owner(ward, one)
    assert [found["status"] for found in held["items"]] == ["partial", "pending"]
    assert_whole(ward)
    found = done(ward.prescriber.get(path))
    assert [one["status"] for one in found] == ["reversed", "completed", "reversed"]
    assert done(ward.pharmacist.get(path)) == found
    assert done(ward.prescriber.get(f"{path}/{given['id']}")) == back


_IBUPROFEN = {"system": "urn:tests", "code": "ibuprofen", "display": "ibuprofen"}
