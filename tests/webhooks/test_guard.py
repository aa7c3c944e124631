"""Every address and trick, through the doors that a tenant has: create, PATCH and a delivery of a row that got in anyway.

All are refused in the same words, and nothing is sent: listeners on both loopbacks count, and a watch on the process
collects every connection that Python makes. Source: webhooks contract, "The guard"; test plan, group 10.
"""

import asyncio
from urllib.parse import urlsplit

import pytest
from django.conf import settings as configured
from django.db import connection, transaction

from bench.receiver import Receiver
from core.clock import now
from core.db import bind_tenant, tenant_context
from core.ids import uuid7
from tests.factories import Api
from tests.outside import PUBLIC, Listener, watch
from tests.webhooks.worlds import drain, new_world
from webhooks import egress, sealing, signing
from webhooks.models import Attempt, Delivery, DueDelivery, Endpoint, Secret

GOOD = "https://hooks.example.com/in"
PRIVATE_NAMES = {
    "private.example.com": ["127.0.0.1"],
    "second.example.com": [PUBLIC, "127.0.0.1"],
    "first.example.com": ["127.0.0.1", PUBLIC],
    "six.example.com": ["::1"],
    "mixed-six.example.com": ["2606:4700:4700::1111", "::1"],
    "mapped.example.com": ["::ffff:127.0.0.1"],
    "mapped-hex.example.com": ["::ffff:7f00:1"],
    "compatible.example.com": ["::127.0.0.1"],
    "nat64.example.com": ["64:ff9b::7f00:1"],
    "nat64-metadata.example.com": ["64:ff9b::a9fe:a9fe"],
    "nat64-local.example.com": ["64:ff9b:1::7f00:1"],
    "six-to-four.example.com": ["2002:7f00:1::1"],
    "teredo.example.com": ["2001::1"],
    "unique-local.example.com": ["fd00:ec2::254"],
    "link.example.com": ["fe80::1"],
    "scoped.example.com": ["fe80::1%lo"],
    "multicast.example.com": ["ff02::1"],
    "documentation.example.com": ["2001:db8::1"],
    "metadata.example.com": ["169.254.169.254"],
    "ten.example.com": ["10.0.0.1"],
    "office.example.com": ["192.168.1.1"],
    "carrier.example.com": ["100.64.0.1"],
    "zero.example.com": ["0.0.0.0"],
    "everybody.example.com": ["255.255.255.255"],
    "group.example.com": ["224.0.0.1"],
    "benchmark.example.com": ["198.18.0.1"],
    "127.0.0.1.nip.example": ["127.0.0.1"],
    "xn--lclhst-eua3b5a.example.com": ["127.0.0.1"],
}

# Refused by their text; `{port}` is that of the listeners.
TRICKS = [
    "https://127.0.0.1:{port}/", "https://127.0.0.1:{port}", "http://127.0.0.1:{port}/", "https://127.1:{port}/",
    "https://127.0.1:{port}/", "https://0:{port}/", "https://0.0.0.0:{port}/", "https://2130706433:{port}/",
    "https://017700000001:{port}/", "https://0x7f000001:{port}/", "https://0x7f.0.0.1:{port}/",
    "https://0177.0.0.1:{port}/", "https://0x7f.1:{port}/", "https://0300.0250.1.1/", "https://127.0.0.1.:{port}/",
    "https://%31%32%37.0.0.1:{port}/", "https://127.0.0.1%00.example.com:{port}/", "https://①②⑦.⓪.⓪.①:{port}/",
    "https://127。0。0。1:{port}/", "https://[::1]:{port}/", "https://[0:0:0:0:0:0:0:1]:{port}/",
    "https://[::ffff:127.0.0.1]:{port}/", "https://[::ffff:7f00:1]:{port}/", "https://[::127.0.0.1]:{port}/",
    "https://[64:ff9b::7f00:1]:{port}/", "https://[64:ff9b::a9fe:a9fe]/", "https://[64:ff9b:1::7f00:1]:{port}/",
    "https://[2002:7f00:1::]:{port}/", "https://[2001::1]/", "https://[fe80::1%25lo]:{port}/", "https://[fe80::1]/",
    "https://[fd00:ec2::254]/", "https://[ff02::1]/", "https://[2606:4700:4700::1111]/", "https://[::]:{port}/",
    "https://169.254.169.254/latest/meta-data/", "https://10.0.0.1/", "https://172.16.0.1/", "https://192.168.1.1/",
    "https://100.64.0.1/", "https://192.0.0.8/", "https://198.18.0.1/", "https://224.0.0.1/", "https://8.8.8.8/",
    "https://localhost:{port}/", "https://LOCALHOST:{port}/", "https://localhost.:{port}/", "https://a.localhost:{port}/",
    "https://localhost.localdomain:{port}/", "https://ip6-localhost:{port}/", "https://intranet/", "https://db.internal/",
    "https://metadata.google.internal/", "https://printer.local/", "https://router.lan/", "https://nas.home/",
    "https://hooks.example.com./", "https://.hooks.example.com/", "https://hooks..example.com/",
    "https://-hooks-.example.com/", "https://" + "a" * 64 + ".example.com/", "https://" + "a." * 127 + "example.com/",
    "https://exämple.com/", "https://user@127.0.0.1:{port}/", "https://user@hooks.example.com/",
    "https://user:pass@hooks.example.com/", "https://:@hooks.example.com/",
    "https://hooks.example.com@127.0.0.1:{port}/", "https://127.0.0.1:{port}@hooks.example.com/",
    "https://127.0.0.1:{port}#@hooks.example.com/", "https://hooks.example.com#@127.0.0.1:{port}/",
    "https://hooks.example.com\\@127.0.0.1:{port}/", "https://hooks.example.com/\\..\\@127.0.0.1:{port}/",
    "https://hooks.example.com:{port}:443/", "https://hooks.example.com:0/", "https://hooks.example.com:65536/",
    "https://hooks.example.com:x/", "https://hooks.example.com:22/", "https://hooks.example.com:25/",
    "https://hooks.example.com:80/", "https://hooks.example.com:2375/", "https://hooks.example.com:5432/",
    "https://hooks.example.com:6379/", "https://hooks.example.com:9200/", "https://hooks.example.com:11211/",
    "https://hooks.example.com:27017/", "http://hooks.example.com/", "HTTP://hooks.example.com/",
    "ftp://hooks.example.com/", "file:///etc/passwd", "gopher://127.0.0.1:{port}/_x", "javascript:alert(1)",
    "data:text/plain,x", "unix:///run/postgresql/.s.PGSQL.5432", "//hooks.example.com/", "https:hooks.example.com/",
    "https:///hooks.example.com/", "https://", "https://?", "hooks.example.com", "https://hooks.example.com/ x",
    "https://hooks.example.com/\tx", "https://hooks.example.com/\r\nx: y", "https://hooks.exam\nple.com/",
    "https://hooks.example.com/\x7f", "https://hooks.example.com/#part", "https://hooks.example.com/é",
]  # fmt: skip
# Refused by their form, in the words of every too long or empty text.
FORMLESS = ["", " ", GOOD + "a" * 2048, GOOD + "\x00", None, 1, [], {"url": GOOD}]

BLOCKED = [("url", "blocked_destination", "The address must be an https URL on the public internet.")]


def urls(port):
    return [text.replace("{port}", str(port)) for text in TRICKS] + [
        f"https://{name}:{port}/" for name in PRIVATE_NAMES
    ]


@pytest.fixture
def guarded(settings, names, monkeypatch):
    """The guard as in production, beside listeners that it must not reach, and proxies of the environment that lie."""
    settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS = False
    settings.WEBHOOKS_LEASE_SECONDS = 60
    names.known |= PRIVATE_NAMES
    with Listener() as listener:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{listener.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        yield listener


def outgoing():
    """Watch everything but the way to Valkey, which is Python's too."""
    return watch(allowed_ports=(urlsplit(configured.REDIS_URL).port or 6379,))


def words(answer):
    """What an answer says, without what is different in each."""
    body = answer.json()
    return answer.status_code, {name: body[name] for name in body if name not in ("request_id", "instance")}


def test_tricks_are_as_many_as_promised(guarded):
    assert len(set(urls(guarded.port))) >= 130


def test_creation_is_refused_in_one_text(guarded, world):
    with outgoing() as seen:
        answers = {
            url: world.api.post("/v1/webhooks", json={"url": url, "events": ["*"]}) for url in urls(guarded.port)
        }
    assert {url: found.status_code for url, found in answers.items() if found.status_code != 400} == {}
    assert len({str(words(found)) for found in answers.values()}) == 1
    (body,) = {str(found.json()["errors"]): found.json() for found in answers.values()}.values()
    assert [(error["field"], error["code"], error["message"]) for error in body["errors"]] == BLOCKED
    assert world.rows(Endpoint) == []
    assert (seen, guarded.connections) == ([], [])


def test_change_is_refused_in_one_text(guarded, world):
    endpoint = world.endpoint(GOOD, events=["product.*"])
    path = f"/v1/webhooks/{endpoint['id']}"
    with outgoing() as seen:
        answers = {url: world.api.patch(path, json={"url": url}) for url in urls(guarded.port)}
    assert {url: found.status_code for url, found in answers.items() if found.status_code != 400} == {}
    assert len({str(words(found)) for found in answers.values()}) == 1
    assert (world.rows(Endpoint)[0].url, world.rows(Endpoint)[0].version) == (GOOD, 1)
    assert (seen, guarded.connections) == ([], [])


@pytest.mark.parametrize("url", FORMLESS, ids=lambda url: repr(url)[:20])
def test_address_without_form_is_refused(guarded, world, url):
    with outgoing() as seen:
        answer = world.api.post("/v1/webhooks", json={"url": url, "events": ["*"]})
    assert answer.status_code == 400
    assert {error["field"] for error in answer.json()["errors"]} <= {"url"}
    assert (seen, world.rows(Endpoint)) == ([], [])


def test_delivery_is_refused_in_one_text(guarded, world):
    """Rows that got in before a rule was made, or while their names were public."""
    wanted = urls(guarded.port)
    with transaction.atomic():
        bind_tenant(world.tenant.id)
        Endpoint.objects.bulk_create(
            Endpoint(tenant_id=world.tenant.id, url=url, events=["product.*"]) for url in wanted
        )
        keep_signing_keys(world)
    world.record()
    with outgoing() as seen:
        drain(30)
    attempts = world.rows(Attempt)
    assert len(attempts) == len(wanted)
    said = {
        (a.status, a.error, a.response_excerpt, str(a.response_headers), str(a.timings), a.remote_ip) for a in attempts
    }
    assert said == {(None, "blocked_destination", "", "{}", "{}", None)}
    assert {(row.state, row.attempts) for row in world.rows(Delivery)} == {("failed", 1)}
    assert world.rows(DueDelivery) == []
    assert (seen, guarded.connections) == ([], [])


def keep_signing_keys(world):
    """Give every endpoint of the tenant a key, since nothing is sent unsigned."""
    for endpoint in Endpoint.objects.filter(tenant_id=world.tenant.id):
        secret_id = uuid7()
        sealed = sealing.seal_key(signing.new_key(), endpoint_id=endpoint.id, secret_id=secret_id)
        Secret.objects.create(
            id=secret_id,
            tenant_id=world.tenant.id,
            endpoint=endpoint,
            sealed_key=sealed,
            created_at=now(),
            updated_at=now(),
        )


@pytest.mark.parametrize("late", [["127.0.0.1"], [PUBLIC, "127.0.0.1"], ["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"]])
def test_name_that_turns_private_is_not_dialled(guarded, world, names, late):
    """DNS rebinding: public while it was registered, private when it is dialled."""
    names.rebinding["turn.example.com"] = [[PUBLIC], late]
    endpoint = world.endpoint(f"https://turn.example.com:{guarded.port}/", events=["product.*"])
    world.record()
    with outgoing() as seen:
        drain()
    (delivery,) = world.deliveries(endpoint)
    assert (delivery["state"], delivery["attempt_log"][0]["error"]) == ("failed", "blocked_destination")
    # once at registration, once when dialled; a retry of another test's tenant may have come due meanwhile
    assert names.asked.count("turn.example.com") == 2
    assert (seen, guarded.connections) == ([], [])


def test_name_that_does_not_exist_yet_may_be_registered(guarded, world, names):
    """It may get its address tomorrow; whatever it gets is checked when it is dialled."""
    names.known["new.example.com"] = []
    endpoint = world.endpoint("https://new.example.com/", events=["product.*"])
    world.record()
    drain()
    (delivery,) = world.deliveries(endpoint)
    assert (delivery["state"], delivery["attempt_log"][0]["error"]) == ("retrying", "dns_failed")


def test_names_are_looked_up_for_those_who_may_write_alone(guarded, world, names):
    """Nobody makes the platform ask the network by a request that it refuses anyway."""
    stranger = new_world()
    known = {"url": GOOD, "events": ["*"]}
    answers = [
        Api(key=world.api.headers["X-API-Key"], tenant=stranger.tenant).post("/v1/webhooks", json=known).status_code,
        world.api.post("/v1/webhooks", json=known | {"events": []}).status_code,
        world.api.post("/v1/webhooks", json=known | {"other": 1}).status_code,
    ]
    assert (answers, names.asked) == ([403, 400, 400], [])


def test_names_are_looked_up_outside_the_transaction(guarded, world, settings):
    settings.WEBHOOKS_RESOLVER = f"{__name__}.Curious"
    world.endpoint("https://hooks.example.com/", events=["product.*"])
    with transaction.atomic():
        bind_tenant(world.tenant.id)
        egress.look_up("https://hooks.example.com/", egress.rules())
    assert Curious.transactions == [0, 1]


class Curious:
    """A resolver that counts the transactions that are open on this database while it is asked."""

    transactions: list[int] = []

    async def resolve(self, host, port=0, family=0):
        return await asyncio.get_running_loop().run_in_executor(None, self._count)

    def _count(self):
        try:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                    " AND xact_start IS NOT NULL AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
                )
                self.transactions.append(cursor.fetchone()[0])
        finally:
            connection.close()
        return []

    async def close(self):
        pass


def test_guard_off_lets_it_out(world):
    """The proof that the counting counts: the same listener is reached when a developer allows it."""
    with Receiver() as receiver, outgoing() as seen:
        world.endpoint(receiver.url, events=["product.*"])
        world.record()
        drain()
    assert len(receiver.received) == 1
    assert ("socket.connect", ("127.0.0.1", receiver.port)) in seen
    with tenant_context(world.tenant.id):
        assert Attempt.objects.get(tenant_id=world.tenant.id).status == 200
