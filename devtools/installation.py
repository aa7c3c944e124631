"""Makes `.venv` and installs the locked packages into it, once per content of the lock files.

Runs before anything is installed: standard library only.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from pathlib import Path

from .console import say
from .locks import FileLock
from .places import ROOT
from .trouble import Trouble

VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
RUNNING = ("requirements.txt", "requirements-local.txt")
DEVELOPING = ("requirements-dev.txt",)  # holds the others' packages too
_NO_NETWORK = re.compile(
    r"NewConnectionError|NameResolutionError|Temporary failure in name resolution|Network is unreachable|ConnectTimeout"
    r"|Connection refused|ProxyError|Read timed out|Could not find a version|No matching distribution|SSLError"
)


def inside() -> bool:
    """Tell whether this process runs the Python of `.venv`."""
    return Path(sys.prefix).resolve() == VENV.resolve()


def ensure(files: tuple[str, ...]) -> None:
    """Install the packages of the lock files unless that was done already.

    :raises Trouble: no network, no space, or a Python without pip.
    """
    try:
        VENV.mkdir(exist_ok=True)
        lock = FileLock(VENV / ".lock")
        lock.take()
        try:
            if not _satisfied(files):
                _install(files)
        finally:
            lock.free()
    except OSError as error:
        raise Trouble(f"{VENV} cannot be made: {(error.strerror or str(error)).lower()}.") from error


def _wanted(files: tuple[str, ...]) -> str:
    digest = hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in files))
    return f"{digest.hexdigest()} {sys.version_info[0]}.{sys.version_info[1]} {VENV}"


def _stamp(files: tuple[str, ...]) -> Path:
    return VENV / f".installed-{files[0].removesuffix('.txt')}"


def _satisfied(files: tuple[str, ...]) -> bool:
    if (VENV / ".installing").exists() or not PYTHON.exists():
        return False
    return any(_has(group) for group in {files, DEVELOPING})


def _has(files: tuple[str, ...]) -> bool:
    stamp = _stamp(files)
    return stamp.exists() and stamp.read_text() == _wanted(files)


def _install(files: tuple[str, ...]) -> None:
    marker = VENV / ".installing"
    python = _ensure_venv()
    if marker.exists():
        _drop_half_installed()
    marker.touch()
    for group in (RUNNING, DEVELOPING):
        _stamp(group).unlink(missing_ok=True)
    _run_pip(python, files)
    _stamp(files).write_text(_wanted(files))
    marker.unlink()


def _ensure_venv() -> Path:
    usable = PYTHON.exists() and _answers(PYTHON)
    if not usable:
        say("making .venv")
        for entry in VENV.iterdir():  # what an interrupted or moved checkout left
            if entry.name != ".lock":
                shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        venv.EnvBuilder(with_pip=False, symlinks=True).create(VENV)
    return PYTHON


def _answers(python: Path) -> bool:
    question = [str(python), "-c", "import sys; print(sys.prefix, *sys.version_info[:2])"]
    answer = subprocess.run(question, capture_output=True, text=True, check=False).stdout.split()
    return answer[-2:] == [str(part) for part in sys.version_info[:2]] and " ".join(answer[:-2]) == str(VENV)


def _drop_half_installed() -> None:
    """Forget packages whose installation was cut off: pip would take them for whole."""
    for folder in VENV.glob("lib/python*/site-packages/*.dist-info"):
        if not (folder / "RECORD").exists():
            shutil.rmtree(folder)


def _pip(python: Path) -> tuple[list[str], dict[str, str]]:
    """Return how to run pip for the venv without installing pip into it, which would cost seconds."""
    places = [Path(folder) for folder in _bundled_folders() if Path(folder).is_dir()]
    wheels = sorted(wheel for place in places for wheel in place.glob("pip-*.whl"))
    if wheels:
        return [str(python), "-m", "pip"], {"PYTHONPATH": str(wheels[-1])}
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0:
        return [sys.executable, "-m", "pip", "--python", str(python)], {}
    raise Trouble("This Python has neither pip nor ensurepip: install python3-venv (Debian, Ubuntu) or python3-pip.")


def _bundled_folders() -> Iterator[str]:
    try:
        import ensurepip
    except ImportError:
        pass
    else:
        yield str(Path(ensurepip.__file__).parent / "_bundled")
    yield "/usr/share/python-wheels"


def _run_pip(python: Path, files: tuple[str, ...]) -> None:
    command, variables = _pip(python)
    wanted = [part for name in files for part in ("-r", str(ROOT / name))]
    count = len(
        {
            line.split("==")[0]
            for name in files
            for line in (ROOT / name).read_text().splitlines()
            if re.match(r"[A-Za-z]", line)
        }
    )
    say(f"installing {count} packages (first start only, some 30 s)")
    command += ["install", "--no-deps", "--no-input", "--disable-pip-version-check", "--no-warn-script-location"]
    command += ["--progress-bar", "off", "--retries", "2", "--timeout", "15", "--root-user-action", "ignore", *wanted]
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX")
    }
    process = subprocess.Popen(
        command, env=environment | variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT
    )
    assert process.stdout is not None  # nosec B101: PIPE was asked for
    lines: list[str] = []
    last, fetched = time.monotonic(), 0
    for line in process.stdout:
        lines.append(line.strip())
        fetched += line.startswith("Collecting ")
        if line.startswith("Installing collected"):
            say(f"all {count} fetched, unpacking")
        elif time.monotonic() - last > 4:
            say(f"fetched {fetched} of {count}")
            last = time.monotonic()
    if process.wait():
        raise Trouble(_reason(lines))
    say("installed")


def _reason(lines: list[str]) -> str:
    text = "\n".join(lines)
    if "No space left on device" in text or "Disk quota exceeded" in text:
        return "The packages cannot be installed: the disk is full."
    if _NO_NETWORK.search(text):
        return "The packages cannot be fetched: the package index cannot be reached. Check the network, the proxy or PIP_INDEX_URL."
    errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:] or ["pip gave no reason"]
    return f"The packages cannot be installed: {errors[0].removeprefix('ERROR: ')}"
