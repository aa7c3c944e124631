"""An export over HTTP: from the kick-off to the files, what it refuses, and whom."""

import gzip
from datetime import timedelta

import brotli
import pytest

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from core.rounds import until
from fhir_api import compartments
from fhir_api.exports import batches, states, tasks, upkeep, worker
from fhir_api.exports.actions import cancel_export
from fhir_api.exports.models import ExportJob
from ledger.public import Event
from organizations.models import Quota
from organizations.public import consume_quota
from tests import factories
from tests.fhir_api.clients import BASE, Fhir, code_of, issue_type, observation, patient, prescriber, reader
from tests.fhir_api.exports.asking import begun, carry_out, exported, fetched, jobs, kept, kick_off, manifest
from tests.races import race


@pytest.fixture(scope="module")
def person(client):
    return client.made(patient())


def test_everything_is_exported_byte_for_byte(fresh):
    person = fresh.made(patient())
    seen = fresh.made(observation(f"Patient/{person['id']}", valueQuantity={"value": 1.10, "unit": "mg"}))
    staff = fresh.made({"resourceType": "Practitioner", "name": [{"family": "Busch"}]})
    answer = kick_off(fresh, "/$export?_outputFormat=application/fhir%2Bndjson")
    assert (answer.status_code, answer.content) == (202, b"")
    status = answer.headers["Content-Location"]
    assert status.startswith("http")
    path = status.partition(BASE)[2]
    waiting = fresh.get(path)
    assert (waiting.status_code, waiting.headers["Retry-After"]) == (202, "2")
    assert waiting.headers["X-Progress"] == "0 of 29 types, 0 resources"
    done = carry_out(fresh, path)
    assert (done.status_code, done.headers["Content-Type"]) == (200, "application/json")
    assert done.headers["Expires"].endswith("GMT")
    told = done.json()
    assert told["requiresAccessToken"] is True
    assert told["request"].endswith("/fhir/R4/$export?_outputFormat=application/fhir%2Bndjson")
    assert (told["error"], "deleted" in told) == ([], False)
    assert told["transactionTime"] >= seen["meta"]["lastUpdated"]
    lines = b"".join(fresh.get(one["url"].partition(BASE)[2]).content for one in told["output"]).splitlines()
    for made in (person, seen, staff):
        assert fresh.get(f"/{made['resourceType']}/{made['id']}").content in lines
    assert {one["type"] for one in told["output"]} >= {"Patient", "Observation", "Practitioner"}
    (requested, completed) = facts(fresh)
    assert (requested.type, completed.type) == ("fhir_export.requested", "fhir_export.completed")
    assert completed.data["exported"] == len(lines)


def facts(client):
    with tenant_context(client.tenant.id):
        return list(Event.objects.filter(tenant_id=client.tenant.id, type__startswith="fhir_export.").order_by("id"))


def test_parameters_may_come_by_post(client, person):
    client.made(observation(f"Patient/{person['id']}"))
    given = [{"name": "_type", "valueString": "Patient"}, {"name": "_outputFormat", "valueString": "ndjson"}]
    answer = client.post("/$export", {"resourceType": "Parameters", "parameter": given}, Prefer="respond-async")
    assert answer.status_code == 202, answer.content
    told = carry_out(client, answer.headers["Content-Location"].partition(BASE)[2]).json()
    assert [one["type"] for one in told["output"]] == ["Patient"]
    assert told["request"].endswith("/fhir/R4/$export")


def test_patient_level_leaves_out_what_belongs_to_nobody(client, person):
    before = set(exported(client, "/Patient/$export"))
    mine = client.made(observation(f"Patient/{person['id']}"))
    place = client.made({"resourceType": "Location", "name": "Ward"})
    client.made(observation(f"Location/{place['id']}"))
    told = client.made(observation(f"Location/{place['id']}", performer=[{"reference": f"Patient/{person['id']}"}]))
    client.made({"resourceType": "Practitioner"})
    assert set(exported(client, "/Patient/$export")) - before == {("Observation", one["id"]) for one in (mine, told)}
    answer = kick_off(client, "/Patient/$export?_type=Practitioner")
    assert (answer.status_code, code_of(answer), issue_type(answer)) == (400, "invalid_export", "not-supported")


def test_since_gives_what_changed_and_what_was_deleted(fresh):
    person, gone, never = (fresh.made(patient()) for _ in range(3))
    fresh.delete(f"/Patient/{never['id']}")
    first = manifest(fresh)
    later = fresh.made(patient())
    fresh.delete(f"/Patient/{gone['id']}")
    fresh.put(f"/Patient/{person['id']}", {**person, "active": True})
    told = manifest(fresh, f"/$export?_since={first['transactionTime']}")
    assert {one["id"] for one in fetched(fresh, told["output"])} == {later["id"], person["id"]}
    (listed,) = told["deleted"]
    assert listed["type"] == "Bundle"
    (bundle,) = fetched(fresh, [listed])
    assert (bundle["type"], [one["request"] for one in bundle["entry"]]) == (
        "transaction",
        [{"method": "DELETE", "url": f"Patient/{gone['id']}"}],
    )
    assert manifest(fresh, f"/$export?_since={told['transactionTime']}")["output"] == []
    place = fresh.made({"resourceType": "Location", "name": "Ward"})
    mine, nobodys = (fresh.made(observation(whose)) for whose in (f"Patient/{person['id']}", f"Location/{place['id']}"))
    for one in (mine, nobodys):
        fresh.delete(f"/Observation/{one['id']}")
    (bundle,) = fetched(fresh, manifest(fresh, f"/Patient/$export?_since={told['transactionTime']}")["deleted"])
    assert [one["request"]["url"] for one in bundle["entry"]] == [f"Observation/{mine['id']}"]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("_outputFormat=text/csv", "invalid_export"),
        ("_outputFormat=ndjson&_outputFormat=ndjson", "invalid_export"),
        ("_since=2026-01-01", "invalid_time"),
        ("_since=yesterday", "invalid_time"),
        ("_type=Basic", "invalid_export"),
        ("_type=Patient,%00", "invalid_search"),
        ("_since=0001-01-01T00:00:00%2B14:00", "invalid_time"),
        ("_type=patient", "invalid_export"),
        ("_organizeOutputBy=Patient", "unsupported_parameter"),
        ("patient=Patient/1", "unsupported_parameter"),
        ("includeAssociatedData=LatestProvenanceResources", "unsupported_parameter"),
    ],
)
def test_faulty_wish_is_refused_and_nothing_begins(client, query, code):
    before = len(jobs(client.tenant))
    answer = kick_off(client, f"/$export?{query}")
    assert (answer.status_code, code_of(answer), len(jobs(client.tenant))) == (400, code, before)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"resourceType": "Patient"}, "invalid_export"),
        ({"resourceType": "Parameters", "parameter": {}}, "invalid_export"),
        ({"resourceType": "Parameters", "parameter": [{"valueString": "x"}]}, "invalid_export"),
        ({"resourceType": "Parameters", "parameter": [{"name": "_since", "valueInteger": 1}]}, "invalid_export"),
        (
            {"resourceType": "Parameters", "parameter": [{"name": "patient", "valueReference": {}}]},
            "unsupported_parameter",
        ),
    ],
)
def test_faulty_parameters_are_refused(client, body, code):
    before = len(jobs(client.tenant))
    answer = client.post("/$export", body, Prefer="respond-async")
    assert (answer.status_code, code_of(answer), len(jobs(client.tenant))) == (400, code, before)


def test_empty_values_ask_nothing(client):
    told = carry_out(client, begun(client, "/Patient/$export?_type=,&_since=&_outputFormat="))
    assert told.status_code == 200
    assert jobs(client.tenant)[-1].types == list(compartments.CONFINED)


def test_prefer_decides(client, person):
    assert code_of(client.get("/$export")) == "async_required"
    assert code_of(kick_off(client, Prefer="respond-async, handling=never")) == "invalid_prefer"
    told = manifest(client, "/$export?_type=Patient,Basic&_colour=id", Prefer="respond-async, handling=lenient")
    assert [one["type"] for one in told["output"]] == ["Patient"]
    outcomes = fetched(client, told["error"])
    assert [one["issue"][0]["diagnostics"] for one in outcomes] == [
        "'_colour' was ignored.",
        "'_type=Basic' was ignored.",
    ]
    answer = client.call("HEAD", "/$export", Prefer="respond-async")
    assert answer.status_code == 405
    assert client.get("/$export", Prefer="respond-async", Accept="text/html").status_code == 406


def test_file_is_packed_for_who_takes_it(client, person):
    for _ in range(3):
        client.made(patient(name=[{"family": "Gzip" * 100}]))
    (listed,) = manifest(client, "/$export?_type=Patient")["output"]
    path = listed["url"].partition(BASE)[2]
    plain = client.get(path)
    assert "Content-Encoding" not in plain.headers
    packed = client.get(path, Accept_Encoding="br, gzip;q=0.8", Accept="application/fhir+ndjson")
    assert (packed.headers["Content-Encoding"], packed.headers["Vary"]) == ("gzip", "Accept-Encoding")
    assert gzip.decompress(packed.content) == plain.content
    assert len(packed.content) < len(plain.content)
    for refused in ("gzip;q=0", "identity", "gzip;q=0.0, br;q=0, *"):
        assert client.get(path, Accept_Encoding=refused).content == plain.content
    other = client.get(path, Accept_Encoding="gzip;q=0.0, *")
    assert (other.headers["Content-Encoding"], brotli.decompress(other.content)) == ("br", plain.content)
    assert client.get(path, Accept="text/html").status_code == 406


def test_name_with_a_nul_is_no_file(client, person):
    path = manifest(client, "/$export?_type=Patient")["output"][0]["url"].partition(BASE)[2]
    assert client.get(path).status_code == 200
    for name in (f"{path}%00", f"{path}%00.ndjson", f"{path}x"):
        answer = client.get(name)
        assert (answer.status_code, code_of(answer)) == (404, "not_found")


def test_files_are_cut_and_parts_make_one_gzip(fresh, monkeypatch):
    monkeypatch.setattr("fhir_api.exports.batches.RESOURCES", 2)
    monkeypatch.setattr("fhir_api.exports.files.LARGEST", 2_000)
    made = {fresh.made(patient(name=[{"family": "x" * 300}]))["id"] for _ in range(9)}
    told = manifest(fresh, "/$export?_type=Patient")
    assert len(told["output"]) > 1
    assert {one["id"] for one in fetched(fresh, told["output"])} == made
    path = told["output"][0]["url"].partition(BASE)[2]
    assert gzip.decompress(fresh.get(path, Accept_Encoding="gzip").content) == fresh.get(path).content
    assert kept(fresh.tenant) == (len(told["output"]), 5)


def test_who_did_not_ask_finds_nothing(client, person):
    status = begun(client)
    told = carry_out(client, status).json()
    path = told["output"][0]["url"].partition(BASE)[2]
    colleague, stranger = reader(client.tenant), prescriber()
    for other in (colleague, stranger):
        for answer in (other.get(status), other.get(path), other.delete(status)):
            assert (answer.status_code, code_of(answer)) == (404, "not_found")
    foreign = Fhir(stranger.headers["Authorization"].removeprefix("Bearer "), client.tenant)
    assert foreign.get(status).status_code == 403
    assert Fhir("", client.tenant).get(path).status_code == 401
    assert client.get(path).status_code == 200


def with_scopes(tenant, scopes, roles=("prescriber",)):
    who, _ = factories.member(tenant, roles)
    return Fhir(factories.bearer(who, scopes=scopes), tenant)


def test_scopes_choose_the_types(client, person):
    client.made(observation(f"Patient/{person['id']}"))
    narrow = with_scopes(client.tenant, "user/Patient.rs")
    assert {kind for kind, _ in exported(narrow)} == {"Patient"}
    assert code_of(kick_off(narrow, "/$export?_type=Patient,Observation")) == "insufficient_scope"
    for scopes in ("user/Patient.r", "user/Patient.s", "user/*.cud", "patient/*.rs", "openid"):
        answer = kick_off(with_scopes(client.tenant, scopes))
        assert (answer.status_code, code_of(answer)) == (403, "insufficient_scope")
    desk = with_scopes(client.tenant, "healthcare.read", ["clinic_receptionist"])
    assert {kind for kind, _ in exported(desk)} <= {"Patient", "Location", "Practitioner"}
    assert code_of(kick_off(with_scopes(client.tenant, "healthcare.read", ["buyer"]))) == "insufficient_scope"


def test_type_that_is_no_longer_within_reach_is_not_fetched(client, person):
    who, _ = factories.member(client.tenant, ["prescriber"])
    wide = Fhir(factories.bearer(who), client.tenant)
    path = manifest(wide, "/$export?_type=Patient")["output"][0]["url"].partition(BASE)[2]
    narrow = Fhir(factories.bearer(who, scopes="user/Observation.rs"), client.tenant)
    answer = narrow.get(path)
    assert (answer.status_code, code_of(answer)) == (403, "insufficient_scope")


def test_token_of_one_patient_exports_nothing(client, person):
    who, _ = factories.member(client.tenant, ["prescriber"])
    status = begun(Fhir(factories.bearer(who), client.tenant), "/$export?_type=Patient")
    worker.carry_on(go_on=until(5))
    for scopes in ("patient/*.rs", "user/*.rs", "healthcare.read"):
        token = factories.bearer(who, scopes=scopes, tenant=client.tenant, patient=person["id"])
        api = Fhir(token, client.tenant)
        assert api.get(f"/Patient/{person['id']}").status_code == 200
        for answer in (
            kick_off(api),
            kick_off(api, "/Patient/$export"),
            api.get(status),
            api.get(f"{status}/Patient-1.ndjson"),
            api.delete(status),
        ):
            assert (answer.status_code, code_of(answer)) == (403, "insufficient_scope")


def test_plan_without_bulk_export_is_refused():
    small = prescriber(factories.provision("provider", plan="free"))
    answer = kick_off(small)
    assert (answer.status_code, code_of(answer)) == (403, "feature_not_enabled")


def test_tenant_has_two_exports_under_way_at_most(fresh):
    answers = race(*[lambda: kick_off(fresh)] * 4)
    assert sorted(answer.status_code for answer in answers) == [202, 202, 429, 429]
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert (code_of(refused), refused.headers["Retry-After"]) == ("exports_running", "60")
    worker.carry_on(go_on=until(5))
    assert kick_off(fresh).status_code == 202


def test_quota_of_the_day_is_counted():
    small = prescriber(factories.provision("provider", plan="sandbox"))
    for _ in range(5):
        carry_out(small, begun(small, "/$export?_type=Condition"))
    answer = kick_off(small)
    assert (answer.status_code, code_of(answer)) == (403, "quota_exceeded")


def exports_used(client):
    with tenant_context(client.tenant.id):
        return Quota.objects.get(tenant_id=client.tenant.id, key="exports_per_day").used


def test_export_that_is_cancelled_before_it_has_a_file_does_not_count(fresh, monkeypatch):
    monkeypatch.setattr(batches, "RESOURCES", 1)
    for _ in range(2):
        fresh.made(patient())
    assert fresh.delete(begun(fresh)).status_code == 202
    assert exports_used(fresh) == 0
    status = begun(fresh, "/$export?_type=Patient")
    while kept(fresh.tenant) == (0, 0):
        worker.advance(fresh.tenant.id, jobs(fresh.tenant)[-1].id, at=now())
    assert (fresh.get(status).status_code, fresh.delete(status).status_code) == (202, 202)
    assert fresh.delete(status).status_code == 404
    assert exports_used(fresh) == 1
    ended = begun(fresh, "/$export?_type=Condition")
    assert carry_out(fresh, ended).json()["output"] == []
    assert fresh.delete(ended).status_code == 202
    assert exports_used(fresh) == 2


def test_cancelling_races_the_first_file_and_only_what_gave_nothing_does_not_count(fresh):
    fresh.made(patient())
    for _ in range(6):
        used, before, status = exports_used(fresh), kept(fresh.tenant)[0], begun(fresh)
        _, answer = race(lambda: worker.carry_on(go_on=until(0.2)), lambda status=status: fresh.delete(status))
        assert answer.status_code == 202
        assert exports_used(fresh) - used == (kept(fresh.tenant)[0] > before)


def test_unit_of_an_earlier_day_is_not_given_back_to_this_one(fresh):
    begun(fresh)
    (job,) = jobs(fresh.tenant)
    with tenant_context(fresh.tenant.id):
        actor = system_actor(fresh.tenant.id)
        tomorrow = now() + timedelta(days=1)
        consume_quota(actor=actor, key="exports_per_day", at=tomorrow)
        cancel_export(actor=actor, job=job, at=tomorrow)
    assert exports_used(fresh) == 1


def test_repeated_kick_off_with_one_key_is_one_export(client):
    first, second = (kick_off(client, Idempotency_Key="export-1") for _ in range(2))
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.headers["Content-Location"] == second.headers["Content-Location"]
    assert client.delete(first.headers["Content-Location"].partition(BASE)[2]).status_code == 202


def test_cancelled_export_is_gone_with_its_files(client, person):
    status = begun(client)
    path = carry_out(client, status).json()["output"][0]["url"].partition(BASE)[2]
    before = kept(client.tenant)
    assert client.delete(status).status_code == 202
    for answer in (client.get(status), client.get(path), client.delete(status)):
        assert (answer.status_code, code_of(answer)) == (404, "not_found")
    tasks.sweep()
    assert kept(client.tenant) < before
    assert [fact.type for fact in facts(client)][-1] == "fhir_export.cancelled"


def test_expired_files_are_not_given_out_and_swept(client, person):
    status = begun(client)
    path = carry_out(client, status).json()["output"][0]["url"].partition(BASE)[2]
    with tenant_context(client.tenant.id):
        ExportJob.objects.filter(tenant_id=client.tenant.id).exclude(expires_at=None).update(
            expires_at=now() - timedelta(seconds=1)
        )
    for _ in range(2):
        answer = client.get(status)
        assert (answer.status_code, code_of(answer), issue_type(answer)) == (410, "export_expired", "deleted")
        assert client.get(path).status_code == 404
        upkeep.sweep(at=now())
    assert kept(client.tenant) == (0, 0)
    assert jobs(client.tenant)[-1].state == states.EXPIRED
    upkeep.sweep(at=now() + timedelta(days=31))
    assert jobs(client.tenant) == []


def test_sweep_keeps_what_can_be_fetched(client, person):
    told = manifest(client)
    upkeep.sweep(at=now() + timedelta(hours=23))
    assert fetched(client, told["output"])


def test_every_patient_whose_data_is_fetched_is_in_the_access_log(fresh):
    from tests.fhir_api.http.test_access_log import brief, noted

    person, other = fresh.made(patient()), fresh.made(patient())
    for who in (person, other, person):
        fresh.made(observation(f"Patient/{who['id']}"))
    (told, rows) = noted(fresh, lambda: manifest(fresh))
    assert rows == [], "nothing left the house yet"
    _, rows = noted(fresh, lambda: fetched(fresh, told["output"]))
    job = jobs(fresh.tenant)[-1]
    both = sorted([person["id"], other["id"]])
    assert [brief(row) for row in rows] == [
        ("export", "Patient", str(job.id), both, 2, 200),
        ("export", "Observation", str(job.id), both, 3, 200),
    ]
