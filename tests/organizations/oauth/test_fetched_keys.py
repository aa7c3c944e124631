"""Key sets at clients' addresses: rotated, kept for a bounded time, and behind servers of every kind."""

import json
import threading
import time
from contextlib import contextmanager

import pytest

from organizations.models import DeniedToken
from organizations.oauth import client_keys, fetched_keys
from tests.organizations.oauth.flows import error_of
from tests.organizations.oauth.signers import MAKERS, key_set, public, signer
from tests.outside import Listener, Names, answering, server
from tests.races import race

REFUSED = (401, "invalid_client")


@pytest.fixture(autouse=True)
def nothing_kept():
    fetched_keys.forget()
    yield
    fetched_keys.forget()


@pytest.fixture
def names():
    Names.forget()
    yield Names
    Names.forget()


class Published:
    """A client that publishes its keys."""

    def __init__(self, *headers):
        self.headers = headers
        self.body = b"{}"
        self.status = "200 OK"

    def publish(self, *keys):
        self.body = json.dumps(key_set(*keys)).encode()

    def __call__(self, write):
        answering(self.body, *self.headers, status=self.status)(write)


@contextmanager
def publisher(*headers, algorithm="ES384"):
    published = Published(*headers)
    with server(published) as (url, asked):
        service = signer(algorithm, uri=url)
        published.publish(public(service.key))
        yield published, service, asked


def rotated(service, kid):
    """Give the client a new key, which it signs with from now on."""
    service.key, service.kid = MAKERS[service.algorithm](), kid
    return public(service.key, kid)


def described(response):
    assert error_of(response) == REFUSED
    return response.json()["error_description"]


@pytest.mark.parametrize("algorithm", ["RS384", "ES384"])
def test_keys_are_fetched_once_and_kept(algorithm):
    with publisher("cache-control: public, max-age=60", algorithm=algorithm) as (_, service, asked):
        assert [service.ask().status_code for _ in range(3)] == [200] * 3
        assert service.ask(service.assertion({"jku": service.client.jwks_uri})).status_code == 200
    assert len(asked) == 1
    assert "accept: application/json" in asked[0]


def test_rotated_keys_work_at_once_and_old_ones_end():
    with publisher() as (published, service, asked):
        assert service.ask().status_code == 200
        by_old = service.assertion()

        published.publish(rotated(service, "second"))

        assert service.ask().status_code == 200
        assert "kid" in described(service.ask(by_old))
        assert len(asked) == 2


def test_unknown_keys_are_asked_for_every_few_seconds_at_most(monkeypatch):
    with publisher() as (published, service, asked):
        for _ in range(10):
            assert "kid" in described(service.ask(service.assertion({"kid": "forged"})))
        assert len(asked) == 2  # the first, and one for the unknown key

        published.publish(rotated(service, "second"))
        assert "kid" in described(service.ask())
        monkeypatch.setattr(fetched_keys, "UNKNOWN_KID_SECONDS", 0.0)
        assert service.ask().status_code == 200
    assert len(asked) == 3


def test_keys_are_kept_no_longer_than_their_cache_control_says():
    with publisher("cache-control: max-age=1") as (published, service, asked):
        first = public(service.key)
        assert service.ask().status_code == 200
        published.publish(rotated(service, "second"))
        assert service.ask().status_code == 200
        published.publish(first)

        time.sleep(1.1)

        assert "kid" in described(service.ask())
        assert len(asked) == 3


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 300),
        ({"cache-control": "public"}, 300),
        ({"cache-control": "max-age=60"}, 60),
        ({"cache-control": 'Public, Max-Age="60"'}, 60),
        ({"cache-control": "max-age=60", "age": "50"}, 10),
        ({"cache-control": "max-age=60", "age": "70"}, 0),
        ({"cache-control": "max-age=60", "age": "x"}, 60),
        ({"cache-control": "max-age=99999999"}, 3600),
        ({"cache-control": "max-age=" + "9" * 4000}, 3600),
        ({"cache-control": "max-age=-1"}, 0),
        ({"cache-control": "max-age=soon"}, 0),
        ({"cache-control": "max-age=60, no-store"}, 0),
        ({"cache-control": "no-cache"}, 0),
    ],
)
def test_lifetime_follows_the_headers(headers, seconds):
    assert fetched_keys._lifetime(headers) == seconds


def test_keys_that_may_not_be_kept_are_fetched_for_each_assertion():
    with publisher("cache-control: no-store") as (published, service, asked):
        assert [service.ask().status_code for _ in range(3)] == [200] * 3
        published.publish()
        assert "kid" in described(service.ask())
    assert len(asked) == 4


def test_assertions_sent_at_once_share_one_fetch():
    with publisher() as (_, service, asked):
        answers = race(*[service.ask] * 8)
    assert [answer.status_code for answer in answers] == [200] * 8
    assert len(asked) == 1


BROKEN = {
    "not found": (answering(b"{}", status="404 Not Found"), "status 404"),
    "moved": (answering(b"", "location: http://127.0.0.1:1/", status="302 Found"), "status 302"),
    "text": (answering(b"<html>"), "not a key set"),
    "list": (answering(b"[]"), "not a key set"),
    "no list": (answering(b'{"keys": 5}'), "not a key set"),
    "deep": (answering(b'{"keys": ' + b"[" * 50_000), "not a key set"),
    "bytes": (answering(b"\xff\xfe\x00"), "not a key set"),
    "many": (answering(json.dumps({"keys": [{}] * 21}).encode()), "not a key set"),
    "ten megabytes": (answering(b" " * 10_000_000), "too_long"),
    "cut": (lambda write: write(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"), "broken_answer"),
    "no http": (lambda write: write(b"hello\r\n\r\n"), ""),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_key_set_is_refused_and_not_asked_for_again_at_once(name, monkeypatch):
    answer, words = BROKEN[name]
    with server(answer) as (url, asked):
        service = signer(uri=url)
        text = service.assertion()
        told = [described(service.ask(text)) for _ in range(3)]
        assert told == [told[0]] * 3
        assert words in told[0]
        assert len(asked) == 1
        monkeypatch.setattr(fetched_keys, "RETRY_SECONDS", 0.0)
        assert error_of(service.ask(text)) == REFUSED
        assert len(asked) == 2


def test_a_server_that_hangs_delays_one_request_by_three_seconds():
    ended = threading.Event()
    with server(lambda write: ended.wait(30)) as (url, asked):
        service = signer(uri=url)
        began = time.monotonic()
        answers = race(*[service.ask] * 4)
        took = time.monotonic() - began
        ended.set()
    assert ["timeout" in described(answer) for answer in answers] == [True] * 4
    assert took < 10
    assert len(asked) == 1


def test_fresh_keys_outlast_a_server_that_is_away():
    with publisher("cache-control: max-age=60") as (published, service, _):
        assert service.ask().status_code == 200
        published.status = "503 Service Unavailable"
        assert "kid" in described(service.ask(service.assertion({"kid": "second"})))
        assert service.ask().status_code == 200


def test_keys_of_other_kinds_in_a_set_are_left_out():
    with publisher() as (published, service, _):
        good = public(service.key)
        other = MAKERS["ES384"]()
        rsa = MAKERS["RS384"]()
        kinds = [{"kty": "OKP", "kid": "a"}, {}, 7, public(other, "b", use="enc"), {**public(rsa, "c"), "n": "AQAB"}]
        published.publish(good, *kinds, public(rsa))
        assert service.ask().status_code == 200  # the RSA key of the same id is of another type
        for kid in "abc":
            fetched_keys.forget()
            assert "kid" in described(service.ask(service.assertion({"kid": kid})))

        fetched_keys.forget()
        published.publish(good, public(other))
        assert "single key" in described(service.ask())


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["10.0.0.1"], ["1.1.1.1", "169.254.169.254"], ["::1"]])
def test_an_address_that_becomes_private_is_not_asked(settings, names, addresses):
    settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS = False
    with Listener() as listener:
        url = f"https://keys.example.com:{listener.port}/jwks.json"
        service = signer(uri=url)
        names.known |= {"keys.example.com": addresses}
        assert "blocked_destination" in described(service.ask())
        with pytest.raises(client_keys.UnusableKeys):
            client_keys.at_address(url)
        assert listener.connections == []


@pytest.mark.parametrize(
    "url",
    ["http://keys.example.com/", "https://127.0.0.1/", "https://localhost/", "https://[::1]/", "https://10.0.0.1/jwks",
     "https://keys.internal/", "https://u:p@keys.example.com/", "ftp://keys.example.com/", "keys", ""],
)  # fmt: skip
def test_addresses_that_are_not_public_are_not_registered(settings, url):
    settings.WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS = False
    with pytest.raises(client_keys.UnusableKeys) as refused:
        client_keys.at_address(url)
    assert [(error.field, error.code) for error in refused.value.errors] == [("jwks_uri", "unusable_keys")]


def test_a_refused_assertion_is_fetched_for_only_if_it_is_otherwise_right():
    with publisher() as (_, service, asked):
        used = DeniedToken.objects.count()
        for changes in ({"aud": "x"}, {"exp": 1}, {"jti": None}, {"sub": "x"}):
            assert error_of(service.ask(service.assertion(**changes))) == REFUSED
        assert error_of(service.ask(service.assertion({"jku": "https://evil.example/"}))) == REFUSED
        assert DeniedToken.objects.count() == used
    assert asked == []
