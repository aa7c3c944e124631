"""`./dev bench bypasses`: what each place that goes round a framework saves of a product request.

One process asks the service's handler as the front does, a few requests with the bypass and a few with the framework's
own way in turn, so that what else the machine does meets both. The table stands in `docs/bypasses.md`.
"""

import argparse
import gc
import io
import itertools
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from .place import Place, backends_of, open_place, setup_django
from .report import machine_line
from .workload import product_body

_BLOCKS = 4
_READS, _WRITES = 8, 4
_WARM = 40

Make = Callable[[], dict[str, Any]]


class Kind(NamedTuple):
    """One kind of request: how one is made, what it answers, how many stand in a block."""

    make: Make
    status: int
    block: int


class Bypass(NamedTuple):
    """A place that goes round a framework, and the requests that come by there."""

    name: str
    requests: tuple[str, ...]
    way: str  # a function of `bench.ways_back`


EVERY = ("list", "get", "create")
BYPASSES = (
    Bypass("nothing (what the method itself shows)", EVERY, ""),
    Bypass("`dispatch` of `ApiViewSet`", EVERY, "drf_dispatch"),
    Bypass("`Edge._ask`", EVERY, "django_stack"),
    Bypass("`Directory`", EVERY, "django_walk"),
    Bypass("`Handler.respond`", EVERY, "django_handler"),
    Bypass("`logs.access`", EVERY, "standard_logging"),
    Bypass("`ratelimits._run`", EVERY, "redis_client"),
    Bypass("`core.pipeline` beside psycopg's pipeline", EVERY, "psycopg_pipeline"),
    Bypass("`core.pipeline` beside Django's cursors", EVERY, "django_cursors"),
    Bypass("`pipeline.run_last`", ("create",), "django_commit"),
    Bypass("`rows.insert`, `rows.insert_values`", ("create",), "saved_rows"),
    Bypass("`serializers.form`", ("create",), "fresh_serializers"),
)


class _Answer:
    """Stands where the server's protocol does, and keeps what is sent."""

    status = 0
    content = b""

    def response_bytes(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        """Take the answer."""
        self.status, self.content = status, content


class Requests:
    """The service in this process, and its callers in turn."""

    def __init__(self, callers: list[dict[str, Any]]) -> None:
        from django.core.signals import request_finished

        from config.front import Front

        from .ways_back import FINISHERS

        for receiver in FINISHERS:  # as the front does
            request_finished.disconnect(receiver)
        self.front = Front()
        self.callers = itertools.cycle(callers)
        self.kinds = {
            "list": Kind(lambda: self._environ("GET", "/v1/products"), 200, _READS),
            "get": Kind(self._get, 200, _READS),
            "create": Kind(self._create, 201, _WRITES),
        }

    def _environ(self, method: str, path: str, body: bytes = b"", **headers: str) -> dict[str, Any]:
        caller = next(self.callers)
        return {
            **self.front.base,
            "REQUEST_METHOD": method,
            "PATH_INFO": path.replace("{product}", random.choice(caller["products"])),
            "QUERY_STRING": "",
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "CONTENT_LENGTH": str(len(body)) if body else "",
            "HTTP_HOST": "127.0.0.1",
            "HTTP_ACCEPT": "application/json",
            "HTTP_AUTHORIZATION": f"Bearer {caller['token']}",
            "HTTP_X_TENANT_ID": caller["tenant"],
            **headers,
        }

    def _get(self) -> dict[str, Any]:
        return self._environ("GET", "/v1/products/{product}")

    def _create(self) -> dict[str, Any]:
        body = product_body("bypass")
        key = f"key-{body['supplier_sku']}"
        content = json.dumps(body).encode()
        return self._environ("POST", "/v1/products", content, CONTENT_TYPE="application/json", HTTP_IDEMPOTENCY_KEY=key)

    def run(self, kind: Kind) -> tuple[float, float]:
        """Answer one block; CPU and wall seconds of it.

        :raises RuntimeError: an answer has another status.
        """
        environs = [kind.make() for _ in range(kind.block)]
        answers = [_Answer() for _ in environs]
        wall, cpu = time.perf_counter(), time.process_time()
        for environ, answer in zip(environs, answers, strict=True):
            self.front._call(answer, environ, None)  # type: ignore[arg-type]
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        for answer in answers:
            if answer.status != kind.status:
                raise RuntimeError(f"{answer.status}: {answer.content[:400]!r}")
        return cpu, wall


@dataclass
class Found:
    """µs of a request in each round: with the bypass and without it, of CPU and by the clock."""

    cpu: list[tuple[float, float]] = field(default_factory=list)
    wall: list[tuple[float, float]] = field(default_factory=list)

    def line(self) -> list[str]:
        """The cells of a table: CPU with and without, both ratios with their quartiles."""
        with_it, without = (median(values) for values in zip(*self.cpu, strict=True))
        return [f"{with_it:,.0f}", f"{without:,.0f}", _ratio(self.cpu), _ratio(self.wall)]


def _ratio(pairs: list[tuple[float, float]]) -> str:
    ratios = sorted(without / with_it for with_it, without in pairs)
    quarter = len(ratios) // 4
    return f"{median(ratios):.2f} ({ratios[quarter]:.2f}–{ratios[-1 - quarter]:.2f})"


def _way(name: str) -> Callable[[], AbstractContextManager[Any]]:
    from . import ways_back

    found: Callable[[], AbstractContextManager[Any]] = getattr(ways_back, name) if name else nullcontext
    return found


def compare(requests: Requests, kind: Kind, way: Callable[[], AbstractContextManager[Any]], rounds: int) -> Found:
    """Run both ways in turn, block by block; each round begins with the other one."""
    found = Found()
    for number in range(rounds):
        spent = [[0.0, 0.0], [0.0, 0.0]]
        for which in _turns(first=number % 2):
            with way() if which else nullcontext():
                cpu, wall = requests.run(kind)
            spent[which][0] += cpu
            spent[which][1] += wall
        each = 1e6 / (_BLOCKS * kind.block)
        found.cpu.append((spent[0][0] * each, spent[1][0] * each))
        found.wall.append((spent[0][1] * each, spent[1][1] * each))
    return found


def _turns(*, first: int) -> Iterator[int]:
    for _ in range(_BLOCKS):
        yield first
        yield 1 - first


def measure(place: Place, wanted: argparse.Namespace) -> list[str]:
    """Measure in this process and return the table."""
    requests = Requests(place.python("-m", "bench.population", "--tenants", str(place.tenants)))
    chosen = [one for one in BYPASSES if not wanted.only or one.way in wanted.only]
    for kind in requests.kinds.values():
        for _ in range(_WARM):
            requests.run(kind)
    gc.collect()
    gc.freeze()
    lines = ["| bypass | request | CPU µs with | without | CPU ratio | wall ratio |", "|---|---|---|---|---|---|"]
    for bypass in chosen:
        way = _way(bypass.way)
        for name in bypass.requests:
            compare(requests, requests.kinds[name], way, 2)  # warms the other way
            found = compare(requests, requests.kinds[name], way, wanted.rounds)
            lines.append(f"| {' | '.join([bypass.name, name, *found.line()])} |")
            print(lines[-1], flush=True)
    return lines


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="./dev bench bypasses", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", help="folder of the benchmark's servers")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--tenants", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--only", nargs="*", help="names of functions of bench/ways_back.py")
    wanted = parser.parse_args(arguments)
    with backends_of(wanted.data) as backends, Path(os.devnull).open("w", buffering=1) as nowhere:
        place = open_place(backends, rows=wanted.rows, tenants=wanted.tenants)
        os.environ.update(place.environment)
        sys.stderr = nowhere  # the access lines; they are written, to nobody
        setup_django()
        lines = measure(place, wanted)
    print("\n".join(["", machine_line(), "", *lines]))
    return 0
