"""Workers that are killed, stores that are away, quotas that are used up: a file is whole or not there."""

import os
import signal
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from core.clock import now
from core.db import tenant_context
from core.rounds import until
from suppliers.analytics.reports import finishing, reading, upkeep, worker
from suppliers.files.models import File, LooseObject
from suppliers.files.sweeping import sweep_objects
from tests.procurement.purchasing.orders import Trade
from tests.suppliers.analytics.reports.asking import (
    PATH,
    asked,
    carried_until,
    carry_out,
    content,
    facts,
    finished,
    in_batches_of,
    limited,
    parts,
    read,
    rows_of,
    stored,
    used,
)
from tests.suppliers.inventory.shelf import Shelf, refused, shelf

MOVES = 60


def _moved(trade: Trade, count: int = MOVES) -> None:
    level = trade.shelf.level(trade.shelf.stock(trade.gloves, 1))
    at = now() - timedelta(hours=1)
    for number in range(2, count + 1):
        trade.shelf.movement(level, number, at=at + timedelta(seconds=number // 3))


def _forked() -> int:
    """Start a process of its own at the same work; it must neither use nor close what it has of this one's connection."""
    pid = os.fork()
    if pid:
        return pid
    try:
        held, connection.connection = connection.connection, None
        worker.carry_on(go_on=until(30))
        del held
    finally:
        os._exit(0)


def _killed_when(is_time: Callable[[], bool]) -> None:
    """Let a worker of its own go on until something is so, then kill it."""
    pid, end = _forked(), time.monotonic() + 20
    while not is_time() and time.monotonic() < end:
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def test_killed_workers_leave_neither_doubles_nor_gaps(trade: Trade, monkeypatch: Any) -> None:
    in_batches_of(monkeypatch, "movements", 1)
    _moved(trade)
    made = asked(trade.shelf.api, "movements", "csv")
    kills = 0
    while kills < 3:
        before = stored(trade.shelf.id, made["id"])
        assert before.read_at is None
        _killed_when(lambda seen=before: stored(trade.shelf.id, made["id"]).rows_done > seen.rows_done)  # type: ignore[misc]
        kills += 1
    assert stored(trade.shelf.id, made["id"]).rows_done > 0
    rows = finished(trade.shelf.api, made)
    assert sorted(int(row["quantity"]) for row in rows) == list(range(1, MOVES + 1))
    assert len({row["id"] for row in rows}) == MOVES
    assert [kind for kind, _ in facts(trade.shelf.id, made["id"])] == ["report.completed"]


def _read_whole(trade: Trade, form: str = "csv") -> dict[str, Any]:
    """Ask for a report of movements, and read all its rows."""
    made = asked(trade.shelf.api, "movements", form)
    key = stored(trade.shelf.id, made["id"]).id
    while stored(trade.shelf.id, made["id"]).read_at is None:
        worker.advance(trade.shelf.id, key, at=now())
    return made


def _objects(folder: Path) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file()]


def test_worker_that_is_killed_while_it_writes_is_followed_by_another(
    trade: Trade, monkeypatch: Any, folder: Path
) -> None:
    in_batches_of(monkeypatch, "movements", 5)
    _moved(trade)
    made = _read_whole(trade)
    slow = reading.parts_of

    def waiting(report: Any) -> Any:
        for one in slow(report):
            yield one
            time.sleep(0.2)

    with monkeypatch.context() as patch:
        patch.setattr(finishing, "parts_of", waiting)
        _killed_when(lambda: stored(trade.shelf.id, made["id"]).claimed_until is not None)
    held = stored(trade.shelf.id, made["id"])
    assert (held.status, held.file_id, _objects(folder)) == ("running", None, [])
    assert not worker.advance(trade.shelf.id, held.id, at=now())
    assert worker.advance(trade.shelf.id, held.id, at=now() + finishing.CLAIM)
    assert len(finished(trade.shelf.api, made)) == MOVES
    assert len(_objects(folder)) == 1


def test_who_has_lost_the_claim_hands_nothing_over(trade: Trade, monkeypatch: Any, folder: Path) -> None:
    _moved(trade, 5)
    made = _read_whole(trade)
    store, calls = finishing.store_made, []

    def overtaken(*given: Any, **more: Any) -> Any:
        """Let another worker finish while this one stores."""
        calls.append(1)
        if len(calls) == 1:
            later = now() + finishing.STORE_CLAIM + timedelta(seconds=1)
            assert worker.advance(trade.shelf.id, stored(trade.shelf.id, made["id"]).id, at=later)
        return store(*given, **more)

    monkeypatch.setattr(finishing, "store_made", overtaken)
    before = used(trade.shelf.id, "storage_bytes")
    with pytest.raises(finishing.ClaimLost):
        worker.advance(trade.shelf.id, stored(trade.shelf.id, made["id"]).id, at=now())
    done = read(trade.shelf.api, made["id"])
    assert (done["status"], len(calls)) == ("ready", 2)
    assert len(rows_of("csv", content(trade.shelf.api, done["file_id"]))) == 5
    while sweep_objects(at=now()):
        pass
    with tenant_context(trade.shelf.id):
        (file,) = File.objects.filter(tenant_id=trade.shelf.id)
        assert not LooseObject.objects.filter(tenant_id=trade.shelf.id).exists()
    assert used(trade.shelf.id, "storage_bytes") == before + file.size
    assert [kind for kind, _ in facts(trade.shelf.id, made["id"])] == ["report.completed"]
    assert len(_objects(folder)) == 1


def test_store_that_is_away_delays_a_report(trade: Trade, folder: Path) -> None:
    _moved(trade, 3)
    made = _read_whole(trade)
    folder.write_text("in the way")
    before = used(trade.shelf.id, "storage_bytes")
    carried_until(lambda: stored(trade.shelf.id, made["id"]).troubled_at is not None)
    seen = stored(trade.shelf.id, made["id"])
    assert (seen.status, seen.file_id) == ("running", None)
    folder.unlink()
    sweep_objects(at=now() + timedelta(minutes=16))
    assert used(trade.shelf.id, "storage_bytes") == before
    assert worker.advance(trade.shelf.id, seen.id, at=now() + worker.PAUSE)
    assert read(trade.shelf.api, made["id"])["status"] == "ready"


def test_report_that_is_in_trouble_for_an_hour_has_failed(trade: Trade, folder: Path) -> None:
    _moved(trade, 3)
    made = _read_whole(trade)
    folder.write_text("in the way")
    carried_until(lambda: stored(trade.shelf.id, made["id"]).troubled_at is not None)
    row = stored(trade.shelf.id, made["id"])
    with tenant_context(trade.shelf.id):
        type(row).objects.filter(tenant_id=row.tenant_id, id=row.id).update(
            troubled_at=now() - worker.HOPELESS, claimed_until=None
        )
    carried_until(lambda: read(trade.shelf.api, made["id"])["status"] != "running")
    done = read(trade.shelf.api, made["id"])
    assert (done["status"], done["error"], done["file_id"], parts(trade.shelf.id)) == (
        "failed", {"code": "internal_error"}, None, 0,
    )  # fmt: skip


def test_report_without_room_in_the_store_fails(trade: Trade, folder: Path) -> None:
    _moved(trade, 3)
    limited(trade.shelf.id, "storage_bytes", 10)
    made = asked(trade.shelf.api, "movements")
    done = carry_out(trade.shelf.api, made["id"])
    assert (done["status"], done["error"], done["file_id"]) == ("failed", {"code": "storage_quota_exceeded"}, None)
    assert done["finished_at"] is not None
    assert facts(trade.shelf.id, made["id"]) == [
        ("report.failed", {"report_type": "movements", "format": "csv", "code": "storage_quota_exceeded"})
    ]
    assert (parts(trade.shelf.id), _objects(folder)) == (0, [])


def test_report_that_is_too_large_fails(trade: Trade, monkeypatch: Any, folder: Path) -> None:
    monkeypatch.setattr(finishing, "MOST_MADE_BYTES", 100)
    _moved(trade, 3)
    for form in ("csv", "xlsx", "json"):
        done = carry_out(trade.shelf.api, asked(trade.shelf.api, "movements", form)["id"])
        assert (done["status"], done["error"]) == ("failed", {"code": "file_too_large"}), form
    assert _objects(folder) == []


def test_file_expires_after_a_week_and_the_report_is_forgotten_later(trade: Trade, folder: Path) -> None:
    _moved(trade, 3)
    api, before = trade.shelf.api, used(trade.shelf.id, "storage_bytes")
    made, other = asked(api, "movements"), asked(api, "prices")
    file_id = carry_out(api, made["id"])["file_id"]
    finished(api, other)
    assert refused(api.delete(f"/v1/files/{file_id}"), 409, "file_bound")["bound_to"] == ["report"]
    upkeep.sweep_reports(at=now() + timedelta(days=6))
    assert read(api, made["id"])["status"] == "ready"
    upkeep.sweep_reports(at=now() + timedelta(days=7, seconds=1))
    done = read(api, made["id"])
    assert (done["status"], done["file_id"], done["rows"], done["error"]) == ("expired", None, 3, None)
    refused(api.get(f"/v1/files/{file_id}"), 404, "not_found")
    sweep_objects(at=now() + timedelta(days=8))
    assert (_objects(folder), used(trade.shelf.id, "storage_bytes")) == ([], before)
    upkeep.sweep_reports(at=now() + timedelta(days=91))
    refused(api.get(f"{PATH}/{made['id']}"), 404, "not_found")


def test_file_that_two_reports_share_stays_until_both_expire(trade: Trade) -> None:
    api = trade.shelf.api
    one, two = asked(api, "prices"), asked(api, "prices")
    file_id = carry_out(api, one["id"])["file_id"]
    carry_out(api, two["id"])
    row = stored(trade.shelf.id, one["id"])
    with tenant_context(trade.shelf.id):
        type(row).objects.filter(tenant_id=row.tenant_id, id=row.id).update_versions(at=now(), expires_at=now())
    upkeep.sweep_reports(at=now())
    assert [read(api, key)["status"] for key in (one["id"], two["id"])] == ["expired", "ready"]
    assert content(api, file_id)


def _step_of(made: Shelf, count: int) -> dict[str, Any]:
    level = made.level(made.stock(made.product(), 1))
    for number in range(2, count + 1):
        made.movement(level, number, at=now() - timedelta(hours=1))
    return asked(made.api, "movements", "json")


def test_small_report_of_one_tenant_does_not_wait_for_large_ones_of_another(monkeypatch: Any) -> None:
    in_batches_of(monkeypatch, "movements", 1)
    large, small = shelf(), shelf()
    first = [_step_of(large, 25) for _ in range(2)]
    last = _step_of(small, 3)
    end, steps = time.monotonic() + 30, 0
    while read(small.api, last["id"])["status"] != "ready" and time.monotonic() < end:
        steps += worker.carry_on(go_on=until(0.05))
    assert read(small.api, last["id"])["rows"] == 3
    assert [read(large.api, one["id"])["status"] for one in first] == ["running", "running"]
    for one in first:
        assert carry_out(large.api, one["id"])["status"] == "ready"
