"""The batches of a report: the database keeps the rows of each as a part, so that no worker holds more than one in memory."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final
from uuid import UUID

import orjson
import psycopg
from django.db import OperationalError, connection, transaction

from core.db import needs_transaction, tenant_context
from core.pipeline import Call, Statement, run

from .models import Report, ReportPart
from .sources import SOURCES

PART_ROWS: Final = 5_000
_SECONDS: Final = 60
_COUNT_SECONDS: Final = 4
_SETTINGS: Final = Statement.of(
    "SELECT set_config('statement_timeout', $1, true), set_config('enable_bitmapscan', 'on', true),"
    " set_config('plan_cache_mode', 'force_custom_plan', true)"
)


@needs_transaction
def count_rows(report: Report) -> int | None:
    """Return how many rows a report will have; None where counting them lasts too long."""
    source = SOURCES[report.type]
    try:
        with transaction.atomic():
            _, found = run([_settings(_COUNT_SECONDS), Call(source.count, _asked(report, source.first, None))])
    except OperationalError:
        return None
    return int(found.value() or 0)


@needs_transaction
def read_batch(report: Report, at: datetime) -> bool:
    """Keep the next batch of a locked report, and note in the row how far it is; tell whether there may be more."""
    source = SOURCES[report.type]
    asked = _asked(report, report.cursor or source.first, source.keys)
    mine = [str(report.id), str(report.parts + 1), at.isoformat()]
    _, found = run([_settings(_SECONDS), Call(source.batch, [*asked, *mine])])
    keys, rows, kept, last = (value.decode() if value is not None else "" for value in found.row())
    report.parts += int(kept)
    report.rows_done += int(rows)
    report.cursor = last or report.cursor
    return int(keys) == source.keys


@needs_transaction
def read_whole(report: Report, at: datetime) -> None:
    """Keep all rows of a locked report by one statement, whose time becomes that of the report."""
    source = SOURCES[report.type]
    report.as_of = at
    run([_settings(_SECONDS)])
    parameters = [*_asked(report, None, None), str(report.id), str(PART_ROWS), at.isoformat()]
    # Longer than the pipeline waits for an answer.
    with psycopg.RawCursor(connection.connection) as cursor:
        cursor.execute(source.snapshot.sql, parameters)
        found = cursor.fetchone()
    assert found is not None
    report.rows_done, report.parts = found
    report.rows_total = report.rows_done


def parts_of(report: Report) -> Iterator[list[list[object]]]:
    """Yield the rows of a report part by part, each read in a transaction of its own."""
    for number in range(1, report.parts + 1):
        with tenant_context(report.tenant_id):
            mine = ReportPart.objects.filter(tenant_id=report.tenant_id, report=report, number=number)
            content = mine.values_list("content", flat=True).get()
        yield [orjson.loads(line) for line in content.split("\n")]


def boundary(at: datetime) -> UUID:
    """Return the greatest UUIDv7 of the millisecond of an instant."""
    return UUID(int=(int(at.timestamp() * 1000) << 80) | (1 << 80) - 1)


def _settings(seconds: int) -> Call:
    return Call(_SETTINGS, [f"{seconds}s"])


def _asked(report: Report, cursor: str | None, keys: int | None) -> list[str | None]:
    """Return the parameters that the statements of all types share; see `sources/base.py`."""
    given = {
        **report.parameters,
        "begin": report.begins_at.isoformat() if report.begins_at else None,
        "end": report.ends_at.isoformat() if report.ends_at else None,
        "boundary": str(boundary(report.as_of)),
    }
    wanted = orjson.dumps(given).decode()
    return [str(report.tenant_id), report.as_of.isoformat(), cursor, None if keys is None else str(keys), wanted]
