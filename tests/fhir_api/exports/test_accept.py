"""Headers of the kick-off, the status and the files: Accept, Prefer, Content-Type, X-Progress, Retry-After."""

import pytest

from tests.fhir_api.clients import code_of, patient
from tests.fhir_api.exports.asking import begun, carry_out, jobs, kick_off

PATHS = ["/$export", "/Patient/$export"]


@pytest.fixture
def exported_file(client):
    """The path of a file."""
    client.made(patient())
    told = carry_out(client, begun(client, "/$export?_type=Patient")).json()
    return told["output"][0]["url"].partition("/fhir/R4")[2]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "accept", ["application/fhir+json", "application/json", "*/*", "application/fhir+json;fhirVersion=4.0", ""]
)
def test_kick_off_takes_what_an_outcome_may_be(client, path, accept):
    answer = kick_off(client, path, **({"Accept": accept} if accept else {}))
    assert (answer.status_code, answer.content) == (202, b"")
    status = answer.headers["Content-Location"].partition("/fhir/R4")[2]
    waiting = client.get(status, Accept="application/json")
    assert (waiting.status_code, waiting.content) == (202, b"")
    assert int(waiting.headers["Retry-After"]) > 0
    assert 0 < len(waiting.headers["X-Progress"]) <= 100
    assert client.delete(status).status_code == 202


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "accept", ["text/html", "application/fhir+xml", "application/fhir+ndjson", "application/fhir+json;q=0"]
)
def test_kick_off_refuses_what_is_never_answered(client, path, accept):
    before = len(jobs(client.tenant))
    assert kick_off(client, path, Accept=accept).status_code == 406
    assert len(jobs(client.tenant)) == before


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("prefer", ["", "return=minimal", "respond-sync"])
def test_kick_off_wants_prefer(client, path, prefer):
    answer = client.get(path, **({"Prefer": prefer} if prefer else {}))
    assert (answer.status_code, code_of(answer)) == (400, "async_required")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "kind", ["application/fhir+ndjson", "application/fhir%2Bndjson", "application/ndjson", "ndjson"]
)
def test_every_name_of_the_format_is_taken(client, path, kind):
    answer = kick_off(client, f"{path}?_outputFormat={kind}")
    assert answer.status_code == 202
    assert client.delete(answer.headers["Content-Location"].partition("/fhir/R4")[2]).status_code == 202


@pytest.mark.parametrize("kind", ["text/csv", "application/parquet", "xml", "application/fhir+json"])
def test_other_formats_are_refused(client, kind):
    answer = kick_off(client, f"/$export?_outputFormat={kind}")
    assert (answer.status_code, code_of(answer)) == (400, "invalid_export")


@pytest.mark.parametrize(
    "accept", ["application/fhir+ndjson", "application/fhir+ndjson, application/json;q=0.5", "*/*", ""]
)
def test_file_is_ndjson_for_who_takes_it(client, exported_file, accept):
    answer = client.get(exported_file, **({"Accept": accept} if accept else {}))
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/fhir+ndjson")


@pytest.mark.parametrize("accept", ["text/html", "image/png"])
def test_file_is_refused_to_who_does_not(client, exported_file, accept):
    assert client.get(exported_file, Accept=accept).status_code == 406


def test_parameters_are_a_resource(client):
    answer = client.post(
        "/$export", b"_type=Patient", media="application/x-www-form-urlencoded", Prefer="respond-async"
    )
    assert answer.status_code == 415
