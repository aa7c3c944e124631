"""Rate limits: a sliding-window log in Valkey, so exactly the limit passes in any window, however many callers try.

Without Valkey each process counts in its own memory, with its share of the limit: requests are neither all refused nor
unlimited.
"""

import hashlib
import logging
import math
import os
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, RedisError
from redis.retry import Retry

from . import metrics

log = logging.getLogger(__name__)

SOCKET_SECONDS = 0.1
CIRCUIT_SECONDS = 1.0
MAX_LOCAL_BUCKETS = 10_000

# The log lists the times of the calls that passed, oldest first. If the server's clock is set back by hours, the bucket
# must not stay locked; if it is set back by milliseconds, the bucket must not be emptied.
_SCRIPT = """
local log, limit, window, cost = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local newest = tonumber(redis.call('LINDEX', log, -1) or 0)
if newest > now then
  if newest - now > window then redis.call('DEL', log) else now = newest end
end
local oldest = tonumber(redis.call('LINDEX', log, 0) or 0)
while oldest > 0 and oldest <= now - window do
  redis.call('LPOP', log)
  oldest = tonumber(redis.call('LINDEX', log, 0) or 0)
end
local used, allowed = redis.call('LLEN', log), 1
if used + math.max(cost, 1) > limit then
  allowed = 0
elseif cost > 0 then
  local at = string.format('%.0f', now)
  for _ = 1, cost do redis.call('RPUSH', log, at) end
  redis.call('PEXPIRE', log, math.ceil(window / 1000) + 1000)
  used = used + cost
  if oldest == 0 then oldest = now end
end
local reset = 0
if oldest > 0 then reset = oldest + window - now elseif allowed == 0 then reset = window end
return redis.status_reply(string.format('%.0f %.0f %.0f', allowed, used, reset))  -- one line is read sooner than a list
"""
_SHA = hashlib.sha1(_SCRIPT.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class Policy:
    """How many calls of one kind pass in any window of `window_seconds`."""

    name: str
    limit: int
    window_seconds: int = 60


class Verdict(NamedTuple):
    """The state of one bucket under a policy; `reset_seconds` is the time until a unit is free again, rounded up."""

    allowed: bool
    limit: int
    remaining: int
    reset_seconds: int
    window_seconds: int
    policy_name: str


DEFAULTS = {
    name: Policy(name, limit)
    for name, limit in {
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
    }.items()
}


@lru_cache(maxsize=1024)
def limited(policy: Policy, limit: int) -> Policy:
    """Return the policy with another limit; cached, because each request needs it."""
    return replace(policy, limit=limit)


class _Policies(Mapping[str, Policy]):
    """The platform's policies by name, with the limits that `RATE_LIMIT_<NAME>_PER_MINUTE` set."""

    def __getitem__(self, name: str) -> Policy:
        default = DEFAULTS[name]
        overrides: Mapping[str, int] = settings.RATE_LIMIT_OVERRIDES
        limit = _lookup(overrides, name) if overrides else None
        return default if limit is None else limited(default, limit)

    def __iter__(self) -> Iterator[str]:
        return iter(DEFAULTS)

    def __len__(self) -> int:
        return len(DEFAULTS)


POLICIES = _Policies()


def policy(name: str, limits: Mapping[str, int] | None = None) -> Policy:
    """Return the policy of this name, with the tenant's own limit if its entitlements have one."""
    found = POLICIES[name]
    limit = _lookup(limits, name) if limits else None
    return found if limit is None else limited(found, limit)


def _lookup(limits: Mapping[str, int], name: str) -> int | None:
    """`webhooks` stands for the policies of both credentials unless one of them is named."""
    return limits.get(name, limits.get("webhooks") if name.startswith("webhooks_") else None)


def take(policy: Policy, bucket: str, units: int = 1) -> Verdict:
    """Spend units of a bucket, if so many are left; never more at once than a whole window has."""
    verdict = _ask(policy, bucket, cost=min(units, policy.limit))
    if not verdict.allowed:
        metrics.observe_rate_limited(policy.name)
    return verdict


def peek(policy: Policy, bucket: str) -> Verdict:
    """Read a bucket without spending a unit; `allowed` tells whether the next call would pass."""
    return _ask(policy, bucket, cost=0)


def tightest(first: Verdict, *others: Verdict) -> Verdict:
    """Return the strictest verdict: a refusal first, then the one with the fewest units left."""
    return min((first, *others), key=lambda verdict: (verdict.allowed, verdict.remaining))


def headers(verdict: Verdict) -> dict[str, str]:
    """Write the answer's headers; Reset counts seconds from now. Source: draft-ietf-httpapi-ratelimit-headers-06."""
    found = {
        "RateLimit-Limit": str(verdict.limit),
        "RateLimit-Remaining": str(verdict.remaining),
        "RateLimit-Reset": str(verdict.reset_seconds),
        "RateLimit-Policy": f"{verdict.limit};w={verdict.window_seconds}",
    }
    if not verdict.allowed:
        found["Retry-After"] = found["RateLimit-Reset"]
    return found


def _ask(policy: Policy, bucket: str, *, cost: int) -> Verdict:
    if not settings.RATE_LIMITS_ENABLED:
        return Verdict(True, policy.limit, policy.limit, 0, policy.window_seconds, policy.name)
    if _circuit.may_try():
        try:
            allowed, used, reset = _run(f"rl:{policy.name}:{bucket}", policy, cost)
        except RedisError as error:
            _circuit.failed(error)
        else:
            _circuit.succeeded()
            return _verdict(policy, policy.limit, bool(allowed), used, reset / 1_000_000)
    return _local.ask(policy, bucket, cost=cost)


def _run(key: str, policy: Policy, cost: int) -> tuple[int, int, int]:
    """Run the script. A connection that broke while idle is replaced once: it says nothing about the server now."""
    arguments = (1, key, policy.limit, policy.window_seconds * 1_000_000, cost)
    connection = _connection()
    try:
        return _exchange(connection, arguments)
    except redis.ConnectionError:
        connection.disconnect()
        return _exchange(connection, arguments)


def _exchange(connection: Any, arguments: tuple[int | str, ...]) -> tuple[int, int, int]:
    try:
        connection.send_packed_command([_packed("EVALSHA", _SHA, *arguments)], check_health=False)
        answer = connection.read_response()
    except NoScriptError:  # a restarted server does not know the script
        connection.send_packed_command([_packed("EVAL", _SCRIPT, *arguments)], check_health=False)
        answer = connection.read_response()
    allowed, used, reset = map(int, answer.split())
    return allowed, used, reset


def _packed(*parts: int | str) -> bytes:
    """Encode a command; the client's own encoder, which takes any type, costs a fifth of the whole exchange.

    Source: Redis serialization protocol, "Sending commands to a Redis server".
    """
    texts = [str(part).encode() for part in parts]
    return b"*%d\r\n%b" % (len(texts), b"".join([b"$%d\r\n%b\r\n" % (len(text), text) for text in texts]))


def _connection() -> Any:
    """Return this thread's own connection, never one inherited by a fork; a pool costs more than the whole exchange."""
    held: tuple[int, Any] | None = getattr(_of_thread, "held", None)
    if held is None or held[0] != os.getpid():
        pool = client().connection_pool
        held = (os.getpid(), pool.connection_class(**pool.connection_kwargs))
        _of_thread.held = held
    return held[1]


def _verdict(policy: Policy, limit: int, allowed: bool, used: int, reset: float) -> Verdict:
    return Verdict(allowed, policy.limit, max(0, limit - used), math.ceil(reset), policy.window_seconds, policy.name)


@lru_cache(maxsize=1)
def client() -> redis.Redis:
    """Return the process's Valkey client; a call ends within a tenth of a second and is not retried."""
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=SOCKET_SECONDS,
        socket_connect_timeout=SOCKET_SECONDS,
        retry=Retry(NoBackoff(), 0),
        protocol=2,
        driver_info=None,  # saves each new connection an exchange
    )


def reset() -> None:
    """Drop connections, failures and local windows, after a change of REDIS_URL."""
    global _of_thread, _circuit, _local
    client.cache_clear()
    _of_thread, _circuit, _local = threading.local(), _Circuit(), _Local()


class _Circuit:
    """A circuit breaker: after a failure one call a second tries Valkey, all others do without."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open_until: float | None = None

    def may_try(self) -> bool:
        if self._open_until is None:
            return True
        with self._lock:
            now = time.monotonic()
            if self._open_until is None or now < self._open_until:
                return self._open_until is None
            self._open_until = now + CIRCUIT_SECONDS
            return True

    def failed(self, error: RedisError) -> None:
        if self._open_until is None:
            log.warning("rate limits fall back to this process", extra={"error": type(error).__name__})
        with self._lock:
            self._open_until = time.monotonic() + CIRCUIT_SECONDS

    def succeeded(self) -> None:
        if self._open_until is not None:
            with self._lock:
                self._open_until = None


class _Local:
    """The same log in the memory of this process, with the process's share of each limit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._logs: OrderedDict[str, deque[float]] = OrderedDict()

    def ask(self, policy: Policy, bucket: str, *, cost: int) -> Verdict:
        share = math.ceil(policy.limit / max(1, settings.WEB_WORKERS))
        with self._lock:
            now = time.monotonic()
            log = self._log(f"{policy.name}:{bucket}")
            while log and log[0] <= now - policy.window_seconds:
                log.popleft()
            cost = min(cost, share)
            allowed = len(log) + max(cost, 1) <= share
            if allowed:
                log.extend([now] * cost)
            reset = log[0] + policy.window_seconds - now if log else float(policy.window_seconds * (not allowed))
            return _verdict(policy, share, allowed, len(log), reset)

    def _log(self, key: str) -> deque[float]:
        log = self._logs.setdefault(key, deque())
        self._logs.move_to_end(key)
        if len(self._logs) > MAX_LOCAL_BUCKETS:
            self._logs.popitem(last=False)
        return log


_of_thread = threading.local()
_circuit = _Circuit()
_local = _Local()
