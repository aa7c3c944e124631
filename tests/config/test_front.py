"""The HTTP front on a real socket: headers, bounds, slow clients."""

import json
import socket
import threading
import time

import pytest

from config import bounds
from fhir_api.views.bundles import BundleViewSet

HEAD = b"Host: 127.0.0.1\r\nConnection: close\r\n"
JSON = b"Content-Type: application/json\r\n"
MEBIBYTE = 1_048_576


@pytest.fixture
def send(live_server_url):
    port = int(live_server_url.rpartition(":")[2])

    def send(request: bytes, *, seconds: float = 15) -> tuple[int, dict[str, str], bytes]:
        with socket.create_connection(("127.0.0.1", port), timeout=seconds) as line:
            line.sendall(request)
            answer = b""
            while part := line.recv(65_536):
                answer += part
        head, _, body = answer.partition(b"\r\n\r\n")
        first, *fields = head.decode().split("\r\n")
        return int(first.split()[1]), dict(field.lower().split(": ", 1) for field in fields), body

    return send


def post(path: bytes, fields: bytes, body: bytes = b"") -> bytes:
    return b"POST " + path + b" HTTP/1.1\r\n" + HEAD + JSON + fields + b"\r\n" + body


@pytest.mark.parametrize("name", [b"X-Tenant-Id", b"Authorization", b"X-Api-Key", b"Idempotency-Key", b"Host"])
def test_single_header_that_comes_twice_is_refused(send, name):
    fields = name + b": a\r\n" + name + b": b\r\n"
    status, headers, body = send(b"GET /v1/products HTTP/1.1\r\n" + HEAD + fields + b"\r\n")
    problem = json.loads(body)
    assert (status, problem["code"], problem["success"]) == (400, "duplicate_header", False)
    assert problem["request_id"] == headers["x-request-id"]
    assert headers["content-type"] == "application/problem+json"
    assert "ratelimit-limit" in headers


@pytest.mark.parametrize("value", ['W/"1ä"'.encode(), "Notfall, Prüfung".encode("latin-1")])
@pytest.mark.parametrize(
    "name",
    [b"If-Match", b"If-None-Exist", b"Idempotency-Key", b"X-Tenant-Id", b"X-Membership-Id", b"X-Break-Glass-Reason"],
)
def test_header_beyond_ascii_is_refused_rather_than_passed_over(send, name, value):
    status, _, body = send(b"GET /v1/products HTTP/1.1\r\n" + HEAD + name + b": " + value + b"\r\n\r\n")
    problem = json.loads(body)
    assert (status, problem["code"]) == (400, "header_not_ascii")
    assert name.decode().lower() in problem["detail"]


def test_header_beyond_ascii_that_nobody_reads_does_no_harm(send):
    fields = "X-City: Köln\r\nUser-Agent: Ärzte\r\nX-Request-Id: good\r\n".encode()
    status, headers, _ = send(b"GET /health/live HTTP/1.1\r\n" + HEAD + fields + b"\r\n")
    assert (status, headers["x-request-id"]) == (200, "good")


def test_underscore_header_never_stands_for_another(send):
    fields = b"X_Request_Id: evil\r\nX-Request-Id: good\r\n"
    assert send(b"GET /health/live HTTP/1.1\r\n" + HEAD + fields + b"\r\n")[1]["x-request-id"] == "good"
    only_evil = send(b"GET /health/live HTTP/1.1\r\n" + HEAD + b"X_Request_Id: evil\r\n\r\n")
    assert only_evil[1]["x-request-id"] != "evil"


def test_headers_beyond_the_bound_are_refused(send):
    status, _, body = send(b"GET /v1/products HTTP/1.1\r\n" + HEAD + b"X-Big: " + b"a" * 40_000 + b"\r\n\r\n")
    assert (status, json.loads(body)["code"]) == (431, "headers_too_large")


@pytest.mark.parametrize(
    ("path", "size", "status"),
    [
        (b"/v1/auth/token", MEBIBYTE + 1, 413),
        (b"/v1/products", MEBIBYTE, 401),
        (b"/v1/products", MEBIBYTE + 1, 413),
        (b"/fhir/R4/Patient", MEBIBYTE + 1, 413),
        (b"/fhir/R4", 10 * MEBIBYTE, 401),
        (b"/fhir/R4", 10 * MEBIBYTE + 1, 413),
        (b"/fhir/R4/", 10 * MEBIBYTE, 401),
        (b"/v1/nowhere", MEBIBYTE, 404),
        (b"/v1/nowhere", MEBIBYTE + 1, 413),
        (b"/v1/files", 21 * MEBIBYTE, 413),
    ],
)
def test_body_has_the_bound_of_its_operation(send, path, size, status):
    found, _, body = send(post(path, b"Content-Length: %d\r\n" % size, b"x" * size))
    assert found == status
    assert (b"body_too_large" in body or b"too-long" in body) == (status == 413)


def test_bound_of_the_front_is_that_of_the_operation():
    """Every operation's own number, by the address at which it stands."""
    assert {bounds.body_limit("POST", path) for path in ("/fhir/R4", "/fhir/R4/")} == {10 * MEBIBYTE}
    assert BundleViewSet.operations["process"].body_limit == 10 * MEBIBYTE
    assert bounds.body_limit("GET", "/fhir/R4") == MEBIBYTE


def test_chunked_body_counts_and_arrives(send):
    big = b"%x\r\n" % (2 * MEBIBYTE) + b"x" * (2 * MEBIBYTE) + b"\r\n0\r\n\r\n"
    assert send(post(b"/v1/auth/token", b"Transfer-Encoding: chunked\r\n", big))[0] == 413
    small = b'9\r\n{"surely"\r\n13\r\n: "not a field yet"\r\n1\r\n}\r\n0\r\n\r\n'
    status, _, body = send(post(b"/v1/auth/token", b"Transfer-Encoding: chunked\r\n", small))
    problem = json.loads(body)
    assert (status, problem["code"]) == (400, "validation_error")
    assert ("surely", "unknown_field") in [(one["field"], one["code"]) for one in problem["errors"]]


def test_slow_bodies_time_out_and_hold_nobody_up(send, live_server_url):
    port = int(live_server_url.rpartition(":")[2])
    lines = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(200)]
    for line in lines:
        line.sendall(post(b"/v1/auth/token", b"Content-Length: 100\r\n", b"{"))
    worst = 0.0
    for _ in range(20):
        began = time.monotonic()
        assert send(b"GET /health/live HTTP/1.1\r\n" + HEAD + b"\r\n")[0] == 200
        worst = max(worst, time.monotonic() - began)
    answers = [line.recv(12) for line in lines]
    for line in lines:
        line.close()
    assert worst < 5  # of the ten seconds that the slow ones are given
    assert set(answers) == {b"HTTP/1.1 408"}


def test_client_that_leaves_in_the_middle_changes_nothing(send, live_server_url):
    port = int(live_server_url.rpartition(":")[2])
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", port)) as line:
            line.sendall(post(b"/v1/auth/token", b"Content-Length: 100\r\n", b"{"))
    assert send(b"GET /health/live HTTP/1.1\r\n" + HEAD + b"\r\n")[0] == 200


def test_request_without_host_is_refused(send):
    status, _, body = send(b"GET /v1/products HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert (status, json.loads(body)["code"]) == (400, "host_not_allowed")


def test_many_clients_at_once_are_all_answered(send):
    found: list[int] = []

    def ask() -> None:
        found.extend(send(b"GET /v1/products HTTP/1.1\r\n" + HEAD + b"\r\n")[0] for _ in range(5))

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 80
    assert set(found) <= {401, 429}
