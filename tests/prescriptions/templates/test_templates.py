"""Templates: who sees them, who changes them, their names, and the drafts that are made of them."""

from uuid import UUID, uuid4

import pytest

from core.db import tenant_context
from ledger.models import Event
from tests import factories
from tests.prescriptions.ward import done, item, refused, ward

BASE = "/v1/prescriptions/templates"
PREFIX = "prescription_template."


@pytest.fixture(scope="module")
def house(ward):
    ward.clinic.join("clinical_lead")
    return ward


@pytest.fixture
def nurse(house):
    return house.clinic.people["nurse"]


@pytest.fixture
def lead(house):
    return house.clinic.people["clinical_lead"]


def body(**more):
    return {"name": f"Template {uuid4().hex[:8]}", "items": [item()], **more}


def made(api, **more):
    return done(api.post(BASE, json=body(**more)), 201)


def told(house, one):
    with tenant_context(house.clinic.tenant.id):
        rows = Event.objects.filter(tenant_id=house.clinic.tenant.id, resource_id=one["id"]).order_by("id")
        return [(row.type.removeprefix(PREFIX), row.data, row.resource_version) for row in rows]


def names(api, query=""):
    answer = api.get(f"{BASE}?limit=200{query}")
    assert answer.status_code == 200, answer.content
    return [one["name"] for one in answer.json()["data"]]


def test_template_is_made_read_replaced_and_archived(house):
    api = house.prescriber
    answer = api.post(BASE, json=body(name="Sore throat", description="Adults", default_notes="Call us"))
    one = done(answer, 201)
    assert answer.headers["Location"] == f"{BASE}/{one['id']}"
    assert (one["visibility"], one["is_active"], one["usage_count"], one["version"]) == ("private", True, 0, 1)
    assert one["owner_id"] == str(house.clinic.users["prescriber"].id)
    assert one["items"][0]["quantity"] == {"value": "21", "unit": "tablet"}
    assert one["items"][0]["dosage"][0]["text"] == "1 tablet three times a day"
    path = f"{BASE}/{one['id']}"
    assert done(api.get(path)) == one
    refused(api.put(path, json={**body(), "version": 7}), 409, "version_conflict")
    changed = done(api.put(path, json=body(name="Throat", visibility="tenant"), headers={"If-Match": '"1"'}))
    assert (changed["name"], changed["version"], changed["description"]) == ("Throat", 2, None)
    assert api.delete(path).status_code == 204
    for answer in (api.get(path), api.put(path, json=body()), api.delete(path)):
        refused(answer, 404, "not_found")
    assert "Throat" not in names(api)
    assert told(house, one) == [
        ("created", {"visibility": "private"}, 1),
        ("updated", {"visibility": "tenant"}, 2),
        ("deleted", {"visibility": "tenant"}, 3),
    ]


def test_what_was_written_is_written_back_without_a_new_version(house):
    one = made(house.prescriber, visibility="tenant")
    fields = ("name", "description", "visibility", "location_id", "specialty", "items", "default_notes")
    again = done(house.prescriber.put(f"{BASE}/{one['id']}", json={name: one[name] for name in fields}))
    assert again == one


def test_name_is_once_for_each_owner_and_free_after_archiving(house, nurse):
    one = made(house.prescriber, name="Cough")
    other = made(house.prescriber, name="Cold")
    refused(house.prescriber.post(BASE, json=body(name="Cough")), 409, "duplicate")
    refused(house.prescriber.put(f"{BASE}/{other['id']}", json=body(name="Cough")), 409, "duplicate")
    assert done(house.prescriber.get(f"{BASE}/{other['id']}")) == other
    assert made(nurse, name="Cough")["name"] == "Cough"
    assert house.prescriber.delete(f"{BASE}/{one['id']}").status_code == 204
    assert made(house.prescriber, name="Cough")["id"] != one["id"]


def test_private_template_is_there_for_its_owner_alone(house, nurse, lead):
    one = made(house.prescriber, name="Mine alone")
    path = f"{BASE}/{one['id']}"
    for api in (nurse, lead):
        refused(api.get(path), 404, "not_found")
        refused(api.put(path, json=body()), 404, "not_found")
        refused(api.delete(path), 404, "not_found")
        assert "Mine alone" not in names(api)
        refused(api.post("/v1/prescriptions", json=draft(house, one)), 422, "template_not_found")
    assert "Mine alone" in names(house.prescriber)
    assert done(house.prescriber.get(path)) == one


def draft(house, one, **more):
    return {"patient_id": house.patient_id, "template_id": one["id"], **more}


def test_template_of_the_tenant_is_changed_by_owner_and_clinical_lead(house, nurse, lead):
    one = made(house.prescriber, visibility="tenant")
    path = f"{BASE}/{one['id']}"
    refused(nurse.put(path, json=body()), 403, "not_the_owner")
    refused(nurse.delete(path), 403, "not_the_owner")
    assert done(nurse.get(path)) == one
    changed = done(lead.put(path, json=body(visibility="tenant", name="Led")))
    assert (changed["name"], changed["owner_id"]) == ("Led", one["owner_id"])
    assert lead.delete(path).status_code == 204


def test_template_of_a_location_is_seen_by_those_who_reach_it(house, nurse, lead):
    here, there = house.clinic.place(name="Ward 1"), house.clinic.place(name="Ward 2")
    at_here = house.clinic.join("nurse", "here", location_ids=[UUID(here)])
    at_there = house.clinic.join("nurse", "there", location_ids=[UUID(there)])
    one = made(house.prescriber, visibility="location", location_id=here, name="Of ward 1")
    path = f"{BASE}/{one['id']}"
    for api in (house.prescriber, nurse, at_here):
        assert done(api.get(path))["location_id"] == here
        assert "Of ward 1" in names(api, "&visibility=location")
    refused(at_there.get(path), 404, "not_found")
    assert "Of ward 1" not in names(at_there)
    refused(lead.put(path, json=body()), 403, "not_the_owner")
    refused(at_there.delete(path), 404, "not_found")
    refused(at_there.post(BASE, json=body(visibility="location", location_id=here)), 422, "location_not_found")
    refused(at_there.post(BASE, json=body(visibility="location", location_id=str(uuid4()))), 422, "location_not_found")
    refused(at_there.post("/v1/prescriptions", json=draft(house, one)), 422, "template_not_found")
    assert made(at_there, visibility="location", location_id=there)["location_id"] == there


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"visibility": "location"}, "location_id"),
        ({"visibility": "world"}, "visibility"),
        ({"items": []}, "items"),
        ({"items": [{"dosage": []}]}, "items.0.medication"),
        ({"items": [{**item(), "quantity": {"value": 3, "unit": "tablet"}}]}, "items.0.quantity.value"),
        ({"name": ""}, "name"),
        ({"owner_id": str(uuid4())}, "owner_id"),
    ],
)
def test_invalid_body_is_refused(house, wrong, field):
    before = names(house.prescriber)
    answer = house.prescriber.post(BASE, json={**body(), **wrong})
    assert answer.status_code == 400, answer.content
    assert answer.json()["errors"][0]["field"] == field
    assert names(house.prescriber) == before


def test_list_is_searched_by_beginnings_of_words(house):
    made(house.prescriber, name="Bronchitis of adults", specialty="Pulmonology")
    made(house.prescriber, name="Brönchitis of children", description="Under twelve")
    found = names(house.prescriber, "&search=bronch%20adul")
    assert found == ["Bronchitis of adults"]
    assert sorted(names(house.prescriber, "&search=BRONCH")) == ["Bronchitis of adults", "Brönchitis of children"]
    assert names(house.prescriber, "&search=pulmo") == ["Bronchitis of adults"]
    assert names(house.prescriber, "&search=twelve&sort=name") == ["Brönchitis of children"]
    assert names(house.prescriber, "&search=ronch") == []
    assert names(house.prescriber, "&search=bronch&visibility=tenant,location") == []
    refused(house.prescriber.get(f"{BASE}?search=%25%7B"), 400, "validation_error")
    refused(house.prescriber.get(f"{BASE}?visibility=all"), 400, "validation_error")


def test_draft_takes_the_items_of_the_template_as_they_are_then(house, nurse):
    one = made(house.prescriber, visibility="tenant", default_notes="Ring the bell")
    first = done(nurse.post("/v1/prescriptions", json=draft(house, one)), 201)
    assert (first["template_id"], first["notes_to_pharmacy"]) == (one["id"], "Ring the bell")
    assert first["items"][0]["quantity"] == {"value": "21", "unit": "tablet"}
    assert first["items"][0]["dosage"] == one["items"][0]["dosage"]
    path = f"{BASE}/{one['id']}"
    tag = house.prescriber.get(path).headers["ETag"]
    used = done(house.prescriber.get(path))
    assert (used["usage_count"], used["version"]) == (1, 1)
    done(house.prescriber.put(path, json=body(items=[item(quantity={"value": "7", "unit": "tablet"})])))
    assert done(nurse.get(f"/v1/prescriptions/{first['id']}"))["items"] == first["items"]
    second = done(house.prescriber.post("/v1/prescriptions", json=draft(house, one)), 201)
    assert second["items"][0]["quantity"]["value"] == "7"
    assert house.prescriber.get(path, headers={"If-None-Match": tag}).status_code == 200
    instead = done(house.prescriber.post("/v1/prescriptions", json=draft(house, one, items=[item()])), 201)
    assert instead["items"][0]["quantity"]["value"] == "21"


def test_draft_of_a_template_that_leaves_something_open_is_refused(house):
    whole = item()
    sparse = {"medication": whole["medication"]}
    one = made(house.prescriber, items=[whole, sparse])
    assert (one["items"][1]["quantity"], one["items"][1]["dosage"]) == (None, [])
    problem = refused(house.prescriber.post("/v1/prescriptions", json=draft(house, one)), 400, "validation_error")
    assert {error["field"] for error in problem["errors"]} == {"items.1.quantity", "items.1.dosage"}
    assert done(house.prescriber.get(f"{BASE}/{one['id']}"))["usage_count"] == 0


def test_repeat_is_judged_again(house):
    one = made(house.prescriber, visibility="tenant")
    path, key = f"{BASE}/{one['id']}", {"Idempotency-Key": str(uuid4())}
    assert house.prescriber.delete(path, headers=key).status_code == 204
    again = house.prescriber.delete(path, headers=key)
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (204, "true")
    assert [name for name, *_ in told(house, one)] == ["created", "deleted"]


def test_another_tenant_and_a_role_without_the_scope_see_nothing(house):
    one = made(house.prescriber, visibility="tenant")
    other = factories.provision("provider")
    stranger = factories.as_member(other, ["prescriber"])
    path = f"{BASE}/{one['id']}"
    for answer in (stranger.get(path), stranger.put(path, json=body()), stranger.delete(path)):
        refused(answer, 404, "not_found")
    assert names(stranger) == []
    receptionist = factories.as_member(house.clinic.tenant, ["clinic_receptionist"])
    refused(receptionist.get(BASE), 403, "insufficient_scope")


def test_list_takes_the_same_statements_for_one_and_for_three():
    from bench.statements import recording

    house = ward()

    def statements():
        with recording() as seen:
            names(house.prescriber)
        return len(seen)

    made(house.prescriber)
    one = statements()
    made(house.prescriber)
    made(house.prescriber)
    assert statements() == one
