"""`./dev up` where it cannot go on: one clear line, a failing exit code, and nothing left running."""

import ast
import contextlib
import errno
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import psycopg
import pytest

from devtools.places import ROOT, open_places
from devtools.trouble import Trouble
from devtools.up import naming_full_disk
from tests.faults.service import environment, wait_for

FIRST_STAGE = ("dev", "devtools", "requirements.txt", "requirements-local.txt", "requirements-dev.txt")


@pytest.fixture
def open_folder():
    """Return a folder where the account of root's PostgreSQL gets to; pytest's own is closed by every other pytest."""
    with tempfile.TemporaryDirectory(prefix="hp-faults-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


def up(*before: str, root: Path = ROOT, data: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [*before, sys.executable, str(root / "dev"), "up", "--port", "0", "--data", str(data)]
    return subprocess.run(
        command, env=environment(**variables), capture_output=True, text=True, timeout=120, check=False
    )


def assert_one_line(ended: subprocess.CompletedProcess[str], *words: str) -> None:
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert ended.stderr.startswith("error: ")
    assert ended.stderr.count("\n") == 1, ended.stderr
    for word in words:
        assert word in ended.stderr


def run_as_python_3_10(path: str) -> subprocess.CompletedProcess[str]:
    """Run `./dev` under an interpreter that gives itself out for an old one."""
    code = (
        "import sys; sys.version_info = (3, 10, 13, 'final', 0); sys.argv = ['dev', 'up', '--port', '0'];"
        f"exec(compile(open({str(ROOT / 'dev')!r}).read(), {str(ROOT / 'dev')!r}, 'exec'),"
        f" {{'__name__': '__main__', '__file__': {str(ROOT / 'dev')!r}}})"
    )
    return subprocess.run(
        [sys.executable, "-c", code], env={"PATH": path}, capture_output=True, text=True, timeout=60, check=False
    )


def test_old_python_is_one_line(tmp_path):
    ended = run_as_python_3_10(str(tmp_path))
    assert ended.returncode == 1
    assert ended.stderr == (
        "Python 3.11 or newer is needed; this is Python 3.10 and there is no newer one on the PATH.\n"
    )


def test_old_python_hands_over_to_a_newer_one(tmp_path):
    newer = tmp_path / "python3.12"
    newer.write_text('#!/bin/sh\necho "$0 $@"\n')
    newer.chmod(0o755)
    ended = run_as_python_3_10(str(tmp_path))
    assert ended.stdout == f"{newer} {ROOT / 'dev'} up --port 0\n"


def test_old_python_can_read_the_command():
    ast.parse((ROOT / "dev").read_text(), feature_version=(3, 7))


def test_package_index_that_is_away_is_one_line(tmp_path):
    root = tmp_path / "checkout"
    root.mkdir()
    for name in FIRST_STAGE:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, root / name)
    away = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "0"}
    ended = up(root=root, data=tmp_path / "data", **away)
    assert_one_line(ended, "the package index cannot be reached", "PIP_INDEX_URL")


@contextlib.contextmanager
def small_disk(folder: Path, *, size: str, options: str = ""):
    """Mount a disk of so many bytes in memory, where that is allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0711{options}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can be mounted by root only")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_full_disk_is_one_line(tmp_path):
    with small_disk(tmp_path / "disk", size="64k") as disk:
        with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
            while filler.write(b"x" * 4096):
                pass
        ended = up(data=disk / "data")
    assert_one_line(ended, "the disk is full")


def test_disk_too_small_for_the_start_is_one_line(open_folder):
    with small_disk(open_folder / "disk", size="46m") as disk:
        ended = up(data=disk / "data")
    assert_one_line(ended, "The disk is full", "a start needs 150 MB")


def fill_up(disk: Path, *, once: Path, leave: int) -> None:
    """Take the disk's space but for some bytes as soon as a file is there."""
    wait_for(once.exists, seconds=60, every=0.005, what=once.name)
    with (disk / "filler").open("wb") as filler:
        wait_for(lambda: _take(filler.fileno(), shutil.disk_usage(disk).free - leave), what="a full disk")


def _take(handle: int, size: int) -> bool:
    """Reserve so many bytes; False when the start took some of them meanwhile."""
    with contextlib.suppress(OSError):
        os.posix_fallocate(handle, 0, size)
        return True
    return False


@pytest.mark.parametrize(
    ("once", "megabytes"),
    [("log/keeper.log", 20), ("log/keeper.log", 34), ("log/postgres.log", 1), ("servers.json", 2)],
    ids=["setting up PostgreSQL", "setting it up, late", "starting PostgreSQL", "preparing"],
)
def test_disk_that_fills_up_during_the_start_is_one_line(open_folder, once, megabytes):
    with small_disk(open_folder / "disk", size="300m") as disk:  # only a disk that nobody uses any more is unmounted
        filling = threading.Thread(
            target=fill_up, args=(disk,), kwargs={"once": disk / "data" / once, "leave": megabytes * 1_000_000}
        )
        filling.start()
        ended = up(data=disk / "data")
        filling.join()
    assert_one_line(ended)
    assert "disk is full" in ended.stderr.lower()


@pytest.mark.parametrize("error", [psycopg.errors.DiskFull("no space"), OSError(errno.ENOSPC, "no space")])
def test_disk_that_has_room_again_was_full_all_the_same(tmp_path, error):
    with pytest.raises(Trouble, match="The disk is full"), naming_full_disk(open_places(str(tmp_path / "data"))):
        raise error


def test_unreadable_data_folder_is_one_line(tmp_path):
    data = tmp_path / "data"
    data.mkdir(mode=0o000)
    before: tuple[str, ...] = ()
    if os.geteuid() == 0:  # root reads everything, unless it lets go of that power
        before = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
        if not shutil.which("setpriv") or subprocess.run([*before, "true"], check=False).returncode:
            pytest.skip("root cannot let go of its power to read everything here")
    ended = up(*before, data=data)
    data.chmod(0o700)
    assert_one_line(ended, f"The data folder {data} cannot be used", "permission denied")


def test_read_only_data_folder_is_one_line(tmp_path):
    with small_disk(tmp_path / "disk", size="1m", options=",ro") as disk:
        ended = up(data=disk / "data")
    assert_one_line(ended, "cannot be used", "read-only")
