"""What the server answers of every official example, read and written again by independent libraries.

fhirclient and fhir.resources run with the other tests; HAPI's parser where `HAPI_CLASSPATH` names its jars and there is a
JVM. The libraries may write what they read in another order or number format, so values are compared.
"""

import json
import os
import re
import shutil
import subprocess
from datetime import datetime
from decimal import Decimal
from importlib import import_module
from pathlib import Path

import pytest
from fhir.resources.R4B import get_fhir_model_class

from tests import factories
from tests.fhir_api import data
from tests.fhir_api.clients import prescriber
from tests.fhir_api.validation.test_accepted import WRONG_EXAMPLES

_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)")


@pytest.fixture(scope="module")
def answered():
    """The official examples as the server answers them, in JSON texts by type and id."""
    tenant = factories.provision("provider")
    policies = {"policies": {"fhir_reference_integrity": "none", "fhir_vital_signs": "off"}}
    answer = factories.as_member(tenant).patch(f"/v1/tenants/{tenant.id}/configuration", json=policies)
    assert answer.status_code == 200
    doctor = prescriber(tenant)
    found = {}
    for line in data.example_lines():
        resource = json.loads(line)
        name = resource["resourceType"], resource["id"]
        if name not in WRONG_EXAMPLES:
            path = f"/{'/'.join(name)}"
            assert doctor.put(path, line.encode()).status_code == 201, name
            found[name] = doctor.get(path).content.decode()
    return found


def values(text):
    """The JSON values: numbers as decimals without trailing zeros, times as points in time."""
    return _plain(json.loads(text, parse_float=Decimal, parse_int=Decimal))


def _plain(value):
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, str) and _INSTANT.fullmatch(value):
        return datetime.fromisoformat(value)
    return value.normalize() if isinstance(value, Decimal) else value


def differing(answered, again):
    return {name for name, text in answered.items() if values(again[name]) != values(text)}


def test_every_example_but_the_wrong_ones_is_answered(answered):
    assert len(answered) == 264 - len(WRONG_EXAMPLES)


def test_fhir_resources_reads_and_writes_the_same(answered):
    again = {}
    for name, text in answered.items():
        model = get_fhir_model_class(name[0]).model_validate_json(text)
        again[name] = model.model_dump_json()
    assert {name: (again[name], answered[name]) for name in differing(answered, again)} == {}


def test_fhirclient_reads_and_writes_the_same_but_for_extended_primitives(answered):
    again = {}
    for name, text in answered.items():
        module = import_module(f"fhirclient.models.{name[0].lower()}")
        again[name] = json.dumps(getattr(module, name[0])(json.loads(text)).as_json())
    assert {name for name in differing(answered, again) if '"_' not in answered[name]} == set()


def test_hapi_reads_strictly_and_writes_the_same(answered):
    java, jars = shutil.which("java"), os.environ.get("HAPI_CLASSPATH")
    if not java or not jars:
        pytest.skip("HAPI_CLASSPATH names no jars of HAPI's parser, or there is no JVM")
    program = Path(__file__).with_name("RoundTrip.java")
    lines = "\n".join(answered.values())
    done = subprocess.run(
        [java, "-cp", jars, str(program)], input=lines, capture_output=True, text=True, check=True, timeout=300
    )
    again = dict(zip(answered, done.stdout.splitlines(), strict=True))
    assert {name: text for name, text in again.items() if text.startswith("!")} == {}
    assert {name: (again[name], answered[name]) for name in differing(answered, again)} == {}
