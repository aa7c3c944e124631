"""Receivers of every temper, each on a bare socket: none breaks, delays or fools the client for longer than it allows.

Source: test plan, group 10.
"""

import asyncio
import gzip
import socket
import socketserver
import struct
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from core import egress
from tests.outside import Listener

TOTAL_SECONDS = 0.6
PATIENT_SECONDS = 20  # where an answer has to come, however busy this machine is
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
BOMB = gzip.compress(b"x" * 20_000_000)


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        with suppress(OSError):
            self.server.behave(self)

    def hear(self):
        """Read one whole request."""
        text = b""
        while b"\r\n\r\n" not in text:
            piece = self.request.recv(65536)
            if not piece:
                raise OSError("hung up")
            text += piece
        self.server.requests.append(text)
        return text

    def say(self, *pieces, every=0.0):
        for piece in pieces:
            self.request.sendall(piece)
            if every:
                time.sleep(every)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, behave):
        self.behave = behave
        self.requests = []
        self.over = threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/hook"


@contextmanager
def zoo(behave):
    with Server(behave) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()


def posts(url, count=1, *, pause=0.0, seconds=PATIENT_SECONDS):
    async def work():
        found = []
        way = egress.Rules(allow_private=True)
        async with egress.Egress(way, total_seconds=seconds) as out:
            for _ in range(count):
                found.append(await out.post(url, body=b"{}", headers={"x-a": "b"}))
                await asyncio.sleep(pause)
        return found

    return asyncio.run(work())


def says(*pieces, every=0.0, then="close"):
    """Answer a request with these bytes, then hang up, or stay silent."""

    def behave(handler):
        handler.hear()
        handler.say(*pieces, every=every)
        if then == "stay":
            handler.server.over.wait(10)

    return behave


def says_for_ever(*pieces, again, every=0.0):
    """Answer with these bytes and then with the same piece again until the other side is gone."""

    def behave(handler):
        handler.hear()
        handler.say(*pieces)
        while not handler.server.over.wait(every):
            handler.say(again)

    return behave


def resets(*pieces):
    def behave(handler):
        handler.hear()
        handler.say(*pieces)
        handler.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return behave


def hangs_up_at_once(handler):
    handler.request.close()


def never_reads(handler):
    handler.server.over.wait(10)


def answers_before_it_reads(handler):
    handler.say(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    handler.server.over.wait(0.3)


HEAD = b"HTTP/1.1 200 OK\r\n"
BROKEN = ("broken_answer", "connection_lost")

# name: behaviour, statuses, errors, excerpt (None: any)
ZOO = {
    "good": (says(OK), 200, "", "ok"),
    "no content": (says(b"HTTP/1.1 204 No Content\r\n\r\n"), 204, "", ""),
    "chunked": (says(HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), 200, "", "ok"),
    "old, ended by closing": (says(b"HTTP/1.0 202 Accepted\r\n\r\nok"), 202, "", "ok"),
    "server error": (says(b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n"), 500, "", ""),
    "gone": (says(b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n"), 410, "", ""),
    "asks for a password": (says(b"HTTP/1.1 401 No\r\nwww-authenticate: Basic\r\ncontent-length: 0\r\n\r\n"), 401, "", ""),
    "switches protocols": (says(b"HTTP/1.1 101 Switch\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\nx"), 101, "", None),
    "huge body": (says_for_ever(HEAD + b"content-length: 9999999999\r\n\r\n", again=b"x" * 65536), 200, "", "x" * 4096),
    "endless chunks": (
        says_for_ever(HEAD + b"transfer-encoding: chunked\r\n\r\n", again=b"1000\r\n" + b"x" * 4096 + b"\r\n"),
        200, "", "x" * 4096,
    ),
    "compressed bomb": (says(HEAD + b"content-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(BOMB), BOMB), 200, "", None),
    "nested bomb": (
        says(HEAD + b"content-encoding: gzip, gzip\r\ncontent-length: %d\r\n\r\n" % len(gzip.compress(BOMB)), gzip.compress(BOMB)),
        200, "", None,
    ),
    "bytes that are no text": (says(b"HTTP/1.1 500 X\r\nserver: a\xff\xfeb\r\ncontent-length: 5\r\n\r\na\x00b\xffc"), 500, "", "a\ufffdb\ufffdc"),
    "cut body": (says(HEAD + b"content-length: 10\r\n\r\nabc"), 200, "", "abc"),
    "cut chunk": (says(HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\nab"), 200, "", None),
    "silent in the body": (says(HEAD + b"content-length: 10\r\n\r\nabc", then="stay"), 200, "", "abc"),
    "slow body": (says_for_ever(HEAD + b"content-length: 99999\r\n\r\n", again=b"x", every=0.05), 200, "", None),
    "reset in the body": (resets(HEAD + b"content-length: 10\r\n\r\nabc"), 200, "", None),
    "endless trailers": (says_for_ever(HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n", again=b"a: b\r\n"), 200, "", None),
    "chunk of no size": (says(HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n"), None, BROKEN, ""),
    "huge header": (says(HEAD + b"x-a: " + b"b" * 20_000 + b"\r\n\r\n"), None, BROKEN, ""),
    "endless header": (says_for_ever(HEAD + b"x-a: ", again=b"b" * 4096), None, BROKEN, ""),
    "many headers": (says(HEAD + b"x-a: b\r\n" * 10_000 + b"\r\n"), None, BROKEN, ""),
    "endless headers": (says_for_ever(HEAD, again=b"x-a: b\r\n" * 100), None, BROKEN, ""),
    "slow headers": (says_for_ever(HEAD + b"x-a: ", again=b"b", every=0.05), None, "timeout", ""),
    "slow status": (says_for_ever(b"HTTP/1.1 2", again=b"0", every=0.3), None, ("timeout", *BROKEN), ""),
    "endless status": (says_for_ever(b"HTTP/1.1 200 ", again=b"O" * 4096), None, BROKEN, ""),
    "without headers": (says(b"<html>HTTP/0.9</html>"), None, BROKEN, ""),
    "another protocol": (says(b"SSH-2.0-OpenSSH_9.9\r\n"), None, BROKEN, ""),
    "handshake": (says(b"\x15\x03\x01\x00\x02\x02\x16"), None, BROKEN, ""),
    "a status that is no number": (says(b"HTTP/1.1 abc OK\r\ncontent-length: 0\r\n\r\n"), None, BROKEN, ""),
    "two lengths": (says(HEAD + b"content-length: 2\r\ncontent-length: 3\r\n\r\nabc"), None, BROKEN, ""),
    "negative length": (says(HEAD + b"content-length: -2\r\n\r\nok"), None, BROKEN, ""),
    "NUL in a header": (says(HEAD + b"x-a: b\x00c\r\ncontent-length: 0\r\n\r\n"), None, BROKEN, ""),
    "says nothing": (says(then="stay"), None, "timeout", ""),
    "never reads": (never_reads, None, "timeout", ""),
    "goes on for ever": (says_for_ever(again=b"HTTP/1.1 100 Continue\r\n\r\n", every=0.01), None, "timeout", ""),
    "hangs up at once": (hangs_up_at_once, None, BROKEN, ""),
    "hangs up after the request": (says(), None, BROKEN, ""),
    "hangs up in the head": (says(HEAD + b"x-a: b"), None, BROKEN, ""),
    "resets": (resets(), None, BROKEN, ""),
    "answers before it reads": (answers_before_it_reads, (413, None), ("", *BROKEN), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", ZOO)
def test_receiver_is_borne(name):
    behave, status, error, excerpt = ZOO[name]
    with zoo(behave) as server:
        began = time.monotonic()
        (answer,) = posts(server.url, seconds=TOTAL_SECONDS)
        seconds = time.monotonic() - began
    assert answer.status in (status if isinstance(status, tuple) else (status,))
    assert answer.error in (error if isinstance(error, tuple) else (error,))
    assert excerpt is None or answer.excerpt == excerpt
    assert len(answer.excerpt) <= egress.EXCERPT_BYTES
    assert "x" * 4097 not in answer.excerpt
    assert answer.remote_ip == "127.0.0.1"
    assert seconds < TOTAL_SECONDS + 2
    assert len(server.requests) <= 1


def test_no_compression_is_asked_for_or_undone():
    with zoo(ZOO["compressed bomb"][0]) as server:
        (answer,) = posts(server.url)
    assert b"accept-encoding: identity" in server.requests[0].lower()
    assert "xxxx" not in answer.excerpt


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_is_an_answer_and_nothing_to_follow(status):
    with Listener() as listener:
        place = f"http://127.0.0.1:{listener.port}/"
        reply = f"HTTP/1.1 {status} Away\r\nlocation: {place}\r\nrefresh: 0; url={place}\r\ncontent-length: 0\r\n\r\n"
        with zoo(says(reply.encode())) as server:
            (answer,) = posts(server.url)
    assert (answer.status, answer.error) == (status, "")
    assert "location" not in answer.headers
    assert listener.connections == []


def test_cookies_and_passwords_are_not_sent_back():
    reply = b"HTTP/1.1 200 OK\r\nset-cookie: a=b\r\nwww-authenticate: Basic\r\ncontent-length: 0\r\n\r\n"

    def behave(handler):
        for _ in range(2):
            handler.hear()
            handler.say(reply)

    with zoo(behave) as server:
        assert [answer.status for answer in posts(server.url, 2)] == [200, 200]
        assert len(server.requests) == 2
    assert b"cookie" not in server.requests[1].lower()
    assert b"authorization" not in server.requests[1].lower()


@pytest.mark.parametrize("pause", [0.0, 0.2], ids=["with the first answer", "while nothing is asked"])
def test_second_answer_is_not_taken_for_that_of_the_next_request(pause):
    """A connection that speaks unasked is not used again."""
    poison = b"HTTP/1.1 200 OK\r\nserver: poison\r\ncontent-length: 0\r\n\r\n"

    def behave(handler):
        first = len(handler.server.requests) == 0
        handler.hear()
        if not first:
            handler.say(b"HTTP/1.1 500 No\r\nserver: honest\r\ncontent-length: 0\r\n\r\n")
            return
        if pause:
            handler.say(OK)
            time.sleep(pause / 2)
            handler.say(poison)
        else:
            handler.say(OK + poison)
        handler.server.over.wait(2)

    with zoo(behave) as server:
        answers = posts(server.url, 2, pause=pause)
    assert [answer.status for answer in answers] != [200, 200]
    assert "poison" not in [answer.headers.get("server") for answer in answers]


def test_kept_connection_that_is_lost_costs_no_attempt():
    """The server may close it at the moment in which it is used again: what it did not answer is sent once more."""

    def behave(handler):
        handler.hear()
        if len(handler.server.requests) in (1, 3):
            handler.say(OK)
            handler.hear()

    with zoo(behave) as server:
        answers = posts(server.url, 2)
        assert len(server.requests) == 3
    assert [answer.status for answer in answers] == [200, 200]
    assert "connect_ms" in answers[1].timings


def test_new_connection_that_is_lost_is_not_tried_again():
    with zoo(says()) as server:
        (answer,) = posts(server.url)
        assert len(server.requests) == 1
    assert answer.error == "connection_lost"
