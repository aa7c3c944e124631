"""Health probes: whether the process is alive, and whether it can serve. The second answer is cached for a second."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from core.errors import Unavailable
from ledger.public import backlog

from . import ratelimits
from .errors import problem_response

KEEP_SECONDS = 1.0


class NotReady(Unavailable):
    """A dependency of this process is unavailable; `away` names it."""

    code = "not_ready"
    title = "The service is not ready."


@dataclass(frozen=True, slots=True)
class Readiness:
    """The result of the checks at `checked` (monotonic seconds). A late outbox does not make a web process unready."""

    away: tuple[str, ...]
    outbox_age_seconds: float | None
    checked: float


@require_safe
def live(_request: HttpRequest) -> HttpResponse:
    """Answer that the process is alive; needs no dependency."""
    return JsonResponse({"status": "live"})


@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Answer whether database, broker and migrations are ready, and the age of the oldest event in the outbox."""
    found = _latest()
    if found.away:
        error = NotReady(f"Unavailable: {', '.join(found.away)}.", headers={"Retry-After": "2"}, away=list(found.away))
        return problem_response(error, request)
    checks = {name: "ok" for name, _ in _CHECKS}
    return JsonResponse({"status": "ready", "checks": checks, "outbox_age_seconds": found.outbox_age_seconds})


def _latest() -> Readiness:
    """Return the last result while it is fresh; one thread repeats the checks, the others wait for it."""
    global _last
    with _lock:
        if _last is None or time.monotonic() - _last.checked > KEEP_SECONDS:
            _last = _check_all()
        return _last


def _check_all() -> Readiness:
    away = tuple(name for name, check in _CHECKS if not check())
    return Readiness(away, None if away else _outbox_age(), time.monotonic())


def _database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        connection.close()
        return False
    return True


def _broker() -> bool:
    try:
        return bool(ratelimits.client().ping())
    except RedisError:
        return False


def _migrations() -> bool:
    """Tell whether every app's last migration is applied; not cached, because the database may be replaced."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT app, name FROM django_migrations")
            applied = set(cursor.fetchall())
    except DatabaseError:
        connection.close()
        return False
    return _leaves() <= applied


@lru_cache(maxsize=1)
def _leaves() -> frozenset[tuple[str, str]]:
    """Return the newest migration of each app in this release; cached, because reading them from disk is slow."""
    return frozenset(MigrationLoader(None, ignore_no_migrations=True).graph.leaf_nodes())


def _outbox_age() -> float | None:
    try:
        return round(backlog().oldest_seconds, 1)
    except DatabaseError:
        return None


_CHECKS: tuple[tuple[str, Callable[[], bool]], ...] = (
    ("database", _database),
    ("broker", _broker),
    ("migrations", _migrations),
)
_lock = threading.Lock()
_last: Readiness | None = None
