"""Databases of the tests: a migrated template kept between runs, and a clone for each run. Leftovers are dropped."""

import os
import re
import secrets
import socket
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from psycopg import sql

from config.schema import fingerprint

from . import processes, roles
from .environment import Backends, environment
from .locks import FileLock
from .places import ROOT, Places
from .trouble import Trouble

_TEMPLATE = "hp_template_"
_KEPT_TEMPLATES = 4
_LOCK = 7_206_003
_HOST = f"{zlib.crc32(socket.gethostname().encode()):08x}"
_TEST = re.compile(rf"hp_test_{_HOST}_(\d+)_[0-9a-f]+")


def new_test_name() -> str:
    """Return a database name with host and process id, so that later runs can drop the database of a killed run."""
    return f"hp_test_{_HOST}_{os.getpid()}_{secrets.token_hex(3)}"


def ensure_template(backends: Backends) -> str:
    """Return the name of the template for the present code; a new template is migrated first.

    :raises Trouble: the migration failed.
    """
    name = _TEMPLATE + fingerprint()[:16]
    with _alone(backends) as cluster, cluster.connect() as connection:
        rows = connection.execute("SELECT datname, datistemplate FROM pg_database ORDER BY oid").fetchall()
        found = {str(row[0]): bool(row[1]) for row in rows}
        if name not in found:
            _build(backends, cluster, name)
        for stale in _stale(list(found), keep=name):
            if found[stale]:  # a database that a killed run dropped halfway cannot be altered, only dropped
                connection.execute(sql.SQL("ALTER DATABASE {} IS_TEMPLATE false").format(sql.Identifier(stale)))
            roles.drop_database(cluster, stale)
    return name


def clone(backends: Backends, template: str, name: str) -> None:
    """Create a test database from the template."""
    with _alone(backends) as cluster:
        roles.ensure_database(cluster, name, template=template)
        with cluster.connect() as connection:  # a test run need not survive a power cut
            connection.execute(sql.SQL("ALTER DATABASE {} SET synchronous_commit = off").format(sql.Identifier(name)))


def drop(backends: Backends, name: str) -> None:
    """Drop a test database and end its sessions."""
    roles.drop_database(backends.administration(), name)


def take_redis_number(places: Places, *, highest: int) -> tuple[int, FileLock]:
    """Return the number of a Valkey database that no other run on this machine uses, and the lock that reserves it.

    :raises Trouble: all are in use.
    """
    folder = places.data / "valkey-numbers"
    folder.mkdir(mode=0o700, exist_ok=True)
    for number in range(1, highest + 1):
        lock = FileLock(folder / str(number))
        if lock.take(wait=False):
            return number, lock
    raise Trouble("Every numbered Valkey database is in use by another test run.")


@contextmanager
def _alone(backends: Backends) -> Iterator[roles.Cluster]:
    cluster = backends.administration()
    with cluster.connect() as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [_LOCK])  # ends with the session
        yield cluster


def _build(backends: Backends, cluster: roles.Cluster, name: str) -> None:
    building = f"{name}_new"
    roles.drop_database(cluster, building)
    roles.ensure_database(cluster, building)
    command = [sys.executable, "manage.py", "prepare", "--no-demo"]
    made = subprocess.run(
        command, cwd=ROOT, env=environment(backends, database=building), capture_output=True, text=True, check=False
    )
    if made.returncode:
        raise Trouble(f"The test database cannot be migrated:\n{made.stderr.strip()[-4000:]}")
    with cluster.connect() as connection:
        old, new = sql.Identifier(building), sql.Identifier(name)
        connection.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(old, new))
        connection.execute(sql.SQL("ALTER DATABASE {} IS_TEMPLATE true").format(new))


def _stale(found: list[str], *, keep: str) -> list[str]:
    """Return the databases of ended test runs and all but the newest templates; `found` is in order of creation."""
    dead = [name for name in found if (match := _TEST.fullmatch(name)) and not processes.alive(int(match[1]))]
    templates = [name for name in found if name.startswith(_TEMPLATE) and name != keep]
    return dead + templates[: max(0, len(templates) - _KEPT_TEMPLATES + 1)]
