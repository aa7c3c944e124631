"""Every action in every status: what the lifecycle does not admit is 409 with the words of the paths, and changes nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from prescriptions.states import ALLOWED, Status
from tests.prescriptions.ward import done, refused


def dispensed(ward):
    one = ward.routed()
    done(ward.at_pharmacy(one, "dispense"), 201)
    return one


def cancelled(ward):
    one = ward.routed()
    return ward.act(one, "cancel", reason_code="other")


def validated(ward):
    return ward.act(ward.draft(), "validate")


MAKE: dict[str, Callable[[Any], dict[str, Any]]] = {
    Status.DRAFT: lambda ward: ward.draft(),
    Status.CLINICALLY_VALIDATED: validated,
    Status.SIGNED: lambda ward: ward.signed(),
    Status.ROUTED: lambda ward: ward.routed(),
    Status.DISPENSED: dispensed,
    Status.CANCELLED: cancelled,
}


OWNERS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "update": lambda ward, one: ward.prescriber.put(
        f"/v1/prescriptions/{one['id']}", json={**ward.body(), "version": one["version"]}
    ),
    "validate": lambda ward, one: ward.prescriber.post(f"/v1/prescriptions/{one['id']}/validate", json={}),
    "sign": lambda ward, one: ward.prescriber.post(f"/v1/prescriptions/{one['id']}/sign", json={}),
    "route": lambda ward, one: ward.prescriber.post(
        f"/v1/prescriptions/{one['id']}/route", json={"pharmacy_location_id": ward.own_pharmacy}
    ),
    "token": lambda ward, one: ward.prescriber.post(f"/v1/prescriptions/{one['id']}/token"),
    "cancel": lambda ward, one: ward.prescriber.post(
        f"/v1/prescriptions/{one['id']}/cancel", json={"reason_code": "other"}
    ),
}
PHARMACYS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "acknowledge": lambda ward, one: ward.at_pharmacy(one, "acknowledge"),
    "return": lambda ward, one: ward.at_pharmacy(one, "return", reason_code="out_of_stock"),
    "ready": lambda ward, one: ward.at_pharmacy(one, "ready"),
    "dispense": lambda ward, one: ward.at_pharmacy(one, "dispense"),
}


@pytest.fixture(scope="module")
def ward(ward):
    ward.own_pharmacy = ward.clinic.place(name="Pharmacy of the house", type="pharmacy")
    return ward


def everything(ward, one):
    """All that either side can read of it."""
    own = ward.prescriber.get(f"/v1/prescriptions/{one['id']}")
    copy = ward.pharmacist.get(f"/v1/prescriptions/{one['id']}")
    request = ward.fhir.get(f"/MedicationRequest/{own.json()['data']['items'][0]['id']}")
    return own.json()["data"], copy.json().get("data"), request.json()


@pytest.mark.parametrize("status", list(MAKE))
@pytest.mark.parametrize("action", [*OWNERS, *PHARMACYS])
def test_action_in_status(ward, status, action):
    one = MAKE[status](ward)
    before = everything(ward, one)
    run = OWNERS.get(action) or PHARMACYS[action]
    answer = run(ward, before[0])
    if action in ALLOWED[status]:
        assert answer.status_code in (200, 201), answer.content
        return
    if action in PHARMACYS and before[1] is None:
        refused(answer, 404, "not_found")  # no pharmacy holds it yet
    else:
        found = refused(answer, 409, "invalid_transition")
        assert (found["from"], found["action"], found["allowed"]) == (status, action, list(ALLOWED[status]))
    assert everything(ward, one) == before


@pytest.mark.parametrize("status", list(MAKE))
def test_prescription_is_never_deleted(ward, status):
    one = MAKE[status](ward)
    answer = ward.prescriber.delete(f"/v1/prescriptions/{one['id']}")
    assert answer.status_code == 405
