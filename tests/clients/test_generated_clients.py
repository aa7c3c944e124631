"""Clients that generators make of the committed document, in Python and TypeScript, compile and speak to the service."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench import javascript
from core.ids import uuid7
from devtools.places import ROOT
from tests.clients import generators
from tests.factories import api_key, provision

HERE = Path(__file__).parent
DOCUMENT = ROOT / "docs" / "openapi.yaml"
SECONDS = 300


@dataclass(frozen=True)
class Shop:
    """Where the service listens, and a key of a supplier."""

    base: str
    key: str
    tenant: str


@pytest.fixture
def shop(fhir_base: str) -> Shop:
    """A new supplier whose system uses an API key."""
    tenant = provision("supplier")
    return Shop(fhir_base.removesuffix("/fhir/R4"), api_key(tenant), str(tenant.id))


def run(*command: str, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


def assert_visited(output: str) -> None:
    seen = json.loads(output)
    assert seen == {"id": seen["listed"], "listed": seen["listed"], "total": 1, "code": "sku_taken"}


def test_python_client_is_typed_and_works(shop, tmp_path):
    try:
        executables = generators.python_environment()
    except generators.Unavailable as reason:
        pytest.skip(str(reason))
    shutil.copy(HERE / "python" / "visit.py", tmp_path)
    said = run(
        *(str(executables / "openapi-python-client"), "generate", "--path", str(DOCUMENT), "--meta", "none"),
        *("--output-path", "platform_client", "--config", str(HERE / "python" / "generator.yaml")),
        folder=tmp_path,
    )
    assert "Unable" not in said
    python = str(executables / "python")
    run(python, "-m", "compileall", "-q", "platform_client", folder=tmp_path)
    judge = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        "--cache-dir=cache",
        "--python-executable",
        python,
    ]
    run(*judge, "visit.py", folder=tmp_path)  # and every module of the client that it needs
    assert_visited(run(python, "visit.py", shop.base, shop.key, shop.tenant, f"SKU-{uuid7()}", folder=tmp_path))


def test_typescript_client_is_typed_and_works(shop):
    files = ("package.json", "package-lock.json", "tsconfig.json", "visit.ts")
    try:
        folder = javascript.installed(HERE / "typescript", files)
    except javascript.Unavailable as reason:
        pytest.skip(str(reason))
    binaries = folder / "node_modules" / ".bin"
    # With the flag, a member that has a default may be left out of a body.
    run(
        *(str(binaries / "openapi-typescript"), str(DOCUMENT), "-o", "api.d.ts", "--default-non-nullable=false"),
        folder=folder,
    )
    run(str(binaries / "tsc"), "-p", ".", folder=folder)
    assert_visited(run("node", "out/visit.js", shop.base, shop.key, shop.tenant, f"SKU-{uuid7()}", folder=folder))
