"""Where a benchmark runs: servers and a data folder of its own, databases seeded once and kept, the service on free ports."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from devtools import parts, roles
from devtools.environment import Backends, environment, open_backends
from devtools.places import ROOT, open_places
from devtools.ports import answers, check_port
from devtools.processes import die_with_parent
from devtools.trouble import Trouble

DATA = ROOT / ".local" / "bench"
HIGH = "1000000000"
_START_SECONDS = 60


@dataclass(frozen=True)
class Place:
    """One seeded database and the environment of everything that works on it."""

    backends: Backends
    rows: int
    tenants: int
    environment: dict[str, str]

    def python(self, *arguments: str) -> Any:
        """Run a module of ours on this database and return the JSON it prints.

        :raises Trouble: it failed.
        """
        command = [sys.executable, *arguments]
        made = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)
        if made.returncode:
            raise Trouble(f"{' '.join(arguments)} failed:\n{made.stderr.strip()[-3000:]}")
        lines = made.stdout.strip().splitlines()
        return json.loads(lines[-1]) if lines and lines[-1].startswith(("{", "[")) else None

    @contextmanager
    def child(self, module: str, *, niceness: int = 0) -> Iterator["subprocess.Popen[str]"]:
        """Run a module of ours on this database until the block ends; orders and answers are lines of its two ends.

        `niceness` lowers its CPU priority, as that of the workers is lowered in service.
        """
        child = subprocess.Popen(
            [sys.executable, "-m", module],
            cwd=ROOT,
            env=self.environment | {"LOG_LEVEL": "ERROR"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=bool(niceness),
            preexec_fn=die_with_parent(niceness=niceness),  # noqa: PLW1509 - no thread holds a lock that the child needs
        )
        try:
            yield child
        finally:
            child.terminate()
            child.wait(15)


def open_database(backends: Backends, database: str, *, families: tuple[str, ...], number: int = 0) -> Place:
    """Make and migrate a database; limits stay on and are counted, only too high to refuse what a load generator sends."""
    if backends.cluster:
        roles.ensure_database(backends.cluster, database)
    variables = environment(backends, database=database, redis_number=number)
    variables |= {f"RATE_LIMIT_{name}_PER_MINUTE": HIGH for name in (*families, "ADDRESS")}
    place = Place(backends, 0, 0, variables)
    place.python("manage.py", "prepare", "--no-demo")
    return place


def open_place(backends: Backends, *, rows: int, tenants: int, number: int = 0) -> Place:
    """Make, migrate and fill the database of a size where that is still to do."""
    place = open_database(backends, f"bench_{rows}_{tenants}", families=("SUPPLIER",), number=number)
    place.python("-m", "bench.seed_products", "--products", str(rows), "--tenants", str(tenants))
    return replace(place, rows=rows, tenants=tenants)


@contextmanager
def backends_of(data: str | None) -> Iterator[Backends]:
    """Start or join the benchmark's own servers and leave them at the end; their data stay."""
    backends = open_backends(open_places(data or DATA))
    try:
        yield backends
    finally:
        backends.release(at_once=True)


@contextmanager
def serving(
    place: Place,
    name: str,
    *,
    workers: int,
    settings: str = "config.settings",
    command: Callable[..., list[str]] = parts.web_command,
) -> Iterator[tuple[int, int]]:
    """Run the real front as `./dev up` does, or another server, and yield its port and process id."""
    port = check_port(0)
    log = place.backends.places.logs / f"{name}.log"
    variables = place.environment | {"DJANGO_SETTINGS_MODULE": settings, "WEB_WORKERS": str(workers)}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command(port=port, workers=workers),
            cwd=ROOT,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=die_with_parent(),  # noqa: PLW1509 - no thread holds a lock that the child needs
        )
    try:
        _wait(process, port, log)
        yield port, process.pid
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()


def _wait(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        if answers(port, "/health/live"):
            return
        time.sleep(0.1)
    raise Trouble(f"The front does not answer: {log.read_text(errors='replace')[-2000:]}")


def setup_django() -> None:
    """Make this process one of the service's, on the database of its environment."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
