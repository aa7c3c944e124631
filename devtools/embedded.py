"""The PostgreSQL and Valkey of a data folder, as one process uses them: start, join, leave, stop."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from . import processes
from .locks import FileLock
from .places import ROOT, Places
from .servers import ADMINISTRATOR
from .trouble import Trouble

_WAIT_SECONDS = 90


@dataclass
class Servers:
    """The running servers of one data folder, in use by this process until `release`."""

    places: Places
    keeper: int
    postgres: Path
    valkey: Path
    lock: FileLock

    def database_url(self, *, database: str, role: str = ADMINISTRATOR) -> str:
        """Return the URL of a database for a role."""
        return f"postgresql://{role}@/{database}?host={quote(str(self.postgres), safe='')}"

    def redis_url(self, *, number: int = 0) -> str:
        """Return the URL of one numbered Valkey database."""
        return f"unix://{quote(str(self.valkey / 'v.sock'))}?db={number}"

    def release(self, *, at_once: bool = False) -> None:
        """Stop using the servers; with `at_once` wait until they have stopped, unless other processes use them."""
        if at_once and processes.alive(self.keeper):
            os.kill(self.keeper, signal.SIGUSR1)
        self.lock.free()
        if not at_once:
            return
        until = time.monotonic() + 30
        while time.monotonic() < until and processes.alive(self.keeper):
            if _others(self.lock.path):
                return
            time.sleep(0.05)


def attach(places: Places) -> Servers:
    """Return the servers of the data folder, and start them if they are not running.

    :raises Trouble: they cannot be started.
    """
    lock = FileLock(places.data / "users.lock")
    until = time.monotonic() + _WAIT_SECONDS
    lock.take(shared=True)  # waits while a leaving keeper stops the servers
    started: subprocess.Popen[bytes] | None = None
    while time.monotonic() < until:
        state = read_state(places)
        if processes.alive(int(state.get("pid", 0) or 0)) and _kept(places):
            if state["state"] == "ready":
                if started:
                    started.returncode = 0  # the keeper outlives this process on purpose, so Python must not warn of it
                sockets = state["sockets"]
                return Servers(places, state["pid"], Path(sockets["postgres"]), Path(sockets["valkey"]), lock)
        elif started is None:
            places.check_space()
            started = _start_keeper(places)
        if started and started.poll() not in (None, 0):
            raise Trouble(
                read_state(places).get("error") or f"The servers do not start; see {places.logs / 'keeper.log'}."
            )
        if started and started.poll() == 0:
            started = None  # another keeper was faster
        time.sleep(0.02)
    raise Trouble(f"The servers did not start within {_WAIT_SECONDS} seconds; see {places.logs}.")


def stop(places: Places) -> bool:
    """End the keeper and both servers, even if they are in use; return whether they were running."""
    pid = int(read_state(places).get("pid", 0) or 0)
    if not _kept(places) or not processes.alive(pid):
        return False
    processes.end(pid, grace_seconds=40)
    return True


def read_state(places: Places) -> dict[str, Any]:
    """Return the state that the keeper wrote last; empty if there is none."""
    try:
        found: dict[str, Any] = json.loads((places.data / "servers.json").read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return found


def _kept(places: Places) -> bool:
    probe = FileLock(places.data / "keeper.lock")
    if probe.take(wait=False):
        probe.free()
        return False
    return True


def _others(path: Path) -> bool:
    """Tell whether another process holds the users' lock as shared; a stopping keeper holds it exclusively."""
    probe = FileLock(path)
    if probe.take(shared=True, wait=False):
        probe.free()
        exclusive = FileLock(path)
        if exclusive.take(wait=False):
            exclusive.free()
            return False
        return True
    return False


def _start_keeper(places: Places) -> subprocess.Popen[bytes]:
    with (places.logs / "keeper.log").open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "devtools.keeper", "--data", str(places.data)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=ROOT,
            start_new_session=True,
        )
