"""The generator of Python clients in an environment of its own, made once from its pinned requirements."""

import hashlib
import subprocess
import sys
from pathlib import Path

from devtools.locks import FileLock
from devtools.places import ROOT

HERE = Path(__file__).parent / "python"
INSTALL_SECONDS = 240


class Unavailable(Exception):
    """The packages cannot be fetched."""


def python_environment() -> Path:
    """Return the folder of executables where the generator and what its clients need are installed.

    :raises Unavailable: as said.
    """
    requirements = HERE / "requirements.txt"
    digest = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = ROOT / ".local" / "python-client" / digest
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder.parent / f"{digest}.lock")
    lock.take()
    try:
        if not (folder / ".installed").exists():
            _install(folder, requirements)
    finally:
        lock.free()
    return folder / "bin"


def _install(folder: Path, requirements: Path) -> None:
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--retries=1", "--require-hashes"]
    try:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], capture_output=True, check=True)
        subprocess.run(
            [*pip, "-r", str(requirements)], capture_output=True, text=True, timeout=INSTALL_SECONDS, check=True
        )
    except subprocess.CalledProcessError as error:
        raise Unavailable(f"pip could not install the generator: {str(error.stderr).strip()[-300:]}") from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable("pip did not install the generator in time") from error
    (folder / ".installed").touch()
