"""Bundles as Synthea writes them: two batches of what all refer to, and twenty patients with conditional references."""

from collections import Counter

import pytest

from bench.statements import recording
from fhir_api.resources.types import NAMES
from tests.fhir_api import data
from tests.fhir_api.bundles.making import history, located, responses, statuses
from tests.fhir_api.clients import prescriber

UNCONDITIONED = "PractitionerRole"


@pytest.fixture(scope="module")
def loaded():
    """A tenant with everything, and the answers to its transactions."""
    api = prescriber()
    for one in data.read("prerequisite_batches.json"):
        assert set(statuses(api.post("", one))) == {201}
    return api, [api.post("", one) for one in data.synthea_bundles()]


def counted(api):
    return Counter(NAMES[kind] for kind, _, _ in history(api))


def expected():
    bundles = [*data.read("prerequisite_batches.json"), *data.synthea_bundles()]
    return Counter(one["resource"]["resourceType"] for bundle in bundles for one in bundle["entry"])


def test_everything_is_stored_once(loaded):
    api, answers = loaded
    for answer in answers:
        assert set(statuses(answer)) == {201}
    assert counted(api) == expected()


def test_no_placeholder_and_no_condition_is_left(loaded):
    api, answers = loaded
    for answer, sent in zip(answers, data.synthea_bundles(), strict=True):
        names = [located(one) for one in responses(answer)]
        targets = {one["fullUrl"]: name for one, name in zip(sent["entry"], names, strict=True)}
        for one, name in list(zip(sent["entry"], names, strict=True))[:20]:
            before, after = references(one["resource"]), references(api.get(f"/{name}").json())
            assert len(before) == len(after)
            for was, now in zip(before, after, strict=True):
                assert now == targets.get(was, now)
                assert "?" not in now
                assert "urn:" not in now
                assert was.partition("?")[0] == now.partition("/")[0] or was in targets


def references(value):
    if isinstance(value, list):
        return [one for member in value for one in references(member)]
    if not isinstance(value, dict):
        return []
    own = [value["reference"]] if isinstance(value.get("reference"), str) else []
    return own + [one for member in value.values() for one in references(member)]


def test_second_load_creates_nothing_that_a_condition_finds(loaded):
    api, _ = loaded
    before = counted(api)
    for one in data.read("prerequisite_batches.json"):
        wanted = [201 if sent["request"]["url"] == UNCONDITIONED else 200 for sent in one["entry"]]
        assert statuses(api.post("", one)) == wanted
    after = counted(api)
    assert after == before + Counter({UNCONDITIONED: expected()[UNCONDITIONED]})


def test_transaction_of_185_entries_is_three_trips(loaded):
    """Proof and policies; conditional references; the change with its facts and checks. COMMIT is the fourth."""
    api, _ = loaded
    largest = max(data.synthea_bundles(), key=lambda one: len(one["entry"]))
    assert len(largest["entry"]) == 185
    api.post("", largest)
    with recording() as record:
        assert api.post("", largest).status_code == 200
    assert len(record) == 4, record.texts()


def test_batch_of_390_entries_takes_few_trips(loaded):
    """Four companies of up to a hundred: locks with questions, locks of rows, the change; a savepoint around each."""
    api, _ = loaded
    second = data.read("prerequisite_batches.json")[1]
    with recording() as record:
        assert api.post("", second).status_code == 200
    assert len(record) <= 24, record.texts()
