"""What the service answers while Valkey or PostgreSQL is away, hangs, or dies under a request; and how it comes back.

Source: test plan, groups 9 and 16.
"""

import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from bench.receiver import Receiver
from tests.faults import service as parts
from tests.faults.service import PATIENCE_SECONDS, frozen, kill, wait_for
from tests.faults.traffic import Client, credential, product

LONGEST_SECONDS = 10.0
CLIENTS = 8


@pytest.fixture
def client(service):
    made = Client(service.port, credential(service.demo, "supplier"))
    yield made
    made.close()


@pytest.fixture
def anyone(service):
    made = Client(service.port, {})
    yield made
    made.close()


def create(client: Client, sku: str, **headers: str):
    return client.send("POST", "/v1/products", product(sku), **headers)


def new_sku() -> str:
    return f"A-{secrets.token_hex(6)}"


def ready(anyone: Client):
    return anyone.send("GET", "/health/ready")


def becomes_ready(anyone: Client) -> None:
    wait_for(lambda: (answer := ready(anyone)) and answer.status == 200, what="readiness")


def assert_problem(answer, status: int, code: str) -> None:
    assert answer is not None
    assert (answer.status, answer.body["code"], answer.body["status"]) == (status, code, status)
    assert answer.headers["content-type"] == "application/problem+json"
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.body["request_id"] == answer.headers["x-request-id"]


def assert_names(anyone: Client, part: str) -> None:
    answer = wait_for(lambda: (found := ready(anyone)) and found.status == 503 and found, what=f"absence of {part}")
    assert_problem(answer, 503, "not_ready")
    assert part in answer.body["away"]


def sign_in(service, anyone: Client):
    person = service.demo["users"]["supplier_admin"]
    return anyone.send("POST", "/v1/auth/token", {"email": person["email"], "password": person["password"]})


def ask_at_once(service, count: int) -> list:
    """Send reads from several clients at once; return all answers and the longest wait."""

    def ask(number: int) -> tuple[int, float, bool]:
        client = Client(service.port, credential(service.demo, "other_supplier"))
        began = time.monotonic()
        answer = client.send("GET", "/v1/products?limit=1")
        client.close()
        seconds = time.monotonic() - began
        return (answer.status, seconds, "ratelimit-limit" in answer.headers) if answer else (0, seconds, False)

    with ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(ask, range(count)))


def test_service_answers_while_valkey_is_away(service, client, anyone):
    sku, key = new_sku(), secrets.token_hex(8)
    with Receiver() as receiver:
        endpoint = client.send("POST", "/v1/webhooks", {"url": receiver.url, "events": ["product.created"]})
        receiver.secrets.append(endpoint.body["data"]["secret"])
        with frozen(parts.keeper(service)):
            kill(*parts.valkey(service))
            assert_names(anyone, "broker")
            assert anyone.send("GET", "/health/live").status == 200
            assert sign_in(service, anyone).status == 200
            first = create(client, sku, **{"Idempotency-Key": key})
            again = create(client, sku, **{"Idempotency-Key": key})
            answers = ask_at_once(service, 60)
        assert (first.status, again.status) == (201, 201)
        assert again.headers["idempotency-replayed"] == "true"
        assert again.body["data"]["id"] == first.body["data"]["id"]
        assert {status for status, _, _ in answers} <= {200, 429}
        assert all(named for _, _, named in answers)
        assert max(seconds for _, seconds, _ in answers) < LONGEST_SECONDS
        becomes_ready(anyone)
        arrivals = receiver.wait(1, seconds=PATIENCE_SECONDS)  # its doorbell was never rung: the sweep finds it
        assert [found.event()["data"]["object"]["id"] for found in arrivals] == [first.body["data"]["id"]]
        assert arrivals[0].verified_by(receiver.secrets)
        client.send("DELETE", f"/v1/webhooks/{endpoint.body['data']['id']}")


@pytest.mark.alone
def test_service_answers_while_valkey_hangs(service, client, anyone):
    with frozen(parts.valkey(service)):
        assert_names(anyone, "broker")
        began = time.monotonic()
        made = [create(client, new_sku()) for _ in range(3)]
        seconds = time.monotonic() - began
        answers = ask_at_once(service, 20)
    assert [answer.status for answer in made] == [201, 201, 201]
    assert seconds < LONGEST_SECONDS
    assert {status for status, _, _ in answers} <= {200, 429}
    becomes_ready(anyone)


def test_service_says_so_while_postgresql_is_away(service, client, anyone):
    sku, key = new_sku(), secrets.token_hex(8)
    with frozen(parts.keeper(service)):
        kill(*parts.whole_postgres(service))
        assert_names(anyone, "database")
        assert anyone.send("GET", "/health/live").status == 200
        began = time.monotonic()
        refused = [
            create(client, sku, **{"Idempotency-Key": key}),
            client.send("GET", "/v1/products"),
            sign_in(service, anyone),
        ]
        seconds = time.monotonic() - began
    for answer in refused:
        assert_problem(answer, 503, "unavailable")
    assert seconds < LONGEST_SECONDS * len(refused)
    becomes_ready(anyone)
    assert create(client, sku, **{"Idempotency-Key": key}).status == 201


def waiting_request(service, client: Client, sku: str, headers: dict[str, str], found: list):
    """Begin a write that waits for a lock; None when it met a session that had died before."""
    found.clear()
    thread = threading.Thread(target=lambda: found.append(create(client, sku, **headers)))
    thread.start()
    question = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with service.connect() as watcher:
        watcher.autocommit = True
        while thread.is_alive():
            if watcher.execute(question).fetchone()[0]:
                return thread
    assert_problem(found[0], 503, "unavailable")
    return None


@pytest.mark.parametrize("victims", [parts.whole_postgres, parts.postgres_session], ids=["server", "session"])
@pytest.mark.parametrize("keyed", [True, False], ids=["keyed", "bare"])
def test_request_in_flight_when_postgresql_dies_is_told_to_come_again(service, client, anyone, victims, keyed):
    sku, found = new_sku(), []
    headers = {"Idempotency-Key": secrets.token_hex(8)} if keyed else {}
    becomes_ready(anyone)
    with service.connect() as blocker:
        blocker.execute("LOCK TABLE suppliers_product IN ACCESS EXCLUSIVE MODE")
        thread = wait_for(lambda: waiting_request(service, client, sku, headers, found), what="the waiting request")
        kill(*victims(service))
        blocker.close()
    thread.join(20)
    assert_problem(found[0], 503, "unavailable")
    becomes_ready(anyone)
    again = wait_for(
        lambda: (answer := create(client, sku, **headers)) and answer.status != 503 and answer, what="write"
    )
    assert again.status == 201
