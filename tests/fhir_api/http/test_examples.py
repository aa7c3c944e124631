"""Every official example of all types is stored and read back equal, value for value, or refused rightly."""

import json
from decimal import Decimal

import pytest

from tests import factories
from tests.fhir_api import data
from tests.fhir_api.clients import code_of, prescriber
from tests.fhir_api.validation.test_accepted import WRONG_EXAMPLES

GIVEN_BY_SERVER = ("versionId", "lastUpdated")


@pytest.fixture(scope="module")
def doctor():
    """A prescriber whose tenant takes references to what is not there, since examples refer to further types."""
    tenant = factories.provision("provider")
    answer = factories.as_member(tenant).patch(
        f"/v1/tenants/{tenant.id}/configuration", json={"policies": {"fhir_reference_integrity": "none"}}
    )
    assert answer.status_code == 200
    return prescriber(tenant)


def values(text):
    """A resource with numbers as they are written, without what the server gives."""
    found = json.loads(text, parse_float=Decimal)
    meta = {name: value for name, value in found.pop("meta", {}).items() if name not in GIVEN_BY_SERVER}
    return found, meta


def written(found):
    """JSON in which 1.10 differs from 1.1."""
    return json.dumps(found, sort_keys=True, default=lambda number: f"decimal {number}")


def test_official_examples_are_stored_and_read_back_equal(doctor):
    refused, differing = {}, []
    lines = list(data.example_lines())
    for line in lines:
        resource, meta = values(line)
        path = f"/{resource['resourceType']}/{resource['id']}"
        answer = doctor.put(path, line.encode())
        if answer.status_code != 201:
            refused[resource["resourceType"], resource["id"]] = (answer.status_code, answer.json()["issue"])
            continue
        stored, stored_meta = values(doctor.get(path).content)
        if (written(stored), written(stored_meta)) != (written(resource), written(meta)):
            differing.append(path)
    assert differing == []
    assert len(lines) == 264
    told = {name: (status, issues[0].get("expression", issues)) for name, (status, issues) in refused.items()}
    assert told == {name: (422, [expression]) for name, expression in WRONG_EXAMPLES.items()}


def test_example_that_breaks_its_definition_says_so(doctor):
    (wrong,) = [one for one in data.examples("Observation") if one["id"] == "clinical-gender"]
    answer = doctor.put("/Observation/clinical-gender", wrong)
    assert (answer.status_code, code_of(answer)) == (422, "invalid_resource")
    assert doctor.get("/Observation/clinical-gender").status_code == 404
