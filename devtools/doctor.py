"""`./dev doctor`: finds problems of this machine or checkout. Standard library only."""

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from . import embedded, installation
from .console import plain
from .places import ROOT, open_places
from .ports import answers, check_port
from .trouble import Trouble

Finding = tuple[bool, str]
_ROOM_BYTES = 2_000_000_000


def examine() -> int:
    """Print one line for each finding and return 1 if there is a problem."""
    findings = [*_machine(), *_checkout(), *_running()]
    for good, line in findings:
        plain(f"{'ok     ' if good else 'PROBLEM'}  {line}")
    wrong = sum(not good for good, _ in findings)
    plain(f"problems found: {wrong}" if wrong else "no problems found")
    return 1 if wrong else 0


def _machine() -> Iterator[Finding]:
    yield sys.version_info >= (3, 11), f"Python {platform.python_version()} at {sys.executable}"
    system = f"{platform.system()} {platform.machine()}"
    yield sys.platform in ("linux", "darwin"), f"{system}{'' if sys.platform != 'win32' else ': use WSL2'}"
    free = shutil.disk_usage(ROOT).free
    yield free > _ROOM_BYTES, f"{free / 1e9:.1f} GB free for the checkout (2 GB are plenty)"
    if Path("/etc/alpine-release").exists():
        given = bool(os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL"))
        yield given, "Alpine has no wheels of PostgreSQL and Valkey: DATABASE_URL and REDIS_URL must be set"


def _checkout() -> Iterator[Finding]:
    missing = [
        name for name in (*installation.RUNNING, *installation.DEVELOPING, "manage.py") if not (ROOT / name).exists()
    ]
    yield not missing, f"files of the checkout{': missing ' + ', '.join(missing) if missing else ''}"
    interrupted = (installation.VENV / ".installing").exists()
    state = (
        "not made yet"
        if not installation.PYTHON.exists()
        else "an installation was interrupted; ./dev up ends it"
        if interrupted
        else "made"
    )
    yield True, f".venv {state}"
    for name in ("DATABASE_URL", "REDIS_URL"):
        yield True, f"{name} {'is set' if os.environ.get(name) else 'is not set: an embedded server is used'}"


def _running() -> Iterator[Finding]:
    try:
        places = open_places()
    except Trouble as trouble:
        yield False, str(trouble)
        return
    yield True, f"data folder {places.data}"
    if places.postgres.parent != places.data:
        yield True, f"PostgreSQL keeps its files in {places.postgres}, which its account can read"
    state = embedded.read_state(places)
    if error := state.get("error"):
        yield False, f"the servers failed: {error}"
    else:
        yield True, f"embedded servers: {state.get('state', 'never started')}"
    try:
        check_port(8000)
        yield True, "port 8000 is free"
    except Trouble as trouble:
        ours = answers(8000)
        yield ours, "port 8000 answers as this service does" if ours else str(trouble)
