"""The guard of outgoing connections. Nothing leaves the machine: resolvers are our own, targets are on the loopback."""

import asyncio
import socket
import socketserver
import threading
import time
from contextlib import contextmanager, nullcontext

import pytest

from bench.receiver import Receiver, Reply
from core import egress
from core.egress.guard import GuardedResolver, guarded_socket
from tests.outside import FixedResolver, Listener, Names

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


SHUT = egress.Rules()
OPEN = egress.Rules(allow_private=True)


def post(url, way=OPEN, *, resolver=None, total_seconds=egress.TOTAL_SECONDS):
    async def work():
        async with egress.Egress(way, resolver=resolver, total_seconds=total_seconds) as out:
            return await out.post(url, body=b"{}", headers={"x-a": "b"})

    return asyncio.run(work())


@pytest.fixture
def listener():
    with Listener() as found:
        yield found


@pytest.mark.parametrize("address", BAD)
def test_is_public_refuses(address):
    assert not egress.is_public(address)


@pytest.mark.parametrize("address", GOOD)
def test_is_public_accepts(address):
    assert egress.is_public(address)


@pytest.mark.parametrize("url", BAD_URLS)
def test_check_url_refuses_with_one_text(url):
    with pytest.raises(egress.BlockedDestination) as refused:
        egress.check_url(url, SHUT)
    assert str(refused.value) == "The destination is not allowed."
    assert [(e.field, e.code, e.message) for e in refused.value.errors] == [
        ("url", "blocked_destination", "The address must be an https URL on the public internet.")
    ]


@pytest.mark.parametrize("url", GOOD_URLS)
def test_check_url_accepts(url):
    egress.check_url(url, SHUT)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8900/hook", "http://localhost:5432/", "https://[::1]:9/"])
def test_check_url_accepts_local_ones_for_developers(url):
    egress.check_url(url, OPEN)


@pytest.mark.parametrize("url", ["http://user@127.0.0.1/", "file:///etc/passwd", "http://127.0.0.1/ x", ""])
def test_check_url_refuses_malformed_ones_for_developers_too(url):
    with pytest.raises(egress.BlockedDestination):
        egress.check_url(url, OPEN)


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
    port, connections = listener.port, listener.connections
    answer = post(f"https://hooks.example.com:{port}/", SHUT, resolver=FixedResolver(*answers))
    assert answer == egress.Answer(status=None, error="blocked_destination")
    assert connections == []


@pytest.mark.parametrize(
    ("family", "address"),
    [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET6, "::ffff:127.0.0.1")],
)
def test_guarded_socket_is_the_last_look_however_the_address_was_found(family, address):
    with pytest.raises(egress.BlockedDestination):
        guarded_socket((family, socket.SOCK_STREAM, 6, "", (address, 443)))


def test_guarded_resolver_judges_every_answer_anew():
    async def rebind():
        resolver = GuardedResolver(FixedResolver(["1.1.1.1"], ["127.0.0.1"]))
        assert [found["host"] for found in await resolver.resolve("hooks.example.com", 443)] == ["1.1.1.1"]
        with pytest.raises(egress.BlockedDestination):
            await resolver.resolve("hooks.example.com", 443)

    asyncio.run(rebind())


@pytest.mark.parametrize(
    ("ports", "url", "open_way"),
    [
        ({443}, "https://hooks.example.com/", True),
        ({443}, "https://hooks.example.com:8443/", False),
        ({8443}, "https://hooks.example.com/", False),
        ({80}, "https://hooks.example.com:80/", True),
    ],
)
def test_ports_are_narrowed_by_the_operator(ports, url, open_way):
    way = egress.Rules(ports=frozenset(ports))
    with nullcontext() if open_way else pytest.raises(egress.BlockedDestination):
        egress.check_url(url, way)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "::1", "64:ff9b::7f00:1"])
def test_check_url_refuses_a_name_that_was_found_to_be_private(address):
    url = "https://hooks.example.com/"
    egress.check_url(url, SHUT, addresses=[])
    egress.check_url(url, SHUT, addresses=["1.1.1.1", "2606:4700:4700::1111"])
    with pytest.raises(egress.BlockedDestination):
        egress.check_url(url, SHUT, addresses=["1.1.1.1", address])


@pytest.fixture
def names():
    Names.forget()
    yield Names
    Names.forget()


def test_look_up_asks_for_names_that_may_be_dialled_alone(names):
    names.known |= {"hooks.example.com": ["1.1.1.1", "10.0.0.1"], "nobody.example.com": []}
    assert egress.look_up("https://hooks.example.com/x", SHUT) == ["1.1.1.1", "10.0.0.1"]
    assert egress.look_up("https://nobody.example.com/", SHUT) == []
    refused = ["https://127.0.0.1/", "https://intranet/", "http://hooks.example.com/", "https://hooks.example.com:22/"]
    assert [egress.look_up(url, SHUT) for url in refused] == [[]] * 4
    assert egress.look_up("https://hooks.example.com/", OPEN) == []
    assert egress.look_up("https://hooks.example.com/", egress.Rules(proxy_url="http://127.0.0.1:1")) == []
    assert names.asked == ["hooks.example.com", "nobody.example.com"]


def test_look_up_waits_for_nobody(settings):
    settings.WEBHOOKS_RESOLVER = f"{__name__}.NeverAnswers"
    began = time.monotonic()
    assert egress.look_up("https://hooks.example.com/", SHUT) == []
    assert egress.LOOKUP_SECONDS <= time.monotonic() - began < 30


class NeverAnswers(FixedResolver):
    async def resolve(self, host, port=0, family=socket.AF_INET):
        await asyncio.sleep(60)
        return []


@contextmanager
def outer_proxy(*, answer):
    """A proxy that notes what it is asked for and gives one answer."""
    asked = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            asked.append(self.rfile.readline().decode().strip())
            while self.rfile.readline().strip():
                pass
            self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", asked
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (407, "blocked_destination"),
        (403, "blocked_destination"),
        (502, "connection_refused"),
    ],
)
def test_everything_goes_through_the_outer_proxy(status, error):
    """It is private itself, is told the name and never an address of ours, and its no sounds like our own."""
    resolver = FixedResolver(["127.0.0.1"])
    with outer_proxy(answer=f"HTTP/1.1 {status} Said\r\ncontent-length: 0\r\n\r\n".encode()) as (url, asked):
        answer = post("https://hooks.example.com:8443/", egress.Rules(proxy_url=url), resolver=resolver)
        inner = post("https://127.0.0.1/", egress.Rules(proxy_url=url), resolver=resolver)
    assert (answer.status, answer.error, answer.remote_ip) == (None, error, "")
    assert inner == egress.Answer(status=None, error="blocked_destination")
    assert asked == ["CONNECT hooks.example.com:8443 HTTP/1.1"]
    assert resolver.asked == 0


def test_outer_proxy_that_is_away_is_our_trouble():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    answer = post("https://hooks.example.com/", egress.Rules(proxy_url=f"http://127.0.0.1:{port}"))
    assert (answer.status, answer.error, answer.remote_ip) == (None, "proxy_away", "")


def test_post_follows_no_redirect(listener):
    port, connections = listener.port, listener.connections
    reply = Reply(status=302, headers={"location": f"http://127.0.0.1:{port}/"})
    with Receiver(script=lambda arrival, number: reply) as receiver:
        answer = post(receiver.url, OPEN)
    assert answer.status == 302
    assert connections == []


def test_post_ignores_proxies_of_the_environment(listener, monkeypatch):
    port, connections = listener.port, listener.connections
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
    monkeypatch.delenv("no_proxy", raising=False)
    with Receiver() as receiver:
        assert post(receiver.url, OPEN).status == 200
    assert connections == []


def test_post_ends_slow_answers():
    with Receiver(script=lambda arrival, number: Reply(delay_seconds=2)) as receiver:
        answer = post(receiver.url, total_seconds=0.3)
    assert (answer.status, answer.error, answer.remote_ip) == (None, "timeout", "127.0.0.1")
    assert set(answer.timings) == {"connect_ms"}


def test_post_notes_where_it_went_and_how_long_each_part_took():
    with Receiver(script=lambda arrival, number: Reply(delay_seconds=0.1)) as receiver:
        url = receiver.url.replace("127.0.0.1", "hooks.example.com")
        answer = post(url, resolver=FixedResolver(["127.0.0.1"]))
    assert (answer.status, answer.remote_ip) == (200, "127.0.0.1")
    assert set(answer.timings) == {"dns_ms", "connect_ms", "ttfb_ms"}
    assert 95 <= answer.timings["ttfb_ms"] < 5000


def test_post_notes_no_connection_where_one_was_at_hand():
    async def twice(url):
        async with egress.Egress(OPEN) as out:
            return [await out.post(url, body=b"{}", headers={}) for _ in range(2)]

    with Receiver() as receiver:
        first, second = asyncio.run(twice(receiver.url))
    assert (set(first.timings), set(second.timings)) == ({"connect_ms", "ttfb_ms"}, {"ttfb_ms"})
    assert (first.remote_ip, second.remote_ip) == ("127.0.0.1", "127.0.0.1")


def test_post_names_a_closed_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    answer = post(f"http://127.0.0.1:{port}/")
    assert answer == egress.Answer(status=None, error="connection_refused", remote_ip="127.0.0.1")
