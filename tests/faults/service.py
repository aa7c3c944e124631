"""The whole service as a child of the tests: started by `./dev up`, its parts by name, and kill -9 for those alone."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import psycopg

from devtools.places import ROOT, open_places
from devtools.ports import check_port

KEPT = ("PATH", "HOME", "LANG", "TMPDIR")
PATIENCE_SECONDS = 240  # for a machine that gives the workers little, as they yield to all others
Part = Callable[["Service"], list[psutil.Process]]


def environment(**variables: str) -> dict[str, str]:
    """Return an environment as a newcomer's: nothing of this test run's own databases leaks into it."""
    return {name: os.environ[name] for name in KEPT if name in os.environ} | variables


def wait_for(
    condition: Callable[[], Any], *, seconds: float = PATIENCE_SECONDS, every: float = 0.05, what: str = "it"
) -> Any:
    """Return the first true answer of the condition.

    :raises AssertionError: it did not come about in time.
    """
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := condition():
            return found
        time.sleep(every)
    raise AssertionError(f"{what} did not come about within {seconds:g} s")


@dataclass
class Service:
    """One `./dev up` on a data folder of its own. Only processes that it started are ever touched."""

    folder: Path
    variables: dict[str, str]
    port: int = field(default_factory=lambda: check_port(0))
    dev: psutil.Process | None = None
    seen: dict[int, psutil.Process] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / "data"

    @property
    def base_url(self) -> str:
        """The address of the service."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def demo(self) -> dict[str, Any]:
        """The credentials of the demo data."""
        found: dict[str, Any] = json.loads((self.data / "demo.json").read_text())
        return found

    @property
    def output(self) -> str:
        """What `./dev up` has said so far."""
        return (self.folder / "up.log").read_text(errors="replace")

    def start(self) -> float:
        """Run `./dev up` until it says that it is ready; return the seconds it took."""
        began, already = time.monotonic(), self.output.count("ready:") if self.dev else 0
        with (self.folder / "up.log").open("ab") as output:
            self.dev = psutil.Popen(
                [sys.executable, str(ROOT / "dev"), "up", "--port", str(self.port), "--data", str(self.data)],
                env=environment(**self.variables),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        wait_for(lambda: self._is_ready(already), what="`./dev up`")
        wait_for(self.is_complete, what="all parts")
        return time.monotonic() - began

    def _is_ready(self, already: int) -> bool:
        assert self.dev is not None
        assert self.dev.is_running(), self.output
        assert self.dev.status() != psutil.STATUS_ZOMBIE, self.output
        return self.output.count("ready:") > already

    def down(self) -> str:
        """End it by `./dev down` and return what that said; a `./dev up` that was killed is reaped."""
        command = [sys.executable, str(ROOT / "dev"), "down", "--data", str(self.data)]
        ended = subprocess.run(
            command, env=environment(), capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True
        )
        self.reap()
        return ended.stdout

    def reap(self) -> None:
        """Collect the exit status of `./dev up`, which is our child."""
        if self.dev is not None:
            self.dev.wait(PATIENCE_SECONDS)

    def children(self, parent: psutil.Process | None) -> list[psutil.Process]:
        """Return the living children of one of our processes, and remember them."""
        try:
            found = parent.children() if parent is not None else []
        except psutil.NoSuchProcess:
            return []
        alive = [child for child in found if _is_alive(child)]
        self.seen |= {child.pid: child for child in alive}
        return alive

    def named(self, parent: psutil.Process | None, *words: str) -> list[psutil.Process]:
        """Return the children whose command holds all the words."""
        return [child for child in self.children(parent) if _command_has(child, words)]

    def survivors(self) -> list[str]:
        """Return every process of the service that was ever seen and still lives."""
        return [f"{found.pid} {' '.join(found.cmdline())[:120]}" for found in self.seen.values() if _is_alive(found)]

    def is_complete(self) -> bool:
        """Tell whether every part runs."""
        return all(part(self) for part in (web, worker, deliveries, beat, keeper, postgres, valkey))

    def look_around(self) -> None:
        """Remember all processes of the service as they are now."""
        for part in (web_workers, worker, pool, postgres_backends, beat, valkey):
            for found in part(self):
                self.children(found)
        if self.dev is not None:
            self.seen[self.dev.pid] = self.dev

    def connect(self) -> psycopg.Connection[Any]:
        """Open a session as the administrator of the embedded PostgreSQL, past row security, once it is there."""
        return wait_for(self._session, what="a session")

    def _session(self) -> psycopg.Connection[Any] | None:
        sockets = json.loads((self.data / "servers.json").read_text())["sockets"]
        try:
            return psycopg.connect(host=sockets["postgres"], user="postgres", dbname="hp", connect_timeout=5)
        except psycopg.OperationalError:
            return None


def kill(*processes: psutil.Process) -> float:
    """Kill -9 and return when. psutil makes sure that the number was not given to another process meanwhile."""
    at = time.time()
    for process in processes:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    return at


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _command_has(process: psutil.Process, words: tuple[str, ...]) -> bool:
    try:
        command = " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return False
    return all(word in command for word in words)


def _first(found: list[psutil.Process]) -> psutil.Process | None:
    return found[0] if found else None


def web(service: Service) -> list[psutil.Process]:
    """The web server, parent of its workers."""
    return service.named(service.dev, "config.serving", str(service.port))


def web_workers(service: Service) -> list[psutil.Process]:
    """The processes that answer requests."""
    return service.children(_first(web(service)))


def worker(service: Service) -> list[psutil.Process]:
    """The Celery worker of the facts, parent of its pool."""
    return service.named(service.dev, "celery", " worker ", "--queues celery")


def deliveries(service: Service) -> list[psutil.Process]:
    """The Celery worker of the webhooks, parent of its pool."""
    return service.named(service.dev, "celery", " worker ", "--queues webhooks")


def pool(service: Service) -> list[psutil.Process]:
    """The processes that send webhooks."""
    return service.children(_first(deliveries(service)))


def beat(service: Service) -> list[psutil.Process]:
    """The clock."""
    return service.named(service.dev, "celery", " beat ")


def keeper(service: Service) -> list[psutil.Process]:
    """The process that keeps both servers: known by its state file, since it may outlive the `./dev` that started it."""
    pid = json.loads((service.data / "servers.json").read_text()).get("pid", 0)
    if not psutil.pid_exists(pid):
        return []
    found = psutil.Process(pid)
    if not _command_has(found, ("devtools.keeper", str(service.data))):
        return []
    service.seen[pid] = found
    return [found]


def postgres(service: Service) -> list[psutil.Process]:
    """The postmaster."""
    return service.named(_first(keeper(service)), str(open_places(service.data).postgres))


def postgres_backends(service: Service) -> list[psutil.Process]:
    """The children of the postmaster, sessions and helpers alike."""
    return service.children(_first(postgres(service)))


def postgres_session(service: Service) -> list[psutil.Process]:
    """One session of a client: its death makes the postmaster end all others and recover."""
    return [child for child in postgres_backends(service) if _command_has(child, ("hp_runtime",))][:1]


def whole_postgres(service: Service) -> list[psutil.Process]:
    """The postmaster with all its children, as a machine's crash would take them."""
    return [*postgres(service), *postgres_backends(service)]


def valkey(service: Service) -> list[psutil.Process]:
    """The Valkey server."""
    return service.named(_first(keeper(service)), "valkey-server")


def worker_trees(service: Service) -> list[psutil.Process]:
    """Both Celery workers with all their children: everything that tells others of what happened."""
    parents = [*worker(service), *deliveries(service)]
    return [*parents, *(child for parent in parents for child in service.children(parent))]


def forget_valkey(service: Service) -> None:
    """Kill -9 Valkey and take its files away: it comes back knowing nothing."""
    with frozen(keeper(service)):
        victims = valkey(service)
        kill(*victims)
        psutil.wait_procs(victims, timeout=10)
        shutil.rmtree(service.data / "valkey" / "appendonlydir", ignore_errors=True)
    wait_for(lambda: valkey(service), what="Valkey")


def restart_postgres(service: Service) -> None:
    """End PostgreSQL as an administrator would, sessions and all; its keeper starts it again."""
    (postmaster,) = postgres(service)
    postmaster.send_signal(signal.SIGINT)
    wait_for(lambda: (found := postgres(service)) and found[0].pid != postmaster.pid, what="PostgreSQL")


@contextmanager
def frozen(processes: list[psutil.Process]) -> Iterator[None]:
    """Stop processes of ours for a while: a frozen server hangs, a frozen keeper starts nothing again."""
    assert processes
    for process in processes:
        process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            process.send_signal(signal.SIGCONT)
