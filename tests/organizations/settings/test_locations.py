"""Places: fields, tree, reach, search, directory."""

import threading
from dataclasses import replace
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.http import QueryDict

from api.listing import cursor_call, read_query
from core import pipeline
from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from ledger.models import Event
from organizations.actions.entitlements import Terms, grant_plan
from organizations.models import Location, LocationWord, PharmacyListing, Quota, Tenant
from organizations.queries.locations import WITHIN
from organizations.views.locations import LocationViewSet
from tests.factories import Api, as_member, bearer, member, organization, provision, suffix

PATH = "/v1/locations"


def create(api, **fields):
    answer = api.post(PATH, json={"name": "Place", "type": "ward", **fields})
    assert answer.status_code == 201, answer.content
    return answer.json()["data"]


def used(tenant):
    with tenant_context(tenant.id):
        return Quota.objects.get(tenant_id=tenant.id, key="locations").used


def names(answer):
    assert answer.status_code == 200, answer.content
    return [one["name"] for one in answer.json()["data"]]


def test_create_answers_the_whole_place():
    tenant = provision()
    body = {
        "name": "North Ward",
        "type": "ward",
        "address": {"lines": ["1 Street"], "city": "Bergen", "country": "NO"},
        "geo": {"latitude": 60.39, "longitude": 5.32},
        "opening_hours": [{"days": ["mon"], "opens": "08:00", "closes": "18:00"}, {"days": ["sun"], "all_day": True}],
        "contact": {"phone": "+47 55"},
        "identifiers": [{"system": "urn:gln", "value": "7080000000012"}],
        "time_zone": "Europe/Oslo",
    }
    answer = as_member(tenant).post(PATH, json=body)
    assert answer.status_code == 201
    data = answer.json()["data"]
    assert answer.headers["Location"] == f"{PATH}/{data['id']}"
    assert answer.headers["ETag"] == '"1"'
    fixed = {name: data.pop(name) for name in ("id", "created_at", "updated_at")}
    assert data == {
        **body,
        "tenant_id": str(tenant.id),
        "organization_id": str(tenant.organization_id),
        "parent_id": None,
        "status": "active",
        "is_dispensing": False,
        "listed": False,
        "version": 1,
    }
    with tenant_context(tenant.id):
        fact = Event.objects.get(tenant_id=tenant.id, type="location.created", resource_id=fixed["id"])
    assert fact.data == {"location_type": "ward"}


@pytest.mark.parametrize(
    ("body", "field", "code"),
    [
        ({"type": "ward"}, "name", "required"),
        ({"name": "A", "type": "castle"}, "type", "invalid_choice"),
        ({"name": "A", "type": "ward", "status": "gone"}, "status", "invalid_choice"),
        ({"name": "A", "type": "ward", "listed": True}, "listed", "not_dispensing"),
        ({"name": "A", "type": "ward", "parent_id": str(uuid7())}, "parent_id", "does_not_exist"),
        ({"name": "A", "type": "ward", "organization_id": str(uuid7())}, "organization_id", "does_not_exist"),
        ({"name": "A", "type": "ward", "geo": {"latitude": 91, "longitude": 0}}, "geo.latitude", "max_value"),
        ({"name": "A", "type": "ward", "opening_hours": [{"days": ["mon"]}]}, "opening_hours.0", "invalid"),
        ({"name": "A", "type": "ward", "time_zone": "Mars/Base"}, "time_zone", "unknown_time_zone"),
        ({"name": "A", "type": "ward", "is_dispensing": True}, "is_dispensing", "unknown_field"),
        ({"name": "A", "type": "ward", "address": {"zip": "1"}}, "address.zip", "unknown_field"),
    ],
)
def test_create_refuses_wrong_fields_and_makes_nothing(body, field, code):
    tenant = provision()
    answer = as_member(tenant).post(PATH, json=body)
    assert answer.status_code == 400
    assert [(fault["field"], fault["code"]) for fault in answer.json()["errors"]] == [(field, code)]
    with tenant_context(tenant.id):
        assert Location.objects.filter(tenant_id=tenant.id).count() == 1
    assert used(tenant) == 1


def test_organization_of_a_place_is_the_tenants_or_below():
    top = organization()
    tenant = provision(under=top)
    below, stranger = organization(parent=top), organization()
    api = as_member(tenant)
    assert create(api, organization_id=str(below.id))["organization_id"] == str(below.id)
    assert api.post(PATH, json={"name": "A", "type": "ward", "organization_id": str(stranger.id)}).status_code == 400
    assert len(api.get(f"{PATH}?organization_id={below.id}").json()["data"]) == 1


def test_update_changes_fields_and_version():
    tenant = provision()
    api = as_member(tenant)
    made = create(api, name="Old")
    answer = api.patch(f"{PATH}/{made['id']}", json={"name": "New"}, headers={"If-Match": '"1"'})
    assert (answer.status_code, answer.headers["ETag"]) == (200, '"2"')
    assert answer.json()["data"] | {"updated_at": ""} == made | {"name": "New", "version": 2, "updated_at": ""}
    stale = api.patch(f"{PATH}/{made['id']}", json={"name": "Newer"}, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["current_version"]) == (409, 2)
    same = api.patch(f"{PATH}/{made['id']}", json={"name": "New"})
    assert same.headers["ETag"] == '"2"'
    with tenant_context(tenant.id):
        facts = Event.objects.filter(tenant_id=tenant.id, type="location.updated")
        assert [(fact.data, fact.resource_version) for fact in facts] == [({"changed": ["name"]}, 2)]


def test_tree_refuses_circles_and_more_than_eight_levels():
    tenant = provision()
    api = as_member(tenant)
    chain = [create(api, type="site")]
    for _ in range(7):
        chain.append(create(api, parent_id=chain[-1]["id"]))
    deep = api.post(PATH, json={"name": "A", "type": "bin", "parent_id": chain[-1]["id"]})
    assert (deep.status_code, deep.json()["code"]) == (409, "location_too_deep")
    circle = api.patch(f"{PATH}/{chain[0]['id']}", json={"parent_id": chain[3]["id"]})
    assert (circle.status_code, circle.json()["code"]) == (409, "location_cycle")
    itself = api.patch(f"{PATH}/{chain[0]['id']}", json={"parent_id": chain[0]["id"]})
    assert itself.status_code == 409
    other = create(api, type="site")
    moved = api.patch(f"{PATH}/{chain[0]['id']}", json={"parent_id": other["id"]})
    assert (moved.status_code, moved.json()["code"]) == (409, "location_too_deep")


def test_two_crossing_moves_never_make_a_circle():
    tenant = provision()
    person, _ = member(tenant, ["tenant_admin"])
    api = Api(token=bearer(person), tenant=tenant)
    one, other = create(api), create(api)
    answers, gate = [], threading.Barrier(2)

    def worker(child, parent):
        gate.wait()
        mine = Api(token=bearer(person), tenant=tenant)
        answers.append(mine.patch(f"{PATH}/{child['id']}", json={"parent_id": parent["id"]}).status_code)
        connection.close()

    threads = [threading.Thread(target=worker, args=pair) for pair in ((one, other), (other, one))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200, 409]


def test_places_of_another_tenant_are_not_found():
    tenant, other = provision(), provision()
    theirs = create(as_member(other))
    api = as_member(tenant)
    assert api.get(f"{PATH}/{theirs['id']}").status_code == 404
    assert api.patch(f"{PATH}/{theirs['id']}", json={"name": "Mine"}).status_code == 404
    assert api.post(PATH, json={"name": "A", "type": "ward", "parent_id": theirs["id"]}).status_code == 400
    assert theirs["name"] not in names(api.get(PATH))


def test_membership_limited_to_places_sees_only_those():
    tenant = provision()
    admin = as_member(tenant)
    mine, other = create(admin, name="Mine"), create(admin, name="Other")
    person, _ = member(tenant, ["tenant_admin"], location_ids=(UUID(mine["id"]),))
    api = Api(token=bearer(person), tenant=tenant)
    assert names(api.get(PATH)) == ["Mine"]
    assert api.get(f"{PATH}/{mine['id']}").status_code == 200
    assert api.get(f"{PATH}/{other['id']}").status_code == 404
    assert api.patch(f"{PATH}/{other['id']}", json={"name": "X"}).status_code == 404
    assert api.patch(f"{PATH}/{mine['id']}", json={"name": "Still mine"}).status_code == 200
    refused = api.post(PATH, json={"name": "A", "type": "ward"})
    assert (refused.status_code, refused.json()["code"]) == (403, "location_forbidden")


def test_search_finds_beginnings_of_words_whatever_case_and_accent():
    tenant = provision(name="Tenant")
    api = as_member(tenant)
    made = create(api, name="Söder Ward 3", identifiers=[{"system": "x", "value": "GLN-7080"}])
    create(api, name="North Ward")
    for text in ("soder", "SÖDER", "war söd", "7080", "ward 3"):
        assert names(api.get(f"{PATH}?search={text}")) == ["Söder Ward 3"], text
    assert names(api.get(f"{PATH}?search=oder")) == []
    assert names(api.get(f"{PATH}?search=!!")) == []
    api.patch(f"{PATH}/{made['id']}", json={"name": "Renamed", "identifiers": []})
    assert names(api.get(f"{PATH}?search=soder")) == []
    assert names(api.get(f"{PATH}?search=ren")) == ["Renamed"]


def test_list_filters_sorts_and_pages():
    tenant = provision(name="Zz")
    api = as_member(tenant)
    site = create(api, name="Aa", type="site")
    create(api, name="Bb", parent_id=site["id"])
    create(api, name="Cc", type="room", status="suspended")
    assert names(api.get(f"{PATH}?type=room")) == ["Cc"]
    assert names(api.get(f"{PATH}?status=suspended")) == ["Cc"]
    assert names(api.get(f"{PATH}?parent_id={site['id']}")) == ["Bb"]
    assert names(api.get(f"{PATH}?sort=name")) == ["Aa", "Bb", "Cc", "Zz"]
    first = api.get(f"{PATH}?sort=-name&limit=3").json()
    assert ([one["name"] for one in first["data"]], first["has_more"], first["limit"]) == (["Zz", "Cc", "Bb"], True, 3)
    rest = api.get(f"{PATH}?sort=-name&limit=3&cursor={first['next_cursor']}").json()
    assert ([one["name"] for one in rest["data"]], rest["next_cursor"]) == (["Aa"], None)
    for query, code in (
        ("typ=room", "unknown_parameter"),
        ("sort=address", "unknown_sort"),
        ("type=castle", "validation_error"),
        ("directory=all", "validation_error"),
    ):
        refused = api.get(f"{PATH}?{query}")
        assert (refused.status_code, refused.json()["code"]) == (400, code)


def test_directory_shows_listed_pharmacies_of_any_tenant_and_nothing_else():
    word = f"apo{suffix()}"
    pharmacy, hospital = provision("pharmacy"), provision()
    owner, seeker = as_member(pharmacy), as_member(hospital, ["prescriber"])
    hours = [{"days": ["mon"], "opens": "08:00", "closes": "18:00"}]
    listed = create(
        owner, name=f"Listed {word}", type="pharmacy", listed=True, opening_hours=hours, address={"city": "Oslo"}
    )
    create(owner, name=f"Quiet {word}", type="pharmacy")
    found = seeker.get(f"{PATH}?directory=pharmacy&search={word.upper()}")
    expected = {"id": listed["id"], "name": f"Listed {word}", "address": {"city": "Oslo"}, "opening_hours": hours}
    assert found.json()["data"] == [expected]
    assert seeker.get(f"{PATH}/{listed['id']}").status_code == 404
    owner.patch(f"{PATH}/{listed['id']}", json={"name": f"Other {word}"})
    assert names(seeker.get(f"{PATH}?directory=pharmacy&search={word}")) == [f"Other {word}"]
    Tenant.objects.filter(id=pharmacy.id).update(status="suspended")
    assert names(seeker.get(f"{PATH}?directory=pharmacy&search={word}")) == []
    Tenant.objects.filter(id=pharmacy.id).update(status="active")
    owner.patch(f"{PATH}/{listed['id']}", json={"status": "suspended"})
    assert names(seeker.get(f"{PATH}?directory=pharmacy&search={word}")) == []
    assert not PharmacyListing.objects.filter(id=listed["id"]).exists()


def test_pharmacy_that_becomes_another_type_must_leave_the_directory_first():
    tenant = provision("pharmacy")
    api = as_member(tenant)
    made = create(api, type="pharmacy", listed=True)
    assert api.patch(f"{PATH}/{made['id']}", json={"type": "office"}).status_code == 400
    assert (
        api.patch(f"{PATH}/{made['id']}", json={"type": "office", "listed": False}).json()["data"]["is_dispensing"]
        is False
    )
    assert not PharmacyListing.objects.filter(id=made["id"]).exists()


def test_places_count_against_the_quota_while_in_use():
    tenant = provision()
    with transaction.atomic():
        grant_plan(tenant=tenant, plan="standard", at=now(), terms=Terms(limits={"locations": 2}))
    api = as_member(tenant)
    made = create(api)
    refused = api.post(PATH, json={"name": "A", "type": "ward"})
    assert (refused.status_code, refused.json()["code"], refused.json()["limit"]) == (403, "quota_exceeded", 2)
    api.patch(f"{PATH}/{made['id']}", json={"status": "inactive"})
    assert used(tenant) == 1
    create(api)
    again = api.patch(f"{PATH}/{made['id']}", json={"status": "active"})
    assert (again.status_code, used(tenant)) == (403, 2)


def test_replayed_create_makes_one_place():
    tenant = provision()
    api = as_member(tenant)
    first, second = (
        api.post(PATH, json={"name": "A", "type": "ward"}, headers={"Idempotency-Key": "one"}) for _ in range(2)
    )
    assert (first.status_code, second.status_code, first.content == second.content) == (201, 201, True)
    assert second.headers["Idempotency-Replayed"] == "true"
    assert used(tenant) == 2


def test_reading_places_needs_the_scope():
    tenant = provision()
    assert as_member(tenant, ["finance"]).get(PATH).status_code == 403
    assert as_member(tenant, ["prescriber"]).get(PATH).status_code == 200
    assert as_member(tenant, ["prescriber"]).post(PATH, json={"name": "A", "type": "ward"}).status_code == 403


def test_search_uses_the_index_of_words_as_the_runtime_role():
    tenant = provision()
    with tenant_context(tenant.id):
        rows = [Location(tenant_id=tenant.id, name=f"Place {n}", type="ward") for n in range(3000)]
        Location.objects.bulk_create(rows)
        LocationWord.objects.bulk_create(
            [LocationWord(tenant_id=tenant.id, location_id=row.id, word=f"w{n:05}") for n, row in enumerate(rows)]
        )
    with tenant_context(tenant.id), connection.cursor() as cursor:
        cursor.execute(
            "EXPLAIN SELECT w.location_id FROM organizations_locationword w WHERE w.tenant_id ="
            " (SELECT NULLIF(current_setting('app.tenant_id', true), '')::uuid) AND w.word ^@ 'w0012'"
        )
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "organizations_location_word" in plan
    assert "word >= 'w0012'" in plan


def test_list_can_walk_the_index_of_its_order_as_the_runtime_role():
    tenant = provision()
    query = replace(read_query(LocationViewSet.listing, QueryDict("")), extra=(WITHIN,))
    call = cursor_call(query, tenant.id, after=None, limit=50)
    with tenant_context(tenant.id), connection.cursor() as cursor:
        Location.objects.bulk_create(
            [Location(tenant_id=tenant.id, name=f"Place {n}", type="ward") for n in range(3000)]
        )
        cursor.execute(
            "SET LOCAL enable_sort = off"
        )  # a fresh table has no statistics; the question is what may be used
        cursor.execute(b"PREPARE the_list AS " + call.statement.sql)
        marks = ", ".join(["%s"] * len(call.parameters))
        cursor.execute(f"EXPLAIN EXECUTE the_list ({marks})", call.parameters)
        plan = "\n".join(row[0] for row in cursor.fetchall())
        cursor.execute("DEALLOCATE the_list")
    assert "Index Scan Backward using org_location_created" in plan
    assert "Seq Scan on organizations_location " not in plan


def test_list_takes_one_round_trip_of_two_statements(monkeypatch):
    tenant = provision()
    api = as_member(tenant)
    api.get(PATH)
    rounds = []
    genuine = pipeline.run
    monkeypatch.setattr(pipeline, "run", lambda calls: (rounds.append(len(calls)), genuine(calls))[1])
    for count in (1, 3):
        while len(api.get(PATH).json()["data"]) < count:
            create(api)
        rounds.clear()
        api.get(PATH)
        assert rounds == [2]


def test_a_location_without_a_zone_has_the_tenants():
    api = as_member(provision())
    made = api.post(PATH, json={"name": "A", "type": "ward", "time_zone": "Africa/Cairo"}).json()["data"]
    assert made["time_zone"] == "Africa/Cairo"
    changed = api.patch(f"{PATH}/{made['id']}", json={"time_zone": None}).json()["data"]
    assert (changed["time_zone"], changed["version"]) == (None, 2)
