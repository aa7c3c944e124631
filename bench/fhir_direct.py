"""The statements of FHIR reads and searches through psycopg, one connection, without HTTP, rights and records of access.

    python -m bench.fhir_direct

Reads lines of JSON `[SECONDS, [[TENANT, PATH], …]]` from standard input, makes the statements of each path once, runs them in
turn for so long, and answers one line of JSON each.
"""

import itertools
import json
import sys
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl
from uuid import UUID

from .place import setup_django


def trips_of(tenant: str, path: str) -> list[list[Any]]:
    """The round trips of a read (`/Type/id`) or a search (`/Type?…`); each binds the tenant itself, as a read over HTTP does."""
    from core import pipeline
    from core.clock import now
    from core.db import OWN
    from fhir_api import versions
    from fhir_api.search import Ask, run_search

    tenant_id = UUID(tenant)
    bind = pipeline.Call(_bind(OWN), [tenant])
    place, _, query = path.removeprefix("/").partition("?")
    type_name, _, fhir_id = place.partition("/")
    if fhir_id:
        return [[bind, versions.current_call(tenant_id, type_name, fhir_id)]]
    trips: list[list[Any]] = []

    def run(calls: Sequence[Any]) -> list[Any]:
        trips.append([bind, *calls])
        return pipeline.run(trips[-1])[1:]

    run_search(Ask(tenant_id, type_name, tuple(parse_qsl(query)), now()), run)
    return trips


def _bind(role: str) -> Any:
    from core.pipeline import Statement

    if role not in _BINDS:
        text = f"SELECT set_config('app.tenant_id', $1, true), set_config('role', '{role}', true)"
        _BINDS[role] = Statement.of(text)
    return _BINDS[role]


_BINDS: dict[str, Any] = {}


def measured(seconds: float, asked: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Run the statements for some seconds."""
    from core import pipeline

    all_trips = [trips_of(tenant, path) for tenant, path in asked]
    latencies = []
    started = before = time.perf_counter()
    cpu = time.process_time()
    for trips in itertools.cycle(all_trips):
        for calls in trips:
            pipeline.run(calls)
        after = time.perf_counter()
        latencies.append(after - before)
        before = after
        if before > started + seconds:
            break
    return {"latencies": latencies, "seconds": before - started, "cpu": time.process_time() - cpu}


def main() -> None:
    """Serve the orders of standard input."""
    setup_django()
    print("ready", flush=True)
    for line in sys.stdin:
        seconds, asked = json.loads(line)
        print(json.dumps(measured(seconds, asked)), flush=True)


if __name__ == "__main__":
    main()
