"""Prometheus metrics on a port of their own. Labels are routes and statuses, never a tenant, a raw path or a person.

Several worker processes share one set of figures through `PROMETHEUS_MULTIPROC_DIR`.
"""

import logging
import os
import threading
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

if directory := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
    Path(directory).mkdir(parents=True, exist_ok=True)  # the library opens files there as soon as a metric is made

from django.conf import settings
from django.db import DatabaseError, connection
from prometheus_client import CollectorRegistry, Counter, Histogram, start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import REGISTRY, Collector

from ledger.public import backlog

log = logging.getLogger(__name__)

RETRY_SECONDS = 5.0
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15)

_requests = Counter("hp_http_requests", "Answered requests.", ["route", "method", "status"])
_duration = Histogram("hp_http_request_seconds", "Time to the answer.", ["route"], buckets=_SECONDS)
_limited = Counter("hp_rate_limited", "Requests refused by a rate limit.", ["policy"])
_pipeline = Histogram("hp_database_pipeline_seconds", "Time of one pipelined round trip.", buckets=_SECONDS)


def observe_request(*, route: str, method: str, status: int, seconds: float) -> None:
    """Count one answered request; `route` is the URL pattern, so that ids never become labels."""
    counter, histogram = _of_route(route, method if method in _METHODS else "other", status)
    counter.inc()
    histogram.observe(seconds)


@lru_cache(maxsize=4_096)
def _of_route(route: str, method: str, status: int) -> tuple[Counter, Histogram]:
    """Return the metrics of a route; cached, because finding a metric by its labels costs more than counting."""
    return _requests.labels(route, method, status), _duration.labels(route)


def observe_rate_limited(policy_name: str) -> None:
    """Count one refusal of a rate limit."""
    _limited.labels(policy_name).inc()


def observe_pipeline(seconds: float) -> None:
    """Record the duration of one pipelined round trip to the database."""
    _pipeline.observe(seconds)


def add_collector(collector: Collector) -> None:
    """Add an app's collector, which reads figures from the database at each scrape."""
    _collectors.append(collector)


class _RelayBacklog(Collector):
    """Events that after-commit subscribers have not handled yet, read at each scrape."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        try:
            found = backlog()
        except DatabaseError as error:
            log.warning("backlog not readable", extra={"error": type(error).__name__})
            return
        finally:
            connection.close()  # the thread of the scrape ends after its answer
        yield GaugeMetricFamily("hp_ledger_pending", "Events still to be relayed.", value=found.count)
        yield GaugeMetricFamily("hp_ledger_pending_seconds", "Age of the oldest of these.", value=found.oldest_seconds)


_collectors: list[Collector] = [_RelayBacklog()]


def registry() -> CollectorRegistry:
    """Collect what the metrics port serves: this process's figures, or all workers' if a shared directory is set."""
    shown = CollectorRegistry(auto_describe=False)
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(shown)  # type: ignore[no-untyped-call]
    else:
        shown.register(REGISTRY)
    for collector in _collectors:
        shown.register(collector)
    return shown


def start_metrics_server() -> None:
    """Serve the metrics on METRICS_PORT. One of several workers holds the port; when it ends, another takes over."""
    if settings.METRICS_PORT:
        threading.Thread(target=_hold_port, name="metrics", daemon=True).start()


def _hold_port() -> None:
    address = getattr(settings, "METRICS_HOST", "127.0.0.1")
    while True:
        try:
            start_http_server(settings.METRICS_PORT, addr=address, registry=registry())
        except OSError:  # another worker holds it
            time.sleep(RETRY_SECONDS)
        else:
            log.info("metrics served", extra={"port": settings.METRICS_PORT})
            return
