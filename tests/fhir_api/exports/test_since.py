"""`_since`: what changed after a time, what was deleted after it, and nothing twice between two exports."""

import pytest

from tests.fhir_api.clients import code_of, observation, patient
from tests.fhir_api.exports.asking import exported, fetched, filtered, kick_off, manifest, searched
from tests.fhir_api.exports.test_group import group, member


@pytest.fixture
def history(fresh):
    """A time with something before and something after it, and a group of the patient."""
    person = fresh.made(patient())
    gone = fresh.made(observation(f"Patient/{person['id']}"))
    whole = fresh.made(group(member(person["id"])))
    since = manifest(fresh)["transactionTime"]
    fresh.put(f"/Patient/{person['id']}", {**person, "active": True})
    fresh.made(observation(f"Patient/{person['id']}"))
    fresh.made({"resourceType": "Practitioner"})
    assert fresh.delete(f"/Observation/{gone['id']}").status_code == 204
    return fresh, since, f"/Group/{whole['id']}/$export", f"Observation/{gone['id']}"


def test_every_level_gives_what_a_search_by_last_updated_finds(history):
    client, since, group_export, _ = history
    whole = {}
    for kind in ("Patient", "Observation", "Practitioner"):
        whole |= searched(client, f"{kind}?_lastUpdated=gt{since}")
    assert len(whole) == 3
    of_patients = {name: one for name, one in whole.items() if name[0] != "Practitioner"}
    assert exported(client, f"/$export?_since={since}") == whole
    assert exported(client, f"/Patient/$export?_since={since}") == of_patients
    assert exported(client, f"{group_export}?_since={since}") == of_patients


def test_every_level_tells_the_deletions(history):
    client, since, group_export, gone = history
    for path in ("/$export", "/Patient/$export", group_export):
        told = manifest(client, f"{path}?_since={since}")
        (bundle,) = fetched(client, told["deleted"])
        assert bundle["type"] == "transaction"
        assert [one["request"] for one in bundle["entry"]] == [{"method": "DELETE", "url": gone}]
        assert "deleted" not in manifest(client, path)


def test_two_exports_one_after_the_other_leave_nothing_out_and_nothing_twice(history):
    client, since, _, _ = history
    told = manifest(client, f"/$export?_since={since}")
    assert exported(client, f"/$export?_since={told['transactionTime']}") == {}


def test_filter_by_last_updated_is_the_same_question(history):
    client, since, _, _ = history
    query = f"Patient?_lastUpdated=gt{since}"
    assert exported(client, f"/$export?_type=Patient&{filtered(query)}") == exported(
        client, f"/$export?_type=Patient&_since={since}"
    )


@pytest.mark.parametrize("since", ["yesterday", "2026-01-01", "2026-01-01T10:00:00", "2026-13-01T00:00:00Z"])
@pytest.mark.parametrize("path", ["/$export", "/Patient/$export"])
def test_what_is_no_instant_is_refused(client, path, since):
    assert code_of(kick_off(client, f"{path}?_since={since}")) == "invalid_time"


def test_time_to_come_gives_nothing(client):
    client.made(patient())
    assert exported(client, "/$export?_since=2999-01-01T00:00:00Z") == {}
