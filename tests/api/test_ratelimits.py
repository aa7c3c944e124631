"""Rate limits against a real Valkey: under load, killed, hanging, and restarted."""

import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import redis

from api import ratelimits
from api.ratelimits import Policy, Verdict
from devtools.binaries import find_valkey


class Valkey:
    """A server of this test alone, which the test may kill."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "v.sock"
        self.folder = folder
        self.start()

    def start(self) -> None:
        command = [str(find_valkey()), "--port", "0", "--unixsocket", str(self.socket), "--save", ""]
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.client = redis.Redis(unix_socket_path=str(self.socket))
        for _ in range(500):
            try:
                if self.client.ping():
                    return
            except redis.RedisError:
                time.sleep(0.01)
        raise RuntimeError("valkey does not start")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.socket.unlink(missing_ok=True)


@pytest.fixture
def valkey(tmp_path_factory: pytest.TempPathFactory, settings: Any) -> Iterator[Valkey]:
    server = Valkey(tmp_path_factory.mktemp("v"))
    before = settings.REDIS_URL
    settings.REDIS_URL = f"unix://{server.socket}?db=0"
    settings.WEB_WORKERS = 4
    ratelimits.reset()
    yield server
    server.kill()
    settings.REDIS_URL = before
    ratelimits.reset()


def bucket() -> str:
    return uuid4().hex


def in_threads(count: int, policy: Policy, name: str) -> list[Verdict]:
    start = threading.Barrier(count)

    def one(_: int) -> Verdict:
        start.wait()
        return ratelimits.take(policy, name)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def test_take_200_threads_at_limit_100_exactly_100_pass(valkey: Valkey, monkeypatch: pytest.MonkeyPatch) -> None:
    """The socket's time limit is raised: on a busy machine a thread may read its answer late, whatever the count."""
    monkeypatch.setattr(ratelimits, "SOCKET_SECONDS", 20.0)
    name = bucket()
    verdicts = in_threads(200, Policy("race", 100), name)
    assert sum(verdict.allowed for verdict in verdicts) == 100
    assert sorted(verdict.remaining for verdict in verdicts if verdict.allowed) == list(range(100))
    assert valkey.client.llen(f"rl:race:{name}") == 100


def test_take_counts_down_and_gives_the_time_until_a_unit_is_free(valkey: Valkey) -> None:
    policy, name = Policy("few", 2, 10), bucket()
    assert ratelimits.take(policy, name) == Verdict(True, 2, 1, 10, 10, "few")
    assert ratelimits.take(policy, name) == Verdict(True, 2, 0, 10, 10, "few")
    assert ratelimits.take(policy, name) == Verdict(False, 2, 0, 10, 10, "few")


def test_take_in_any_window_at_most_the_limit_passes(valkey: Valkey) -> None:
    policy, name, passed = Policy("slide", 5, 1), bucket(), []
    until = time.monotonic() + 2.6
    while time.monotonic() < until:
        if ratelimits.take(policy, name).allowed:
            passed.append(time.monotonic())
        time.sleep(0.005)
    assert len(passed) in (15, 14)
    assert all(later - earlier > 0.99 for earlier, later in zip(passed, passed[5:], strict=False))


def test_take_after_the_stated_wait_passes(valkey: Valkey) -> None:
    policy, name = Policy("wait", 1, 1), bucket()
    ratelimits.take(policy, name)
    refused = ratelimits.take(policy, name)
    time.sleep(refused.reset_seconds)
    assert (refused.allowed, ratelimits.take(policy, name).allowed) == (False, True)


def test_peek_spends_nothing(valkey: Valkey) -> None:
    policy, name = Policy("look", 2), bucket()
    assert ratelimits.peek(policy, name) == Verdict(True, 2, 2, 0, 60, "look")
    ratelimits.take(policy, name)
    assert [ratelimits.peek(policy, name).remaining for _ in range(5)] == [1] * 5
    ratelimits.take(policy, name)
    assert ratelimits.peek(policy, name).allowed is False


def test_take_buckets_and_policies_do_not_share_units(valkey: Valkey) -> None:
    name = bucket()
    verdicts = [ratelimits.take(Policy(policy, 1), name + end) for policy in ("one", "two") for end in ("a", "b")]
    assert all(verdict.allowed for verdict in verdicts)


def test_take_log_expires_after_its_window(valkey: Valkey) -> None:
    name = bucket()
    ratelimits.take(Policy("gone", 3, 1), name)
    assert 0 < valkey.client.pttl(f"rl:gone:{name}") <= 2_000


def test_take_script_flushed_is_loaded_again(valkey: Valkey) -> None:
    policy, name = Policy("script", 9), bucket()
    ratelimits.take(policy, name)
    valkey.client.script_flush()
    assert [ratelimits.take(policy, name).remaining for _ in range(3)] == [7, 6, 5]


def test_take_server_clock_set_back_a_little_keeps_counting(valkey: Valkey) -> None:
    policy, name = Policy("clock", 2), bucket()
    seconds, micros = valkey.client.time()
    valkey.client.rpush(f"rl:clock:{name}", seconds * 1_000_000 + micros + 5_000_000)
    assert [ratelimits.take(policy, name).allowed for _ in range(2)] == [True, False]


def test_take_server_clock_set_back_a_year_does_not_lock_the_bucket(valkey: Valkey) -> None:
    policy, name = Policy("clock", 1), bucket()
    seconds, _ = valkey.client.time()
    valkey.client.rpush(f"rl:clock:{name}", (seconds + 31_000_000) * 1_000_000)
    assert [ratelimits.take(policy, name).allowed for _ in range(2)] == [True, False]


def test_take_valkey_killed_each_process_passes_its_share(valkey: Valkey) -> None:
    policy, name = Policy("share", 10), bucket()
    ratelimits.take(policy, name)
    valkey.kill()
    verdicts = in_threads(50, policy, name)
    assert sum(verdict.allowed for verdict in verdicts) == 3  # ceil(10 / 4 workers)
    assert {verdict.limit for verdict in verdicts} == {10}
    assert min(verdict.reset_seconds for verdict in verdicts) >= 1


def test_take_valkey_back_is_used_again_by_itself(valkey: Valkey) -> None:
    policy, name = Policy("back", 100), bucket()
    valkey.kill()
    assert ratelimits.take(policy, name).allowed
    valkey.start()
    time.sleep(ratelimits.CIRCUIT_SECONDS + 0.05)
    assert ratelimits.take(policy, name).remaining == 99
    assert valkey.client.llen(f"rl:back:{name}") == 1


def test_take_valkey_restarted_between_calls_needs_no_fallback(valkey: Valkey) -> None:
    policy, name = Policy("restart", 100), bucket()
    ratelimits.take(policy, name)
    valkey.kill()
    valkey.start()
    assert ratelimits.take(policy, name).remaining == 99
    assert valkey.client.llen(f"rl:restart:{name}") == 1


def test_take_valkey_hanging_costs_one_timeout_then_nothing(valkey: Valkey) -> None:
    policy, name = Policy("hang", 10_000), bucket()
    ratelimits.take(policy, name)
    valkey.process.send_signal(signal.SIGSTOP)
    try:
        started = time.monotonic()
        assert ratelimits.take(policy, name).allowed
        first = time.monotonic() - started
        started = time.monotonic()
        assert all(ratelimits.take(policy, name).allowed for _ in range(100))
        rest = time.monotonic() - started
    finally:
        valkey.process.send_signal(signal.SIGCONT)
    assert max(first, rest) < 100 * ratelimits.SOCKET_SECONDS / 2


def test_take_fallback_window_slides(valkey: Valkey) -> None:
    policy, name = Policy("slide", 4, 1), bucket()
    valkey.kill()
    assert [ratelimits.take(policy, name).allowed for _ in range(2)] == [True, False]
    time.sleep(1.01)
    assert ratelimits.peek(policy, name).allowed
    assert ratelimits.take(policy, name).allowed


def test_take_switched_off_always_passes(valkey: Valkey, settings: Any) -> None:
    settings.RATE_LIMITS_ENABLED = False
    policy, name = Policy("off", 1), bucket()
    assert [ratelimits.take(policy, name).allowed for _ in range(3)] == [True] * 3
    assert valkey.client.exists(f"rl:off:{name}") == 0


def test_headers_allowed_and_refused() -> None:
    assert ratelimits.headers(Verdict(True, 100, 37, 42, 60, "procurement")) == {
        "RateLimit-Limit": "100",
        "RateLimit-Remaining": "37",
        "RateLimit-Reset": "42",
        "RateLimit-Policy": "100;w=60",
    }
    assert ratelimits.headers(Verdict(False, 100, 0, 42, 60, "procurement"))["Retry-After"] == "42"


def test_tightest_refusal_wins_then_fewest_left() -> None:
    many, few = Verdict(True, 100, 50, 1, 60, "many"), Verdict(True, 600, 3, 1, 60, "few")
    refused = Verdict(False, 9, 5, 1, 60, "refused")
    assert ratelimits.tightest(many, few) is few
    assert ratelimits.tightest(many, few, refused) is refused


def test_policies_defaults_are_those_of_the_contract(settings: Any) -> None:
    settings.RATE_LIMIT_OVERRIDES = {}
    assert {name: policy.limit for name, policy in ratelimits.POLICIES.items()} == {
        "supplier": 600,
        "procurement": 100,
        "availability": 300,
        "organizations": 300,
        "webhooks_key": 600,
        "webhooks_bearer": 300,
        "samples": 10,
        "fhir": 600,
        "bulk": 10,
        "address": 120,
        "sign_in": 20,
        "staff_sign_in": 60,
    }


def test_policy_settings_and_tenant_override_the_default(settings: Any) -> None:
    settings.RATE_LIMIT_OVERRIDES = {"procurement": 7, "webhooks": 9, "webhooks_key": 11}
    assert ratelimits.policy("procurement").limit == 7
    assert ratelimits.policy("procurement", {"procurement": 5, "fhir": 1}).limit == 5
    assert (ratelimits.policy("webhooks_bearer").limit, ratelimits.policy("webhooks_key").limit) == (9, 11)
    assert ratelimits.policy("supplier", {"procurement": 5}).limit == 600
