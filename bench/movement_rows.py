"""The movements of the large tenant in `./dev bench supply`: any number, over 150 days and five months, loaded month by month.

A month is filled as a table of its own and attached afterwards, so that its indexes are built once, over all its rows:
100,000,000 movements are some 45 GB with their indexes.
"""

import time
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import psycopg

TABLE: Final = "suppliers_stockmovement"
_DAYS: Final = (31, 28, 31, 30, 30)
_BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)
_LEVELS: Final = """
CREATE TEMPORARY TABLE bench_moved AS
SELECT row_number() OVER (ORDER BY id) - 1 AS place, tenant_id, product_id, location_id, id, lot_id
FROM suppliers_stocklevel WHERE tenant_id = %(large)s
"""
_MONTH: Final = """
INSERT INTO {child} (id, created_at, tenant_id, product_id, location_id, level_id, lot_id, lot_number, type, quantity,
  balance_after, reason_code, reference_type, reference_id, reference_text, note, actor_id, actor_kind)
SELECT uuidv7(), least(%(until)s - interval '1 microsecond',
    %(begin)s + ((n - %(first)s)::float8 / %(rows)s) * (%(until)s::timestamptz - %(begin)s)),
  v.tenant_id, v.product_id, v.location_id, v.id, v.lot_id, '', 'adjustment', CASE WHEN n %% 2 = 0 THEN 1 ELSE -1 END, 5000,
  'correction', 'adjustment', v.id, '', '', v.tenant_id, 'system'
FROM generate_series(%(first)s::bigint, %(first)s + %(rows)s - 1) n
JOIN bench_moved v ON v.place = n %% (SELECT count(*) FROM bench_moved)
"""
_HOURS: Final = ", ".join(
    f"coalesce(sum(moved) FILTER (WHERE extract(hour FROM at) = {hour}), 0)" for hour in range(24)
)
_RECOUNT: Final = (
    "DELETE FROM suppliers_movementcounter WHERE tenant_id = %(large)s",
    f"""INSERT INTO suppliers_movementcounter (tenant_id, day, stripe, movements, hours)
SELECT tenant_id, at::date, 0, sum(moved), ARRAY[{_HOURS}]::integer[] FROM (
  SELECT tenant_id, date_trunc('hour', created_at AT TIME ZONE 'UTC') AS at, count(*) AS moved FROM {TABLE}
  WHERE tenant_id = %(large)s GROUP BY 1, 2) h GROUP BY 1, 2""",
)


def present(connection: "psycopg.Connection[Any]", tenant: str) -> int:
    """How many movements a tenant has."""
    sql = "SELECT coalesce(sum(movements), 0)::bigint FROM suppliers_movementcounter WHERE tenant_id = %s"
    (found,) = connection.execute(sql, [tenant]).fetchone() or (0,)
    return int(found)


def recount(connection: "psycopg.Connection[Any]", tenant: str) -> None:
    """Count the movements of each day and hour anew."""
    for sql in _RECOUNT:
        connection.execute(sql, {"large": tenant})


def move(connection: "psycopg.Connection[Any]", tenant: str, count: int) -> float:
    """Let the large tenant have so many movements in these months, in place of those there; return the seconds it took.

    Their sums do not prove.
    """
    started = time.monotonic()
    with connection.transaction():
        for setting in ("synchronous_commit = off", "maintenance_work_mem = '1GB'", "work_mem = '256MB'"):
            connection.execute(f"SET LOCAL {setting}")
        connection.execute(_LEVELS, {"large": tenant})
        connection.execute("ANALYZE bench_moved")
        begin, first = _BEGIN, 0
        for days in _DAYS:
            until, rows = begin + timedelta(days=days), count * days // sum(_DAYS)
            _make_month(connection, begin=begin, until=until, first=first, rows=rows)
            begin, first = until, first + rows
        connection.execute("DROP TABLE bench_moved")
        connection.execute("SET LOCAL session_replication_role = replica")
        recount(connection, tenant)
    for table in (TABLE, "suppliers_movementcounter"):
        connection.execute(f"VACUUM (ANALYZE) {table}")
    return time.monotonic() - started


def _make_month(connection: "psycopg.Connection[Any]", **given: Any) -> None:
    """A month as the upkeep makes it, full of rows before it is attached."""
    (child,) = connection.execute("SELECT hp_history_name(%s, %s)", [TABLE, given["begin"]]).fetchone() or ("",)
    connection.execute(f"DROP TABLE IF EXISTS {child}")
    connection.execute("SELECT hp_history_shell(%s, %s)", [TABLE, child])
    connection.execute(_MONTH.format(child=child), given)
    bounds = [given["begin"].isoformat(), given["until"].isoformat()]
    attach = f"ALTER TABLE {TABLE} ATTACH PARTITION {child} FOR VALUES FROM ('{bounds[0]}') TO ('{bounds[1]}')"
    connection.execute(attach)
