"""Signs of life of worker and beat, as the probes of the manifests ask for them."""

import os
import subprocess
import sys
import time

from config import pulse
from devtools.places import ROOT


def probe(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "config.pulse", *arguments],
        env={"PULSE_DIR": str(folder), "PATH": os.environ["PATH"]},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_probe_believes_only_a_fresh_sign(tmp_path, monkeypatch):
    monkeypatch.setenv("PULSE_DIR", str(tmp_path / "pulse"))
    assert probe(tmp_path / "pulse", "celery").stdout == "celery was never heard of\n"
    pulse.beat("celery")
    assert probe(tmp_path / "pulse", "celery").returncode == 0
    old = time.time() - 90
    os.utime(tmp_path / "pulse" / "celery", (old, old))
    ended = probe(tmp_path / "pulse", "celery")
    assert (ended.returncode, ended.stdout) == (1, "celery was last heard of 90 s ago\n")
    assert probe(tmp_path / "pulse", "celery", "--within", "300").returncode == 0


def test_folder_that_cannot_be_written_harms_no_process(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PULSE_DIR", str(tmp_path / "file"))
    pulse.worked("celery")
    assert pulse.age_seconds("celery.worked") is None
