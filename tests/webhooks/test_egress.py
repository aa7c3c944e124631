"""The guard of outgoing connections. Nothing leaves the machine: resolvers are our own, targets are on the loopback."""

import asyncio
import gzip
import socket
import threading

import pytest
from aiohttp.abc import AbstractResolver

from bench.receiver import Receiver, Reply
from webhooks import egress

BAD = [
    "127.0.0.1",
    "127.1.2.3",
    "10.1.1.1",
    "172.31.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.127.255.255",
    "0.0.0.0",
    "0.1.2.3",
    "192.0.0.8",
    "192.0.0.170",
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "198.18.0.1",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "192.88.99.1",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2001:10::1",
    "2001:20::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "2606:4700::1%eth0",
    "localhost",
    "127.1",
    "0x7f000001",
]
GOOD = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "2a00:1450:4001:80b::200e",
    "::ffff:8.8.8.8",
]

BAD_URLS = [
    "http://hooks.example.com/", "ftp://hooks.example.com/", "//hooks.example.com/", "hooks.example.com", "", "https://",
    "javascript:alert(1)", "file:///etc/passwd", "https:///x", "https://user@hooks.example.com/",
    "https://user:pass@hooks.example.com/", "https://:@hooks.example.com/", "https://hooks.example.com:80/",
    "https://hooks.example.com:22/", "https://hooks.example.com:6379/", "https://hooks.example.com:5432/",
    "https://hooks.example.com:0/", "https://hooks.example.com:65536/", "https://hooks.example.com:x/",
    "https://localhost/", "https://LOCALHOST/", "https://localhost./", "https://intranet/", "https://hooks.example.com./",
    "https://db.internal/", "https://printer.local/", "https://a.localhost/", "https://router.lan/", "https://127.0.0.1/",
    "https://8.8.8.8/", "https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/",
    "https://0x7f.1/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[64:ff9b::a9fe:a9fe]/",
    "https://[fe80::1%25eth0]/", "https://169.254.169.254/latest/meta-data/", "https://①②⑦.⓪.⓪.①/", "https://exämple.com/",
    "https://hooks.example.com/ x", "https://hooks.example.com\\@127.0.0.1/", "https://hooks.example.com/#part",
    "https://hooks.example.com/\r\nx: y", "https://hooks.example.com/\x00", "https://-bad-.example.com/",
    "https://a..example.com/", "https://.example.com/", "https://%31%32%37.0.0.1/", "https://hooks.example.com:443:80/",
    "https://" + "a" * 64 + ".example.com/", "https://hooks.example.com/" + "a" * 2048, "https://hooks.example.com\t/",
]  # fmt: skip
GOOD_URLS = [
    "https://hooks.example.com", "https://hooks.example.com/a/b?c=d%20e", "https://hooks.example.com:443/",
    "https://hooks.example.com:8443/", "https://hooks.example.com:4567/", "https://xn--exmple-cua.com/",
    "HTTPS://HOOKS.EXAMPLE.COM/", "https://a_b.example.co.uk/",
]  # fmt: skip


class FixedResolver(AbstractResolver):
    """Answers what it is told, one list of addresses after the other; the last one stays."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = 0

    async def resolve(self, host, port=0, family=socket.AF_INET):
        found = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        kind = {True: socket.AF_INET6, False: socket.AF_INET}
        return [
            {"hostname": host, "host": text, "port": port, "family": kind[":" in text], "proto": 0, "flags": 0}
            for text in found
        ]

    async def close(self):
        pass


def post(url, *, allow_private=False, resolver=None, body=b"{}"):
    async def work():
        async with egress.Egress(allow_private=allow_private, resolver=resolver) as out:
            return await out.post(url, body=body, headers={"x-a": "b"})

    return asyncio.run(work())


@pytest.fixture
def listener():
    """A bare TCP listener on the loopback that counts connections."""
    server = socket.create_server(("127.0.0.1", 0))
    connections = []

    def accept():
        while True:
            try:
                connections.append(server.accept())
            except OSError:
                return

    threading.Thread(target=accept, daemon=True).start()
    yield server.getsockname()[1], connections
    server.close()


def raw_server(answer, *, hold=0.0):
    """A server that writes these bytes to whoever connects."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        client, _ = server.accept()
        client.recv(65536)
        try:
            for piece in answer:
                client.sendall(piece)
        except OSError:
            pass
        client.close()

    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{server.getsockname()[1]}/"


@pytest.mark.parametrize("address", BAD)
def test_is_public_refuses(address):
    assert not egress.is_public(address)


@pytest.mark.parametrize("address", GOOD)
def test_is_public_accepts(address):
    assert egress.is_public(address)


@pytest.mark.parametrize("url", BAD_URLS)
def test_check_url_refuses_with_one_text(url):
    with pytest.raises(egress.BlockedDestination) as refused:
        egress.check_url(url, allow_private=False)
    assert str(refused.value) == "The destination is not allowed."
    assert [(e.field, e.code, e.message) for e in refused.value.errors] == [
        ("url", "blocked_destination", "The address must be an https URL on the public internet.")
    ]


@pytest.mark.parametrize("url", GOOD_URLS)
def test_check_url_accepts(url):
    egress.check_url(url, allow_private=False)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8900/hook", "http://localhost:5432/", "https://[::1]:9/"])
def test_check_url_accepts_local_ones_for_developers(url):
    egress.check_url(url, allow_private=True)


@pytest.mark.parametrize("url", ["http://user@127.0.0.1/", "file:///etc/passwd", "http://127.0.0.1/ x", ""])
def test_check_url_refuses_malformed_ones_for_developers_too(url):
    with pytest.raises(egress.BlockedDestination):
        egress.check_url(url, allow_private=True)


@pytest.mark.parametrize(
    "answers",
    [
        [["127.0.0.1"]],
        [["1.1.1.1", "127.0.0.1"]],
        [["::ffff:127.0.0.1"]],
        [["64:ff9b::7f00:1"]],
    ],
    ids=["private", "mixed", "mapped", "nat64"],
)
def test_post_refuses_a_name_that_resolves_to_a_private_address(listener, answers):
    port, connections = listener
    answer = post(f"https://hooks.example.com:{port}/", resolver=FixedResolver(*answers))
    assert answer == egress.Answer(status=None, error="blocked_destination")
    assert connections == []


@pytest.mark.parametrize(
    ("family", "address"),
    [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET6, "::ffff:127.0.0.1")],
)
def test_guarded_socket_is_the_last_look_however_the_address_was_found(family, address):
    with pytest.raises(egress.BlockedDestination):
        egress.guarded_socket((family, socket.SOCK_STREAM, 6, "", (address, 443)))


def test_guarded_resolver_judges_every_answer_anew():
    async def rebind():
        resolver = egress.GuardedResolver(FixedResolver(["1.1.1.1"], ["127.0.0.1"]))
        assert [found["host"] for found in await resolver.resolve("hooks.example.com", 443)] == ["1.1.1.1"]
        with pytest.raises(egress.BlockedDestination):
            await resolver.resolve("hooks.example.com", 443)

    asyncio.run(rebind())


def test_post_follows_no_redirect(listener):
    port, connections = listener
    reply = Reply(status=302, headers={"location": f"http://127.0.0.1:{port}/"})
    with Receiver(script=lambda arrival, number: reply) as receiver:
        answer = post(receiver.url, allow_private=True)
    assert answer.status == 302
    assert connections == []


def test_post_ignores_proxies_of_the_environment(listener, monkeypatch):
    port, connections = listener
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
    monkeypatch.delenv("no_proxy", raising=False)
    with Receiver() as receiver:
        assert post(receiver.url, allow_private=True).status == 200
    assert connections == []


def test_post_keeps_4_kib_of_a_huge_answer_and_hangs_up():
    with Receiver(script=lambda arrival, number: Reply(body=b"x" * 50_000_000)) as receiver:
        answer = post(receiver.url, allow_private=True)
    assert answer.status == 200
    assert answer.excerpt == "x" * 4096


def test_post_asks_for_and_does_no_decompression():
    packed = gzip.compress(b"x" * 1_000_000)
    with Receiver(script=lambda arrival, number: Reply(headers={"content-encoding": "gzip"}, body=packed)) as receiver:
        answer = post(receiver.url, allow_private=True)
        assert receiver.received[0].headers["accept-encoding"] == "identity"
    assert answer.status == 200
    assert len(answer.excerpt) <= 4096
    assert "xxxx" not in answer.excerpt


def test_post_makes_answers_storable():
    url = raw_server([b"HTTP/1.1 500 X\r\nserver: a\xff\xfeb\r\ncontent-length: 5\r\n\r\na\x00b\xffc"])
    answer = post(url, allow_private=True)
    assert answer.status == 500
    answer.headers["server"].encode()
    assert answer.excerpt == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"


@pytest.mark.parametrize(
    "pieces",
    [
        [b"HTTP/1.1 200 OK\r\n" + b"x-a: " + b"b" * 20_000 + b"\r\n\r\n"],
        [b"not http at all\r\n\r\n"],
        [b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"],
        [b""],
    ],
    ids=["huge header", "no http", "cut body", "hung up"],
)
def test_post_names_broken_answers(pieces):
    assert post(raw_server(pieces), allow_private=True).error in ("broken_answer", "connection_lost")


def test_post_ends_slow_answers(monkeypatch):
    monkeypatch.setattr(egress, "TOTAL_SECONDS", 0.3)
    with Receiver(script=lambda arrival, number: Reply(delay_seconds=2)) as receiver:
        answer = post(receiver.url, allow_private=True)
    assert (answer.status, answer.error, answer.remote_ip) == (None, "timeout", "127.0.0.1")
    assert set(answer.timings) == {"connect_ms"}


def test_post_notes_where_it_went_and_how_long_each_part_took():
    with Receiver(script=lambda arrival, number: Reply(delay_seconds=0.1)) as receiver:
        url = receiver.url.replace("127.0.0.1", "hooks.example.com")
        answer = post(url, allow_private=True, resolver=FixedResolver(["127.0.0.1"]))
    assert (answer.status, answer.remote_ip) == (200, "127.0.0.1")
    assert set(answer.timings) == {"dns_ms", "connect_ms", "ttfb_ms"}
    assert 95 <= answer.timings["ttfb_ms"] < 5000


def test_post_notes_no_connection_where_one_was_at_hand():
    async def twice(url):
        async with egress.Egress(allow_private=True) as out:
            return [await out.post(url, body=b"{}", headers={}) for _ in range(2)]

    with Receiver() as receiver:
        first, second = asyncio.run(twice(receiver.url))
    assert (set(first.timings), set(second.timings)) == ({"connect_ms", "ttfb_ms"}, {"ttfb_ms"})
    assert (first.remote_ip, second.remote_ip) == ("127.0.0.1", "127.0.0.1")


def test_post_names_a_closed_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    answer = post(f"http://127.0.0.1:{port}/", allow_private=True)
    assert answer == egress.Answer(status=None, error="connection_refused", remote_ip="127.0.0.1")
