"""Work ends with its client, and the probe of life waits for nobody. On a real front, with real sockets."""

import json
import socket
import time
from contextlib import ExitStack

import psycopg
import pytest
from django.db import connections

from tests import factories
from tests.suppliers.products import body

WAITING = """
SELECT count(*) FROM pg_stat_activity
 WHERE datname = current_database() AND wait_event_type = 'Lock' AND usename = current_user
"""


@pytest.fixture
def port(live_server_url):
    return int(live_server_url.rpartition(":")[2])


@pytest.fixture
def locked():
    """Lock the row of a product for as long as the block lasts; changing it waits until the client has gone."""
    api = factories.as_member(factories.provision("supplier"), ("supplier_admin",))
    product = api.post("/v1/products", json=body()).json()["data"]
    with psycopg.connect(**_parameters()) as connected:
        connected.execute("SELECT 1 FROM suppliers_product WHERE id = %s FOR UPDATE", [product["id"]])
        yield api, product


def _parameters():
    found = connections["owner"].get_connection_params()
    return {name: value for name, value in found.items() if name in ("host", "port", "user", "password", "dbname")}


def waiting():
    with connections["default"].cursor() as cursor:
        cursor.execute(WAITING)
        return cursor.fetchone()[0]


def until(condition, seconds):
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if condition():
            return True
        time.sleep(0.02)
    return False


def put(api, product):
    """The bytes of a request that changes the product."""
    content = json.dumps(body(supplier_sku=product["supplier_sku"], name="Other gloves")).encode()
    head = f"PUT /v1/products/{product['id']} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    fields = "".join(f"{name}: {value}\r\n" for name, value in api.headers.items())
    return (
        f'{head}{fields}If-Match: "{product["version"]}"\r\nContent-Length: {len(content)}\r\n\r\n'.encode() + content
    )


def test_two_hundred_requests_closed_early_leave_no_statement(port, locked):
    api, product = locked
    with ExitStack() as stack:
        for _ in range(200):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            line.sendall(put(api, product))
        assert until(waiting, 5), "no request reached the row"
    assert until(lambda: not waiting(), 1.5), "a statement runs on though its client has gone"
    assert api.get(f"/v1/products/{product['id']}").json()["data"]["name"] == product["name"]


def test_probe_of_life_is_answered_while_every_thread_waits(port, locked):
    api, product = locked
    with ExitStack() as stack:
        for _ in range(40):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            line.sendall(put(api, product))
        assert until(waiting, 5), "no request reached the row"
        probe = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
        probe.sendall(
            b"GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Request-Id: probe-1\r\nConnection: close\r\n\r\n"
        )
        answer = b"".join(iter(lambda: probe.recv(65_536), b""))
        assert waiting(), "the row was free before the probe was answered"
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"x-request-id: probe-1" in answer
    assert answer.endswith(b'{"status":"live"}')
