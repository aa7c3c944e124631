"""Several prepared statements in one round trip and one implicit transaction, by libpq's pipeline mode.

A read sends the statement that proves the membership and binds the tenant together with the query that depends on it.
PostgreSQL runs them in order and commits once. Source: PostgreSQL manual, "Pipeline Mode".
"""

import itertools
import select
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID
from weakref import WeakSet

import psycopg
from django.db import DEFAULT_DB_ALIAS, DatabaseError, OperationalError, connections
from psycopg import errors, pq

from . import budgets
from .named_rows import N, converters

_numbers = itertools.count()
COMPOSED_AT_MOST = 256  # per session: the plan of a long search takes some 100 kB
row_types: list[tuple["Statement", type[tuple[Any, ...]]]] = []  # a test compares them with the database
observers: list[Callable[[float], None]] = []  # called with the seconds of every round trip
ANSWER_MILLISECONDS = 10_000  # statement_timeout ends a statement sooner; this is for a server that has gone away
_CLOSED = b"CLOSED"
_ANSWERS = (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Statement:
    """SQL with `$1 …` parameters, prepared once on each connection.

    Every tenant table in it is narrowed by `tenant_id = $n`. `across` says why a statement is not: it finds a credential
    before a tenant is bound, or works for all tenants. Source: contract, organizations.md "Rules of the tables".
    """

    sql: bytes
    name: bytes
    across: str = ""

    @classmethod
    def of(cls, sql: str, *, row: type[tuple[Any, ...]] | None = None, across: str = "") -> "Statement":
        """Register a statement; `row` is the named tuple that its rows are read into.

        Keep the object: each call registers a new name, and sessions keep its plan as long as they live. For texts of which
        the code fixes how many there are; where a request has a say in the text, see `composed`.
        """
        made = cls(sql.encode(), b"hp_%d" % next(_numbers), across)
        registered.add(made)
        if row is not None:
            row_types.append((made, row))
        return made

    @classmethod
    def composed(cls, sql: str, *, across: str = "") -> "Statement":
        """Return a statement composed for one request, with all values as parameters, so that its text may recur.

        A text that recurs is prepared like any other. Each session keeps the `COMPOSED_AT_MOST` most recently used, so that
        none fills with plans: clients can choose among very many combinations of filters, `fields` and `include`.
        """
        form = _form(sql, across)
        form.times += 1
        return form.named if form.times > 1 else form.once


registered: WeakSet[Statement] = WeakSet()  # a test holds them to the rules of the tables


@dataclass(slots=True, eq=False)  # not frozen: a write makes dozens, and frozen ones take twice as long to make
class Call:
    """A statement with its parameters in text form (None is NULL)."""

    statement: Statement
    parameters: Sequence[str | bytes | None] = ()

    def encoded(self) -> list[bytes | None]:
        """Return the parameters as libpq takes them.

        :raises psycopg.DataError: a parameter contains NUL; libpq would cut it off there.
        """
        if not self.parameters:
            return []
        found = [value.encode() if isinstance(value, str) else value for value in self.parameters]
        if b"\0" in b"".join(filter(None, found)):
            raise psycopg.DataError("a parameter contains NUL (0x00)")
        return found


class _Form:
    """One text of a composed statement, and how often it was used."""

    __slots__ = ("named", "once", "times")

    def __init__(self, sql: str, across: str) -> None:
        text = sql.encode()
        self.once = Statement(text, b"", across)
        self.named, self.times = Statement(text, b"hc_%d" % next(_forms), across), 0
        registered.add(self.once)


_forms = itertools.count()
_form = lru_cache(maxsize=1_024)(_Form)


class _Session:
    """The names of the statements that are prepared on one connection; it lives as long as the connection."""

    __slots__ = ("composed", "lasting")

    def __init__(self) -> None:
        self.lasting: set[bytes] = set()
        self.composed: dict[bytes, None] = {}  # in order of use, the most recent last

    def knows(self, name: bytes) -> bool:
        """Tell whether a statement is prepared, and mark it as just used."""
        if name in self.lasting:
            return True
        if name not in self.composed:
            return False
        del self.composed[name]
        self.composed[name] = None
        return True

    def learn(self, name: bytes) -> bytes:
        """Note that a statement is prepared; return the name of the one to close for it, or b""."""
        if not name.startswith(b"hc_"):
            self.lasting.add(name)
            return b""
        self.composed[name] = None
        if len(self.composed) <= COMPOSED_AT_MOST:
            return b""
        oldest = next(iter(self.composed))
        del self.composed[oldest]
        return oldest

    def forget(self, name: bytes) -> None:
        """Note that a statement is not prepared after all."""
        self.lasting.discard(name)
        self.composed.pop(name, None)


_BEGIN, _COMMIT = Call(Statement.of("BEGIN")), Call(Statement.of("COMMIT"))


@dataclass(slots=True, eq=False)
class Rows:
    """The rows that one statement returned; values are bytes in PostgreSQL's text form."""

    result: Any

    def __len__(self) -> int:
        return int(self.result.ntuples)

    def value(self, row: int = 0, column: int = 0) -> bytes | None:
        """Return one value, or None for NULL."""
        found: bytes | None = self.result.get_value(row, column)
        return found

    def row(self, row: int = 0) -> list[bytes | None]:
        """Return all values of one row."""
        return [self.result.get_value(row, column) for column in range(self.result.nfields)]

    def raw(self, kind: type[tuple[Any, ...]], row: int = 0) -> tuple[bytes | None, ...]:
        """Return the columns of one row that a named tuple has, as bytes."""
        return tuple([self.result.get_value(row, column) for column in range(len(kind._fields))])  # type: ignore[attr-defined]

    def of(self, kind: type[N]) -> list[N]:
        """Read all rows into the named tuple that their statement declares; further columns are ignored.

        :raises TypeError: a column is NULL, but its field is not optional.
        """
        value, converts = self.result.get_value, [*enumerate(converters(kind))]
        make = kind._make  # type: ignore[attr-defined]
        return [make([convert(value(row, column)) for column, convert in converts]) for row in range(len(self))]


@dataclass(slots=True)
class ReadBack:
    """The statement that reads a changed row for the answer.

    An action may send it in the trip of the change; `rows` is then what it returned. Where `last` is a list, whoever made it
    sends what an action adds there in the trip that commits: statements whose rows nobody reads.
    """

    call: Callable[[UUID], Call]
    rows: Rows | None = None
    last: list[Call] | None = None


def run(calls: Sequence[Call]) -> list[Rows]:
    """Run the calls in order in one round trip and one transaction.

    In an open transaction they become part of it. If one fails, none of them has any effect.

    :raises django.db.DatabaseError: as the ORM would raise it.
    :raises core.budgets.TooCostly: the time of the request is used up.
    """
    budgets.check()
    held = connections[DEFAULT_DB_ALIAS]
    for last in (False, False, True):
        held.ensure_connection()
        connected = held.connection
        started = time.perf_counter()
        try:
            with held.wrap_database_errors:
                rows = _exchange(connected, calls)
        except OperationalError:
            # The pool lent a connection whose server has gone away. Outside a transaction another one can be tried.
            if last or held.in_atomic_block or connected.pgconn.status == pq.ConnStatus.OK:
                raise
            held.close()
        else:
            for observe in observers:
                observe(time.perf_counter() - started)
            return rows
    raise AssertionError("unreachable")


def run_last(calls: Sequence[Call]) -> list[Rows]:
    """Run the last calls of the open transaction, and its COMMIT in the same trip unless an outer block is open.

    Django's own commit then has nothing left to send; its `on_commit` hooks run as usual.
    """
    held = connections[DEFAULT_DB_ALIAS]
    outermost = held.in_atomic_block and held.commit_on_exit and not held.savepoint_ids
    if not outermost or held.needs_rollback:
        return run(calls)
    return run([*calls, _COMMIT])[:-1]


def answers_before(error: DatabaseError) -> list[Rows]:
    """Return the rows of the calls that succeeded before the one that failed, in the same trip."""
    found: list[Rows] = getattr(error.__cause__, "answers", [])
    return found


def _exchange(connected: psycopg.Connection[Any], calls: Sequence[Call]) -> list[Rows]:
    """Send the calls and return their rows.

    Django leaves BEGIN to psycopg's `execute`, which is not used here, so the first trip of a transaction sends BEGIN. A
    trip that is a transaction of its own sends COMMIT too: what it binds may last only as long as a block does.
    """
    low = connected.pgconn
    session: _Session | None = getattr(connected, "_hp_session", None)
    if session is None:
        session = connected._hp_session = _Session()  # type: ignore[attr-defined]
    is_idle = low.transaction_status == pq.TransactionStatus.IDLE
    begins = is_idle and (not connected.autocommit or len(calls) > 1)
    ends = begins and connected.autocommit
    sent = [*([_BEGIN] if begins else ()), *calls, *([_COMMIT] if ends else ())]
    parameters = [call.encoded() for call in sent]  # raises before anything is queued
    low.enter_pipeline_mode()
    try:
        expected = _send(low, sent, parameters, session)
        outcomes, fault = _receive(low, expected, session)
        found = outcomes[begins : begins + len(calls)]
        if fault is not None:
            error = errors.error_from_result(fault)
            error.answers = found  # type: ignore[attr-defined]  # see `answers_before`
            raise error
        return found
    finally:
        if low.status == pq.ConnStatus.OK:
            low.exit_pipeline_mode()
            if ends and low.transaction_status != pq.TransactionStatus.IDLE:  # a call failed, so COMMIT was skipped
                low.exec_(b"ROLLBACK")


def _send(
    low: Any, calls: Sequence[Call], parameters: Sequence[Sequence[bytes | None]], session: _Session
) -> list[bytes | None]:
    """Queue all calls; return what each expected result answers: None for a call, else the statement's name or a mark."""
    expected: list[bytes | None] = []
    for call, values in zip(calls, parameters, strict=True):
        statement = call.statement
        if not statement.name:
            low.send_query_params(statement.sql, values)
            expected.append(None)
            continue
        if not session.knows(statement.name):
            low.send_prepare(statement.name, statement.sql)
            expected.append(statement.name)
            if oldest := session.learn(statement.name):
                low.send_close_prepared(oldest)
                expected.append(_CLOSED)
        low.send_query_prepared(statement.name, values)
        expected.append(None)
    low.pipeline_sync()
    _flush(low)
    return expected


def _flush(low: Any) -> None:
    """Send what is queued, and read meanwhile: a server that cannot deliver its answers stops reading."""
    while low.flush():
        answering, _, _ = select.select([low.socket], [low.socket], [])
        if answering:
            low.consume_input()


def _receive(low: Any, expected: list[bytes | None], session: _Session) -> tuple[list[Rows], Any]:
    """Collect the results and the first error; a PREPARE that failed or was skipped will be sent again."""
    outcomes: list[Rows] = []
    fault = None
    poll = select.poll()
    poll.register(low.socket, select.POLLIN)
    for name in expected:
        result = _next_result(low, poll)
        if result.status == pq.ExecStatus.FATAL_ERROR and fault is None:
            fault = result
        if name is not None and result.status != pq.ExecStatus.COMMAND_OK:
            session.forget(name)
        elif name is None and result.status in _ANSWERS:
            outcomes.append(Rows(result))
        if low.status != pq.ConnStatus.OK:
            raise errors.error_from_result(fault) if fault else psycopg.OperationalError("the connection was lost")
    while _next_result(low, poll).status != pq.ExecStatus.PIPELINE_SYNC:
        pass
    return outcomes, fault


def _next_result(low: Any, poll: Any) -> Any:
    """Return the next result of the pipeline; between two results libpq returns None once.

    :raises psycopg.OperationalError: the server has gone away, or did not answer in time.
    """
    while True:
        while low.is_busy():
            if not poll.poll(ANSWER_MILLISECONDS):
                low.finish()
                raise psycopg.OperationalError("the database did not answer in time")
            low.consume_input()
        result = low.get_result()
        if result is not None:
            return result
        if low.status != pq.ConnStatus.OK:
            raise psycopg.OperationalError("the connection was lost")
