"""`_typeFilter`: an export gives what the same searches of this server find, as of its time."""

import pytest

from core.clock import now
from core.db import tenant_context
from fhir_api.exports import batches, states, worker
from fhir_api.value_sets.actions import forget, keep
from fhir_api.value_sets.documents import read
from tests.fhir_api.clients import code_of, observation, patient, prescriber
from tests.fhir_api.exports.asking import (
    begun,
    by_post,
    carry_out,
    exported,
    fetched,
    filtered,
    jobs,
    kick_off,
    manifest,
    resources_of,
    searched,
)
from tests.fhir_api.search import record

# A search of each kind of parameter, of each modifier that has SQL of its own, chains in both directions, the columns.
SEARCHES = [
    "Patient?gender=female",
    "Patient?gender:not=female",
    "Patient?name=a",
    "Patient?family:exact=Solo",
    "Patient?given:contains=e",
    "Patient?birthdate=lt1980",
    "Patient?birthdate=ge1950&birthdate=lt2000",
    "Patient?telecom:missing=true",
    "Patient?_has:Observation:patient:status=final",
    "Patient?general-practitioner:missing=false",
    "Patient?_id=animal,pat1,absent",
    "Observation?code=http://loinc.org|8302-2,http://loinc.org|29463-7",
    "Observation?category=vital-signs&date=ge2015",
    "Observation?value-quantity=gt100",
    "Observation?code-value-quantity=http://loinc.org|8302-2$gt100",
    "Observation?patient.gender=male&status=final",
    "Observation?subject:Patient.gender=female",
    "Observation?status:not=final",
    "Encounter?class=AMB&date=ge2010",
    "Condition?clinical-status=active",
    "Condition?code:text=burn",
    "MedicationRequest?status=active,completed",
    "MedicationRequest?identifier:missing=true",
    "Location?near=42.25|-83.69|200|km",
    "Location?partof:below=Location/1",
]


@pytest.fixture(scope="module")
def rich(client):
    """A tenant with the official examples and the patients of Synthea."""
    record.put(client.tenant.id, record.resources(patients=2))
    return client


@pytest.mark.parametrize("query", SEARCHES)
def test_filter_gives_what_its_search_finds(rich, query):
    kind = query.partition("?")[0]
    assert exported(rich, f"/$export?_type={kind}&{filtered(query)}") == searched(rich, query)


def test_each_search_finds_some_and_leaves_some_out(rich):
    """Without this the comparison above would prove little."""
    whole = {kind: len(searched(rich, kind)) for kind in {query.partition("?")[0] for query in SEARCHES}}
    telling = [query for query in SEARCHES if 0 < len(searched(rich, query)) < whole[query.partition("?")[0]]]
    assert sorted(set(SEARCHES) - set(telling)) == []


def test_filters_of_a_type_are_alternatives_and_other_types_are_whole(rich):
    queries = ["Patient?gender=male", "Patient?birthdate=lt1970&gender=female", "Observation?status=preliminary"]
    given = exported(rich, f"/$export?_type=Patient,Observation,Encounter&{filtered(*queries)}")
    expected = {}
    for query in (*queries, "Encounter"):
        expected |= searched(rich, query)
    assert given == expected
    assert exported(rich, f"/$export?_type=Patient,Observation,Encounter&{'&'.join(map(filtered, queries))}") == given


def test_without_types_the_others_are_whole(rich):
    given = exported(rich, f"/$export?{filtered('Observation?status=preliminary')}")
    whole = exported(rich, "/$export")
    others = {name: one for name, one in whole.items() if name[0] != "Observation"}
    assert given == others | searched(rich, "Observation?status=preliminary")


def test_commas_of_a_query_are_its_own(rich):
    query = "Observation?status=cancelled,preliminary"
    together = f"_typeFilter={query},Patient?gender=male,female"
    given = exported(rich, f"/$export?_type=Observation,Patient&{together}")
    assert given == searched(rich, query) | searched(rich, "Patient?gender=male,female")


def test_filter_by_post(rich):
    given = [{"name": "_type", "valueString": "Patient"}, {"name": "_typeFilter", "valueString": "Patient?gender=male"}]
    assert resources_of(rich, by_post(rich, "/$export", *given)) == searched(rich, "Patient?gender=male")


def test_filter_of_patients_records(rich):
    query = "Observation?status=final"
    given = exported(rich, f"/Patient/$export?_type=Observation&{filtered(query)}")
    whole = exported(rich, "/Patient/$export?_type=Observation")
    assert given == {name: one for name, one in searched(rich, query).items() if name in whole}
    assert 0 < len(given) < len(whole)


def running(client, path):
    """An export whose time has come, before its first batch."""
    status = begun(client, path)
    while jobs(client.tenant)[-1].state == states.QUEUED:
        worker.advance(client.tenant.id, jobs(client.tenant)[-1].id, at=now())
    return status


CHANGED = ("Patient", "Observation", "Location")


@pytest.mark.parametrize("query", [one for one in SEARCHES if one.partition("?")[0] in CHANGED])
def test_filter_is_asked_of_what_was_there_at_the_time(monkeypatch, query):
    monkeypatch.setattr(batches, "RESOURCES", 2)
    client, kind = prescriber(), query.partition("?")[0]
    found = record.resources(patients=1)
    record.put(client.tenant.id, found)
    before = searched(client, query)
    status = running(client, f"/$export?_type={kind}&{filtered(query)}")
    for number, one in enumerate(one for one in found if one["resourceType"] == kind):
        now_so = {"resourceType": kind, "id": one["id"], "language": "de"}
        if kind == "Observation":
            now_so |= {"status": "registered", "code": {"text": "changed"}}
        record.change(client.tenant.id, now_so if number % 3 else None, (kind, one["id"]))
    done = carry_out(client, status)
    given = fetched(client, done.json()["output"])
    assert {(one["resourceType"], one["id"]): one for one in given} == before


def test_what_came_to_match_after_the_time_is_not_given(fresh):
    changed, later = fresh.made(patient(gender="male")), patient(id="later", gender="female")
    stays = fresh.made(patient(gender="female"))
    status = running(fresh, f"/$export?_type=Patient&{filtered('Patient?gender=female')}")
    fresh.put(f"/Patient/{changed['id']}", {**changed, "gender": "female"})
    fresh.put("/Patient/later", later)
    assert [one["id"] for one in fetched(fresh, carry_out(fresh, status).json()["output"])] == [stays["id"]]


def test_deletions_are_of_what_met_the_filter(fresh):
    male, female, kept = (fresh.made(patient(gender=one)) for one in ("male", "female", "female"))
    first = manifest(fresh)
    for one in (male, female):
        fresh.delete(f"/Patient/{one['id']}")
    fresh.put(f"/Patient/{kept['id']}", {**kept, "active": True})
    path = f"/$export?_type=Patient&_since={first['transactionTime']}&{filtered('Patient?gender=female')}"
    told = manifest(fresh, path)
    (bundle,) = fetched(fresh, told["deleted"])
    assert [one["request"]["url"] for one in bundle["entry"]] == [f"Patient/{female['id']}"]
    assert [one["id"] for one in fetched(fresh, told["output"])] == [kept["id"]]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("Patient", "invalid_export"),
        ("Patient?", "invalid_export"),
        ("gender=female", "invalid_export"),
        ("/Patient?gender=female", "invalid_export"),
        ("Basic?code=x", "invalid_export"),
        ("Observation?status=final", "invalid_export"),
        ("Patient?gender=", "invalid_search"),
        ("Patient?gender=,", "invalid_search"),
        ("Patient?_sort=name", "invalid_search"),
        ("Patient?gender=male&_count=5", "invalid_search"),
        ("Patient?gender=male&_include=Patient:organization", "invalid_search"),
        ("Patient?gender=male&_revinclude:iterate=Observation:patient", "invalid_search"),
        ("Patient?gender=male&_elements=id", "invalid_search"),
        ("Patient?gender=male&_format=json", "unknown_parameter"),
        ("Patient?favourite=blue", "unknown_parameter"),
        ("Patient?gender:above=male", "invalid_search"),
        ("Patient?name:above=male", "unsupported_search"),
        ("Patient?birthdate=yesterday", "invalid_search"),
        ("Patient?gender:in=http://example.org/nothing", "unknown_value_set"),
    ],
)
@pytest.mark.parametrize("handling", ["strict", "lenient"])
def test_faulty_filter_is_refused_whatever_handling_is_preferred(client, query, code, handling):
    before = len(jobs(client.tenant))
    path = f"/$export?_type=Patient,Practitioner&{filtered(query)}"
    answer = kick_off(client, path, Prefer=f"respond-async, handling={handling}")
    assert (answer.status_code, code_of(answer), len(jobs(client.tenant))) == (400, code, before)


def test_filters_have_a_bound(client):
    many = [f"Patient?_id={number}" for number in range(101)]
    assert code_of(kick_off(client, f"/$export?{filtered(*many)}")) == "invalid_export"
    answer = kick_off(client, f"/$export?_type=Patient&{filtered(*many[:100])}")
    assert answer.status_code == 202
    assert client.delete(answer.headers["Content-Location"].partition("/fhir/R4")[2]).status_code == 202


def test_filter_of_what_the_caller_may_not_search_is_refused(client):
    from tests.fhir_api.exports.test_export import with_scopes

    person = client.made(patient(name=[{"family": "Chained"}]))
    client.made(observation(f"Patient/{person['id']}"))
    narrow = with_scopes(client.tenant, "user/Observation.rs user/Practitioner.r")
    assert code_of(kick_off(narrow, f"/$export?{filtered('Patient?gender=male')}")) == "insufficient_scope"
    query = "Observation?patient.family=Chained"
    assert len(exported(client, f"/$export?_type=Observation&{filtered(query)}")) == 1
    assert exported(narrow, f"/$export?_type=Observation&{filtered(query)}") == searched(narrow, query) == {}


def test_filter_whose_value_set_was_deleted_ends_the_export(fresh):
    address, at = "http://example.org/ValueSet/own", now()
    for fhir_id, code in (("own", "a"), ("other", "b")):
        coding = {"system": "http://example.org/codes", "code": code}
        fresh.made(observation("Patient/nobody", code={"coding": [coding]}) | {"subject": {"display": fhir_id}})
    include = [{"system": "http://example.org/codes", "concept": [{"code": "a"}]}]
    document = read({"resourceType": "ValueSet", "url": address, "compose": {"include": include}})
    with tenant_context(fresh.tenant.id):
        keep(fresh.tenant.id, document, at=at)
    path = f"/$export?_type=Observation&{filtered(f'Observation?code:in={address}')}"
    ((_, one),) = exported(fresh, path).items()
    assert one["subject"] == {"display": "own"}
    status = running(fresh, path)
    with tenant_context(fresh.tenant.id):
        assert forget(fresh.tenant.id, address) == 1
    answer = carry_out(fresh, status)
    assert (answer.status_code, code_of(answer)) == (500, "export_failed")
    assert "filter_not_valid_any_more" in answer.json()["issue"][0]["diagnostics"]
