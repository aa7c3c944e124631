"""Databases and roles that several processes ask for at once."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from devtools import roles
from devtools.environment import Backends, open_backends
from devtools.places import open_places
from devtools.trouble import Trouble


def test_processes_that_start_at_once_make_one_database(backends: Backends) -> None:
    assert backends.cluster is not None
    name = f"hp_race_{uuid4().hex[:8]}"
    try:
        with ThreadPoolExecutor(8) as threads:
            made = [threads.submit(roles.ensure_database, backends.cluster, name) for _ in range(32)]
        assert sum(one.result() for one in made) == 1
    finally:
        roles.drop_database(backends.cluster, name)


@pytest.fixture
def elsewhere(backends: Backends, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Backends]]:
    """What `./dev` makes of an administrator's DATABASE_URL, which names a database of its own."""
    assert backends.cluster is not None
    name = f"hp_given_{uuid4().hex[:8]}"
    url = roles.with_parts(backends.cluster.administrator_url, database=name)
    monkeypatch.setenv("DATABASE_URL", url)
    monkeypatch.setenv("REDIS_URL", "redis://localhost:1")
    monkeypatch.delenv("DATABASE_OWNER_URL", raising=False)
    yield lambda: open_backends(open_places(tmp_path / "data"))
    roles.drop_database(backends.cluster, name)


def test_missing_database_of_an_administrators_url_is_made(elsewhere: Callable[[], Backends]) -> None:
    for _ in range(2):
        found = elsewhere()
        with psycopg.connect(found.database_urls(None)["DATABASE_OWNER_URL"]) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS here (id int)")


def test_existing_empty_database_becomes_the_services(elsewhere: Callable[[], Backends], backends: Backends) -> None:
    assert backends.cluster is not None
    name = roles.database_of(os.environ["DATABASE_URL"])
    with backends.cluster.connect() as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    found = elsewhere()
    with psycopg.connect(found.database_urls(None)["DATABASE_OWNER_URL"]) as connection:
        connection.execute("CREATE TABLE here (id int)")


def test_database_with_tables_of_others_is_left_alone(elsewhere: Callable[[], Backends], backends: Backends) -> None:
    assert backends.cluster is not None
    name = roles.database_of(os.environ["DATABASE_URL"])
    with backends.cluster.connect() as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    with backends.cluster.connect(name) as inside:
        inside.execute("CREATE TABLE theirs (id int)")
    with pytest.raises(Trouble, match=r"holds 1 tables of others; name another one"):
        elsewhere()


def test_older_server_is_refused_by_name(backends: Backends, monkeypatch: pytest.MonkeyPatch) -> None:
    assert backends.cluster is not None
    monkeypatch.setattr(roles, "_LEAST_VERSION", 99)
    with pytest.raises(Trouble, match=r"is PostgreSQL \d+; 99 or newer is needed"):
        roles.check_version(backends.cluster.administrator_url)
