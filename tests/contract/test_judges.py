"""The linters of the trade judge the committed document: redocly's recommended rules and Spectral's rules for OpenAPI."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bench import javascript
from devtools.places import ROOT

HERE = Path(__file__).parent / "npm"
FILES = ("package.json", "package-lock.json", "spectral.yaml")
SECONDS = 400


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The installed linters, beside a copy of the document."""
    try:
        installed = javascript.installed(HERE, FILES)
    except javascript.Unavailable as reason:
        pytest.skip(str(reason))
    shutil.copy(ROOT / "docs" / "openapi.yaml", installed / "openapi.yaml")
    return installed


def judge(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "NO_COLOR": "1"}
    path = folder / "node_modules" / ".bin" / command[0]
    return subprocess.run(
        [str(path), *command[1:]],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_redocly_finds_nothing(folder):
    # A word beside an id, as the contract has it (`/prescriptions/templates` and `/prescriptions/{id}`), is no UUID.
    words = "--skip-rule=no-ambiguous-paths"
    done = judge(folder, "redocly", "lint", "openapi.yaml", "--extends=recommended", "--format=json", words)
    found = json.loads(done.stdout[done.stdout.index("{") :])
    assert found["problems"] == []
    assert done.returncode == 0, done.stderr[-2000:]


def test_spectral_finds_nothing(folder):
    done = judge(folder, "spectral", "lint", "openapi.yaml", "-r", "spectral.yaml", "-f", "json", "--quiet")
    assert json.loads(done.stdout or "[]") == [], done.stdout[:4000]
    assert done.returncode == 0, done.stderr[-2000:]


def test_spectral_would_find_something(folder):
    """The same command complains of a document that lacks what ours has, so its silence means something."""
    (folder / "poor.yaml").write_text("openapi: 3.1.1\ninfo: {title: Poor, version: '1'}\npaths: {/x: {get: {}}}\n")
    done = judge(folder, "spectral", "lint", "poor.yaml", "-r", "spectral.yaml", "-f", "json", "--quiet")
    assert "operation-operationId" in {one["code"] for one in json.loads(done.stdout)}
