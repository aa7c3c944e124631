"""A process of the service without HTTP: trips of requests, their statements alone, the rules, the sweep, checkpoints, chains.

    python -m bench.prescriptions_direct

Reads orders as JSON lines from standard input and answers one line each. A request whose statements are recorded is
carried out up to its COMMIT, which is sent as ROLLBACK; its statements then find the same rows again and again.
"""

import json
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch
from uuid import UUID

from .place import setup_django
from .statements import Record, recording

_ENDS = (b"COMMIT", b"ROLLBACK", b"BEGIN")
_DURABLE = (
    b"SET CONSTRAINTS ALL IMMEDIATE",
    b"ROLLBACK",
    b"BEGIN",
    b"SELECT pg_logical_emit_message(true, 'bench', '')",
    b"COMMIT",
)


@contextmanager
def _undone() -> Iterator[None]:
    """Let every COMMIT of this thread be a ROLLBACK."""
    from django.db import connections

    from core import pipeline

    wrapper: Any = type(connections["default"])
    exchange, back = pipeline._exchange, pipeline.Call(pipeline.Statement(b"ROLLBACK", b""))

    def sent(connected: Any, calls: Any) -> Any:
        return exchange(connected, [back if call.statement.sql == b"COMMIT" else call for call in calls])

    with patch.object(pipeline, "_exchange", sent), patch.object(wrapper, "_commit", wrapper._rollback):
        yield


class Direct:
    """Carries out orders."""

    def _ask(self, order: dict[str, Any]) -> Record:
        """Send a request and return its trips; nothing of it stays.

        :raises RuntimeError: it is answered with another status than the order expects.
        """
        from django.test import Client

        headers = {"Authorization": f"Bearer {order['token']}", "X-Tenant-Id": order["tenant"]}
        client = Client(headers=headers, SERVER_NAME="127.0.0.1")
        client.get("/v1/me")  # learns the credential, so that its reading is not part of the record
        with _undone(), recording() as record:
            if order["method"] == "GET":
                answer = client.get(order["path"])
            else:
                key = {"Idempotency-Key": secrets.token_hex(16)}
                body = json.dumps(order["body"])
                answer = client.post(order["path"], body, content_type="application/json", headers=key)
        if answer.status_code != order["status"]:
            raise RuntimeError(f"{order['path']}: {answer.status_code} {answer.content[:600]!r}")
        return record

    def trips(self, order: dict[str, Any]) -> dict[str, Any]:
        """How many trips and statements a request sends; the record of an access is one of them.

        It is sent twice, since the first one fills what each process keeps.
        """
        self._ask(order)
        record = self._ask(order)
        return {"trips": len(record), "statements": record.statements, "texts": record.texts()}

    def floor(self, order: dict[str, Any]) -> dict[str, Any]:
        """All statements of a write in one pipeline and one transaction that is rolled back; seconds of each time.

        With `durable` in the order its end costs what a COMMIT does: what is deferred to it is checked before, and all that
        was written to the log is flushed after.
        """
        from django.db import connection

        from core import pipeline

        calls = list(self._calls(self._ask(order)))
        end = _DURABLE if order.get("durable") else (b"ROLLBACK",)
        calls += [pipeline.Call(pipeline.Statement(sql, b"")) for sql in end]
        connection.ensure_connection()
        found, until = [], time.monotonic() + float(order["seconds"])
        while time.monotonic() < until:
            started = time.perf_counter()
            pipeline._exchange(connection.connection, calls)
            found.append(time.perf_counter() - started)
        return {"seconds": found[1:], "statements": len(calls) - len(end)}

    @staticmethod
    def _calls(record: Record) -> Iterator[Any]:
        import psycopg
        from django.db import connection

        from core import pipeline

        for trip in record.trips:
            yield from (call for call in trip.calls if call.statement.sql not in _ENDS)
            if trip.sql and trip.sql.encode() not in _ENDS:
                text = psycopg.ClientCursor(connection.connection).mogrify(trip.sql, trip.parameters or None)
                yield pipeline.Call(pipeline.Statement(text.encode(), b""))

    def rules(self, order: dict[str, Any]) -> dict[str, Any]:
        """CPU seconds of the rules in validations of one draft, and what was found."""
        from prescriptions.validation import actions

        found: list[float] = []
        engine, shown = actions.run, {}

        def timed(inputs: Any, *given: Any, **more: Any) -> Any:
            started = time.process_time()
            made = engine(inputs, *given, **more)
            found.append(time.process_time() - started)
            shown.update(
                others=len(inputs.others),
                observations=len(inputs.record.observations),
                items=len(inputs.items),
                issues=len(made.issues),
                outcome=str(made.outcome),
            )
            return made

        with patch.object(actions, "run", timed):
            for _ in range(int(order["times"])):
                self._ask(order)
        return {"seconds": found, **shown}

    def sweep(self, order: dict[str, Any]) -> dict[str, Any]:
        """Stamp what has expired; `shares` are the seconds of each transaction, in which its rows are locked."""
        from core.clock import now
        from prescriptions.prescribing import sweeping

        shares: list[float] = []
        stamp = sweeping._stamp

        def timed(*given: Any) -> Any:
            started = time.perf_counter()
            made = stamp(*given)
            shares.append(time.perf_counter() - started)
            return made

        started = time.perf_counter()
        with patch.object(sweeping, "_stamp", timed):
            count = sweeping.sweep(at=now()).expired
        return {"count": count, "seconds": time.perf_counter() - started, "shares": shares}

    def walk_recalls(self, order: dict[str, Any]) -> dict[str, Any]:
        """Tell the buyers of recalls."""
        from core.clock import now
        from suppliers.inventory.recalls.walking import walk_recalls

        return {"count": walk_recalls(at=now())}

    def checkpoint(self, order: dict[str, Any]) -> dict[str, Any]:
        """Make a checkpoint of one tenant."""
        from core.clock import now
        from core.db import tenant_context
        from prescriptions.evidence.checkpoints import make_checkpoint

        tenant, started = UUID(order["tenant"]), time.perf_counter()
        with tenant_context(tenant):
            number = make_checkpoint(tenant, at=now())
        return {"number": number, "seconds": time.perf_counter() - started}

    def verify(self, order: dict[str, Any]) -> dict[str, Any]:
        """Verify all of one tenant's history.

        :raises RuntimeError: something does not hold.
        """
        from prescriptions.evidence.auditing import audit

        started = time.perf_counter()
        found = audit(UUID(order["tenant"]))
        if found.faults:
            raise RuntimeError(f"{len(found.faults)} faults: {found.faults[0]}")
        return {"entries": found.entries, "seconds": time.perf_counter() - started}


def main() -> None:
    """Serve the orders of standard input."""
    setup_django()
    direct = Direct()
    print("{}", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        print(json.dumps(getattr(direct, order["do"])(order)), flush=True)


if __name__ == "__main__":
    main()
