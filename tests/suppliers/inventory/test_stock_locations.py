"""Stock locations: made, replaced by whoever has seen them, and refused."""

import pytest

from core.db import tenant_context
from organizations.models import Location
from tests.suppliers import products
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.inventory.test_inventory import PLACES, listed, place


def test_stock_location_is_made_and_replaced(shelf):
    made = place(
        shelf,
        name="Cold room",
        type="cold_room",
        code="CR-1",
        temperature={"min_c": 2, "max_c": 8},
        gln="4006381333931",
    )
    assert (made["name"], made["type"], made["code"], made["sellable"]) == ("Cold room", "cold_room", "CR-1", True)
    assert (made["temperature"], made["gln"], made["version"]) == ({"min_c": 2.0, "max_c": 8.0}, "4006381333931", 1)
    answer = shelf.api.post(PLACES, json={"location_id": made["id"], "code": "CR-2", "sellable": False})
    assert (answer.status_code, answer.json()["data"]["code"], answer.json()["data"]["version"]) == (200, "CR-2", 2)
    assert [one["code"] for one in listed(shelf, PLACES, "sellable=false")] == ["CR-2"]
    refused(shelf.api.post(PLACES, json={"name": "x", "type": "bin", "code": "CR-2"}), 409, "duplicate")


def test_stock_location_has_an_address_and_may_be_out_of_use(shelf):
    address = {"lines": ["1 North Street"], "city": "Bergen", "postal_code": "5003", "country": "NO"}
    made = place(shelf, address=address, active=False)
    assert (made["address"], made["active"]) == (address, False)
    with tenant_context(shelf.id):
        assert Location.objects.get(tenant_id=shelf.id, pk=made["id"]).status == "inactive"
    plain = place(shelf)
    assert (plain["address"], plain["active"]) == (None, True)
    for member in ({"address": address}, {"active": False}):
        answer = shelf.api.post(PLACES, json={"location_id": made["id"], "code": made["code"]} | member)
        assert ("location_id", "invalid") in products.field_errors(answer)


def test_stock_location_is_replaced_by_whoever_has_seen_it(shelf):
    made = place(shelf)
    body = {"location_id": made["id"], "code": made["code"], "sellable": False}
    for more, headers in (({"version": 99}, {}), ({}, {"If-Match": '"99"'})):
        answer = shelf.api.post(PLACES, json=body | more, headers=headers)
        assert refused(answer, 409, "version_conflict")["current_version"] == 1
    answer = shelf.api.post(PLACES, json=body | {"version": 1}, headers={"If-Match": '"1"'})
    assert (answer.status_code, answer.json()["data"]["version"]) == (200, 2)
    answer = shelf.api.post(PLACES, json={"name": "x", "type": "bin", "code": "X"}, headers={"If-Match": '"1"'})
    assert refused(answer, 409, "version_conflict")["current_version"] is None


@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        ({"type": "quarantine"}, "sellable", "invalid"), ({"type": "ward"}, "type", "invalid_choice"),
        ({"gln": "4006381333932"}, "gln", "invalid_gln"), ({"name": ""}, "name", "required"),
        ({"temperature": {"min_c": 8, "max_c": 2}}, "temperature.min_c", "max_value"),
        ({"time_zone": "Mars"}, "time_zone", "unknown_time_zone"),
    ],
)  # fmt: skip
def test_bad_places(shelf, change, field, code):
    given = {"name": "Hall", "type": "warehouse", "code": "H"} | change
    assert (field, code) in products.field_errors(shelf.api.post(PLACES, json=given))


# -- adjustments -------------------------------------------------------------------------------------------------------
