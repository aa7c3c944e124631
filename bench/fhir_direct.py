"""The statements of FHIR reads and searches through psycopg, one connection, without HTTP, rights and records of
access; beside them the prototype's, in turn.

    python -m bench.fhir_direct

Reads lines of JSON from standard input (`Order`), makes the statements of each path once, runs ours and the prototype's
in slices for so long, and answers one line of JSON each.
"""

import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NotRequired, TypedDict
from urllib.parse import parse_qsl
from uuid import UUID

from .fhir_prototype import Prototype, Question
from .place import setup_django

_SLICES = 5


class Order(TypedDict):
    """What to measure: `paths` are pairs of tenant and path. `compare`: both must find as many first."""

    kind: str
    seconds: float
    paths: list[tuple[str, str]]
    compare: NotRequired[bool]


def trips_of(tenant: str, path: str) -> tuple[list[list[Any]], int]:
    """The round trips of a read (`/Type/id`) or a search (`/Type?…`), and how many it finds.

    Each trip binds the tenant itself, as a read over HTTP does.
    """
    from core import pipeline
    from core.clock import now
    from core.db import OWN
    from fhir_api.search import Ask, run_search
    from fhir_api.store import reads

    tenant_id = UUID(tenant)
    bind = pipeline.Call(_bind(OWN), [tenant])
    place, _, query = path.removeprefix("/").partition("?")
    type_name, _, fhir_id = place.partition("/")
    if fhir_id:
        return [[bind, reads.current_call(tenant_id, type_name, fhir_id)]], 1
    trips: list[list[Any]] = []

    def run(calls: Sequence[Any]) -> list[Any]:
        trips.append([bind, *calls])
        return pipeline.run(trips[-1])[1:]

    answered = run_search(Ask(tenant_id, type_name, tuple(parse_qsl(query)), now()), run)
    return trips, _found(json.loads(answered), "include" if "_revinclude" in query else "match")


def _found(bundle: dict[str, Any], mode: str) -> int:
    """How many resources of one mode a Bundle holds; the total where it holds none by request."""
    entries = bundle.get("entry")
    if entries is None:
        return int(bundle.get("total", 0))
    return sum(entry["search"]["mode"] == mode for entry in entries)


def _bind(role: str) -> Any:
    from core.pipeline import Statement

    if role not in _BINDS:
        text = f"SELECT set_config('app.tenant_id', $1, true), set_config('role', '{role}', true)"
        _BINDS[role] = Statement.of(text)
    return _BINDS[role]


_BINDS: dict[str, Any] = {}


def measured(order: Order, prototype: Prototype) -> dict[str, list[float]]:
    """Run the statements for some seconds; the seconds that each question took, ours and the prototype's.

    :raises RuntimeError: they did not find as many.
    """
    made = [trips_of(tenant, path) for tenant, path in order["paths"]]
    questions = prototype.questions(order["kind"], order["paths"])
    if order.get("compare"):
        ours, theirs = [found for _, found in made], [prototype.found(order["kind"], one) for one in questions]
        if ours != theirs:
            raise RuntimeError(f"{order['kind']}: we find {ours} and the prototype {theirs}")
    ways = [_ours([trips for trips, _ in made]), _theirs(prototype, questions)]
    found: list[list[float]] = [[], []]
    for _ in range(_SLICES):
        for way, latencies in zip(ways, found, strict=True):
            until = time.perf_counter() + order["seconds"] / 2 / _SLICES
            while time.perf_counter() < until:
                latencies.append(next(way))
    return {"ours": found[0], "prototype": found[1]}


def _ours(all_trips: Sequence[Sequence[Any]]) -> Iterator[float]:
    from core import pipeline

    def ask(trips: Sequence[Any]) -> None:
        for calls in trips:
            pipeline.run(calls)

    for trips in itertools.cycle(all_trips):
        yield _seconds(partial(ask, trips))


def _theirs(prototype: Prototype, questions: Sequence[Question]) -> Iterator[float]:
    for question in itertools.cycle(questions):
        prototype.bind(question)
        yield _seconds(question.ask)


def _seconds(ask: Callable[[], object]) -> float:
    before = time.perf_counter()
    ask()
    return time.perf_counter() - before


def main() -> None:
    """Serve the orders of standard input."""
    setup_django()
    prototype = Prototype()
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(measured(json.loads(line), prototype)), flush=True)


if __name__ == "__main__":
    main()
