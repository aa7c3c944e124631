"""Quarantine: what a scanner finds, a scanner that is away, staff, and ClamAV itself where it is installed."""

import shutil
import socket
import socketserver
import struct
import subprocess
import threading
import time
from datetime import timedelta

import pytest

from core.clock import now
from core.db import tenant_context
from suppliers.files import clamav, scanning
from suppliers.files.models import File
from tests.suppliers.files.samples import counts, objects, pdf, png, send, sweep, upload, used

BAD = b"a text of the tests that their own signature names"


class Daemon(socketserver.ThreadingUnixStreamServer):
    """A server that speaks INSTREAM; `say` is what it answers, by the content."""

    daemon_threads = True
    most = 1_000_000

    def say(self, content):
        return b"stream: Tests.Bad-1 FOUND\0" if BAD in content else b"stream: OK\0"


class Session(socketserver.StreamRequestHandler):
    def handle(self):
        assert self.rfile.read(10) == b"zINSTREAM\0"
        content = b""
        while size := struct.unpack("!I", self.rfile.read(4))[0]:
            content += self.rfile.read(size)
            if len(content) > self.server.most:
                self.wfile.write(b"INSTREAM size limit exceeded. ERROR\0")
                return
        self.wfile.write(self.server.say(content))


@pytest.fixture
def daemon(tmp_path, settings):
    path = str(tmp_path / "d")
    with Daemon(path, Session) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        settings.CLAMAV_URL = f"unix://{path}"
        yield server
        server.shutdown()
        thread.join()


def read(api, made):
    return api.get(f"/v1/files/{made['id']}").json()["data"]


def row(tenant, made):
    with tenant_context(tenant.id):
        return File.objects.get(tenant_id=tenant.id, pk=made["id"])


def test_clean_content_passes_and_bad_content_is_rejected(api, supplier, daemon):
    good = upload(api)
    bad = upload(api, BAD, purpose="message", name="a.txt")
    scanning.scan_files(at=now())
    assert (read(api, good)["status"], row(supplier, good).scanned_by) == ("ready", "clamav")
    found = read(api, bad)
    assert (found["status"], found["rejection_reason"], found["content_url"]) == ("rejected", "malware", None)
    assert row(supplier, bad).finding == "Tests.Bad-1"
    assert used(supplier) == good["size"]
    sweep()
    assert len(objects(supplier.id)) == 1
    assert send(api, BAD, purpose="message", name="a.txt").status_code == 201  # scanned anew, and found again


@pytest.mark.parametrize("answer", [b"stream: No database ERROR\0", b"", b"nonsense"])
def test_scanner_that_does_not_judge_leaves_the_file_in_quarantine(api, supplier, daemon, answer):
    made = upload(api)
    daemon.say = lambda _: answer
    at = now()
    scanning.scan_files(at=at)
    scanning.scan_files(at=at + timedelta(seconds=9))
    assert row(supplier, made).attempts == 1
    assert read(api, made)["status"] == "scanning"
    assert read(api, made)["version"] == 1
    del daemon.say
    scanning.scan_files(at=at + timedelta(minutes=5))
    assert read(api, made)["status"] == "ready"


def test_scanner_that_is_away_is_asked_again_with_growing_pauses(api, supplier, settings, tmp_path):
    made = upload(api)
    settings.CLAMAV_URL = f"unix://{tmp_path}/nobody"
    at, pauses = now(), []
    for _ in range(8):
        scanning.scan_files(at=at)
        due = row(supplier, made).check_at
        pauses.append((due - at).total_seconds())
        at = due
    assert row(supplier, made).attempts == 8
    assert pauses == sorted(pauses)
    assert pauses[0] <= 20
    assert pauses[-1] == 300
    assert read(api, made)["status"] == "scanning"


def test_daemon_with_a_smaller_limit_judges_nothing(daemon, settings, tmp_path):
    import io

    daemon.most = 100_000
    with pytest.raises(clamav.NotJudged):
        clamav.finding_in(io.BytesIO(b"x" * 2_000_000), settings.CLAMAV_URL)


def test_daemon_that_says_nothing_costs_bounded_time(monkeypatch):
    import io

    monkeypatch.setattr(clamav, "ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        with pytest.raises(OSError, match="timed out"):
            clamav.finding_in(io.BytesIO(b"x"), f"tcp://127.0.0.1:{silent.getsockname()[1]}")
        assert time.monotonic() - began < 3


def test_file_without_its_object_stays_in_quarantine(api, supplier, folder):
    made = upload(api)
    for one in (folder / str(supplier.id)).iterdir():
        one.unlink()
    scanning.scan_files(at=now())
    assert row(supplier, made).attempts == 1
    assert read(api, made)["status"] == "scanning"


def test_deleted_while_it_is_scanned(api, supplier, daemon):
    made = upload(api)

    def say(_):
        assert api.delete(f"/v1/files/{made['id']}").status_code == 204
        return b"stream: OK\0"

    daemon.say = say
    scanning.scan_files(at=now())
    assert api.get(f"/v1/files/{made['id']}").status_code == 404
    sweep()
    assert counts(supplier) == (0, 0, 0, 0)


@pytest.fixture
def clamd(tmp_path, settings):
    """ClamAV's daemon with a database of the tests' own."""
    program = shutil.which("clamd")
    if program is None:
        pytest.skip("clamd is not installed")
    database = tmp_path / "database"
    database.mkdir()
    (database / "tests.ndb").write_text(f"Tests.Bad-2:0:*:{BAD.hex()}\n")
    path = tmp_path / "clamd.ctl"
    (tmp_path / "clamd.conf").write_text(
        f"DatabaseDirectory {database}\nLocalSocket {path}\nForeground yes\nStreamMaxLength 25M\nMaxScanSize 100M\n"
        f"MaxFileSize 25M\nTemporaryDirectory {tmp_path}\nDisableCache yes\n"
    )
    process = subprocess.Popen(
        [program, "--config-file", str(tmp_path / "clamd.conf")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=tmp_path,
    )
    try:
        ends = time.monotonic() + 60
        while not path.exists():
            if process.poll() is not None or time.monotonic() > ends:
                pytest.fail(f"clamd does not start: {process.stdout.read() if process.poll() is not None else ''}")
            time.sleep(0.1)
        settings.CLAMAV_URL = f"unix://{path}"
        yield process
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


def test_clamav_itself_passes_and_rejects(api, supplier, clamd):
    good = upload(api)
    large = upload(api, pdf(12_000_000), purpose="certificate", name="a.pdf")
    bad = upload(api, b"x" * 70_000 + BAD + b"x" * 70_000, purpose="message", name="a.txt")
    scanning.scan_files(at=now())
    assert [read(api, one)["status"] for one in (good, large, bad)] == ["ready", "ready", "rejected"]
    assert row(supplier, bad).finding.startswith("Tests.Bad-2")
    clamd.terminate()
    clamd.wait(20)
    made = upload(api, png())
    scanning.scan_files(at=now())
    assert read(api, made)["status"] == "scanning"
