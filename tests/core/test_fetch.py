"""Documents that a waiting request needs: bounded in time and size, and guarded like all that goes out."""

import asyncio
import threading
import time

import pytest

from core import egress
from core.egress import documents
from tests.outside import FixedResolver, Listener, Names, answering, server


def fetch(url, longest_bytes=1000):
    return egress.fetch(url, accept="application/json", longest_bytes=longest_bytes)


class NeverAnswers(FixedResolver):
    async def resolve(self, host, port=0, family=0):
        await asyncio.sleep(60)
        return []


@pytest.fixture
def names():
    Names.forget()
    yield Names
    Names.forget()


@pytest.fixture
def listener():
    with Listener() as found:
        yield found


@pytest.fixture
def open_way(settings):
    settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS = True


def test_fetch_returns_the_whole_body_and_the_headers_about_its_age(open_way):
    body = b"x" * 1000
    with server(answering(body, "cache-control: max-age=60", "age: 5", "server: y")) as (url, asked):
        document = fetch(url)
    headers = {"cache-control": "max-age=60", "age": "5"}
    assert document == egress.Document(status=200, headers=headers, body=body)
    ((line, *head),) = asked
    assert line == "get /keys http/1.1"
    assert {"accept: application/json", "user-agent: healthcareplatform/1.0", "accept-encoding: identity"} <= set(head)


def test_fetch_ends_at_the_longest_body(open_way):
    hung_up = threading.Event()

    def endless(write):
        write(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                write(b"x" * 10_000)
        except OSError:
            hung_up.set()

    with server(endless) as (url, _):
        assert fetch(url) == egress.Document(status=200, error="too_long")
        assert hung_up.wait(10)


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{"], ids=["silent", "stuck"])
def test_fetch_waits_for_nobody(open_way, head):
    ended = threading.Event()

    def hang(write):
        write(head)
        ended.wait(30)

    with server(hang) as (url, _):
        began = time.monotonic()
        document = fetch(url)
        took = time.monotonic() - began
        ended.set()
    assert document == egress.Document(status=None, error="timeout")
    assert egress.FETCH_SECONDS - 0.1 <= took < 30


def test_fetch_gives_up_a_name_that_is_not_resolved(settings):
    settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS = False
    settings.WEBHOOKS_RESOLVER = f"{__name__}.NeverAnswers"
    assert fetch("https://keys.example.com/").error == "timeout"


def test_fetch_waits_for_no_turn_either(open_way):
    turns = [documents._AT_ONCE.acquire(timeout=5) for _ in range(8)]
    try:
        assert turns == [True] * 8
        assert fetch("http://127.0.0.1:1/") == egress.Document(status=None, error="busy")
    finally:
        for _ in turns:
            documents._AT_ONCE.release()


def test_fetch_names_a_cut_body_and_a_closed_port(open_way):
    with server(lambda write: write(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{")) as (url, _):
        assert fetch(url) == egress.Document(status=None, error="broken_answer")
    assert fetch(url) == egress.Document(status=None, error="connection_refused")


def test_fetch_follows_no_redirect(open_way, listener):
    moved = answering(b"", f"location: http://127.0.0.1:{listener.port}/", status="302 Found")
    with server(moved) as (url, _):
        assert fetch(url) == egress.Document(status=302)
    assert listener.connections == []


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["1.1.1.1", "10.0.0.1"], ["::1"]])
def test_fetch_refuses_private_addresses(settings, names, listener, addresses):
    settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS = False
    names.known |= {"keys.example.com": addresses}
    blocked = egress.Document(status=None, error="blocked_destination")
    assert fetch(f"https://keys.example.com:{listener.port}/") == blocked
    assert fetch(f"http://127.0.0.1:{listener.port}/") == blocked
    assert listener.connections == []
