"""Packages of npm where this machine has node; `standardwebhooks` of them as a second judge of recorded requests.

They are installed once into `.local/npm`, exactly as the `package-lock.json` beside them pins it, without running scripts.
"""

import base64
import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.receiver import Arrival
from devtools.locks import FileLock
from devtools.places import ROOT

HERE = Path(__file__).parent / "npm"
FILES = ("package.json", "package-lock.json", "verify.cjs")
INSTALL_SECONDS = 90
VERIFY_SECONDS = 120


class Unavailable(Exception):
    """There is no node here, or the package cannot be fetched."""


def installed(source: Path = HERE, files: Sequence[str] = FILES) -> Path:
    """Return the folder where a set of packages is installed, which is done if need be.

    :raises Unavailable: as said.
    """
    missing = [name for name in ("node", "npm") if shutil.which(name) is None]
    if missing:
        raise Unavailable(f"this machine has no {' and no '.join(missing)}")
    digest = hashlib.sha256(b"".join((source / name).read_bytes() for name in files)).hexdigest()[:12]
    folder = ROOT / ".local" / "npm" / digest
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    lock.take()
    try:
        if not (folder / ".installed").exists():
            _install(folder, source, files)
    finally:
        lock.free()
    return folder


def _install(folder: Path, source: Path, files: Sequence[str]) -> None:
    for name in files:
        shutil.copy(source / name, folder / name)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=1"]
    try:
        subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=True)
    except subprocess.CalledProcessError as error:
        raise Unavailable(f"npm could not install its packages: {error.stderr.strip()[-300:]}") from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable("npm did not install its packages in time") from error
    (folder / ".installed").touch()


def verdicts(arrivals: Iterable[Arrival], secrets: Sequence[str]) -> list[bool]:
    """Tell of each request whether one of the keys (`whsec_…` or `whpk_…`) accepts it, as of when it came.

    :raises Unavailable: nobody here can judge.
    """
    lines = [
        json.dumps(
            {
                "secrets": list(secrets),
                "headers": dict(arrival.headers),
                "body": base64.b64encode(arrival.body).decode(),
                "at": arrival.at,
            }
        )
        for arrival in arrivals
    ]
    done = subprocess.run(
        ["node", "verify.cjs"],
        cwd=installed(),
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=VERIFY_SECONDS,
        check=True,
    )
    found: list[bool] = json.loads(done.stdout)
    return found
