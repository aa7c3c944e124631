"""Provenance in exports of patients and groups: with all that it is about.

Source: Bulk Data Access IG 2.0.0, export.html, "Query Parameters".
"""

import pytest

from tests.fhir_api.clients import observation, patient
from tests.fhir_api.exports.asking import about, begun, by_post, carry_out, exported, fetched, resources_of
from tests.fhir_api.exports.test_group import group, member
from tests.fhir_api.noted import noted

PATHS = "/Patient/$export?_type=Provenance"


def provenance(*targets):
    return {
        "resourceType": "Provenance",
        "recorded": "2026-01-01T00:00:00Z",
        "target": [{"reference": one} for one in targets],
        "agent": [{"who": {"display": "Eva"}}],
    }


def name_of(resource):
    return f"{resource['resourceType']}/{resource['id']}"


@pytest.fixture
def record(fresh):
    """Two patients with an observation each, staff, and what is told of them."""
    first, second = (fresh.made(patient()) for _ in range(2))
    seen, other = (fresh.made(observation(name_of(one))) for one in (first, second))
    staff = name_of(fresh.made({"resourceType": "Practitioner"}))
    told = {
        "patient": provenance(name_of(first), staff),
        "observation": provenance(name_of(seen)),
        "version": provenance(f"{name_of(seen)}/_history/1", staff),
        "both": provenance(name_of(seen), name_of(other)),
        "staff": provenance(staff),
    }
    return fresh, first, seen, {key: fresh.made(one)["id"] for key, one in told.items()}


def names(given, told):
    known = {fhir_id: key for key, fhir_id in told.items()}
    return {known[fhir_id] for _, fhir_id in given}


def test_provenance_of_what_is_in_a_compartment_is_exported(record):
    client, first, _, told = record
    assert names(exported(client, PATHS), told) == {"patient", "observation", "version", "both"}
    assert names(exported(client, "/$export?_type=Provenance"), told) == set(told)
    mine = {"patient", "observation", "version"}
    assert names(resources_of(client, by_post(client, PATHS, *about(first["id"]))), told) == mine
    made = client.made(group(member(first["id"])))
    assert names(exported(client, f"/Group/{made['id']}/$export?_type=Provenance"), told) == mine


def test_access_log_names_the_patients_of_the_targets(record):
    client, first, _, told = record
    client.delete(f"/Provenance/{told['both']}")
    status = by_post(client, PATHS, *about(first["id"])).headers["Content-Location"].partition("/fhir/R4")[2]
    listed = carry_out(client, status).json()["output"]
    _, (row,) = noted(client, lambda: fetched(client, listed))
    assert (row.resource_type, row.patients, row.count) == ("Provenance", [first["id"]], 3)


def test_targets_are_those_of_the_export_s_time(record):
    client, first, seen, told = record
    status = by_post(client, PATHS, *about(first["id"])).headers["Content-Location"].partition("/fhir/R4")[2]
    client.put(f"/{name_of(seen)}", {**seen, "subject": {"display": "nobody"}})
    given = fetched(client, carry_out(client, status).json()["output"])
    assert names([(one["resourceType"], one["id"]) for one in given], told) == {"patient", "observation", "version"}
    status = begun(client, PATHS)
    given = fetched(client, carry_out(client, status).json()["output"])
    assert names([(one["resourceType"], one["id"]) for one in given], told) == {"patient", "both"}
