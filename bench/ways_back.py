"""The framework's own way for each place that goes round one, put in place of ours while a block of requests runs."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import lru_cache
from typing import Any
from unittest.mock import patch

import psycopg
from django.core.cache import close_caches
from django.core.handlers.base import reset_urlconf
from django.core.signals import request_finished
from django.db import close_old_connections, connection, transaction
from django.http.response import HttpResponseBase
from django.urls import get_resolver
from psycopg.pq import TransactionStatus
from rest_framework.views import APIView

from api import logs, middleware, ratelimits, serializers
from api.routing import Directory
from api.views import ApiViewSet
from config.wsgi import application
from core import pipeline, rows
from core.pipeline import Call, Rows, Statement

Way = Callable[[], AbstractContextManager[Any]]

FINISHERS = (close_old_connections, close_caches, reset_urlconf)
_dispatch = ApiViewSet.dispatch
_PLACE = re.compile(r"\$(\d+)")
_NOTHING = Statement.of("SELECT 1")


@contextmanager
def drf_dispatch() -> Iterator[None]:
    """DRF's steps around the platform's: its request, negotiation, checks (of which none is declared) and its finish."""

    def initial(self: Any, request: Any, *args: Any, **kwargs: Any) -> None:
        """The platform's own checks run in the handler, on Django's request as now."""
        APIView.initial(self, request, *args, **kwargs)
        self.http_method_names = ()  # DRF calls the fallback, which runs the action

    def run(self: Any, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return _dispatch(self, request._request, *args, **kwargs)

    checks = {"permission_classes": (), "throttle_classes": (), "authentication_classes": ()}
    with ExitStack() as stack:
        for name, value in {**checks, "initial": initial, "http_method_not_allowed": run}.items():
            stack.enter_context(patch.object(ApiViewSet, name, value, create=True))
        stack.enter_context(patch.object(ApiViewSet, "dispatch", APIView.dispatch))
        yield


def django_stack() -> AbstractContextManager[Any]:
    """All middleware and Django's handler, for the API too."""
    return patch.object(middleware.Edge, "_ask", lambda self, request, _area: self.get_response(request))


@contextmanager
def django_walk() -> Iterator[None]:
    """Django's resolver tries one pattern after another; the way to it stays the short one."""
    with (
        patch.object(Directory, "at_hand", return_value=None),
        patch.object(middleware, "find", lambda path: get_resolver().resolve(path)),
    ):
        yield


@contextmanager
def django_handler() -> Iterator[None]:
    """WSGI's entry with its signals and the receivers that a server of its own disconnects."""

    def respond(environ: dict[str, Any]) -> Any:
        return application(environ, lambda *_: None)

    for receiver in FINISHERS:
        request_finished.connect(receiver)
    try:
        with patch.object(application, "respond", respond):
            yield
    finally:
        for receiver in FINISHERS:
            request_finished.disconnect(receiver)


def standard_logging() -> AbstractContextManager[Any]:
    """The access line through the logging machinery and structlog's processors."""
    return patch.object(logs, "access", lambda **members: logs._access.info("request", extra=members))


def redis_client() -> AbstractContextManager[Any]:
    """The limit's script through the client with its pool and its packing."""

    def run(key: str, policy: Any, cost: int) -> tuple[int, int, int]:
        window = policy.window_seconds * 1_000_000
        answer: Any = ratelimits.client().evalsha(ratelimits._SHA, 1, key, policy.limit, window, cost)
        allowed, used, reset = map(int, answer.split())
        return allowed, used, reset

    return patch.object(ratelimits, "_run", run)


def fresh_serializers() -> AbstractContextManager[Any]:
    """A serializer made for each body."""
    return patch.object(serializers, "form", lambda kind, *, partial=False: kind(partial=partial))


# -- the database ------------------------------------------------------------------------------------------------------


def psycopg_pipeline() -> AbstractContextManager[Any]:
    """One trip as here, by psycopg's own pipeline mode and cursors."""

    def exchange(connected: Any, calls: Sequence[Call]) -> list[Rows]:
        cursors = []
        with connected.pipeline():
            for call in calls:
                cursor = psycopg.RawCursor(connected)
                cursor.execute(call.statement.sql, _texts(call), prepare=True)
                cursors.append(cursor)
        return [Rows(cursor.pgresult) for cursor in cursors]

    return patch.object(pipeline, "_exchange", exchange)


def django_cursors() -> AbstractContextManager[Any]:
    """A trip for each statement, through Django's cursor; what belongs together needs BEGIN and COMMIT around it."""

    def exchange(connected: Any, calls: Sequence[Call]) -> list[Rows]:
        found = []
        idle = connected.pgconn.transaction_status == TransactionStatus.IDLE
        with transaction.atomic() if idle and connected.autocommit else nullcontext(), connection.cursor() as cursor:
            for call in calls:
                sql = _named(call.statement.sql)
                cursor.execute(sql, {f"p{number}": text for number, text in enumerate(_texts(call), 1)})
                found.append(Rows(cursor.pgresult))
        return found

    return patch.object(pipeline, "_exchange", exchange)


def django_commit() -> AbstractContextManager[Any]:
    """COMMIT in a trip of its own."""
    return patch.object(pipeline, "run_last", pipeline.run)


@contextmanager
def saved_rows() -> Iterator[None]:
    """Each new row saved by the ORM; what stands in its place in the trip is as good as nothing."""

    def insert(row: Any) -> Call:
        row.save(force_insert=True)
        return Call(_NOTHING)

    def insert_values(model: Any, values: Any) -> Call:
        return insert(model(**values))

    with patch.object(rows, "insert", insert), patch.object(rows, "insert_values", insert_values):
        yield


def _texts(call: Call) -> list[str | None]:
    return [value.decode() if isinstance(value, bytes) else value for value in call.parameters]


@lru_cache(maxsize=1024)
def _named(sql: bytes) -> str:
    return _PLACE.sub(r"%(p\1)s", sql.decode().replace("%", "%%"))
