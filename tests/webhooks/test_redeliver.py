"""Sending one finished delivery again, and the delivery in every state between event and end."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection, connections
from django.http import QueryDict

from api.listing import cursor_call, read_query
from bench.receiver import Receiver, Reply
from core.clock import now
from core.db import tenant_context
from tests.factories import Api, api_key, as_member
from tests.races import race
from tests.webhooks.engine import Engine, outcome, run_as_owner
from tests.webhooks.test_queues import only_fan_out
from tests.webhooks.worlds import drain, new_world
from webhooks import states
from webhooks.models import Delivery, DueDelivery, EndpointHealth
from webhooks.parts import of_endpoint
from webhooks.views import DeliveryViewSet


def again(world, endpoint, delivery, **more):
    return world.api.post(f"/v1/webhooks/{endpoint['id']}/deliveries/{delivery['id']}/redeliver", **more)


@pytest.fixture
def delivered(world, receiver):
    """One delivered message: its endpoint and delivery."""
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    world.record()
    drain()
    (delivery,) = world.deliveries(endpoint)
    return endpoint, delivery


def test_delivered_message_is_sent_again_under_the_same_id(world, receiver, delivered):
    endpoint, delivery = delivered
    answer = again(world, endpoint, delivery)
    assert answer.status_code == 202, answer.content
    shown = answer.json()["data"]
    assert (shown["id"], shown["state"], shown["attempts"], shown["delivered_at"]) == (
        delivery["id"], "retrying", 1, None,
    )  # fmt: skip
    assert shown["next_attempt_at"] is not None
    (fact,) = world.rows_of_facts("webhook_endpoint.delivery_resent")
    assert fact.data == {"delivery_id": delivery["id"], "event_id": delivery["event_id"], "from_state": "delivered"}
    drain()
    assert [arrival.message_id for arrival in receiver.received] == [delivery["event_id"]] * 2
    assert receiver.received[0].body == receiver.received[1].body
    (after,) = world.deliveries(endpoint)
    assert (after["state"], after["attempts"], [a["number"] for a in after["attempt_log"]]) == ("delivered", 2, [1, 2])


def test_failed_message_gets_its_whole_schedule_anew(world, settings):
    settings.WEBHOOKS_RETRY_SCHEDULE_SECONDS = [3600]
    with Receiver(script=lambda arrival, number: Reply(500)) as receiver:
        endpoint = world.endpoint(receiver.url, events=["product.*"])
        world.record()
        drain()
        world.make_due()
        drain()
        (delivery,) = world.deliveries(endpoint)
        assert (delivery["state"], delivery["attempts"]) == ("failed", 2)
        assert again(world, endpoint, delivery).status_code == 202
    (row,) = world.rows(Delivery)
    assert (row.state, row.attempts, row.attempts_before, row.done_at) == (states.RETRYING, 2, 2, None)
    with tenant_context(world.tenant.id):
        due = DueDelivery.objects.get(delivery_id=row.id)
    assert (due.attempts, due.attempts_before, due.claims, due.sequence) == (2, 2, 2, 1)


def test_unfinished_delivery_is_not_sent_twice(world, delivered):
    endpoint, delivery = delivered
    assert again(world, endpoint, delivery).status_code == 202
    answer = again(world, endpoint, delivery)
    assert (answer.status_code, answer.json()["code"], answer.json()["from"]) == (409, "invalid_transition", "retrying")
    assert len(world.rows_of_facts("webhook_endpoint.delivery_resent")) == 1


def test_waiting_retry_is_made_at_once(world, settings):
    """Nobody has to wait out the schedule once the receiver is mended; the schedule begins anew."""
    settings.WEBHOOKS_RETRY_SCHEDULE_SECONDS = [3600, 3600]
    with Receiver(script=lambda arrival, number: Reply(500 if number < 3 else 200)) as receiver:
        endpoint = world.endpoint(receiver.url, events=["product.*"])
        world.record()
        drain()
        (delivery,) = world.deliveries(endpoint)
        assert (delivery["state"], delivery["attempts"]) == ("retrying", 1)
        answer = again(world, endpoint, delivery)
        assert answer.status_code == 202, answer.content
        (due,) = world.rows(DueDelivery)
        assert (due.attempts, due.attempts_before, due.claims, due.trigger) == (1, 1, 1, states.MANUAL)
        drain()
        (delivery,) = world.deliveries(endpoint)
        assert (delivery["state"], delivery["attempts"]) == ("retrying", 2)
        assert again(world, endpoint, delivery).status_code == 202
        drain()
    (after,) = world.deliveries(endpoint)
    assert (after["state"], [one["trigger"] for one in after["attempt_log"]]) == (
        "delivered", ["schedule", "manual", "manual"],
    )  # fmt: skip
    facts = world.rows_of_facts("webhook_endpoint.delivery_resent")
    assert [fact.data["from_state"] for fact in facts] == ["retrying", "retrying"]
    assert world.rows(DueDelivery) == []


def test_retry_that_is_being_made_is_not_sent_beside_it(world):
    endpoint = world.endpoint("http://127.0.0.1:9/hook", events=["product.*"])
    world.record()
    with Engine(world) as engine:
        engine.fan_out()
        (work,) = engine.claim()
        engine.finish(outcome(work, state=states.RETRYING, delay_seconds=0.0, status=500))
        (work,) = engine.claim()
        (delivery,) = world.deliveries(endpoint)
        assert delivery["state"] == "retrying"
        answer = again(world, endpoint, delivery)
        assert (answer.status_code, answer.json()["code"]) == (409, "invalid_transition")
        engine.finish(outcome(work))
    assert [one["state"] for one in world.deliveries(endpoint)] == ["delivered"]


def test_disabled_and_deleted_endpoints_are_not_sent_to(world, delivered):
    endpoint, delivery = delivered
    world.api.patch(f"/v1/webhooks/{endpoint['id']}", json={"active": False})
    assert again(world, endpoint, delivery).json()["code"] == "endpoint_inactive"
    world.api.delete(f"/v1/webhooks/{endpoint['id']}")
    answer = again(world, endpoint, delivery)
    assert (answer.status_code, answer.json()["code"]) == (409, "endpoint_inactive")
    assert [row.state for row in world.rows(Delivery)] == ["delivered"]
    assert world.rows(DueDelivery) == []


def test_event_past_its_retention_cannot_be_sent(world, delivered):
    endpoint, delivery = delivered
    with connections["platform"].cursor() as cursor:  # as when the partition of its event was dropped
        cursor.execute(
            "UPDATE webhooks_delivery SET created_at = created_at - interval '400 days' WHERE id = %s", [delivery["id"]]
        )
    answer = again(world, endpoint, delivery)
    assert (answer.status_code, answer.json()["code"]) == (409, "event_gone")
    assert world.rows(DueDelivery) == []


def test_deliveries_of_others_are_not_found(world, receiver, delivered):
    endpoint, delivery = delivered
    other = world.endpoint(receiver.url)
    assert again(world, other, delivery).status_code == 404
    assert again(world, endpoint, {"id": uuid4()}).status_code == 404
    assert again(new_world(), endpoint, delivery).status_code == 404
    reader = Api(key=api_key(world.tenant, scopes=["webhooks:read"]), tenant=world.tenant)
    answer = reader.post(f"/v1/webhooks/{endpoint['id']}/deliveries/{delivery['id']}/redeliver")
    assert answer.json()["code"] == "insufficient_scope"
    assert world.rows(DueDelivery) == []


def test_replayed_redelivery_sends_once(world, receiver, delivered):
    endpoint, delivery = delivered
    first = again(world, endpoint, delivery, headers={"Idempotency-Key": "d1"})
    drain()
    repeated = again(world, endpoint, delivery, headers={"Idempotency-Key": "d1"})
    assert (repeated.status_code, repeated["Idempotency-Replayed"], repeated.content) == (202, "true", first.content)
    drain()
    assert len(receiver.received) == 2


def test_many_who_ask_at_once_send_it_once(world, receiver, delivered):
    endpoint, delivery = delivered

    def ask():
        client = Api(key=world.api.headers["X-API-Key"], tenant=world.tenant)
        path = f"/v1/webhooks/{endpoint['id']}/deliveries/{delivery['id']}/redeliver"
        return client.post(path).status_code

    assert sorted(race(*[ask] * 6)) == [202] + [409] * 5
    drain()
    assert len(receiver.received) == 2


def test_asking_while_the_dispatcher_finishes_never_loses_the_wish(world):
    """Whoever is second waits for the other: the wish is refused while the message is on its way, else it is sent."""
    with Receiver(script=lambda arrival, number: Reply(delay_seconds=0.15)) as receiver:
        endpoint = world.endpoint(receiver.url, events=["product.*"])
        for _ in range(8):
            world.record()
        asyncio.run(only_fan_out())
        deliveries = world.deliveries(endpoint)

        def ask():
            client = Api(key=world.api.headers["X-API-Key"], tenant=world.tenant)
            path = f"/v1/webhooks/{endpoint['id']}/deliveries"
            return [client.post(f"{path}/{d['id']}/redeliver").status_code for _ in range(6) for d in deliveries]

        statuses, _ = race(ask, lambda: drain(8))
        drain()
        assert set(statuses) <= {202, 409}
        assert len(receiver.received) == 8 + statuses.count(202)
    assert {d["state"] for d in world.deliveries(endpoint)} == {"delivered"}


def test_event_that_nobody_has_queued_is_shown_as_created(world, receiver):
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    world.endpoint(receiver.url, events=["api_key.*"])
    deaf = world.endpoint(receiver.url, active=False)
    world.record()
    (created,) = world.deliveries(endpoint, "?event=product.created")
    assert (created["state"], created["attempts"], created["next_attempt_at"], created["attempt_log"]) == (
        "created", 0, None, [],
    )  # fmt: skip
    path = f"/v1/webhooks/{endpoint['id']}/deliveries"
    assert world.api.get(f"{path}/{created['id']}").json()["data"] == created
    assert world.deliveries(endpoint, "?state=created&undelivered=true") == [created]
    assert world.deliveries(endpoint, "?state=pending") == []
    assert world.deliveries(deaf) == []
    asyncio.run(only_fan_out())
    (pending,) = world.deliveries(endpoint)
    assert (pending["id"], pending["event_id"], pending["state"]) == (created["id"], created["event_id"], "pending")
    drain()
    assert [d["id"] for d in world.deliveries(endpoint, "?state=delivered")] == [created["id"]]


def test_pages_run_through_created_and_queued_alike(world, receiver):
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    for _ in range(4):
        world.record()
    asyncio.run(only_fan_out())
    for _ in range(3):
        world.record()
    whole = world.deliveries(endpoint)
    assert [d["state"] for d in whole] == ["created"] * 3 + ["pending"] * 4
    paged = [d for page in (1, 2, 3, 4) for d in world.deliveries(endpoint, f"?limit=2&page={page}")]
    assert paged == whole
    member, path, seen, cursor = as_member(world.tenant), f"/v1/webhooks/{endpoint['id']}/deliveries", [], ""
    while cursor is not None:
        answer = member.get(f"{path}?limit=3{f'&cursor={cursor}' if cursor else ''}").json()
        seen, cursor = seen + answer["data"], answer["next_cursor"]
    assert seen == whole


def test_undelivered_is_everything_but_delivered(world, settings):
    settings.WEBHOOKS_RETRY_SCHEDULE_SECONDS = [3600]

    def script(arrival, number):
        return Reply(200 if number == 1 else 410 if number == 2 else 500)

    with Receiver(script=script) as receiver:
        endpoint = world.endpoint(receiver.url, events=["product.*"])
        for _ in range(2):
            world.record()
            drain()
    found = {d["state"] for d in world.deliveries(endpoint, "?undelivered=true")}
    assert found == {"failed"}
    assert [d["state"] for d in world.deliveries(endpoint, "?undelivered=false")] == ["delivered"]
    answer = world.api.get(f"/v1/webhooks/{endpoint['id']}/deliveries?undelivered=perhaps")
    assert answer.status_code in (200, 400)


def test_attempts_show_what_was_measured(world, delivered):
    _, delivery = delivered
    (attempt,) = delivery["attempt_log"]
    assert set(attempt) == {
        "number", "at", "trigger", "status", "error", "duration_ms", "timings", "remote_ip", "response_excerpt",
        "response_headers",
    }  # fmt: skip
    assert (attempt["trigger"], attempt["status"], attempt["error"]) == ("schedule", 200, None)


def test_reactivation_forgets_past_failures_and_lets_old_deliveries_fail(world, receiver):
    endpoint = world.endpoint(receiver.url, events=["product.*"])
    path = f"/v1/webhooks/{endpoint['id']}"
    for _ in range(2):
        world.record()
    asyncio.run(only_fan_out())
    key_id = world.rows_of_facts("webhook_endpoint.created")[0].credential
    disabled = world.api.patch(path, json={"active": False}).json()["data"]
    assert (disabled["disabled_reason"], disabled["disabled_by"]) == ("by_user", key_id)
    assert disabled["disabled_at"] is not None
    assert world.rows(DueDelivery) == []
    old, _ = world.rows(Delivery)
    with connections["platform"].cursor() as cursor:
        for table, column in (("webhooks_delivery", "id"), ("webhooks_event", "id")):
            if table == "webhooks_delivery":
                cursor.execute(
                    f"UPDATE {table} SET created_at = created_at - interval '73 hours' WHERE {column} = %s", [old.id]
                )
        cursor.execute(
            "INSERT INTO webhooks_endpoint_health (endpoint_id, tenant_id, consecutive_failures, failing_since, circuit_state)"
            " VALUES (%s, %s, 7, %s, 'open')",
            [endpoint["id"], world.tenant.id, now() - timedelta(hours=30)],
        )
    shown = world.api.get(path)
    assert (shown.json()["data"]["consecutive_failures"], shown.json()["data"]["circuit_state"]) == (7, "open")
    assert shown.json()["data"]["failing_since"] is not None
    enabled = world.api.patch(path, json={"active": True}).json()["data"]
    assert (enabled["disabled_reason"], enabled["disabled_by"], enabled["disabled_at"]) == ("", None, None)
    assert (enabled["consecutive_failures"], enabled["circuit_state"], enabled["failing_since"]) == (0, "closed", None)
    with tenant_context(world.tenant.id):
        assert not EndpointHealth.objects.filter(endpoint_id=endpoint["id"]).exists()
    drain()
    assert sorted((d["state"], d["last_error"]) for d in world.deliveries(endpoint)) == [
        ("delivered", None), ("failed", "endpoint_disabled"),
    ]  # fmt: skip
    assert len(receiver.received) == 1


def test_reactivation_leaves_an_old_delivery_in_flight_to_its_outcome(world):
    endpoint = world.endpoint("http://127.0.0.1:9/hook", events=["product.*"])
    path = f"/v1/webhooks/{endpoint['id']}"
    world.record()
    with Engine(world) as engine:
        engine.fan_out()
        (work,) = engine.claim()
        assert world.api.patch(path, json={"active": False}).status_code == 200
        old = work.created_at - timedelta(hours=73)
        run_as_owner("UPDATE webhooks_delivery SET created_at = %s WHERE id = %s", [old, work.delivery_id])
        run_as_owner("UPDATE webhooks_delivery_due SET created_at = %s WHERE delivery_id = %s", [old, work.delivery_id])
        assert world.api.patch(path, json={"active": True}).status_code == 200
        assert [delivery["state"] for delivery in world.deliveries(endpoint)] == ["pending"]
        engine.finish(outcome(replace(work, created_at=old)))
    assert [delivery["state"] for delivery in world.deliveries(endpoint)] == ["delivered"]


def test_etag_changes_with_the_health_and_still_names_the_version(world, receiver):
    endpoint = world.endpoint(receiver.url)
    path = f"/v1/webhooks/{endpoint['id']}"
    first = world.api.get(path)
    assert first["ETag"] == '"1"'
    assert world.api.get(path, headers={"If-None-Match": '"1"'}).status_code == 304
    with tenant_context(world.tenant.id):
        EndpointHealth.objects.create(endpoint_id=endpoint["id"], tenant_id=world.tenant.id, consecutive_failures=3)
    second = world.api.get(path, headers={"If-None-Match": '"1"'})
    assert (second.status_code, second["ETag"].startswith('"1;')) == (200, True)
    changed = world.api.patch(path, json={"description": "x"}, headers={"If-Match": second["ETag"]})
    assert changed.status_code == 200
    assert world.api.patch(path, json={"description": "y"}, headers={"If-Match": second["ETag"]}).status_code == 409


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"payload_mode": "fat"}, "payload_mode"),
        ({"ordered": "perhaps"}, "ordered"),
        ({"max_inflight": 0}, "max_inflight"),
        ({"max_inflight": 65}, "max_inflight"),
        ({"max_inflight": None}, "max_inflight"),
        ({"max_rps": 0}, "max_rps"),
        ({"max_rps": 1001}, "max_rps"),
        ({"disabled_reason": "gone"}, "disabled_reason"),
        ({"circuit_state": "closed"}, "circuit_state"),
    ],
)
def test_settings_out_of_bounds_change_nothing(world, receiver, changes, field):
    endpoint = world.endpoint(receiver.url)
    path = f"/v1/webhooks/{endpoint['id']}"
    for answer in (
        world.api.patch(path, json=changes),
        world.api.post("/v1/webhooks", json={"url": receiver.url, "events": ["*"], **changes}),
    ):
        assert answer.status_code == 400
        assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert world.api.get(path).json()["data"]["version"] == 1
    assert len(world.api.get("/v1/webhooks").json()["data"]["items"]) == 1


def test_settings_are_accepted_and_shown(world, receiver):
    wanted = {"ordered": True, "max_inflight": 64, "max_rps": 1000}
    endpoint = world.endpoint(receiver.url, **wanted)
    assert {name: endpoint[name] for name in wanted} == wanted
    defaults = world.endpoint(receiver.url)
    assert (defaults["payload_mode"], defaults["signature"], defaults["ordered"]) == ("thin", "hmac", False)
    assert (defaults["max_inflight"], defaults["max_rps"]) == (8, None)
    path = f"/v1/webhooks/{endpoint['id']}"
    changed = world.api.patch(path, json={"max_rps": None, "ordered": False, "max_inflight": 1}).json()["data"]
    assert (changed["max_rps"], changed["ordered"], changed["max_inflight"], changed["version"]) == (None, False, 1, 2)


def test_deliveries_are_found_by_their_index_however_many_there_are(world, receiver):
    """The union with the queue of new events must not make PostgreSQL read and sort the history."""
    endpoint = world.endpoint(receiver.url)
    query = read_query(DeliveryViewSet.listing, QueryDict(""), "page")
    query = replace(query, extra=(of_endpoint(endpoint["id"]),))
    call = cursor_call(query, world.tenant.id, after=None, limit=20)
    with tenant_context(world.tenant.id), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")  # a few rows are sorted as cheaply as they are walked
        cursor.execute(f"PREPARE listed AS {call.statement.sql.decode()}")
        cursor.execute(f"EXPLAIN EXECUTE listed ({', '.join(['%s'] * len(call.parameters))})", call.parameters)
        plan = [row[0] for row in cursor.fetchall()]
        cursor.execute("DEALLOCATE listed")
    assert any("endpoint_id_created_at_id_idx" in line for line in plan), plan
    assert any("Merge Append" in line for line in plan), plan
