"""The embedded servers: shared, restarted after kill -9 with their data, gone after the last user."""

import os
import signal
import subprocess
import sys
import time

import psycopg
import pytest
import redis

from devtools import embedded, processes, roles
from devtools.places import ROOT, open_places
from devtools.trouble import Trouble


def wait_for(condition, seconds=30):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come about")


@pytest.fixture
def places(tmp_path):
    folder = tmp_path / "data with a space"
    for part in [tmp_path, *tmp_path.parents]:  # root's PostgreSQL runs as another account, which must get there
        if part.stat().st_uid == os.geteuid() and part.name.startswith("pytest"):
            part.chmod(part.stat().st_mode | 0o011)
    return open_places(folder)


@pytest.fixture
def servers(places):
    found = embedded.attach(places)
    yield found
    found.release(at_once=True)
    embedded.stop(places)


def answers(servers):
    try:
        with psycopg.connect(servers.database_url(database="postgres"), connect_timeout=2) as connection:
            connection.execute("SELECT 1")
        return bool(redis.Redis.from_url(servers.redis_url()).ping())
    except (psycopg.Error, redis.RedisError):
        return False


def pids(servers):
    postgres = int((servers.places.postgres / "postmaster.pid").read_text().split()[0])
    valkey = int((servers.places.valkey / "pid").read_text())
    return postgres, valkey


def test_servers_keep_their_data_through_kill_of_any_part(servers):
    with psycopg.connect(servers.database_url(database="postgres"), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (n int)")
        connection.execute("INSERT INTO kept SELECT generate_series(1, 1000)")
    redis.Redis.from_url(servers.redis_url()).set("kept", "yes")
    time.sleep(1.5)  # Valkey writes its file every second
    for index in range(2):
        os.kill(pids(servers)[index], signal.SIGKILL)
        time.sleep(0.3)
        wait_for(lambda: answers(servers))
    old = pids(servers)
    os.kill(servers.keeper, signal.SIGKILL)
    wait_for(lambda: not any(processes.alive(pid) for pid in old))
    again = embedded.attach(servers.places)
    assert again.postgres == servers.postgres
    with psycopg.connect(again.database_url(database="postgres")) as connection:
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (1000,)
    assert redis.Redis.from_url(again.redis_url()).get("kept") == b"yes"
    again.release(at_once=False)


def test_servers_outlive_one_user_and_end_with_the_last(places):
    first, second = embedded.attach(places), embedded.attach(places)
    assert first.keeper == second.keeper
    first.release(at_once=True)
    assert answers(second)
    second.release(at_once=True)
    wait_for(lambda: not processes.alive(second.keeper))


def test_killed_user_is_noticed(places):
    code = (
        "import sys, time; from devtools import embedded; from devtools.places import open_places;"
        "print(embedded.attach(open_places(sys.argv[1])).keeper, flush=True); time.sleep(60)"
    )
    user = subprocess.Popen([sys.executable, "-c", code, str(places.data)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    keeper = int(user.stdout.readline())
    assert processes.alive(keeper)
    user.kill()
    user.communicate()
    wait_for(lambda: not processes.alive(keeper))


def test_nothing_listens_on_tcp_and_sockets_are_private(servers):
    for folder in (servers.postgres, servers.valkey):
        assert folder.stat().st_mode & 0o077 == 0
    with psycopg.connect(servers.database_url(database="postgres")) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
    assert redis.Redis.from_url(servers.redis_url()).config_get("port") == {"port": "0"}


def test_roles_have_exactly_the_attributes_of_production(servers):
    cluster = roles.Cluster(servers.database_url(database="postgres"), {})
    for _ in range(2):
        roles.ensure_roles(cluster)
        roles.ensure_database(cluster, "probe")
    with cluster.connect() as connection:
        found = connection.execute(
            "SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolcanlogin, rolinherit, rolbypassrls FROM pg_roles"
            " WHERE rolname LIKE 'hp\\_%' ORDER BY 1"
        ).fetchall()
        members = connection.execute(
            "SELECT roleid::regrole::text, inherit_option, set_option FROM pg_auth_members"
            " WHERE member = 'hp_runtime'::regrole ORDER BY 1"
        ).fetchall()
    no = (False, False, False)
    assert found == [
        ("hp_app", *no, False, False, False),
        ("hp_dispatcher", *no, False, False, False),
        ("hp_market", *no, False, False, False),
        ("hp_owner", *no, True, True, True),
        ("hp_platform", *no, True, False, True),
        ("hp_runtime", *no, True, False, False),
    ]
    assert members == [(role, False, True) for role in ("hp_app", "hp_dispatcher", "hp_market")]
    with (
        psycopg.connect(cluster.urls("probe")["DATABASE_URL"]) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute("CREATE TABLE mine (n int)")


def test_administrator_url_is_enough_and_passwords_are_private(servers):
    administrator = servers.database_url(database="own", role="postgres")
    assert roles.is_administrator(roles.with_parts(administrator, database="postgres"))
    passwords = roles.load_passwords(servers.places.data)
    assert roles.load_passwords(servers.places.data) == passwords
    assert (servers.places.data / "roles.json").stat().st_mode & 0o777 == 0o600
    urls = roles.Cluster(administrator, passwords).urls("own")
    assert urls["DATABASE_OWNER_URL"].startswith(f"postgresql://hp_owner:{passwords['hp_owner']}@/own?")


def test_data_folder_that_cannot_be_used_is_one_sentence(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(Trouble, match="cannot be used"):
        open_places(file)
