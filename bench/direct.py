"""The statements of a request through psycopg, without HTTP: the nearest a request could come to the database's limit.

    python -m bench.direct CALLERS.json

Reads lines `NAME SECONDS` from standard input, runs the statements one after the other, answers one JSON line each.
"""

import json
import os
import re
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from .place import setup_django
from .statements import Trip, recording
from .workload import product_body

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Direct:
    """Runs what a list, a get and a create send."""

    def __init__(self, callers: list[dict[str, Any]]) -> None:
        self.callers = callers
        self.number = os.getpid()
        self.replay: Callable[[], None] | None = None

    def _read(self, calls: Callable[[dict[str, Any]], list[Any]]) -> None:
        from core import pipeline
        from core.actor import Subject, SubjectKind
        from organizations import membership_sql

        self.number += 1
        caller = self.callers[self.number % len(self.callers)]
        subject = Subject(
            id=UUID(caller["user"]), kind=SubjectKind.USER, credential="bench", token_id="t", session_id="s"
        )
        proof = membership_sql.one_tenant(subject, UUID(caller["tenant"]), "hp_app")
        found = pipeline.run([proof, *calls(caller)])
        assert len(found[0]) == 1
        assert len(found[1]) > 0

    def list(self, sort: str = "") -> None:
        """Membership, rows, total."""
        from django.http import QueryDict

        from api.listing import page_call, read_query
        from suppliers.storefront.views import ProductViewSet

        query = read_query(ProductViewSet.listing, QueryDict(f"sort={sort}" if sort else ""), "page")
        self._read(lambda caller: [page_call(query, UUID(caller["tenant"]), page=1, limit=20)])

    def list_updated(self) -> None:
        """The same, newest change first."""
        self.list("-updated_at")

    def get(self) -> None:
        """Membership, one row."""
        from api.listing import one_call
        from api.shapes import Selection
        from suppliers.storefront.representations import ProductOut

        def calls(caller: dict[str, Any]) -> list[Any]:
            return [
                one_call(ProductOut.shape, Selection(), UUID(caller["tenant"]), caller["products"][self.number % 20])
            ]

        self._read(calls)

    def create(self) -> None:
        """What one create sent, again and again under new ids and names."""
        if self.replay is None:
            self.replay = self._recorded()
        self.replay()

    def _recorded(self) -> Callable[[], None]:
        from django.test import Client

        caller = self.callers[os.getpid() % len(self.callers)]
        body = product_body("direct")
        headers = {
            "Authorization": f"Bearer {caller['token']}",
            "X-Tenant-Id": caller["tenant"],
            "Idempotency-Key": f"key-{body['supplier_sku']}",
        }
        client = Client(headers=headers, SERVER_NAME="127.0.0.1")
        client.get("/v1/products")  # learns the credential, so that its reading is not part of the record
        with recording() as record:
            answer = client.post("/v1/products", body, content_type="application/json")
        assert answer.status_code == 201, answer.content
        trips = [trip for trip in record.trips if trip.sql not in ("COMMIT", "ROLLBACK")]
        kept = {caller["tenant"], caller["user"], caller["membership"]}
        return _Replay(trips, kept, body).run

    def run(self, name: str, seconds: float) -> dict[str, Any]:
        """Run one kind of work for some seconds."""
        work = getattr(self, name)
        work()
        latencies = []
        started = before = time.perf_counter()
        cpu = time.process_time()
        while before < started + seconds:
            work()
            after = time.perf_counter()
            latencies.append(after - before)
            before = after
        return {"latencies": latencies, "seconds": before - started, "cpu": time.process_time() - cpu}


class _Replay:
    """Sends recorded trips with every id and name that must be new replaced by a new one."""

    def __init__(self, trips: list[Trip], kept: set[str], body: dict[str, Any]) -> None:
        self.trips = trips
        texts = [text for trip in trips for text in _texts(trip)]
        ids = {found for text in texts for found in _UUID.findall(text)} - kept
        self.ids, self.sku, self.gtin = (
            sorted(ids),
            body["supplier_sku"].partition("-")[2],
            body["packagings"][0]["gtin"],
        )

    def run(self) -> None:
        """One create."""
        from django.db import connection, transaction

        from core import pipeline

        fresh = product_body("direct")
        new = {old: str(uuid.uuid4()) for old in self.ids}
        new |= {self.sku: fresh["supplier_sku"].partition("-")[2], self.gtin: fresh["packagings"][0]["gtin"]}
        with transaction.atomic():
            for trip in self.trips:
                if trip.calls:
                    pipeline.run([pipeline.Call(one.statement, _renewed(one.parameters, new)) for one in trip.calls])
                else:
                    connection.ensure_connection()
                    connection.connection.execute(trip.sql, _renewed(trip.parameters or (), new))


def _texts(trip: Trip) -> list[str]:
    values = [value for call in trip.calls for value in call.parameters] or list(trip.parameters or ())
    return [str(value) for value in values if isinstance(value, str | UUID)]


def _renewed(values: Any, new: dict[str, str]) -> list[Any]:
    return [_changed(value, new) for value in values]


def _changed(value: Any, new: dict[str, str]) -> Any:
    if isinstance(value, UUID):
        return UUID(new.get(str(value), str(value)))
    if not isinstance(value, str) or len(value) > 600:
        return value
    for old, fresh in new.items():
        if old in value:
            value = value.replace(old, fresh)
    return value


def main() -> None:
    """Serve the orders of standard input."""
    setup_django()
    direct = Direct(json.loads(Path(sys.argv[1]).read_text()))
    print("ready", flush=True)
    for line in sys.stdin:
        name, seconds = line.split()
        print(json.dumps(direct.run(name, float(seconds))), flush=True)


if __name__ == "__main__":
    main()
