"""The keeper: one background process for each data folder, which runs PostgreSQL and Valkey for all their users.

Users (`./dev up`, `./dev test`, `pytest`, `manage.py`) hold a shared lock on `users.lock`. The keeper restarts a server
that dies. It stops both servers and itself some seconds after the last lock is released; the kernel releases the lock
of a user that was killed. If the keeper is killed, the servers end with it, and the next user starts another keeper.
"""

import argparse
import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from .locks import FileLock
from .patience import Patience
from .places import Places, open_places
from .servers import Postgres, Server, Valkey
from .trouble import Trouble

_LINGER_SECONDS = 8.0
_LOOK_SECONDS = 0.1
_FIRST_PAUSE_SECONDS = 0.05
_FAILURES_ALLOWED = 12


class Keeper:
    """Starts, watches and stops the servers of one data folder."""

    def __init__(self, places: Places) -> None:
        self.users = FileLock(places.data / "users.lock")
        self.state_file = places.data / "servers.json"
        self.servers: list[Server] = [Postgres(places), Valkey(places)]
        self.wanted = True
        self.linger = _LINGER_SECONDS
        self.patience = {server.name: Patience(_FIRST_PAUSE_SECONDS, _FAILURES_ALLOWED) for server in self.servers}

    def run(self) -> None:
        """Run the servers until no process uses them any more."""
        self.write_state("starting")
        for server in self.servers:
            server.prepare()
            server.start()
        self.write_state("ready")
        idle_since: float | None = None
        while self.wanted:
            time.sleep(_LOOK_SECONDS)
            for server in self.servers:
                if server.ended():
                    self.restart(server)
            idle_since = self.notice_users(idle_since)
        for server in reversed(self.servers):
            server.stop()
            server.tidy()

    def notice_users(self, idle_since: float | None) -> float | None:
        """Check for users and return since when there are none; after the linger time keep the lock: new users wait."""
        if not self.users.take(wait=False):
            return None
        idle_since = idle_since or time.monotonic()
        if time.monotonic() - idle_since >= self.linger:
            self.wanted = False
        else:
            self.users.free()
        return idle_since

    def restart(self, server: Server) -> None:
        """Restart a server that ended: at once if it had worked, else after increasing pauses.

        :raises Trouble: the server keeps ending by itself.
        """
        pause = self.patience[server.name].pause(lived_seconds=server.served_seconds(), killed=server.was_killed())
        if pause is None:
            raise Trouble(f"{server.name} keeps dying; see its log.")
        print(f"{time.strftime('%H:%M:%S')} {server.name} ended; starting it again in {pause:g} s", flush=True)
        time.sleep(pause)
        server.stop()  # it may still run without its socket
        with suppress(Trouble):  # a child of the dead server may still hold its memory; the next round tries again
            server.start()

    def write_state(self, state: str, error: str = "") -> None:
        """Write the state of the servers for their users."""
        sockets = {server.name: str(server.socket_path.parent) for server in self.servers} if state == "ready" else {}
        content = {"state": state, "pid": os.getpid(), "sockets": sockets, "error": error}
        write_privately(self.state_file, json.dumps(content))

    def hurry(self, *_signal: object) -> None:
        """Stop without delay when the last user has left."""
        self.linger = 0.0

    def leave(self, *_signal: object) -> None:
        """Stop now."""
        self.wanted = False


def write_privately(path: Path, content: str) -> None:
    """Write a file atomically, readable by this user only."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as output:
            output.write(content)
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def main() -> int:
    """Run the keeper of a data folder; a second keeper of the same folder ends at once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    places = open_places(parser.parse_args().data)
    only = FileLock(places.data / "keeper.lock")
    if not only.take(wait=False):
        return 0
    keeper = Keeper(places)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, keeper.hurry)
    signal.signal(signal.SIGTERM, keeper.leave)
    try:
        keeper.run()
        keeper.write_state("stopped")
    except Exception as error:
        for server in reversed(keeper.servers):
            server.stop()
        keeper.write_state("failed", str(error) if isinstance(error, Trouble) else f"{type(error).__name__}: {error}")
        raise
    finally:
        only.free()
        keeper.users.free()
    return 0


if __name__ == "__main__":
    sys.exit(main())
