"""`./dev manage`, `shell` and `demo`: whose service they mean, and what they start before they know."""

import json
import subprocess
import sys

import pytest

from devtools import commands
from devtools.places import ROOT
from tests.faults.service import environment


def run(*command, **variables):
    return subprocess.run(
        [sys.executable, *command],
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    "command",
    [
        ("dev", "manage", "--data", "{folder}", "migrate", "--help"),
        ("dev", "manage", "--help", "--data", "{folder}"),
        ("manage.py", "help", "provision_tenant"),
    ],
)
def test_help_starts_and_makes_nothing(tmp_path, command):
    folder = tmp_path / "none"
    words = [word.format(folder=folder) for word in command]
    ended = run(str(ROOT / words[0]), *words[1:], DATA_DIR=str(folder))
    assert ended.returncode == 0, ended.stderr
    assert "usage:" in ended.stdout or "Available subcommands" in ended.stdout
    assert not folder.exists()


@pytest.mark.parametrize("command", [("dev", "manage"), ("dev", "shell"), ("manage.py",)])
def test_folder_that_was_never_prepared_is_one_line(tmp_path, command):
    folder = tmp_path / "none"
    verb = () if "shell" in command else ("webhooks_status",)
    ended = run(str(ROOT / command[0]), *command[1:], *verb, DATA_DIR=str(folder))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        f"error: {folder} holds no service: run ./dev up, or set DATA_DIR to the folder of one (--data does too).\n"
    )
    assert not folder.exists()


def test_missing_setting_is_one_line():
    ended = run(str(ROOT / "manage.py"), "check", DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "error: Set the SECRET_KEY environment variable (see .env.example).\n"


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ([], True),
        (["help", "migrate"], True),
        (["migrate", "-h"], True),
        (["--version"], True),
        (["migrate"], False),
        (["shell", "-c", "print('help')"], False),
        (["dbshell", "--", "-h", "here"], False),
    ],
)
def test_what_only_asks_what_there_is(words, asked):
    assert commands.asks_for_help(words) is asked


def test_commands_on_the_code_need_no_service(tmp_path, monkeypatch):
    monkeypatch.delenv("DATABASE_URL", raising=False)
    for command in ("makemigrations", "openapi", "prepare"):
        commands.require_prepared(str(tmp_path), [command])


def test_demo_says_that_nothing_runs_before_it_installs(tmp_path):
    ended = run(str(ROOT / "dev"), "demo", "--data", str(tmp_path))
    assert ended.returncode == 1
    assert (
        ended.stderr
        == f"error: The service is not running: there is no {tmp_path / 'demo.json'}. Run ./dev up first.\n"
    )
    (tmp_path / "demo.json").write_text(json.dumps({"base_url": "http://127.0.0.1:1"}))
    ended = run(str(ROOT / "dev"), "demo", "--data", str(tmp_path))
    assert ended.stderr.endswith("nothing answers at http://127.0.0.1:1. Run ./dev up first.\n")


def test_demo_of_a_bare_clone_installs_nothing_first(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from devtools import cli, installation;"
        "installation.ensure = lambda files: sys.exit('it installs');"
        "sys.exit(cli.main(['demo', '--data', sys.argv[2]]))"
    )
    ended = run("-c", code, str(ROOT), str(tmp_path))
    assert "it installs" not in ended.stderr
    assert "is not running" in ended.stderr
