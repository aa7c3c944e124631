"""The supervisor of `./dev up`: runs the service's processes, restarts one that ends, stops all together."""

import json
import math
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from . import processes
from .console import complain, say
from .keeper import write_privately
from .locks import FileLock
from .patience import Patience
from .places import ROOT, Places
from .trouble import Trouble

_FIRST_PAUSE_SECONDS = 0.25
_FAILURES_ALLOWED = 6
_LOG_BYTES = 20_000_000
_GRACE_SECONDS = 2.0
_TROUBLING = ("Traceback", "CRITICAL", "ERROR", "Error:", "panicked")


@dataclass
class Part:
    """One process of the service, with the history of its starts."""

    name: str
    command: list[str]
    niceness: int = 0
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    due_at: float | None = None
    patience: Patience = field(default_factory=lambda: Patience(_FIRST_PAUSE_SECONDS, _FAILURES_ALLOWED))
    read_to: int = 0
    shown: dict[str, float] = field(default_factory=dict)


@dataclass
class Supervisor:
    """Keeps the parts running until `stopping` is set."""

    logs: Path
    run_file: Path
    environment: Mapping[str, str]
    watch: Callable[[], None] = lambda: None
    parts: list[Part] = field(default_factory=list)
    stopping: bool = False
    gives_up: bool = True  # False: a part that keeps dying waits for `restart`

    def add(self, name: str, command: list[str], *, niceness: int = 0) -> Part:
        """Start another part; a higher `niceness` lowers its CPU priority, from `step_back` or its next start on."""
        part = Part(name, command, niceness)
        log = self._log(part)
        if log.exists() and log.stat().st_size > _LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))
        part.read_to = log.stat().st_size if log.exists() else 0
        self.parts.append(part)
        self._start(part, niceness=0)
        return part

    def step_back(self) -> None:
        """Give the parts the priority they were added with; until then they start as fast as any."""
        for part in self.parts:
            if part.niceness and part.process and part.process.poll() is None:
                processes.step_back(part.process.pid, part.niceness)

    def run(self, *, until: Callable[[], bool] = lambda: False) -> None:
        """Watch the parts until the condition holds or `stopping` is set.

        :raises Trouble: a part keeps dying.
        """
        while not self.stopping and not until():
            for part in self.parts:
                self._look_after(part)
            self.watch()
            time.sleep(0.05)

    def restart(self) -> None:
        """Stop all parts and start them again."""
        self._end_all()
        for part in self.parts:
            part.patience = Patience(_FIRST_PAUSE_SECONDS, _FAILURES_ALLOWED)
            self._start(part)

    def stop(self) -> None:
        """Stop all parts for good."""
        self._end_all()
        self.parts.clear()
        self.run_file.unlink(missing_ok=True)

    def _end_all(self) -> None:
        """End all parts: by SIGTERM, and by SIGKILL those that still run after 2 seconds, which harms no data."""
        living = [part.process for part in self.parts if part.process and part.process.poll() is None]
        for process in living:
            process.send_signal(signal.SIGTERM)
        until = time.monotonic() + _GRACE_SECONDS
        for process in living:
            try:
                process.wait(max(0.05, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(5)

    def _log(self, part: Part) -> Path:
        return self.logs / f"{part.name}.log"

    def _start(self, part: Part, *, niceness: int | None = None) -> None:
        with self._log(part).open("ab") as output:
            part.process = subprocess.Popen(
                part.command,
                cwd=ROOT,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C reaches only the supervisor, which then stops the parts
                preexec_fn=processes.die_with_parent(niceness=part.niceness if niceness is None else niceness),  # noqa: PLW1509 - this process has one thread
            )
        part.started_at, part.due_at = time.monotonic(), None
        self._remember()

    def _look_after(self, part: Part) -> None:
        self._show_errors(part)
        if part.due_at is None and part.process and part.process.poll() is not None:
            part.due_at = time.monotonic() + self._pause(part, part.process.returncode)
        if part.due_at is not None and time.monotonic() >= part.due_at:
            self._start(part)

    def _pause(self, part: Part, code: int) -> float:
        pause = part.patience.pause(lived_seconds=time.monotonic() - part.started_at, killed=code < 0)
        if pause is None and self.gives_up:
            raise Trouble(f"The part {part.name} keeps dying: {self._last_words(part)} (see {self._log(part)})")
        if pause is None:
            complain(f"{part.name} keeps dying: {self._last_words(part)}; waiting for a change")
            return math.inf
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        say(f"{part.name} ended ({how}); starting it again {f'in {pause:g} s' if pause else 'at once'}")
        return pause

    def _show_errors(self, part: Part) -> None:
        log = self._log(part)
        size = log.stat().st_size
        if size <= part.read_to:
            part.read_to = size
            return
        with log.open("rb") as content:
            content.seek(part.read_to)
            text = content.read(256_000)
        whole = text.rpartition(b"\n")[0] if len(text) < 256_000 else text
        part.read_to += len(whole) + 1 if whole else 0
        for line in whole.decode(errors="replace").splitlines():
            message = _trouble_in(line)
            if message and time.monotonic() - part.shown.get(message, -60.0) > 10:  # all of them stand in the log
                part.shown = {message: time.monotonic(), **dict(list(part.shown.items())[:50])}
                complain(f"{part.name}: {message}")

    def _last_words(self, part: Part) -> str:
        lines = self._log(part).read_text(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else "it left no message"

    def _remember(self) -> None:
        pids = {str(os.getpid()): processes.identity(os.getpid())}
        for part in self.parts:
            if part.process:
                pids[str(part.process.pid)] = processes.identity(part.process.pid)
        try:
            write_privately(self.run_file, json.dumps(pids))
        except OSError as error:  # a full disk must not end the service; only the next start needs this file
            complain(f"{self.run_file} cannot be written: {(error.strerror or str(error)).lower()}")


def take_over(places: Places) -> tuple[FileLock, int]:
    """Lock the data folder and end the processes of a killed `./dev up`; return the lock and their number.

    :raises Trouble: another `./dev up` uses the data folder.
    """
    lock = FileLock(places.data / "up.lock")
    if not lock.take(wait=False):
        raise Trouble(f"./dev up already runs for {places.data}; stop it with ./dev down.")
    if ended := clear_leftovers(places.data / "run.json"):
        say(f"ended {ended} processes that an earlier run left")
    return lock, ended


def clear_leftovers(run_file: Path) -> int:
    """End the processes of a killed `./dev up`, recognised by process id and start time; return their number."""
    try:
        remembered: dict[str, str | None] = json.loads(run_file.read_text())
    except (FileNotFoundError, ValueError):
        return 0
    found = [int(pid) for pid, identity in remembered.items() if identity and processes.identity(int(pid)) == identity]
    for pid in found:  # all at once, since each may take seconds to end
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    for pid in found:
        processes.end(pid)
    run_file.unlink(missing_ok=True)
    return len(found)


def _trouble_in(line: str) -> str:
    """Return the message of a log line that is an error; else an empty text."""
    if line.startswith("{"):
        try:
            record = json.loads(line)
        except ValueError:
            return ""
        if str(record.get("level", "")).lower() not in ("error", "critical"):
            return ""
        return str(record.get("event") or record.get("message") or "error")
    return line.strip()[:300] if any(word in line for word in _TROUBLING) else ""
