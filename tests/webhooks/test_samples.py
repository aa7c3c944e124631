"""POST /v1/webhooks/{id}/test: a signed sample goes out at once, its answer is shown, nothing of it is kept."""

import threading

import pytest

from bench.receiver import Receiver, Reply, answers_after
from core.crypto import random_text
from core.db import tenant_context
from tests.factories import Api, api_key, as_member
from tests.races import race
from tests.webhooks.worlds import drain, new_world
from webhooks.models import Attempt, Delivery, DueDelivery, Event, NewEvent, Secret

BODY = {"type": "product.created"}


def path(endpoint):
    return f"/v1/webhooks/{endpoint['id']}/test"


def test_sample_is_signed_marked_and_answered_inline(world):
    with Receiver(script=lambda arrival, number: Reply(202, {"x-request-id": "r-1"}, b"thanks")) as receiver:
        endpoint = world.endpoint(receiver.url, events=["api_key.*"])
        answer = world.api.post(path(endpoint), json=BODY)
        (arrival,) = receiver.received
    assert answer.status_code == 200, answer.content
    shown = answer.json()["data"]
    assert answer.json()["success"] is True
    assert (shown["delivered"], shown["status"], shown["error"], shown["response_excerpt"]) == (
        True, 202, None, "thanks",
    )  # fmt: skip
    assert (shown["response_headers"]["x-request-id"], shown["remote_ip"]) == ("r-1", "127.0.0.1")
    assert shown["timings"]["ttfb_ms"] <= shown["duration_ms"]
    assert shown["webhook_id"] == arrival.message_id == arrival.event()["id"]
    assert arrival.verified_by([endpoint["secret"]])
    event = arrival.event()
    assert (event["type"], event["test"], event["tenant_id"], event["sequence"]) == (
        "product.created", True, str(world.tenant.id), "0" * 15,
    )  # fmt: skip
    assert event["data"]["object"] == world.event_types()["product.created"]["example"]


def test_nothing_of_a_sample_is_kept(world, receiver):
    endpoint = world.endpoint(receiver.url)
    drain()
    before = [len(world.rows(model)) for model in (Event, Delivery, Attempt)]
    assert world.api.post(path(endpoint), json=BODY).json()["data"]["delivered"] is True
    assert [len(world.rows(model)) for model in (Event, Delivery, Attempt)] == before
    with tenant_context(world.tenant.id):
        assert not NewEvent.objects.filter(tenant_id=world.tenant.id).exists()
        assert not DueDelivery.objects.filter(tenant_id=world.tenant.id).exists()


def test_bearer_tests_in_the_envelope_of_its_family(world, receiver):
    endpoint = world.endpoint(receiver.url)
    answer = as_member(world.tenant).post(path(endpoint), json=BODY)
    assert set(answer.json()) == {"data"}
    assert answer.json()["data"]["delivered"] is True


def test_disabled_endpoint_can_be_tested(world, receiver):
    endpoint = world.endpoint(receiver.url, active=False)
    assert world.api.post(path(endpoint), json=BODY).json()["data"]["status"] == 200


def test_deleted_and_foreign_endpoints_are_not_found(world, receiver):
    endpoint = world.endpoint(receiver.url)
    assert new_world().api.post(path(endpoint), json=BODY).status_code == 404
    world.api.delete(f"/v1/webhooks/{endpoint['id']}")
    assert world.api.post(path(endpoint), json=BODY).status_code == 404
    assert receiver.received == []


def test_unknown_type_is_refused_with_near_matches(world, receiver):
    endpoint = world.endpoint(receiver.url)
    answer = world.api.post(path(endpoint), json={"type": "product.creatd"})
    assert answer.status_code == 400
    assert [(error["field"], error["code"]) for error in answer.json()["errors"]] == [("type", "unknown_event_type")]
    assert answer.json()["near_matches"]["product.creatd"][0] == "product.created"
    for body in ({}, {"type": "product.*"}, {"type": "*"}, {"type": "product.created", "url": "http://x/"}):
        assert world.api.post(path(endpoint), json=body).status_code == 400
    assert receiver.received == []


def test_refusal_of_the_receiver_is_shown(world):
    with Receiver(script=lambda arrival, number: Reply(500, {}, b"no")) as receiver:
        endpoint = world.endpoint(receiver.url)
        shown = world.api.post(path(endpoint), json=BODY).json()["data"]
    assert (shown["delivered"], shown["status"], shown["response_excerpt"]) == (False, 500, "no")
    closed = world.api.post(path(endpoint), json=BODY).json()["data"]
    assert (closed["delivered"], closed["status"], closed["error"]) == (False, None, "connection_refused")


def test_blocked_destination_gets_nothing_and_tells_nothing(world, receiver, settings):
    endpoint = world.endpoint(receiver.url)
    settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS = False
    shown = world.api.post(path(endpoint), json=BODY).json()["data"]
    assert (shown["status"], shown["error"], shown["timings"], shown["remote_ip"]) == (
        None, "blocked_destination", {}, None,
    )  # fmt: skip
    assert receiver.received == []


def test_hanging_receiver_is_cut_off(world, settings):
    settings.WEBHOOKS_TIMEOUT_SECONDS = 0.3
    is_over = threading.Event()
    with Receiver(script=answers_after(is_over)) as receiver:
        endpoint = world.endpoint(receiver.url)
        shown = world.api.post(path(endpoint), json=BODY).json()["data"]
        is_over.set()
    assert (shown["delivered"], shown["error"]) == (False, "timeout")


def test_no_transaction_is_open_while_the_receiver_thinks(world, settings):
    """Proof: meanwhile somebody else takes the endpoint's own row for himself."""
    arrived, go_on = threading.Event(), threading.Event()

    def script(arrival, number):
        arrived.set()
        go_on.wait(10)
        return Reply()

    with Receiver(script=script) as receiver:
        endpoint = world.endpoint(receiver.url)

        def test():
            return world.api.post(path(endpoint), json=BODY, headers={"Idempotency-Key": "t"}).status_code

        def change():
            assert arrived.wait(10)
            other = Api(key=world.api.headers["X-API-Key"], tenant=world.tenant)
            status = other.patch(f"/v1/webhooks/{endpoint['id']}", json={"description": "changed"}).status_code
            go_on.set()
            return status

        assert race(test, change) == [200, 200]


def test_repeat_with_the_same_key_sends_nothing_more(world, receiver):
    endpoint = world.endpoint(receiver.url)
    key = {"Idempotency-Key": random_text(12)}
    first = world.api.post(path(endpoint), json=BODY, headers=key)
    again = world.api.post(path(endpoint), json=BODY, headers=key)
    assert (again.status_code, again["Idempotency-Replayed"], again.content) == (200, "true", first.content)
    assert len(receiver.received) == 1
    reused = world.api.post(path(endpoint), json={"type": "product.deleted"}, headers=key)
    assert (reused.status_code, reused.json()["code"]) == (422, "idempotency_key_reused")
    assert len(receiver.received) == 1


def test_twins_send_the_same_webhook_id(world):
    with Receiver(script=lambda arrival, number: Reply(delay_seconds=0.5)) as receiver:
        endpoint = world.endpoint(receiver.url)
        key = {"Idempotency-Key": random_text(12)}

        def test():
            client = Api(key=world.api.headers["X-API-Key"], tenant=world.tenant)
            return client.post(path(endpoint), json=BODY, headers=key).status_code

        assert race(test, test) == [200, 200]
        assert len({arrival.message_id for arrival in receiver.received}) == 1


def test_refused_sample_is_judged_anew_under_the_same_key(world, receiver):
    endpoint = world.endpoint(receiver.url)
    key = {"Idempotency-Key": random_text(12)}
    for _ in range(2):
        answer = world.api.post(path(endpoint), json={"type": "nothing.happened"}, headers=key)
        assert (answer.status_code, "Idempotency-Replayed" in answer.headers) == (400, False)


def test_ten_a_minute_and_no_more(world, receiver):
    endpoint = world.endpoint(receiver.url)
    answers = [world.api.post(path(endpoint), json=BODY) for _ in range(11)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429]
    assert answers[0]["RateLimit-Limit"] == "10"
    assert answers[-1].json()["violated-policies"] == ["samples-minute"]
    assert len(receiver.received) == 10
    assert world.api.get("/v1/webhooks").status_code == 200, "other calls have a window of their own"


def test_sample_needs_the_scope_to_write(world, receiver):
    endpoint = world.endpoint(receiver.url)
    reader = Api(key=api_key(world.tenant, scopes=["webhooks:read"]), tenant=world.tenant)
    assert reader.post(path(endpoint), json=BODY).json()["code"] == "insufficient_scope"
    assert receiver.received == []


def test_endpoint_without_a_usable_key_sends_nothing(world, receiver):
    endpoint = world.endpoint(receiver.url)
    with tenant_context(world.tenant.id):
        Secret._base_manager.filter(endpoint_id=endpoint["id"]).update(sealed_key=b"nonsense")
    shown = world.api.post(path(endpoint), json=BODY).json()["data"]
    assert (shown["delivered"], shown["error"]) == (False, "no_usable_secret")
    assert receiver.received == []


@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_other_methods_are_not_allowed(world, receiver, method):
    endpoint = world.endpoint(receiver.url)
    assert getattr(world.api, method)(path(endpoint)).status_code == 405
