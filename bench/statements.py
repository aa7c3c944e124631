"""What a request sends to PostgreSQL: every round trip with its statements, counted where they leave the process."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from django.db import connection
from psycopg.pq import TransactionStatus

from core import pipeline
from core.pipeline import Call


@dataclass
class Trip:
    """One round trip: a pipeline of calls, a statement of Django's cursor, or the end of a transaction."""

    calls: Sequence[Call] = ()
    sql: str = ""
    parameters: Any = None


@dataclass
class Record:
    """All round trips of a piece of work, in order."""

    trips: list[Trip] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.trips)

    @property
    def statements(self) -> int:
        """How many statements ran, without BEGIN and COMMIT."""
        calls = sum(call.statement.sql != b"COMMIT" for trip in self.trips for call in trip.calls)
        return calls + sum(trip.sql not in ("", "COMMIT", "ROLLBACK") for trip in self.trips)

    def texts(self) -> list[str]:
        """The beginning of each trip's statements, for a reader."""
        shown = []
        for trip in self.trips:
            parts = [call.statement.sql.decode() for call in trip.calls] or [trip.sql]
            shown.append(" | ".join(" ".join(part.split())[:60] for part in parts))
        return shown


@contextmanager
def recording() -> Iterator[Record]:
    """Note everything this thread's connection sends; what is sent is not changed."""
    record = Record()
    exchange, commit, rollback = pipeline._exchange, connection._commit, connection._rollback

    def exchanged(connected: Any, calls: Sequence[Call]) -> Any:
        record.trips.append(Trip(calls=list(calls)))
        return exchange(connected, calls)

    def executed(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        record.trips.append(Trip(sql=sql, parameters=parameters))
        return execute(sql, parameters, many, context)

    def ended(word: str, end: Any) -> Any:
        def send() -> Any:
            if connection.connection.pgconn.transaction_status != TransactionStatus.IDLE:  # else nothing is sent
                record.trips.append(Trip(sql=word))
            return end()

        return send

    with (
        patch.object(pipeline, "_exchange", exchanged),
        patch.object(connection, "_commit", ended("COMMIT", commit)),
        patch.object(connection, "_rollback", ended("ROLLBACK", rollback)),
        connection.execute_wrapper(executed),
    ):
        yield record
