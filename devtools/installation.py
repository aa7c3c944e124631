"""The `.venv` with the locked packages, installed again only when the lock files change.

Runs before anything is installed, so it uses the standard library only.
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
from .processes import die_with_parent
from .trouble import Trouble

_PIPS = 3
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
    """Install the packages of the lock files unless they are already installed.

    :raises Trouble: there is no network or no disk space, or Python has no pip.
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
        for entry in VENV.iterdir():  # remains of an interrupted installation or a moved checkout
            if entry.name != ".lock":
                shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        venv.EnvBuilder(with_pip=False, symlinks=True).create(VENV)
    return PYTHON


def _answers(python: Path) -> bool:
    question = [str(python), "-c", "import sys; print(sys.prefix, *sys.version_info[:2])"]
    answer = subprocess.run(question, capture_output=True, text=True, check=False).stdout.split()
    return answer[-2:] == [str(part) for part in sys.version_info[:2]] and " ".join(answer[:-2]) == str(VENV)


def _drop_half_installed() -> None:
    """Remove the metadata of packages whose installation was interrupted; pip would consider them complete."""
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
    """Install the locked packages with several pips in parallel; the lock is complete, so none waits for another."""
    command, variables = _pip(python)
    blocks = list({block.split()[0]: block for name in files for block in _blocks((ROOT / name).read_text())}.values())
    say(f"installing {len(blocks)} packages (first start only, some 20 s)")
    command += ["install", "--no-deps", "--no-input", "--disable-pip-version-check", "--no-warn-script-location"]
    command += ["--progress-bar", "off", "--retries", "2", "--timeout", "15", "--root-user-action", "ignore"]
    unwanted = ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX")
    environment = {key: value for key, value in os.environ.items() if key not in unwanted} | variables
    running = []
    for number in range(_PIPS):
        share, log = VENV / f".share-{number}.txt", VENV / f".share-{number}.log"
        share.write_text("".join(blocks[number::_PIPS]))
        with log.open("w") as output:
            process = subprocess.Popen(
                [*command, "-r", str(share)],
                env=environment,
                stdout=output,
                stderr=output,
                cwd=ROOT,
                preexec_fn=die_with_parent(),  # noqa: PLW1509 — one thread; a pip left behind would write into the next `.venv`
            )
        running.append((process, log))
    try:
        _await(running, count=len(blocks))
    finally:  # whoever interrupts this process must not leave them behind
        for process, _ in running:
            if process.poll() is None:
                process.terminate()
                process.wait()
    say("installed")


def _await(running: list[tuple[subprocess.Popen[bytes], Path]], *, count: int) -> None:
    """Show progress until all processes have ended.

    :raises Trouble: one of them failed.
    """
    shown_at = time.monotonic()
    while any(process.poll() is None for process, _ in running):
        failed = next((log for process, log in running if process.poll()), None)
        if failed:
            raise Trouble(_reason(failed.read_text(errors="replace").splitlines()))
        if time.monotonic() - shown_at > 4:
            shown_at = time.monotonic()
            fetched = sum(log.read_text(errors="replace").count("Collecting ") for _, log in running)
            say(f"fetched {min(fetched, count)} of {count}" if fetched < count else f"unpacking {count}")
        time.sleep(0.1)
    for process, log in running:
        if process.returncode:
            raise Trouble(_reason(log.read_text(errors="replace").splitlines()))


def _blocks(lock: str) -> list[str]:
    """Return each requirement of a lock file with the hashes that follow it."""
    blocks: list[str] = []
    for line in lock.splitlines(keepends=True):
        if line[:1].isalnum():
            blocks.append(line)
        elif blocks and line.strip().startswith("--hash"):
            blocks[-1] += line
    return blocks


def _reason(lines: list[str]) -> str:
    text = "\n".join(lines)
    if "No space left on device" in text or "Disk quota exceeded" in text:
        return "The packages cannot be installed: the disk is full."
    if _NO_NETWORK.search(text):
        return "The packages cannot be fetched: the package index cannot be reached. Check the network, the proxy or PIP_INDEX_URL."
    errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:] or ["pip gave no reason"]
    return f"The packages cannot be installed: {errors[0].removeprefix('ERROR: ')}"
