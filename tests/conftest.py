"""Real servers under every test: a database cloned from a migrated template, a numbered Valkey, and real commits.

`pytest` alone starts or joins the embedded servers; DATABASE_URL and REDIS_URL lead elsewhere. Each run (and each worker
of pytest-xdist) has its own database as the runtime role of production, dropped at the end or by the next run.
Tests commit for real, so each makes its own tenants and never counts on an empty table.
"""

import io
import os
import subprocess
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from devtools import databases, parts
from devtools.environment import Backends, environment, open_backends
from devtools.locks import FileLock
from devtools.places import ROOT, open_places
from devtools.ports import answers, check_port
from devtools.processes import die_with_parent
from devtools.trouble import Trouble
from tests import versions
from tests.scheduling import ByService
from tests.tracing import untraced
from tests.turns import turn

TEMPLATE_VARIABLE = "HP_TEST_TEMPLATE"
_RULES = ROOT / "tests" / "architecture"
WIDE = ("supplier", "procurement", "organizations", "webhooks", "address", "availability", "bulk", "fhir")


@dataclass
class Run:
    """What this process of the test run holds on to."""

    backends: Backends
    database: str
    redis_lock: FileLock
    environment: dict[str, str]
    cloned: bool = False


def _open_run() -> Run:
    try:
        places = open_places()
        (places.data / "static").mkdir(parents=True, exist_ok=True)  # the middleware of static files warns without it
        backends = open_backends(places)
        number, lock = databases.take_redis_number(places, highest=250 if not os.environ.get("REDIS_URL") else 15)
    except Trouble as error:
        pytest.exit(str(error), returncode=1)
    database = databases.new_test_name()
    chosen = environment(backends, base_url="http://testserver", database=database, redis_number=number)
    chosen["STORAGE_URL"] = f"file://{places.data}/files-of-tests"
    chosen["WEBHOOKS_RESOLVER"] = "tests.outside.Names"
    chosen["FHIR_PROJECTIONS"] = "false"  # a new tenant's record is empty; the tests of projections turn them on
    return Run(backends=backends, database=database, redis_lock=lock, environment=chosen)


# Django reads its settings while pytest-django configures itself, so the addresses must stand before that.
_outside = dict(os.environ)
_run = _open_run()
os.environ.update(_run.environment)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="the full amounts of the test plan, and tests marked long")


def pytest_configure(config: pytest.Config) -> None:
    import django
    from hypothesis import HealthCheck, settings

    # How fast examples are made says something about the machine's other work, nothing about ours.
    settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("busy")

    django.setup()
    versions.listen()
    import redis
    from django.conf import settings as django_settings

    # A machine that stops for two seconds in the middle of a race says nothing about the race; started servers keep 2 s.
    options = django_settings.DATABASES["default"]["OPTIONS"]
    options["options"] += " -c lock_timeout=4500"

    redis.Redis.from_url(_run.environment["REDIS_URL"]).flushdb()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Make the database before anything is collected; the controller of pytest-xdist only makes the template."""
    if session.config.option.collectonly:
        return
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    try:
        template = os.environ.get(TEMPLATE_VARIABLE) if worker else None
        template = template or databases.ensure_template(_run.backends)
        if not worker and session.config.getoption("numprocesses", None):
            os.environ.clear()  # each worker opens a run of its own, from where this one started
            os.environ.update(_outside | {TEMPLATE_VARIABLE: template})
            return
        databases.clone(_run.backends, template, _run.database)
        _run.cloned = True
        versions.install(_run.environment["DATABASE_OWNER_URL"])
    except Trouble as error:
        pytest.exit(str(error), returncode=1)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Drop the database and leave the servers; a killed run's database is dropped by the next one."""
    from django.db import connections

    connections.close_all()
    if _run.cloned:
        databases.drop(_run.backends, _run.database)
    _run.redis_lock.free()
    _run.backends.release()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(_RULES):  # they ask of all there is what other tests aim at
            item.add_marker(pytest.mark.untraced)
    if config.getoption("--long"):
        return
    for item in items:
        if "long" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="runs with --long"))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByService | None:
    return ByService(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True, tryfirst=True)  # outside of the time limit, which shall not count the waiting
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    tracing = untraced() if "untraced" in item.keywords else nullcontext()
    with turn(_run.backends.places.data, alone="alone" in item.keywords), tracing:
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Measure no coverage of what fixtures do over and over: what they call has tests of its own."""
    with untraced():
        return (yield)


@pytest.fixture(scope="session")
def backends() -> Backends:
    """The servers of this run."""
    return _run.backends


@pytest.fixture(scope="session", autouse=True)
def real_commits(django_db_blocker: object) -> Iterator[None]:
    """Let every test use the database without pytest-django's wrapping transaction."""
    with django_db_blocker.unblock():  # type: ignore[attr-defined]
        yield


@pytest.fixture(autouse=True)
def fresh_connections() -> None:
    """Let no test go on with a connection that an earlier one has broken."""
    from django.db import close_old_connections

    close_old_connections()


@pytest.fixture(autouse=True)
def next_versions() -> Iterator[None]:
    """Let no action change a row that callers know without making its next version."""
    versions.offences.clear()
    yield
    assert versions.offences == []


@pytest.fixture(autouse=True)
def named_tenants() -> Iterator[None]:
    """Let no statement, composed ones included, read or write a tenant table without naming the tenant."""
    from tests.architecture import statements

    yield
    assert statements.new_faults() == []


@pytest.fixture(autouse=True)
def wide_limits(request: pytest.FixtureRequest, settings: object) -> None:
    """Let the whole suite ask from one address in one minute; the tests of the limits themselves set their own."""
    if "api" not in request.path.parent.parts:
        settings.RATE_LIMIT_OVERRIDES = dict.fromkeys(WIDE, 1_000_000)  # type: ignore[attr-defined]


@pytest.fixture(params=[1, 4], ids=["one lane", "four lanes"])
def each_number_of_lanes(request: pytest.FixtureRequest, settings: object) -> None:
    """Run a test of queues with the tenants in one lane, and again in four."""
    settings.LANES = request.param  # type: ignore[attr-defined]


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What this process logs meanwhile, a JSON object a line."""
    from api import logs

    stream = io.StringIO()
    logs.configure("INFO", stream=stream)
    yield stream
    logs.configure("INFO")


@pytest.fixture(scope="session")
def long(pytestconfig: pytest.Config) -> bool:
    """Tell whether the full amounts are wanted; a test chooses its numbers by it."""
    return bool(pytestconfig.getoption("--long"))


@pytest.fixture(scope="session")
def service_environment() -> dict[str, str]:
    """Return the environment for child processes of the service that work on this run's database."""
    wide = {f"RATE_LIMIT_{name.upper()}_PER_MINUTE": "1000000" for name in (*WIDE, "sign_in", "staff_sign_in")}
    return _run.environment | wide


@pytest.fixture(scope="session")
def live_server_url(service_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the real front as a child process on a free port and return its address."""
    port = check_port(0)
    with part(parts.web_command(port=port, workers=1), service_environment, tmp_path_factory.mktemp("web")) as child:
        wait(child, lambda: answers(port))
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def celery_worker(service_environment: dict[str, str], tmp_path: Path) -> Iterator[None]:
    """Run a real worker as a child process; tasks sent before it is up wait in the queue.

    It ends with the test: it would deliver what the next ones only queue.
    """
    with part(parts.worker_command(), service_environment, tmp_path):
        yield


@dataclass
class Child:
    """A part of the service running for the tests, and where it writes."""

    process: "subprocess.Popen[bytes]"
    log: Path


@contextmanager
def part(command: list[str], variables: dict[str, str], folder: Path) -> Iterator[Child]:
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=variables,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            preexec_fn=die_with_parent(),  # noqa: PLW1509 - no thread of ours runs yet
        )
    try:
        yield Child(process, log)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)


def wait(child: Child, condition: Callable[[], bool], *, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not condition():
        if child.process.poll() is not None or time.monotonic() > until:
            pytest.fail(f"the part does not run:\n{child.log.read_text(errors='replace')[-3000:]}")
        time.sleep(0.05)
