"""Databases and roles that several processes ask for at once."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

from devtools import roles
from devtools.environment import Backends


def test_processes_that_start_at_once_make_one_database(backends: Backends) -> None:
    assert backends.cluster is not None
    name = f"hp_race_{uuid4().hex[:8]}"
    try:
        with ThreadPoolExecutor(8) as threads:
            made = [threads.submit(roles.ensure_database, backends.cluster, name) for _ in range(32)]
        assert sum(one.result() for one in made) == 1
    finally:
        roles.drop_database(backends.cluster, name)
