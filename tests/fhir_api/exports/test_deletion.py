"""DELETE of the status address: the export stops, its files are gone, another may begin."""

import pytest

from core.clock import now
from fhir_api.exports import batches, states, tasks, worker
from tests.fhir_api.clients import code_of, patient
from tests.fhir_api.exports.asking import about, begun, by_post, carry_out, jobs, kept, kick_off
from tests.fhir_api.exports.test_group import group, member


@pytest.fixture
def paths(fresh):
    """A client with two patients, and the export of each level that holds both."""
    people = [fresh.made(patient())["id"] for _ in range(2)]
    whole = fresh.made(group(*map(member, people)))
    return fresh, (
        "/$export?_type=Patient",
        "/Patient/$export?_type=Patient",
        f"/Group/{whole['id']}/$export?_type=Patient",
    )


def test_deletion_is_accepted_and_the_address_is_gone(paths):
    client, levels = paths
    for path in levels:
        status = begun(client, path)
        done = carry_out(client, status).json()
        file = done["output"][0]["url"].partition("/fhir/R4")[2]
        answer = client.delete(status)
        assert (answer.status_code, answer.content) == (202, b"")
        for gone in (client.get(status), client.get(file), client.delete(status)):
            assert (gone.status_code, code_of(gone)) == (404, "not_found")
        tasks.sweep()
        assert kept(client.tenant) == (0, 0)


def test_running_export_stops(paths, monkeypatch):
    monkeypatch.setattr(batches, "RESOURCES", 1)
    client, levels = paths
    for path in levels:
        status = begun(client, path)
        while kept(client.tenant) == (0, 0):
            worker.advance(client.tenant.id, jobs(client.tenant)[-1].id, at=now())
        assert client.delete(status).status_code == 202
        assert worker.advance(client.tenant.id, jobs(client.tenant)[-1].id, at=now()) is False
        assert jobs(client.tenant)[-1].state == states.CANCELLED
        tasks.sweep()
        assert kept(client.tenant) == (0, 0)


def test_two_at_a_time_of_whatever_level_and_deletion_makes_room(paths):
    client, levels = paths
    first, second = (begun(client, path) for path in levels[1:])
    refused = kick_off(client, levels[0])
    assert (refused.status_code, code_of(refused)) == (429, "exports_running")
    assert int(refused.headers["Retry-After"]) > 0
    assert client.delete(first).status_code == 202
    people = [
        one["entity"]["reference"].partition("/")[2]
        for one in client.get(levels[2].partition("/$export")[0]).json()["member"]
    ]
    third = by_post(client, levels[1], *about(*people))
    assert third.status_code == 202
    assert kick_off(client, levels[0]).status_code == 429
    assert [one.state for one in jobs(client.tenant)] == [states.CANCELLED, states.QUEUED, states.QUEUED]
    assert carry_out(client, second).status_code == 200


def test_deletion_of_what_never_was_is_not_found(client):
    answer = client.delete("/_export/01a1fee5-4919-7d86-880d-d9de07a7e74a")
    assert (answer.status_code, code_of(answer)) == (404, "not_found")
