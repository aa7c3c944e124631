"""The data folder, the socket folders, and what differs when the user is root."""

import errno
import hashlib
import os
import re
import shutil
import stat
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from .trouble import Trouble

ROOT = Path(__file__).resolve().parent.parent
SYSTEM_FOLDER = Path("/var/lib/health-procurement")
_PLAIN = re.compile(r"[A-Za-z0-9/._+-]+")
_FIRST_START_MEGABYTES = 150
_START_MEGABYTES = 32  # two segments of PostgreSQL's log
_FULL_MEGABYTES = 1
_SOCKET_FOLDER_LIMIT = 80  # sun_path holds 104 to 108 bytes; the longest name in the folder is ".s.PGSQL.5432.lock"


@dataclass(frozen=True)
class ServerUser:
    """The unprivileged account that PostgreSQL runs as when all other processes run as root."""

    uid: int
    gid: int


@dataclass(frozen=True)
class Places:
    """The folders of one data folder."""

    data: Path
    server_user: ServerUser | None
    postgres: Path = field(init=False)
    valkey: Path = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "valkey", self.data / "valkey")
        object.__setattr__(self, "postgres", self._postgres_folder())

    def _postgres_folder(self) -> Path:
        here = self.data / "postgres"
        if self.server_user is None or (here.exists() or reachable(self.data, self.server_user)):
            return here
        return SYSTEM_FOLDER / _key(self.data) / "postgres"

    @property
    def logs(self) -> Path:
        """The folder of the log files."""
        return self.data / "log"

    @property
    def pulse(self) -> Path:
        """The folder of the workers' signs of life."""
        return self.data / "pulse"

    @property
    def credentials(self) -> Path:
        """The file of the demo data's credentials."""
        return self.data / "demo.json"

    @property
    def prepared(self) -> Path:
        """The file that records for which code, address and database `./dev up` prepared the database."""
        return self.data / "prepared.json"

    def check_space(self) -> None:
        """Check that the disk has enough space to start the servers.

        :raises Trouble: the disk has too little space left.
        """
        wanted = _START_MEGABYTES if self.postgres.exists() else _FIRST_START_MEGABYTES
        if (free := self._free_megabytes()) < wanted:
            raise Trouble(f"The disk is full: {free} MB are left for {self.data}, and a start needs {wanted} MB.")

    def is_full(self) -> bool:
        """Tell whether the disk is so full that other errors are probably due to it."""
        return self._free_megabytes() < _FULL_MEGABYTES

    def _free_megabytes(self) -> int:
        home = next(folder for folder in (self.postgres, *self.postgres.parents) if folder.exists())
        return min(shutil.disk_usage(folder).free for folder in (self.data, home)) // 1_000_000

    def socket_folder(self, home: Path, *, owner: ServerUser | None = None) -> Path:
        """Return a private folder with a path short enough for a unix socket: `home`, or a folder under /tmp."""
        if len(str(home)) <= _SOCKET_FOLDER_LIMIT and _PLAIN.fullmatch(str(home)):
            return home
        uid = owner.uid if owner else os.geteuid()
        base = Path("/tmp") if Path("/tmp").is_dir() else Path(tempfile.gettempdir())  # nosec B108
        folder = base / f"hp-{uid}-{_key(home)}"
        return private_folder(folder, owner=owner)


def data_folder(data: str | Path | None = None) -> Path:
    """Return the data folder that is named, else that of the environment, else the checkout's own."""
    return Path(data or os.environ.get("DATA_DIR") or ROOT / ".local").expanduser().resolve()


def open_places(data: str | Path | None = None) -> Places:
    """Create and check the data folder.

    :raises Trouble: the folder cannot be created, read or written.
    """
    folder = data_folder(data)
    server_user = _server_user()
    try:
        new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        if new:  # 711: the account of the server may pass through root's folder, but not list it
            folder.chmod(0o711 if server_user else 0o700)
        places = Places(data=folder, server_user=server_user)
        private_folder(places.logs)
        probe = folder / f".probe-{os.getpid()}"
        probe.write_bytes(b"x" * 4096)
        probe.unlink()
        list(folder.iterdir())
    except OSError as error:
        raise Trouble(f"The data folder {folder} cannot be used: {_reason(error)}.") from error
    return places


def private_folder(folder: Path, *, owner: ServerUser | None = None) -> Path:
    """Create a folder that only its owner may enter, or check an existing one.

    :raises Trouble: the folder belongs to another user, is a link, or is open to others.
    """
    uid = owner.uid if owner else os.geteuid()
    try:
        folder.mkdir(mode=0o700)
        if owner:
            os.chown(folder, owner.uid, owner.gid)
    except FileExistsError:
        found = folder.lstat()
        if owner and found.st_uid == os.geteuid() and stat.S_ISDIR(found.st_mode) and not any(folder.iterdir()):
            os.chown(folder, owner.uid, owner.gid)  # an earlier start was killed between mkdir and chown
            found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != uid or found.st_mode & 0o077:
            raise Trouble(
                f"The folder {folder} must belong to user {uid} alone (mode 700); remove it or correct it."
            ) from None
    return folder


def reachable(path: Path, user: ServerUser) -> bool:
    """Tell whether the permissions let the account pass through every folder down to the path."""
    for place in [path, *path.parents]:
        found = place.stat()
        mine = 0o100 if found.st_uid == user.uid else 0o010 if found.st_gid == user.gid else 0o001
        if not found.st_mode & mine:
            return False
    return True


def _server_user() -> ServerUser | None:
    if os.geteuid() != 0:
        return None
    import pwd  # not on every platform

    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServerUser(uid=entry.pw_uid, gid=entry.pw_gid)
    raise Trouble(
        "PostgreSQL does not run as root and there is no account postgres or nobody: run as a normal user or set DATABASE_URL."
    )


def _key(path: Path) -> str:
    return hashlib.sha256(str(path).encode()).hexdigest()[:12]


def _reason(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full"
    return (error.strerror or str(error)).lower()
