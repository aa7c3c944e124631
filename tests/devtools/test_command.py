"""`./dev` itself: one clear line and a failing exit code when it cannot go on; supervision of parts."""

import os
import shutil
import socket
import subprocess
import sys
import time

import pytest

from devtools import installation, patience, supervisor
from devtools.environment import Backends, environment
from devtools.places import ROOT, Places
from devtools.trouble import Trouble


def dev(*arguments, **variables):
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    command = [sys.executable, str(ROOT / "dev"), *arguments]
    return subprocess.run(
        command, env=environment | variables, capture_output=True, text=True, timeout=120, check=False
    )


def test_taken_port_is_one_line(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        ended = dev("up", "--port", port, "--data", str(tmp_path / "data"))
    assert ended.returncode == 1
    assert (
        ended.stderr == f"error: Port {port} is taken by another program; choose another with ./dev up --port NUMBER.\n"
    )


def test_unusable_data_folder_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    ended = dev("up", "--data", str(tmp_path / "file"))
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: The data folder ")
    assert ended.stderr.count("\n") == 1


def test_unknown_verb_shows_help():
    ended = dev("dance")
    assert (ended.returncode, "./dev VERB" in ended.stdout) == (2, True)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "the disk is full"),
        ("WARNING: Retrying: NewConnectionError('Temporary failure in name resolution')", "cannot be reached"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", "DO NOT MATCH"),
    ],
)
def test_failed_installation_is_explained(line, sentence):
    assert sentence in installation._reason(["Collecting django", line])


def test_package_index_that_is_away_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(installation, "VENV", tmp_path / "venv")
    monkeypatch.setattr(installation, "PYTHON", tmp_path / "venv" / "bin" / "python")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(Trouble, match="package index cannot be reached"):
        installation.ensure(("requirements-local.txt",))
    assert (tmp_path / "venv" / ".installing").exists()  # the next start goes on from here


def supervise(tmp_path, command):
    keeping = supervisor.Supervisor(logs=tmp_path, run_file=tmp_path / "run.json", environment=dict(os.environ))
    keeping.add("part", [sys.executable, "-c", command])
    return keeping


def test_dead_part_is_started_again(tmp_path):
    keeping = supervise(tmp_path, "import time; time.sleep(60)")
    first = keeping.parts[0].process.pid
    os.kill(first, 9)
    keeping.run(until=lambda: keeping.parts[0].process.pid != first)
    second = keeping.parts[0].process
    assert second.poll() is None
    keeping.stop()
    assert second.poll() is not None


def test_part_that_worked_is_started_at_once_however_often_it_is_killed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(patience, "_WORKING_SECONDS", 0.3)
    keeping = supervise(tmp_path, "import time; time.sleep(60)")
    for _ in range(7):
        time.sleep(0.35)
        killed = keeping.parts[0].process
        killed.kill()
        keeping.run(until=lambda killed=killed: keeping.parts[0].process is not killed)
    keeping.stop()
    assert capsys.readouterr().out.count("starting it again at once") == 7


def test_pauses_grow_for_what_ends_right_after_its_start():
    waiting = patience.Patience(0.25, 6)
    found = [waiting.pause(lived_seconds=1, killed=False) for _ in range(6)]
    assert found == [0.25, 0.5, 1.0, 2.0, 2.0, None]


def test_kills_alone_never_end_it_all():
    waiting = patience.Patience(0.25, 6)
    assert {waiting.pause(lived_seconds=1, killed=True) for _ in range(100)} == {0.25, 0.5, 1.0, 2.0}
    assert waiting.pause(lived_seconds=4, killed=True) == 0
    assert waiting.pause(lived_seconds=4, killed=False) == 0.25


def test_part_that_keeps_dying_ends_it_all(tmp_path, monkeypatch):
    monkeypatch.setattr(patience, "_LONGEST_PAUSE_SECONDS", 0.05)
    keeping = supervise(tmp_path, "raise SystemExit('the reason')")
    with pytest.raises(Trouble, match="keeps dying: the reason"):
        keeping.run()


def test_orphans_of_a_killed_run_are_cleared(tmp_path):
    keeping = supervise(tmp_path, "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)")
    orphan = keeping.parts[0].process
    time.sleep(0.3)
    run_file = tmp_path / "run.json"
    run_file.write_text(run_file.read_text().replace(f'"{os.getpid()}"', '"1"'))  # as if this process were gone
    assert supervisor.clear_leftovers(run_file) == 1
    assert orphan.wait(5) == -9
    assert not run_file.exists()


def test_command_writes_the_addresses_of_the_last_service_of_its_folder(tmp_path, monkeypatch):
    places = Places(data=tmp_path, server_user=None)
    urls = dict.fromkeys(("DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_PLATFORM_URL"), "postgres://there/hp")
    backends = Backends(places, None, None, urls, "redis://there/0", "hp")
    monkeypatch.delenv("BASE_URL")
    found = [environment(backends)["BASE_URL"]]
    places.prepared.write_text('{"base_url": "http://127.0.0.1:8130"}')
    found += [environment(backends)["BASE_URL"], environment(backends, base_url="http://testserver")["BASE_URL"]]
    monkeypatch.setenv("BASE_URL", "https://clinic.example")
    found.append(environment(backends)["BASE_URL"])
    assert found == ["http://127.0.0.1:8000", "http://127.0.0.1:8130", "http://testserver", "https://clinic.example"]


def test_command_finds_files_from_the_callers_folder(tmp_path, backends):
    (tmp_path / "sets.json").write_text("[]")
    given = {**backends.database_urls(), "REDIS_URL": backends.redis_url()}
    command = [sys.executable, str(ROOT / "dev"), "manage", "shell", "-c", "print(open('sets.json').read())"]
    ended = subprocess.run(
        command, cwd=tmp_path, env=os.environ | given, capture_output=True, text=True, timeout=120, check=False
    )
    assert (ended.returncode, ended.stdout.splitlines()[-1]) == (0, "[]"), ended.stderr


@pytest.mark.parametrize("verb", ["check", "demo", "doctor", "lock"])
def test_help_of_a_verb_comes_before_anything_is_installed(verb, tmp_path):
    shutil.copy(ROOT / "dev", tmp_path)
    shutil.copytree(ROOT / "devtools", tmp_path / "devtools")
    before = set(tmp_path.iterdir())
    ended = subprocess.run(
        [sys.executable, str(tmp_path / "dev"), verb, "--help"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout.split()[0]) == (0, verb)
    assert set(tmp_path.iterdir()) == before
