"""Probes, metrics and problem pages."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from api import health, metrics, problem_pages, ratelimits
from core import clock
from core.db import tenant_context
from core.errors import PlatformError
from core.ids import uuid7
from ledger.models import Pending
from ledger.public import backlog

_AWAY_DATABASE = """
import django; django.setup()
from django.test import Client
answer = Client().get("/health/ready")
print(answer.status_code, answer.json()["away"], Client().get("/health/live").status_code)
"""


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    health._last = None
    yield
    health._last = None


@pytest.fixture
def broker_away(settings: Any) -> Iterator[None]:
    before = settings.REDIS_URL
    settings.REDIS_URL = "unix:///nowhere/v.sock"
    ratelimits.reset()
    yield
    settings.REDIS_URL = before
    ratelimits.reset()


def test_live_answers() -> None:
    answer = Client().get("/health/live")
    assert (answer.status_code, answer.json()) == (200, {"status": "live"})


def test_ready_answers_with_every_check() -> None:
    answer = Client().get("/health/ready")
    assert answer.status_code == 200, answer.content
    assert answer.json()["checks"] == {"database": "ok", "broker": "ok", "migrations": "ok"}
    assert answer.json()["outbox_age_seconds"] >= 0


def test_ready_is_cached_for_its_time_and_then_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "KEEP_SECONDS", 60.0)  # on a slow machine a second may pass between two requests
    Client().get("/health/ready")
    found = health._last
    assert found is not None
    Client().get("/health/ready")
    assert health._last is found
    health._last = aged = replace(found, checked=found.checked - 60.0)
    Client().get("/health/ready")
    assert health._last is not aged


@pytest.mark.usefixtures("broker_away")
def test_ready_broker_away_is_503_and_names_it() -> None:
    answer = Client().get("/health/ready")
    assert (answer.status_code, answer.json()["code"], answer.json()["away"]) == (503, "not_ready", ["broker"])
    assert "Retry-After" in answer.headers
    assert Client().get("/health/live").status_code == 200


def test_ready_database_away_is_503_and_names_it() -> None:
    url = "postgresql://nobody@/none?host=/nowhere"
    surroundings = {**os.environ, **dict.fromkeys(("DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_PLATFORM_URL"), url)}
    surroundings["ALLOWED_HOSTS"] = "testserver"
    found = subprocess.run(
        [sys.executable, "-c", _AWAY_DATABASE],
        env=surroundings,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert found.stdout.strip() == "503 ['database', 'migrations'] 200", found.stderr[-2000:]


def test_ready_migration_missing_is_503(monkeypatch: pytest.MonkeyPatch) -> None:
    newest = health._leaves() | {("ledger", "9999_of_a_newer_release")}
    monkeypatch.setattr(health, "_leaves", lambda: newest)
    assert Client().get("/health/ready").json()["away"] == ["migrations"]


def test_ready_refuses_other_methods() -> None:
    assert Client().post("/health/ready").status_code == 405


def test_backlog_sees_due_rows_of_all_tenants() -> None:
    tenant_id = uuid7()
    with tenant_context(tenant_id):
        row = Pending.objects.create(
            tenant_id=tenant_id, event_id=uuid7(), subscriber="none", due_at=clock.now() - timedelta(hours=1)
        )
    try:
        found = backlog()
    finally:
        with tenant_context(tenant_id):
            Pending.objects.filter(id=row.id).delete()
    assert found.count >= 1
    assert found.oldest_seconds >= 3_600


def test_metrics_served_on_a_port_of_their_own_without_ids(settings: Any) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        settings.METRICS_PORT = probe.getsockname()[1]
    unknown = uuid7()
    Client().get("/health/live")
    Client(REMOTE_ADDR="10.9.8.7").get(f"/no/such/{unknown}")
    metrics.start_metrics_server()
    text = _fetch(f"http://127.0.0.1:{settings.METRICS_PORT}/metrics")
    assert 'hp_http_requests_total{method="GET",route="health/live",status="200"}' in text
    assert 'route="unmatched"' in text
    assert "hp_ledger_pending_seconds" in text
    assert str(unknown) not in text


def test_metrics_are_not_on_the_service_port() -> None:
    assert Client(REMOTE_ADDR="10.9.8.6").get("/metrics").status_code == 404


def test_every_code_has_a_page() -> None:
    found = problem_pages.explanations()
    assert set(found) == {kind.code for kind in problem_pages._kinds(PlatformError)}
    assert all(one.advice and one.meaning for one in found.values())


def test_problem_page_is_json_or_a_page() -> None:
    client = Client(REMOTE_ADDR="10.9.8.5")
    answer = client.get("/problems/duplicate_key")
    assert (answer.status_code, answer.json()["data"]["status"]) == (200, 400)
    page = client.get("/problems/duplicate_key", HTTP_ACCEPT="text/html")
    assert b"<code>duplicate_key</code>" in page.content
    assert client.get("/problems/<script>").json()["code"] == "unknown_problem"


def _fetch(url: str) -> str:
    for _ in range(100):
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return str(answer.read(), "utf-8")
        except OSError:
            time.sleep(0.05)
    raise AssertionError("no metrics served")
