"""`./dev up`: starts the whole service on this machine and prints the line that says it is ready."""

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import psycopg

from config import pulse
from config.schema import fingerprint

from . import embedded, processes, supervisor
from .console import complain, plain, say, stamped
from .environment import Backends, environment, open_backends
from .keeper import write_privately
from .parts import BACKGROUND, beat_command, web_command, worker_command
from .places import ROOT, Places, open_places
from .ports import answers, check_port
from .sources import Sources
from .trouble import Trouble

_FIRST_ANSWER_SECONDS = 60
_FIRST_WORK_SECONDS = 180
_WORKING = ("celery-bulk.worked", "webhooks.worked", pulse.BEAT)


def up(*, port: int, data: str | None, reload: bool = False) -> int:
    """Start the service, print its address, and run until Ctrl-C; with `reload` start it again when code changes."""
    places = open_places(data)
    _lock, _ = supervisor.take_over(places)  # held until this process ends
    run_file = places.data / "run.json"
    port = check_port(port)
    with _Stop() as stop:
        with naming_full_disk(places):
            backends = open_backends(places)
        say("PostgreSQL and Valkey answer")
        try:
            with naming_full_disk(places):
                return _serve(backends, places=places, run_file=run_file, port=port, stop=stop, reload=reload)
        finally:
            stop.announce()
            backends.release(at_once=True)
            say("stopped")


@contextmanager
def naming_full_disk(places: Places) -> Iterator[None]:
    """Report a full disk as the reason of errors that it causes, because each program words them differently."""
    try:
        yield
    except (OSError, Trouble, psycopg.Error) as error:
        # The program that failed may have freed its space by now, so its error is examined too.
        named = isinstance(error, psycopg.errors.DiskFull) or getattr(error, "errno", 0) in (errno.ENOSPC, errno.EDQUOT)
        if named or places.is_full():
            raise Trouble(f"The disk is full: nothing is left for {places.data}.") from error
        raise


def _serve(
    backends: Backends, *, places: Places, run_file: Path, port: int, stop: "_Stop", reload: bool = False
) -> int:
    base_url = f"http://127.0.0.1:{port}"
    os.environ.setdefault("DEMO_DATA", "true")
    chosen = environment(backends, base_url=base_url)
    prepare(backends, places=places, environment=chosen)
    keeping = supervisor.Supervisor(
        logs=places.logs, run_file=run_file, environment=chosen, watch=_watch_servers(backends, places)
    )
    stop.tell(keeping)
    try:
        keeping.add("web", web_command(port=port, workers=int(chosen.get("WEB_WORKERS") or 2)))
        keeping.run(until=_first_answer(port))
        if not keeping.stopping:
            say("the web processes answer")
            _add_workers(keeping, places)
        keeping.run(until=_work(places))
        keeping.step_back()
        if not keeping.stopping:
            _announce(base_url, places)
        if reload:
            keeping.gives_up = False
            keeping.watch = _watch_code(keeping, lambda: prepare(backends, places=places, environment=chosen))
        keeping.run()
    finally:
        keeping.stop()
    return 0


def _add_workers(keeping: supervisor.Supervisor, places: Places) -> None:
    for name in _WORKING:
        (places.pulse / name).unlink(missing_ok=True)
    keeping.add("worker", worker_command(queues="celery,bulk", processes=2), niceness=BACKGROUND)
    keeping.add("deliveries", worker_command(queues="webhooks", processes=1), niceness=BACKGROUND)
    keeping.add("beat", beat_command(places.data))


def _work(places: Places) -> Callable[[], bool]:
    """Return the condition that worker and dispatcher have done what beat sent them; it raises Trouble after minutes."""
    until = time.monotonic() + _FIRST_WORK_SECONDS

    def worked() -> bool:
        silent = [name for name in _WORKING if not (places.pulse / name).exists()]
        if silent and time.monotonic() > until:
            raise Trouble(f"No sign of {', '.join(silent)} within {_FIRST_WORK_SECONDS} seconds; see {places.logs}.")
        return not silent

    return worked


def prepare(backends: Backends, *, places: Places, environment: Mapping[str, str]) -> None:
    """Migrate and create the demo data in one process; skip both if code, address, database and credentials are unchanged.

    :raises Trouble: the database cannot be prepared.
    """
    stamp = places.prepared
    schema = fingerprint()
    state = {
        "schema": schema,
        "code": _code_digest(),
        "base_url": environment["BASE_URL"],
        "demo": environment.get("DEMO_DATA"),
        "database": hashlib.sha256(environment["DATABASE_URL"].encode()).hexdigest(),
        "credentials": places.credentials.exists(),
    }
    if stamp.exists() and stamp.read_text() == json.dumps(state) and _schema_is_current(environment, schema):
        return
    say("preparing the database")
    stamp.unlink(missing_ok=True)
    command = [sys.executable, "manage.py", "prepare"]
    made = subprocess.run(command, cwd=ROOT, env=dict(environment), capture_output=True, text=True, check=False)
    with (places.logs / "prepare.log").open("a") as log:
        log.write(made.stdout + made.stderr)
    if made.returncode:
        last = (made.stderr.strip().splitlines() or ["no message"])[-1]
        raise Trouble(f"The database cannot be prepared: {last} (see {places.logs / 'prepare.log'})")
    write_privately(stamp, json.dumps(state | {"credentials": places.credentials.exists()}))
    say("the database is prepared")


def _first_answer(port: int) -> Callable[[], bool]:
    """Return the condition that the service has answered; it raises Trouble after a minute."""
    until = time.monotonic() + _FIRST_ANSWER_SECONDS

    def answered() -> bool:
        if time.monotonic() > until:
            raise Trouble(f"The service did not answer within {_FIRST_ANSWER_SECONDS} seconds; see its logs.")
        return answers(port)

    return answered


def _announce(base_url: str, places: Places) -> None:
    plain(f"docs:        {base_url}/docs")
    plain(f"admin:       {base_url}/admin/")
    plain(f"mails:       {base_url}/dev/mail")
    demo = places.credentials
    plain(f"credentials: {demo}" if demo.exists() else "credentials: none (DEMO_DATA is off)")
    say(f"serving; logs in {places.logs}")
    plain(f"ready: {base_url}")


def _watch_servers(backends: Backends, places: Places) -> Callable[[], None]:
    """Return a function that starts another keeper if the present one was killed; the socket paths stay the same."""
    servers = backends.servers

    def watch() -> None:
        if servers is None or processes.alive(servers.keeper):
            return
        say("the keeper of PostgreSQL and Valkey ended; starting another")
        fresh = embedded.attach(places)
        servers.lock.free()
        servers.keeper, servers.lock = fresh.keeper, fresh.lock

    return watch


def _watch_code(keeping: supervisor.Supervisor, prepare_again: Callable[[], None]) -> Callable[[], None]:
    """Return a function that does what the supervisor's watch does, and starts the service again when code changes.

    The database is prepared again only when its shape has changed, since that takes longer than all else.
    """
    sources, watch, schema = Sources(ROOT), keeping.watch, fingerprint()

    def look() -> None:
        nonlocal schema
        watch()
        if not (changed := sources.changed()):
            return
        others = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        say(f"{changed[0]}{others} changed; starting again")
        try:
            if (shape := fingerprint()) != schema:
                prepare_again()
                schema = shape
        except Trouble as trouble:  # a half-typed line: the next change may mend it
            complain(f"error: {trouble}")
            return
        keeping.restart()

    return look


class _Stop:
    """Handles SIGINT and SIGTERM by stopping the supervisor in order."""

    def __init__(self) -> None:
        self.supervisor: supervisor.Supervisor | None = None
        self.announced = False

    def announce(self) -> None:
        """Say once that the service stops; by os.write, since a signal may come in the midst of a print."""
        if not self.announced:
            self.announced = True
            os.write(sys.stdout.fileno(), f"{stamped('stopping')}\n".encode())

    def tell(self, keeping: supervisor.Supervisor) -> None:
        self.supervisor = keeping

    def __enter__(self) -> "_Stop":
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._asked)
        return self

    def __exit__(self, *_: object) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)

    def _asked(self, _number: int, _frame: FrameType | None) -> None:
        self.announce()
        if self.supervisor is None or self.supervisor.stopping:
            raise KeyboardInterrupt
        self.supervisor.stopping = True


def _schema_is_current(environment: Mapping[str, str], wanted: str) -> bool:
    question = "SELECT obj_description(to_regclass('public.django_migrations'), 'pg_class')"
    try:
        with psycopg.connect(environment["DATABASE_OWNER_URL"], connect_timeout=10) as connection:
            found = connection.execute(question).fetchone()
    except psycopg.Error:
        return False
    return bool(found and found[0] == f"schema {wanted}")


def _code_digest() -> str:
    digest = hashlib.sha256()
    for folder in sorted(ROOT.iterdir()):
        if (
            folder.is_dir()
            and folder.name.isidentifier()
            and folder.name not in ("tests", "devtools", "docs", "bench", "deploy")
        ):
            for file in sorted(folder.rglob("*.py")):
                digest.update(file.read_bytes())
    return digest.hexdigest()
