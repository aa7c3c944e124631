"""`fhir-kit-client` of npm, unchanged, in a node of this machine."""

import json
import subprocess
from pathlib import Path

import pytest

from bench import javascript
from core.ids import uuid7

HERE = Path(__file__).parent / "npm"


def test_visit_of_a_javascript_client(clinic):
    try:
        folder = javascript.installed(HERE, ("package.json", "package-lock.json", "clinic.mjs"))
    except javascript.Unavailable as reason:
        pytest.skip(str(reason))
    command = ["node", "clinic.mjs", clinic.base, clinic.token, f"Zz{str(uuid7())[-8:]}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout)
    assert seen["fhirVersion"] == "4.0.1"
    assert seen["smart"]["tokenUrl"]
    assert (seen["created"], seen["first"], seen["patched"]) == ("1", "female", ["other", "1980-02-29", "3"])
    assert seen["history"] == ["3", "2", "1"]
    assert seen["transaction"] == ["201"] * 4
    assert seen["pages"] == [["0", "1"], ["2", "3"], ["4"]]
    assert (seen["posted"], seen["gone"]) == (5, 410)
