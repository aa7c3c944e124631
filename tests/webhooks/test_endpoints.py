"""The webhook operations over HTTP: both credentials, every refusal, limits under a race."""

import base64
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import jsonschema_rs
import pytest
from django.db import connection, connections, transaction

from core.clock import now
from core.db import bind_tenant
from ledger import public as ledger
from suppliers.catalog.events import ProductCreated
from tests.factories import Api, api_key, as_member, provision
from tests.webhooks.worlds import drain, new_world
from webhooks.models import Endpoint, Event, Secret
from webhooks.reference.meta import ENDPOINT_LIMIT

URL = "https://hooks.example.com/platform"


@pytest.fixture(autouse=True)
def production_addresses(settings):
    settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS = False


def body(**changes):
    return {"url": URL, "events": ["product.*"], **changes}


def test_create_answers_the_contracts_object_and_shows_the_secret_once(world):
    answer = world.api.post("/v1/webhooks", json=body(description="Warehouse"))
    assert answer.status_code == 201
    assert answer.json()["success"] is True
    made = answer.json()["data"]
    assert (made["url"], made["events"], made["active"], made["description"], made["version"]) == (
        URL, ["product.*"], True, "Warehouse", 1,
    )  # fmt: skip
    assert len(base64.b64decode(made["secret"].removeprefix("whsec_"))) == 32
    assert answer["Location"] == f"/v1/webhooks/{made['id']}"
    assert answer["ETag"] == '"1"'
    shown = world.api.get(f"/v1/webhooks/{made['id']}").json()["data"]
    assert shown == {name: value for name, value in made.items() if name != "secret"}


def test_secret_is_sealed_at_rest(world):
    made = world.api.post("/v1/webhooks", json=body()).json()["data"]
    key = base64.b64decode(made["secret"].removeprefix("whsec_"))
    (row,) = world.rows(Secret)
    assert key not in bytes(row.sealed_key)


def test_replayed_creation_does_not_show_the_secret_again(world):
    first = world.api.post("/v1/webhooks", json=body(), headers={"Idempotency-Key": "k1"})
    again = world.api.post("/v1/webhooks", json=body(), headers={"Idempotency-Key": "k1"})
    assert (again.status_code, again["Idempotency-Replayed"]) == (201, "true")
    assert again.json()["data"]["id"] == first.json()["data"]["id"]
    assert first.json()["data"]["secret"] not in again.content.decode()
    assert len(world.rows(Endpoint)) == 1


@pytest.mark.parametrize(
    ("changes", "field", "code"),
    [
        ({"url": "http://hooks.example.com/"}, "url", "blocked_destination"),
        ({"url": "https://127.0.0.1/"}, "url", "blocked_destination"),
        ({"url": "https://user@hooks.example.com/"}, "url", "blocked_destination"),
        ({"url": None}, "url", "null"),
        ({"events": []}, "events", "min_length"),
        ({"events": ["product.creatd"]}, "events.0", "unknown_event_type"),
        ({"events": "product.*"}, "events", "not_a_list"),
        ({"active": "perhaps"}, "active", "invalid"),
        ({"description": "x" * 501}, "description", "max_length"),
        ({"secret": "whsec_x"}, "secret", "unknown_field"),
    ],
)
def test_create_refuses_a_faulty_field_and_writes_nothing(world, changes, field, code):
    answer = world.api.post("/v1/webhooks", json=body(**changes))
    assert answer.status_code == 400, answer.content
    assert [(error["field"], error["code"]) for error in answer.json()["errors"]] == [(field, code)]
    assert world.rows(Endpoint) == []


def test_create_suggests_near_matches(world):
    answer = world.api.post("/v1/webhooks", json=body(events=["product.creatd"]))
    assert answer.json()["near_matches"]["product.creatd"][0] == "product.created"


def test_list_and_one_follow_the_credential(world):
    made = world.api.post("/v1/webhooks", json=body()).json()["data"]
    listed = world.api.get("/v1/webhooks").json()
    assert (listed["success"], listed["data"]["total"], listed["data"]["items"][0]["id"]) == (True, 1, made["id"])
    member = as_member(world.tenant, ["tenant_admin"])
    by_cursor = member.get("/v1/webhooks").json()
    assert ([row["id"] for row in by_cursor["data"]], by_cursor["has_more"]) == ([made["id"]], False)
    assert member.get(f"/v1/webhooks/{made['id']}").json() == {"data": listed["data"]["items"][0]}


def test_bearer_creates_what_a_key_reads():
    tenant = provision("provider")
    made = as_member(tenant, ["tenant_admin"]).post("/v1/webhooks", json=body())
    assert made.status_code == 201
    assert set(made.json()) == {"data"}
    assert {"id", "active", "secret", "created_at"} <= set(made.json()["data"])


@pytest.mark.parametrize("method", ["get", "patch", "delete"])
def test_foreign_endpoint_is_not_found(world, method):
    made = new_world().api.post("/v1/webhooks", json=body()).json()["data"]
    answer = getattr(world.api, method)(f"/v1/webhooks/{made['id']}", **({"json": {}} if method == "patch" else {}))
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    for path in ("deliveries", f"deliveries/{uuid4()}"):
        assert world.api.get(f"/v1/webhooks/{made['id']}/{path}").status_code == 404
    assert world.api.post(f"/v1/webhooks/{made['id']}/rotate-secret", json={}).status_code == 404


def test_scope_is_demanded(world):
    reader = Api(key=api_key(world.tenant, scopes=["webhooks:read"]), tenant=world.tenant)
    assert reader.get("/v1/webhooks").status_code == 200
    answer = reader.post("/v1/webhooks", json=body())
    assert (answer.status_code, answer.json()["code"]) == (403, "insufficient_scope")


def test_patch_changes_only_what_it_names_and_bumps_the_version(world):
    made = world.api.post("/v1/webhooks", json=body()).json()["data"]
    path = f"/v1/webhooks/{made['id']}"
    changed = world.api.patch(path, json={"description": "B"}, headers={"If-Match": '"1"'})
    assert (changed.status_code, changed["ETag"]) == (200, '"2"')
    assert {**made, "description": "B", "version": 2} == {
        **changed.json()["data"], "secret": made["secret"], "updated_at": made["updated_at"],
    }  # fmt: skip
    stale = world.api.patch(path, json={"description": "C"}, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["code"]) == (409, "version_conflict")
    same = world.api.patch(path, json={"description": "B"})
    assert same.json()["data"]["version"] == 2
    refused = world.api.patch(path, json={"url": "https://10.0.0.1/"})
    assert refused.status_code == 400
    assert world.api.get(path).json()["data"]["url"] == URL


def test_delete_hides_the_endpoint_and_frees_its_place(world):
    made = world.api.post("/v1/webhooks", json=body()).json()["data"]
    path = f"/v1/webhooks/{made['id']}"
    answer = world.api.delete(path)
    assert (answer.status_code, answer.content) == (204, b"")
    assert world.api.get(path).status_code == 404
    assert world.api.delete(path).status_code == 404
    assert world.api.get("/v1/webhooks").json()["data"]["items"] == []
    assert world.api.get(path + "/deliveries").status_code == 200


def test_rotation_keeps_three_live_secrets_at_most(world):
    made = world.api.post("/v1/webhooks", json=body()).json()["data"]
    secrets = {made["secret"]}
    for _ in range(4):
        answer = world.api.post(f"/v1/webhooks/{made['id']}/rotate-secret", json={})
        assert answer.status_code == 200
        secrets.add(answer.json()["data"]["secret"])
    assert len(secrets) == 5
    rows = world.rows(Secret)
    assert sum(row.expires_at is None for row in rows) == 1
    assert sum(row.expires_at is not None and row.expires_at > row.updated_at for row in rows) == 2


@pytest.mark.parametrize("seconds", [-1, 604_801, "x"])
def test_rotation_refuses_an_overlap_out_of_bounds(world, seconds):
    made = world.api.post("/v1/webhooks", json=body()).json()["data"]
    answer = world.api.post(f"/v1/webhooks/{made['id']}/rotate-secret", json={"overlap_seconds": seconds})
    assert answer.status_code == 400
    assert len(world.rows(Secret)) == 1


def test_hundredth_endpoint_is_the_last_under_a_race(world):
    for _ in range(ENDPOINT_LIMIT - 4):
        assert world.api.post("/v1/webhooks", json=body()).status_code == 201

    def create(_):
        try:
            return (
                Api(key=world.api.headers["X-API-Key"], tenant=world.tenant)
                .post("/v1/webhooks", json=body())
                .status_code
            )
        finally:
            connection.close()

    with ThreadPoolExecutor(16) as threads:
        statuses = sorted(threads.map(create, range(16)))
    assert statuses == [201] * 4 + [403] * 12
    assert len(world.rows(Endpoint)) == ENDPOINT_LIMIT
    refused = world.api.post("/v1/webhooks", json=body())
    assert (refused.json()["code"], refused.json()["limit"]) == ("quota_exceeded", 100)


def test_deliveries_are_filtered(world, settings, receiver):
    settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS = True
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    for _ in range(3):
        world.record()
    drain()
    (one, *_) = world.deliveries(endpoint)
    assert [d["id"] for d in world.deliveries(endpoint, f"?event={one['event_id']}")] == [one["id"]]
    assert len(world.deliveries(endpoint, "?event=product.created&state=delivered")) == 3
    assert world.deliveries(endpoint, "?state=failed") == []
    assert world.deliveries(endpoint, "?to=2026-01-01T00:00:00Z") == []
    assert len(world.deliveries(endpoint, "?from=2026-01-01T00:00:00Z&limit=2")) == 2
    path = f"/v1/webhooks/{endpoint['id']}/deliveries"
    assert world.api.get(f"{path}/{one['id']}").json()["data"] == one
    assert world.api.get(path + "?state=lost").status_code == 400
    assert world.api.get(path + "?bogus=1").json()["code"] == "unknown_parameter"
    other = world.endpoint(receiver.url)
    assert world.api.get(f"/v1/webhooks/{other['id']}/deliveries/{one['id']}").status_code == 404


def test_event_types_are_the_ledgers_catalogue(world):
    found = world.event_types()
    created = found["product.created"]
    assert created["schema"]["properties"]["supplier_sku"] == {"type": "string"}
    assert created["example"]["href"].startswith("/v1/products/")
    for kind in found.values():
        jsonschema_rs.validate(kind["schema"], kind["example"])


def test_feed_shows_what_was_delivered_in_order_to_any_credential(world, settings, receiver):
    settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS = True
    world.endpoint(receiver.url, events=["product.*"])
    for _ in range(3):
        world.record()
    drain()
    assert world.api.get("/v1/events?type=product.created").json()["data"] == []
    age(world)
    first = world.api.get("/v1/events?type=product.created&limit=2").json()
    rest = world.api.get(f"/v1/events?type=product.created&limit=2&cursor={first['next_cursor']}").json()
    delivered = {arrival.event()["id"]: arrival.event() for arrival in receiver.received}
    shown = first["data"] + rest["data"]
    # Two events may have one timestamp, which is in milliseconds; their rows know the microseconds.
    made = sorted(world.rows(Event, type="product.created"), key=lambda event: event.created_at)
    assert [event["data"]["object"]["id"] for event in shown] == [str(event.resource_id) for event in made]
    assert [event["timestamp"] for event in shown] == sorted(event["timestamp"] for event in delivered.values())
    assert all(event == delivered[event["id"]] for event in shown)
    assert (first["has_more"], rest["has_more"]) == (True, False)


def age(world):
    """Wait until the feed no longer holds the newest events back."""
    newest = max(event.created_at for event in world.rows(Event))
    time.sleep(max(0.0, 2.1 - (now() - newest).total_seconds()))


def test_feed_waits_for_a_writer_who_commits_late(world):
    """What commits late stands before what committed meanwhile; a reader between the two must not lose it."""
    wrote, go = threading.Event(), threading.Event()

    def write_slowly():
        with transaction.atomic():
            bind_tenant(world.tenant.id)
            fact = ProductCreated(supplier_sku="LATE", status="active")
            ledger.record(actor=world.actor, event=fact, resource_id=late, at=now(), resource_version=1)
            wrote.set()
            go.wait(20)
        connections.close_all()

    late = uuid4()
    slow = threading.Thread(target=write_slowly)
    slow.start()
    assert wrote.wait(10)
    quick = world.record()
    age(world)
    early = world.api.get("/v1/events?type=product.created").json()
    go.set()
    slow.join(10)
    time.sleep(0.1)
    seen = [event["data"]["object"]["id"] for event in world.api.get("/v1/events?type=product.created").json()["data"]]
    assert (early["data"], seen) == ([], [str(late), str(quick)])
