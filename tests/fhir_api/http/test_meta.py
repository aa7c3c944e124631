"""`$meta`, `$meta-add`, `$meta-delete`: labels as sets, read as far as one may see, changed as any write changes."""

import pytest

from core.db import tenant_context
from fhir_api.access.models import AccessRecord
from ledger import public as ledger
from tests import factories
from tests.fhir_api.clients import Fhir, code_of, observation, patient, prescriber, reader

SYSTEM = "urn:ward"


def label(code, system=SYSTEM, **more):
    return {"system": system, "code": code, **more}


def given(**meta):
    return {"resourceType": "Parameters", "parameter": [{"name": "meta", "valueMeta": meta}]}


def told(answer):
    """The Meta of an answer."""
    assert answer.status_code == 200, answer.content
    found = answer.json()
    assert found["resourceType"] == "Parameters"
    (one,) = found.get("parameter") or [{"name": "return", "valueMeta": {}}]
    assert one.keys() == {"name", "valueMeta"}
    return one["valueMeta"]


@pytest.fixture
def doctor():
    return prescriber()


@pytest.fixture
def made(doctor):
    return doctor.made(patient(meta={"tag": [label("a", display="A")], "profile": ["urn:p"]}))


def address(resource, operation):
    return f"/{resource['resourceType']}/{resource['id']}/{operation}"


def facts(api, resource):
    with tenant_context(api.tenant.id):
        reference = f"{resource['resourceType']}/{resource['id']}"
        found = ledger.Event.objects.filter(tenant_id=api.tenant.id, data__reference=reference)
        return list(found.order_by("occurred_at", "id").values_list("type", flat=True))


def test_labels_are_added_as_sets_in_a_version_of_their_own(doctor, made):
    answer = doctor.post(
        address(made, "$meta-add"),
        given(
            tag=[label("a", display="again", version="2"), label("b"), label("b")],
            security=[label("R")],
            profile=["urn:p", "urn:q"],
        ),
    )

    meta = told(answer)
    assert meta["tag"] == [label("a", display="A"), label("b")]
    assert (meta["security"], meta["profile"], meta["versionId"]) == ([label("R")], ["urn:p", "urn:q"], "2")
    assert answer.headers["ETag"] == 'W/"2"'
    kept = doctor.get(address(made, "")[:-1])
    assert kept.json() == {**made, "meta": meta}
    assert doctor.get(address(made, "_history")).json()["total"] == 2
    assert doctor.get(f"/Patient?_tag={SYSTEM}|b&_security=R&_profile=urn:q").json()["entry"]
    assert facts(doctor, made) == ["fhir.Patient.created", "fhir.Patient.updated"]


def test_labels_are_deleted_and_what_is_not_there_changes_nothing(doctor, made):
    answer = doctor.post(address(made, "$meta-delete"), given(tag=[label("a", version="9")], profile=["urn:none"]))
    assert told(answer).keys() == {"versionId", "lastUpdated", "profile"}
    again = doctor.post(address(made, "$meta-delete"), given(tag=[label("a")]))
    assert (told(again)["versionId"], again.headers["ETag"]) == ("2", 'W/"2"')
    same = doctor.post(address(made, "$meta-add"), given(profile=["urn:p"]))
    assert told(same)["versionId"] == "2"
    assert facts(doctor, made) == ["fhir.Patient.created", "fhir.Patient.updated"]


def test_meta_that_was_read_may_be_sent_back(doctor, made):
    read = told(doctor.get(address(made, "$meta")))
    assert read == made["meta"]
    assert told(doctor.post(address(made, "$meta"), {"resourceType": "Parameters"})) == read
    assert told(doctor.post(address(made, "$meta-add"), given(**read))) == read
    assert told(doctor.post(address(made, "$meta-delete"), given(**read))).keys() == {"versionId", "lastUpdated"}


def test_stale_version_is_refused(doctor, made):
    stale = doctor.post(address(made, "$meta-add"), given(tag=[label("b")]), If_Match='W/"7"')
    assert (stale.status_code, code_of(stale)) == (412, "version_conflict")
    assert told(doctor.get(address(made, "$meta"))) == made["meta"]
    fresh = doctor.post(address(made, "$meta-add"), given(tag=[label("b")]), If_Match='W/"1"')
    assert told(fresh)["versionId"] == "2"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"resourceType": "Parameters"}, 400, "invalid_parameters"),
        (given(source="urn:x"), 400, "invalid_parameters"),
        (given(tag="a"), 400, "invalid_patch"),
        (given(tag=["a"]), 400, "invalid_patch"),
        (given(profile=[1]), 400, "invalid_patch"),
        (given(tag=[label("")]), 422, "invalid_resource"),
        (given(tag=[{"system": SYSTEM, "code": "x", "foo": 1}]), 422, "invalid_resource"),
        (
            given(tag=[label("SUBSETTED", "http://terminology.hl7.org/CodeSystem/v3-ObservationValue")]),
            422,
            "subsetted",
        ),
    ],
)
def test_malformed_labels_are_refused(doctor, made, body, status, code):
    answer = doctor.post(address(made, "$meta-add"), body)
    assert (answer.status_code, code_of(answer)) == (status, code), answer.content
    assert told(doctor.get(address(made, "$meta"))) == made["meta"]


def test_what_is_not_there_is_404_and_what_was_deleted_410(doctor, made):
    assert doctor.post("/Patient/nobody/$meta-add", given(tag=[label("b")])).status_code == 404
    assert doctor.get("/Patient/nobody/$meta").status_code == 404
    assert doctor.get("/Nothing/$meta").status_code == 404
    assert doctor.delete(address(made, "")[:-1]).status_code == 204
    for operation in ("$meta-add", "$meta-delete"):
        assert doctor.post(address(made, operation), given(tag=[label("b")])).status_code == 410
    assert doctor.get(address(made, "$meta")).status_code == 410


def test_labels_in_use_are_told_of_a_type_and_of_all(doctor, made):
    doctor.made(patient(meta={"tag": [label("a", display="A"), label("b")]}))
    doctor.made(patient(meta={"tag": [label("a", display="Another", version="2")]}))
    gone = doctor.made(patient(meta={"tag": [label("gone")]}))
    assert doctor.delete(address(gone, "")[:-1]).status_code == 204
    doctor.made(observation(f"Patient/{made['id']}", meta={"security": [label("R")]}))
    doctor.made(patient())

    of_patients = told(doctor.get("/Patient/$meta"))
    assert of_patients == {"profile": ["urn:p"], "tag": [label("a", display="A"), label("b")]}
    assert told(doctor.get("/$meta")) == {**of_patients, "security": [label("R")]}
    assert told(doctor.post("/Observation/$meta")) == {"security": [label("R")]}
    assert told(doctor.get("/Condition/$meta")) == {}
    assert told(prescriber().get("/$meta")) == {}, "another tenant's labels are not ours"


def test_rights_are_those_of_reads_and_writes(doctor, made):
    only_reads = reader(doctor.tenant)
    assert told(only_reads.get(address(made, "$meta"))) == made["meta"]
    person, _ = factories.member(doctor.tenant, ["prescriber"])

    def scoped(scopes, **more):
        return Fhir(factories.bearer(person, scopes=scopes, tenant=doctor.tenant, **more))

    narrow = scoped("user/Patient.rs")
    assert narrow.get("/Patient/$meta").status_code == 200
    assert narrow.get("/Observation/$meta").status_code == 403
    assert narrow.post(address(made, "$meta-add"), given(tag=[label("b")])).status_code == 403
    doctor.made(observation(f"Patient/{made['id']}", meta={"security": [label("R")]}))
    assert told(narrow.get("/$meta")) == {"profile": ["urn:p"], "tag": [label("a", display="A")]}
    other = doctor.made(patient(meta={"tag": [label("theirs")]}))
    bound = scoped("patient/*.cruds", patient=made["id"])
    assert told(bound.get("/$meta"))["tag"] == [label("a", display="A")]
    assert bound.get(address(other, "$meta")).status_code == 404
    assert bound.post(address(other, "$meta-add"), given(tag=[label("b")])).status_code == 404
    assert told(bound.post(address(made, "$meta-add"), given(tag=[label("b")])))["versionId"] == "2"


def test_writer_who_may_not_read_gets_no_meta(doctor, made):
    person, _ = factories.member(doctor.tenant, ["prescriber"])
    writer = Fhir(factories.bearer(person, scopes="user/Patient.u", tenant=doctor.tenant))
    answer = writer.post(address(made, "$meta-add"), given(tag=[label("b")]))
    assert (answer.status_code, answer.content, answer.headers["ETag"]) == (200, b"", 'W/"2"')


def test_resource_that_the_platform_keeps_is_not_labelled(settings):
    settings.FHIR_PROJECTIONS = True
    doctor = prescriber()
    own = {"resourceType": "Organization", "id": str(doctor.tenant.organization_id)}
    before = told(doctor.get(address(own, "$meta")))
    refused = doctor.post(address(own, "$meta-add"), given(tag=[label("b")]))
    assert (refused.status_code, code_of(refused)) == (409, "projected_resource")
    assert told(doctor.get(address(own, "$meta"))) == before


def test_reads_of_labels_leave_records(doctor, made):
    doctor.get(address(made, "$meta"))
    doctor.get("/Patient/$meta")
    doctor.get("/Organization/$meta")
    with tenant_context(doctor.tenant.id):
        rows = AccessRecord.objects.filter(tenant_id=doctor.tenant.id).order_by("created_at", "id")
        found = list(rows.values_list("interaction", "resource_type", "resource_id", "patients", "count"))
    assert found == [("meta", "Patient", made["id"], [made["id"]], 1), ("meta", "Patient", "", [], 0)]
