"""Uploads on a real socket: their bound, their time, how many at once, and a service that is killed in the middle."""

import contextlib
import os
import signal
import socket
import threading
import time
from datetime import timedelta

import pytest

from config import bounds
from core.clock import now
from devtools import parts
from devtools.ports import answers, check_port
from suppliers.files.states import MOST_BYTES
from tests.conftest import part, wait
from tests.factories import api_key, provision
from tests.suppliers.files.samples import counts, form, pdf, png, sweep

MEBIBYTE = 1_048_576


@pytest.fixture
def tenant():
    return provision("supplier")


@pytest.fixture
def head(tenant):
    key = api_key(tenant)

    def head(media, length):
        return (
            "POST /v1/files HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
            f"X-API-Key: {key}\r\nX-Tenant-Id: {tenant.id}\r\nContent-Type: {media}\r\nContent-Length: {length}\r\n\r\n"
        ).encode()

    return head


@pytest.fixture
def port(live_server_url):
    return int(live_server_url.rpartition(":")[2])


def connected(port):
    return socket.create_connection(("127.0.0.1", port), timeout=90)


def answer(line):
    whole = b""
    while piece := line.recv(65_536):
        whole += piece
    first, _, rest = whole.partition(b"\r\n")
    return int(first.split()[1]), rest


def send(port, head, content, **more):
    body, media = form(content, purpose="certificate", name="a.pdf", **more)
    with connected(port) as line:
        line.sendall(head(media, len(body)) + body)
        return answer(line)


def test_bounds_of_forms_stand_beside_those_of_json():
    assert bounds.body_limit("POST", "/v1/files") == MEBIBYTE
    assert bounds.spooled_limit("POST", "/v1/files", "application/json") == 0
    assert bounds.spooled_limit("POST", "/v1/files", "Multipart/Form-Data; boundary=x") == MOST_BYTES + 131_072
    assert bounds.spooled_limit("POST", "/v1/products", "multipart/form-data; boundary=x") == 0
    assert bounds.spooled_limit("PUT", "/v1/files/content/hpf_x", "image/png") == MOST_BYTES
    assert bounds.spooled_limit("GET", "/v1/files/content/hpf_x", "") == 0


def test_file_of_the_greatest_size_is_taken_and_one_byte_more_refused(port, head, tenant):
    status, rest = send(port, head, pdf(MOST_BYTES - len(pdf())))
    assert status == 201, rest[-500:]
    before = counts(tenant)
    status, rest = send(port, head, pdf(MOST_BYTES - len(pdf()) + 1))
    assert (status, b'"file_too_large"' in rest) == (413, True)
    status, rest = send(port, head, pdf(MOST_BYTES + 200_000))
    assert (status, b'"body_too_large"' in rest) == (413, True)
    assert counts(tenant) == before


def test_chunked_form_is_taken(port, head, tenant):
    body, media = form(pdf(300_000), purpose="certificate", name="a.pdf")
    with connected(port) as line:
        line.sendall(head(media, 0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked"))
        for start in range(0, len(body), 50_000):
            piece = body[start : start + 50_000]
            line.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
        line.sendall(b"0\r\n\r\n")
        status, rest = answer(line)
    assert status == 201, rest[-500:]


def test_four_bodies_at_a_time_and_the_fifth_is_asked_to_come_again(port, head, tenant):
    body, media = form(pdf(200_000), purpose="certificate", name="a.pdf")
    with contextlib.ExitStack() as stack:
        lines = [stack.enter_context(connected(port)) for _ in range(4)]
        for line in lines:
            line.sendall(head(media, len(body)) + body[:100_000])
        time.sleep(1)
        status, rest = send(port, head, pdf(200_000))
        assert (status, b'"overloaded"' in rest, b"retry-after: 5" in rest.lower()) == (503, True, True)
        small, _ = send(port, head, pdf())  # needs no place on disk
        assert small == 201
        lines[0].close()  # the client has gone
        time.sleep(1)
        assert send(port, head, pdf(200_000))[0] == 201
        for line in lines[1:]:
            line.sendall(body[100_000:])
        found = sorted(answer(line)[0] for line in lines[1:])
    assert found == [200, 200, 201]
    assert send(port, head, pdf(200_000))[0] == 201


def test_form_that_stops_arriving_is_408(port, head, tenant):
    body, media = form(pdf(400_000), purpose="certificate", name="a.pdf")
    with connected(port) as line:
        began = time.monotonic()
        line.sendall(head(media, len(body)) + body[:131_072])
        status, rest = answer(line)
    assert (status, b'"request_timeout"' in rest) == (408, True)
    assert 11 < time.monotonic() - began < 20  # ten seconds, and two for 128 KiB
    assert counts(tenant) == (0, 0, 0, 0)


def test_slow_form_is_taken_as_long_as_it_arrives(port, head, long):
    """At 512 KiB a second, far longer than ten seconds for the whole."""
    size = MOST_BYTES if long else 7 * MEBIBYTE
    body, media = form(pdf(size - len(pdf())), purpose="certificate", name="a.pdf")
    with connected(port) as line:
        line.sendall(head(media, len(body)))
        began = time.monotonic()
        for start in range(0, len(body), 65_536):
            line.sendall(body[start : start + 65_536])
            time.sleep(max(0, began + (start + 65_536) / 524_288 - time.monotonic()))
        took = time.monotonic() - began
        status, rest = answer(line)
    assert took > 13
    assert status == 201, rest[-500:]


@pytest.fixture
def silent():
    """A server that takes whatever is sent and never answers; an event tells that something came."""
    came = threading.Event()

    def serve(server):
        with contextlib.suppress(OSError):
            while True:
                line, _ = server.accept()
                threading.Thread(target=swallow, args=(line,), daemon=True).start()

    def swallow(line):
        with contextlib.suppress(OSError), line:
            while line.recv(65_536):
                came.set()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, args=(server,), daemon=True).start()
        yield server.getsockname()[1], came


def test_service_that_is_killed_in_the_middle_leaves_only_what_the_sweep_removes(
    head, tenant, silent, service_environment, tmp_path
):
    store, came = silent
    own, body = check_port(0), form(png(), purpose="product_image")
    variables = service_environment | {"STORAGE_URL": f"s3://K:S@bucket?region=x&endpoint=http://127.0.0.1:{store}"}
    with part(parts.web_command(port=own, workers=1), variables, tmp_path) as child:
        wait(child, lambda: answers(own))
        with connected(own) as line:
            line.sendall(head(body[1], len(body[0])) + body[0])
            assert came.wait(30)
            os.kill(child.process.pid, signal.SIGKILL)
            child.process.wait(10)
            with contextlib.suppress(ConnectionError):
                assert line.recv(10) == b""
    files, loose, stored, used = counts(tenant)
    assert (files, loose, stored) == (0, 1, 0)
    assert used > 0
    sweep(now() + timedelta(minutes=14))
    assert counts(tenant)[1] == 1  # it might still be written
    sweep(now() + timedelta(minutes=16))
    assert counts(tenant) == (0, 0, 0, 0)
