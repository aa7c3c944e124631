"""The verbs of `./dev`. The first stage runs under any Python 3.11+, makes `.venv` and continues in it."""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from . import installation
from .commands import asks_for_help, help_environment, require_prepared
from .console import complain, plain
from .places import ROOT, data_folder, open_places
from .ports import answers
from .trouble import Trouble

_HELP = """./dev VERB

  up [--port 8000] [--data DIR]   run the whole service; Ctrl-C ends it; --reload starts it again when code changes
  test [--long] [pytest options]  run all tests, against real PostgreSQL and Valkey
  check [NAME ...]                check formatting, types, imports, migrations, API document, settings, commits
  demo [--data DIR]               walk through the main use case on the running service
  manage [--data DIR] COMMAND ... run manage.py in the same environment
  bench [NAME]                    run the benchmarks
  shell [--data DIR]              open Django's shell
  reset [--yes] [--data DIR]      delete the local data
  down [--data DIR]               end the processes and servers of earlier runs
  doctor                          find problems of this machine or checkout
  lock                            pin the packages of requirements*.in again
"""


def main(arguments: Sequence[str]) -> int:
    """Run one verb; an expected problem prints one line and returns exit code 1."""
    verb, rest = (arguments[0], list(arguments[1:])) if arguments else ("help", [])
    if verb in ("help", "--help", "-h") or verb not in _VERBS:
        plain(_HELP)
        return 0 if verb in ("help", "--help", "-h") else 2
    if verb in _WITHOUT_OPTIONS and not {"-h", "--help"}.isdisjoint(rest):
        plain(_line_of(verb))
        return 0
    needs, run = _VERBS[verb]
    try:
        if verb in _CHECKED_FIRST:
            _CHECKED_FIRST[verb](rest)
        if needs:
            installation.ensure(needs)
            if not installation.inside():
                sys.stdout.flush()
                os.execv(installation.PYTHON, [str(installation.PYTHON), str(ROOT / "dev"), *arguments])
        return run(rest)
    except Trouble as trouble:
        complain(f"error: {trouble}")
    except KeyboardInterrupt:
        complain("interrupted")
    return 1


def _line_of(verb: str) -> str:
    """Return what the help says of one verb."""
    return next(line for line in _HELP.splitlines() if line.startswith(f"  {verb} ")).strip() + "\n"


def _up_options(rest: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev up")
    parser.add_argument("--port", type=int, default=int(os.environ.get("PORT") or 8000))
    parser.add_argument("--data", default=None, help="the data folder (default: .local)")
    parser.add_argument("--reload", action="store_true", help="start all processes again when code changes")
    return parser.parse_args(rest)


def _check_up(rest: list[str]) -> None:
    """Check the data folder and the port before anything is installed."""
    from . import supervisor
    from .ports import check_port, wait_until_free

    options = _up_options(rest)
    lock, ended = supervisor.take_over(open_places(options.data))
    lock.free()  # taken again by the second stage
    if ended:
        wait_until_free(options.port)
    check_port(options.port)


def _up(rest: list[str]) -> int:
    from .up import up

    options = _up_options(rest)
    return up(port=options.port, data=options.data, reload=options.reload)


def _test(rest: list[str]) -> int:
    """Run the tests; the whole suite on three workers, all tests of a file on the same worker in their order.

    Two workers leave two cores idle while they wait for the processes they start and kill. Files run in the order of
    their names: pytest-xdist would run files with few tests last, and those take the longest. For the whole suite the
    branch coverage is also checked against its minimum (`fail_under` in `pyproject.toml`).
    """
    whole = set(rest) <= {"--long"}
    if not any(not word.startswith("-") or word == "-n" for word in rest):
        rest = ["-n", "3", "--dist", "loadfile", "--no-loadscope-reorder", *rest]
    if whole:
        rest += ["--cov", "--cov-report="]
    unwanted = ("DJANGO_SETTINGS_MODULE", "PYTHONDONTWRITEBYTECODE")  # else every process compiles all modules
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    return subprocess.run([sys.executable, "-m", "pytest", *rest], cwd=ROOT, env=environment, check=False).returncode


def _check(rest: list[str]) -> int:
    from .checks import check

    return check(only=rest)


def _check_demo(rest: list[str]) -> None:
    """Check that the service runs, before anything is installed for the walk through it.

    :raises Trouble: it does not.
    """
    data, words = _split_data(rest)
    if not {"-h", "--help"}.isdisjoint(words):
        return
    credentials = data_folder(data) / "demo.json"
    try:
        address = json.loads(credentials.read_text())["base_url"]
    except (OSError, ValueError, KeyError):
        raise Trouble(f"The service is not running: there is no {credentials}. Run ./dev up first.") from None
    parts = urlsplit(address)
    if parts.hostname in ("127.0.0.1", "localhost") and not answers(parts.port or 80):
        raise Trouble(f"The service is not running: nothing answers at {address}. Run ./dev up first.")


def _demo(rest: list[str]) -> int:
    data, words = _split_data(rest)
    command = [sys.executable, "-m", "bench.demo", "--data", str(data_folder(data)), *words]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def _bench(rest: list[str]) -> int:
    """Run a benchmark on its own servers, so that it does not write into the service's database."""
    return subprocess.run([sys.executable, "-m", "bench", *rest], cwd=ROOT, check=False).returncode


def _split_data(rest: list[str]) -> tuple[str | None, list[str]]:
    """Return the folder that `--data` names, wherever it stands before a `--`, and the other words."""
    end = rest.index("--") if "--" in rest else len(rest)
    parser = argparse.ArgumentParser(prog="./dev", add_help=False, allow_abbrev=False)
    parser.add_argument("--data", default=None)
    options, words = parser.parse_known_args(rest[:end])
    return options.data, [*words, *rest[end:]]


def _check_manage(rest: list[str]) -> None:
    """Check that the data folder is a service's, before anything is installed or made.

    :raises Trouble: it is not.
    """
    data, words = _split_data(rest)
    if not asks_for_help(words):
        require_prepared(data, words)


def _check_shell(rest: list[str]) -> None:
    data, words = _split_data(rest)
    _check_manage([*(["--data", data] if data else []), "shell", *words])


def _manage(rest: list[str]) -> int:
    """Run `manage.py` in the environment of the service, in the caller's folder; servers run until the command ends."""
    from .environment import environment, open_backends

    data, words = _split_data(rest)
    command = [sys.executable, str(ROOT / "manage.py"), *words]
    if asks_for_help(words):
        return subprocess.run(command, env=help_environment(), check=False).returncode
    backends = open_backends(open_places(data))
    try:
        return subprocess.run(command, env=environment(backends), check=False).returncode
    finally:
        backends.release()


def _shell(rest: list[str]) -> int:
    data, words = _split_data(rest)
    return _manage([*(["--data", data] if data else []), "shell", *words])


def _data_option(rest: list[str], verb: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"./dev {verb}")
    parser.add_argument("--data", default=None)
    parser.add_argument("--yes", action="store_true")
    return parser.parse_args(rest)


def _down(rest: list[str]) -> int:
    from . import embedded, supervisor

    places = open_places(_data_option(rest, "down").data)
    ended = supervisor.clear_leftovers(places.data / "run.json")
    stopped = embedded.stop(places)
    plain(f"ended {ended} processes; servers {'stopped' if stopped else 'were not running'}")
    return 0


def _reset(rest: list[str]) -> int:
    options = _data_option(rest, "reset")
    places = open_places(options.data)
    if not options.yes:
        answer = input(f"Delete all data in {places.data}? Type yes: ") if sys.stdin.isatty() else ""
        if answer.strip() != "yes":
            raise Trouble("Nothing was deleted.")
    _down(["--data", str(places.data)])
    for folder in (places.postgres, places.data):
        shutil.rmtree(folder, ignore_errors=not folder.exists())
    plain(f"{places.data} was deleted; the next ./dev up starts from scratch")
    return 0


def _doctor(rest: list[str]) -> int:
    from .doctor import examine

    return examine()


def _lock(rest: list[str]) -> int:
    tool = shutil.which("uv") or shutil.which(
        "pip-compile", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    if not tool:
        raise Trouble("./dev lock needs uv or pip-compile on the PATH.")
    for name in ("requirements", "requirements-local", "requirements-dev", "tests/clients/python/requirements"):
        # Packages are resolved for the oldest supported Python.
        uv = [tool, "pip", "compile", "--python-version", "3.11.0", "--no-header"]
        compile_command = uv if Path(tool).name == "uv" else [tool]
        command = [*compile_command, "--generate-hashes", "--upgrade", "--quiet", "-o", f"{name}.txt", f"{name}.in"]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            raise Trouble(f"The packages of {name}.in cannot be pinned.")
    return 0


_Verb = Callable[[list[str]], int]
_WITHOUT_OPTIONS = frozenset(
    {"check", "demo", "doctor", "lock"}
)  # their help is told before anything is installed or done
_VERBS: dict[str, tuple[tuple[str, ...], _Verb]] = {
    "up": (installation.RUNNING, _up),
    "test": (installation.DEVELOPING, _test),
    "check": (installation.DEVELOPING, _check),
    "bench": (installation.DEVELOPING, _bench),
    "demo": (installation.DEVELOPING, _demo),
    "manage": (installation.RUNNING, _manage),
    "shell": (installation.RUNNING, _shell),
    "lock": (installation.DEVELOPING, _lock),
    "reset": ((), _reset),
    "down": ((), _down),
    "doctor": ((), _doctor),
}
# What is looked at before anything is installed.
_CHECKED_FIRST: dict[str, Callable[[list[str]], None]] = {
    "up": _check_up,
    "demo": _check_demo,
    "manage": _check_manage,
    "shell": _check_shell,
}
