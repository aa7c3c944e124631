"""PostgreSQL and Valkey as children of the keeper: how each is set up, started, checked and stopped."""

import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import binaries, processes
from .places import Places, private_folder
from .trouble import Trouble

ADMINISTRATOR = "postgres"
_START_SECONDS = 60


class Server(ABC):
    """One server process; subclasses define its command and its health check."""

    name: str
    stop_signal: int = signal.SIGTERM

    def __init__(self, places: Places) -> None:
        self.places = places
        self.process: subprocess.Popen[bytes] | None = None
        self.serving_since: float | None = None

    @property
    @abstractmethod
    def socket_path(self) -> Path:
        """The unix socket it answers on."""

    @abstractmethod
    def command(self) -> list[str]:
        """Return the program and its arguments."""

    @abstractmethod
    def prepare(self) -> None:
        """Create the files that the first start needs."""

    @abstractmethod
    def answers(self) -> bool:
        """Tell whether the server answers clients."""

    @abstractmethod
    def leftover(self) -> int | None:
        """Return the process id of a server that an earlier keeper left running; None if there is none."""

    def account(self) -> dict[str, Any]:
        """Return the arguments of Popen that choose the account."""
        return {}

    def start(self) -> None:
        """Start the server and wait until it answers.

        :raises Trouble: the server ended, or did not answer in time.
        """
        if (pid := self.leftover()) is not None:
            processes.end(pid, grace_seconds=20, first=self.stop_signal)
        self.serving_since = None
        log = self.places.logs / f"{self.name}.log"
        with log.open("ab") as output:
            before = output.tell()
            self.process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd="/",
                start_new_session=True,
                preexec_fn=processes.die_with_parent(self.stop_signal),  # noqa: PLW1509 - the keeper has one thread
                **self.account(),
            )
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            if self.answers():
                self.serving_since = time.monotonic()
                return
            if self.process.poll() is not None:
                raise Trouble(f"{self.name} does not start: {_last_line(log, since=before)}")
            time.sleep(0.01)
        raise Trouble(f"{self.name} did not answer within {_START_SECONDS} seconds; see {log}.")

    def ended(self) -> bool:
        """Tell whether the process has ended or its socket was removed."""
        return self.process is None or self.process.poll() is not None or not self.socket_path.exists()

    def served_seconds(self) -> float:
        """Return for how many seconds the server has answered since its last start."""
        return time.monotonic() - self.serving_since if self.serving_since else 0.0

    def was_killed(self) -> bool:
        """Tell whether the server was ended from outside: by a signal, or because its socket was removed."""
        code = self.process.poll() if self.process else None
        return self.process is not None and (code is None or code < 0)

    def stop(self) -> None:
        """Stop the server cleanly, and kill it if that takes more than 20 seconds."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(self.stop_signal)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(5)

    def tidy(self) -> None:
        """Remove the socket folder unless it is the server's data folder."""
        folder = self.socket_path.parent
        if folder not in (self.places.postgres, self.places.valkey):
            shutil.rmtree(folder, ignore_errors=True)


class Postgres(Server):
    """PostgreSQL on a unix socket in a private folder, without TCP; only that socket needs no password."""

    name = "postgres"
    stop_signal = signal.SIGINT  # "fast": ends sessions, writes a checkpoint

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self.data = places.postgres
        self.sockets = self.data
        self.programs = binaries.find_postgres()

    @property
    def socket_path(self) -> Path:
        """The unix socket it answers on."""
        return self.sockets / ".s.PGSQL.5432"

    def account(self) -> dict[str, Any]:
        """Return the arguments of Popen that choose the account."""
        user = self.places.server_user
        return {"user": user.uid, "group": user.gid, "extra_groups": []} if user else {}

    def prepare(self) -> None:
        """Create the database cluster at the first start."""
        user = self.places.server_user
        if user:
            self.data.parent.mkdir(parents=True, exist_ok=True)
            self.programs = binaries.for_user(self.programs, user)
        if not self.data.exists():  # created under another name and renamed, so that the folder is always complete
            fresh = self.data.with_name("postgres.new")
            shutil.rmtree(fresh, ignore_errors=True)
            private_folder(fresh, owner=user)
            self._initdb(fresh)
            fresh.rename(self.data)
        self.sockets = self.places.socket_folder(self.data, owner=user)

    def _initdb(self, folder: Path) -> None:
        command: list[str | Path] = [self.programs / "initdb", "-D", folder, "-U", ADMINISTRATOR, "--encoding=UTF8"]
        command += ["--locale=C.UTF-8" if sys.platform == "linux" else "--locale=C", "--auth-local=trust"]
        command += ["--auth-host=scram-sha-256", "--no-instructions", "--data-checksums"]
        made = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/", check=False, **self.account()
        )
        if made.returncode:
            lines = [line for line in made.stderr.splitlines() if "error" in line or "fatal" in line.lower()] or [
                "initdb failed"
            ]
            raise Trouble(
                "The disk is full." if _want_of_space(made.stderr) else f"PostgreSQL cannot be set up: {lines[0]}"
            )

    def command(self) -> list[str]:
        """Return the program and its arguments."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.sockets),
            "unix_socket_permissions": "0700",
            "shared_buffers": f"{_shared_megabytes()}MB",
            "max_connections": "300",
            "max_wal_size": "2GB",
            "jit": "off",
            "log_min_messages": "warning",
            "log_min_error_statement": "panic",  # statements may contain personal data
            "timezone": "UTC",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [str(self.programs / "postgres"), "-D", str(self.data), *options]

    def answers(self) -> bool:
        """Tell whether the server answers a start-up message with an authentication request."""
        message = struct.pack("!i", 196608) + f"user\0{ADMINISTRATOR}\0database\0postgres\0\0".encode()
        answer = _ask(self.socket_path, struct.pack("!i", len(message) + 4) + message, 1)
        return answer == b"R"

    def leftover(self) -> int | None:
        """Return the process id in the lock file if that process runs and is PostgreSQL."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None
        return pid if pid != os.getpid() and _runs(pid, "postgres") else None


class Valkey(Server):
    """Valkey on a unix socket, with an append-only file that is flushed every second."""

    name = "valkey"

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self.data = places.valkey
        self.sockets = self.data
        self.program = binaries.find_valkey()

    @property
    def socket_path(self) -> Path:
        """The unix socket it answers on."""
        return self.sockets / "v.sock"

    def prepare(self) -> None:
        """Create the data folder."""
        private_folder(self.data)
        self.sockets = self.places.socket_folder(self.data)

    def command(self) -> list[str]:
        """Return the program and its arguments."""
        settings = {
            "port": "0",
            "unixsocket": str(self.socket_path),
            "unixsocketperm": "700",
            "dir": str(self.data),
            "databases": "256",
            "appendonly": "yes",
            "appendfsync": "everysec",
            "aof-load-truncated": "yes",
            "save": "",
            "pidfile": str(self.data / "pid"),
            "loglevel": "warning",
            "maxmemory": "256mb",
            "maxmemory-policy": "noeviction",
        }
        return [str(self.program), *(part for name, value in settings.items() for part in (f"--{name}", value))]

    def answers(self) -> bool:
        """Tell whether a ping is answered; while Valkey loads its file, it answers with an error instead."""
        return _ask(self.socket_path, b"PING\r\n", 5) == b"+PONG"

    def leftover(self) -> int | None:
        """Return the process id in the pid file if that process runs and is Valkey or Redis."""
        try:
            pid = int((self.data / "pid").read_text())
        except (OSError, ValueError):
            return None
        return pid if _runs(pid, "valkey", "redis") else None


def _shared_megabytes() -> int:
    """Return an eighth of the memory of this machine or container, 128 to 512 MB; it is allocated only when used."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # no control groups, or no limit
        memory = min(memory, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(512, max(128, memory // 8 // 2**20))


def _ask(path: Path, message: bytes, answer_bytes: int) -> bytes:
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(1)
            line.connect(str(path))
            line.sendall(message)
            return line.recv(answer_bytes)
    except OSError:
        return b""


def _runs(pid: int, *names: str) -> bool:
    if not processes.alive(pid):
        return False
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode(errors="replace")
    except OSError:
        return not Path("/proc").exists()
    return any(name in Path(command).name for name in names)


def _want_of_space(text: str) -> bool:
    return "No space left" in text or "wrote only" in text


def _last_line(log: Path, *, since: int) -> str:
    """Return the reason why this start failed; the log before `since` bytes belongs to earlier starts."""
    lines = log.read_bytes()[since:].decode(errors="replace").strip().splitlines()[-20:]
    if _want_of_space("\n".join(lines)):
        return "the disk is full."
    telling = [line for line in lines if "FATAL" in line or "rror" in line] or lines[-1:] or ["no message"]
    return f"{telling[-1]} (see {log})"
