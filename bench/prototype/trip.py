"""One round trip in one implicit transaction, as lean as libpq's pipeline allows: no reconnecting, no time-outs."""

import select
from collections.abc import Iterator
from typing import Any

from psycopg import errors, pq

Named = tuple[bytes, bytes]
_names: dict[str, Named] = {}


def statement(sql: str) -> Named:
    """A name for a statement, under which each session prepares it."""
    return _names.setdefault(sql, (b"p%d" % len(_names), sql.encode()))


def run(connected: Any, calls: list[tuple[Named, list[bytes]]]) -> list[Any]:
    """The results of all calls.

    :raises psycopg.Error: of the first that failed.
    """
    low = connected.pgconn
    low.enter_pipeline_mode()
    try:
        counted = _send(low, connected.__dict__.setdefault("_lean_names", set()), calls)
        results = list(_results(low))
    finally:
        low.exit_pipeline_mode()
    for result in results:
        if result.status == pq.ExecStatus.FATAL_ERROR:
            raise errors.error_from_result(result)
    return [result for result, counts in zip(results, counted, strict=True) if counts]


def _send(low: Any, prepared: set[bytes], calls: list[tuple[Named, list[bytes]]]) -> list[bool]:
    counted = []
    for (name, sql), values in calls:
        if name not in prepared:
            low.send_prepare(name, sql)
            prepared.add(name)
            counted.append(False)
        low.send_query_prepared(name, values)
        counted.append(True)
    low.pipeline_sync()
    low.flush()
    return counted


def _results(low: Any) -> Iterator[Any]:
    poll = select.poll()
    poll.register(low.socket, select.POLLIN)
    while True:
        while low.is_busy():
            poll.poll()
            low.consume_input()
        result = low.get_result()
        if result is None:
            continue
        if result.status == pq.ExecStatus.PIPELINE_SYNC:
            return
        yield result
