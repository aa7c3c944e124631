"""`Group/{id}/$export`: the records of a group's active members, for who may read the group."""

import pytest

from tests import factories
from tests.fhir_api.clients import Fhir, code_of, observation, patient, prescriber
from tests.fhir_api.exports.asking import (
    about,
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
from tests.fhir_api.exports.test_export import with_scopes
from tests.fhir_api.noted import brief, noted


def member(fhir_id, **more):
    return {"entity": {"reference": f"Patient/{fhir_id}"}, **more}


def group(*members, **more):
    found = {"resourceType": "Group", "type": "person", "actual": True, **more}
    return {**found, "member": list(members)} if members else found


@pytest.fixture(scope="module")
def people(client):
    """Patients with one observation each."""
    found = [client.made(patient())["id"] for _ in range(6)]
    for one in found:
        client.made(observation(f"Patient/{one}"))
    return found


def exporting(client, *members, **more):
    """The path of the export of a new group."""
    return f"/Group/{client.made(group(*members, **more))['id']}/$export"


def whose(client, path):
    return {fhir_id for _, fhir_id in exported(client, f"{path}?_type=Patient")}


def test_group_gives_the_records_of_its_members(client, people):
    path = exporting(client, *map(member, people[:3]))
    given = exported(client, path)
    either = ",".join(people[:3])
    expected = searched(client, f"Patient?_id={either}") | searched(client, f"Observation?subject:Patient={either}")
    assert {name: one for name, one in given.items() if name[0] != "Group"} == expected
    assert len(expected) == 6
    assert {fhir_id for kind, fhir_id in given if kind == "Group"} == {path.split("/")[2]}


def test_manifest_names_the_request(client, people):
    path = exporting(client, member(people[0]))
    assert manifest(client, f"{path}?_type=Patient")["request"].endswith(f"/fhir/R4{path}?_type=Patient")
    answer = by_post(client, path, {"name": "_type", "valueString": "Patient"})
    told = carry_out(client, answer.headers["Content-Location"].partition("/fhir/R4")[2]).json()
    assert told["request"].endswith(f"/fhir/R4{path}")


def test_only_active_members_count(client, people):
    path = exporting(
        client,
        member(people[0], inactive=False, period={"start": "2020"}),
        member(people[1], inactive=True),
        member(people[2], period={"end": "2020-12-31"}),
        member(people[3], period={"start": "2999-01"}),
        member(people[4], period={"start": "2020-01-01T00:00:00Z", "end": "2999"}),
        {"entity": {"display": "somebody"}},
        {"entity": {"reference": "https://elsewhere.example/Patient/1"}},
    )
    assert whose(client, path) == {people[0], people[4]}
    assert ("Group", path.split("/")[2]) not in exported(client, path), "the group names others too"


def test_members_who_are_no_patients_are_passed_over(client, people):
    staff = client.made({"resourceType": "Practitioner"})
    mixed = exporting(client, {"entity": {"reference": f"Practitioner/{staff['id']}"}}, member(people[0]))
    assert whose(client, mixed) == {people[0]}
    assert ("Group", mixed.split("/")[2]) in exported(client, mixed)
    assert exported(client, exporting(client)) == {}


def test_members_are_those_of_the_kick_off(fresh):
    first, second = (fresh.made(patient())["id"] for _ in range(2))
    made = fresh.made(group(member(first)))
    status = begun(fresh, f"/Group/{made['id']}/$export?_type=Patient")
    fresh.put(f"/Group/{made['id']}", {**made, "member": [member(second)]})
    assert [one["id"] for one in fetched(fresh, carry_out(fresh, status).json()["output"])] == [first]
    fresh.delete(f"/Group/{made['id']}")
    assert [one["id"] for one in fetched(fresh, carry_out(fresh, status).json()["output"])] == [first]


def test_parameters_narrow_a_group_as_they_do_an_export_of_patients(client, people):
    path = exporting(client, *map(member, people[:3]))
    query = f"Observation?status=final&patient=Patient/{people[1]},Patient/{people[5]}"
    given = exported(client, f"{path}?_type=Observation&{filtered(query)}&_elements=status")
    assert given == searched(client, f"Observation?patient=Patient/{people[1]}&_elements=status")
    given = resources_of(client, by_post(client, f"{path}?_type=Patient", *about(people[0], people[2])))
    assert {fhir_id for _, fhir_id in given} == {people[0], people[2]}


def test_new_members_are_exported_by_the_pattern_of_the_guide(fresh):
    """Source: Bulk Data Access IG 2.0.0, export.html, "Group Membership Request Pattern"."""
    old, new = (fresh.made(patient())["id"] for _ in range(2))
    made = fresh.made(group(member(old)))
    path = f"/Group/{made['id']}/$export"
    first = manifest(fresh, path)
    fresh.put(f"/Group/{made['id']}", {**made, "member": [member(old), member(new)]})
    late = fresh.made(observation(f"Patient/{old}"))
    known = {one["id"] for one in fetched(fresh, first["output"]) if one["resourceType"] == "Patient"}
    listed = exported(fresh, f"{path}?_type=Patient&_elements=id")
    joined = {fhir_id for _, fhir_id in listed} - known
    assert joined == {new}
    assert set(resources_of(fresh, by_post(fresh, f"{path}?_type=Patient", *about(*joined)))) == {("Patient", new)}
    changed = exported(fresh, f"{path}?_since={first['transactionTime']}")
    assert set(changed) == {("Observation", late["id"]), ("Group", made["id"])}, "what joined is not sent by itself"


def test_who_is_no_active_member_is_refused_and_the_question_is_noted(client, people):
    path = exporting(client, member(people[0]), member(people[1], inactive=True))
    before = len(jobs(client.tenant))
    answer, (row,) = noted(client, lambda: by_post(client, path, *about(*people[:3])))
    assert (answer.status_code, code_of(answer), len(jobs(client.tenant))) == (400, "unknown_patients", before)
    told = answer.json()["issue"][0]["diagnostics"]
    assert [one for one in people if one in told] == people[1:3]
    assert brief(row) == ("export", "Patient", "", [people[0]], 0, 400)


def test_group_that_is_absent_or_deleted_is_refused_and_the_question_is_noted(client, people):
    answer, (row,) = noted(client, lambda: kick_off(client, "/Group/nobody/$export"))
    assert (answer.status_code, code_of(answer)) == (404, "resource_not_found")
    assert brief(row) == ("export", "Group", "nobody", [], 0, 404)
    path = exporting(client, member(people[0]))
    fhir_id = path.split("/")[2]
    client.delete(f"/Group/{fhir_id}")
    answer, (row,) = noted(client, lambda: kick_off(client, path))
    assert (answer.status_code, answer.headers["ETag"]) == (410, 'W/"2"')
    assert brief(row) == ("export", "Group", fhir_id, [], 0, 410)
    assert kick_off(prescriber(factories.provision("provider", plan="enterprise")), path).status_code == 404
    assert kick_off(client, "/Group/$export").status_code == 404
    assert kick_off(client, "/Group/a_b/$export").status_code in (400, 404)


def test_group_that_only_describes_its_members_is_refused(client):
    described = client.made(
        {
            "resourceType": "Group",
            "type": "person",
            "actual": False,
            "characteristic": [{"code": {"text": "age"}, "valueBoolean": True, "exclude": False}],
        }
    )
    answer = kick_off(client, f"/Group/{described['id']}/$export")
    assert (answer.status_code, code_of(answer)) == (400, "invalid_export")


def test_types_outside_of_patients_records_are_refused(client, people):
    path = exporting(client, member(people[0]))
    assert code_of(kick_off(client, f"{path}?_type=Practitioner")) == "invalid_export"
    assert code_of(kick_off(client, f"{path}?{filtered('Practitioner?name=a')}")) == "invalid_export"


def test_scopes_must_let_the_group_be_read(client, people):
    path = exporting(client, member(people[0]))
    for scopes in ("user/Patient.rs", "user/Group.s user/Patient.rs", "user/*.cud"):
        answer = kick_off(with_scopes(client.tenant, scopes), path)
        assert (answer.status_code, code_of(answer)) == (403, "insufficient_scope")
    able = with_scopes(client.tenant, "user/Group.r user/Patient.rs")
    assert {kind for kind, _ in exported(able, path)} == {"Patient"}
    who, _ = factories.member(client.tenant, ["prescriber"])
    bound = Fhir(factories.bearer(who, scopes="patient/*.rs", tenant=client.tenant, patient=people[0]), client.tenant)
    assert code_of(kick_off(bound, path)) == "insufficient_scope"
    desk = with_scopes(client.tenant, "healthcare.read", ["clinic_receptionist"])
    assert code_of(kick_off(desk, path)) == "insufficient_scope"


def test_files_of_a_group_are_in_the_access_log_with_their_patients(client, people):
    told, rows = noted(
        client, lambda: manifest(client, f"{exporting(client, *map(member, people[:2]))}?_type=Observation")
    )
    assert [row.interaction for row in rows if row.interaction == "export"] == [], "nothing left the house yet"
    _, (row,) = noted(client, lambda: fetched(client, told["output"]))
    job = jobs(client.tenant)[-1]
    assert (job.level, job.group_id) == ("group", job.request_url.split("/")[-2])
    assert brief(row) == ("export", "Observation", str(job.id), sorted(people[:2]), 2, 200)


def test_head_and_a_missing_prefer_are_refused_as_at_the_other_levels(client, people):
    path = exporting(client, member(people[0]))
    assert client.call("HEAD", path, Prefer="respond-async").status_code == 405
    assert code_of(client.get(path)) == "async_required"
    assert client.get(path, Prefer="respond-async", Accept="text/html").status_code == 406


def test_capability_statement_names_it(client):
    (rest,) = client.get("/metadata").json()["rest"]
    (of_groups,) = [one for one in rest["resource"] if one["type"] == "Group"]
    definition = "http://hl7.org/fhir/uv/bulkdata/OperationDefinition/group-export"
    assert {"name": "export", "definition": definition} in of_groups["operation"]
