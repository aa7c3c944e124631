"""Writers at the same moment: real threads, each with its own connection, over the whole stack."""

from collections import Counter

import pytest

from core.db import tenant_context
from core.ids import uuid7_text
from fhir_api import store
from tests.fhir_api.clients import Fhir, code_of, identified, observation, patient, prescriber
from tests.races import race

WRITERS = 16


@pytest.fixture(scope="module")
def doctor():
    return prescriber()


def twin(doctor: Fhir) -> Fhir:
    """The same credential on a connection of its own."""
    found = Fhir(tenant=doctor.tenant)
    found.headers = dict(doctor.headers)
    return found


def all_at_once(doctor, ask, count=WRITERS):
    return race(*(lambda n=n: ask(twin(doctor), n) for n in range(count)))


def statuses(answers):
    return Counter(answer.status_code for answer in answers)


def test_point_22_parallel_conditional_creates_make_exactly_one(doctor):
    value = uuid7_text()
    query = f"identifier=urn:mrn|{value}"
    answers = all_at_once(doctor, lambda api, _: api.post("/Patient", identified(value), If_None_Exist=query))
    assert statuses(answers) == {201: 1, 200: WRITERS - 1}
    assert len({answer.json()["id"] for answer in answers}) == 1


def test_point_23_parallel_conditional_updates_make_one_resource_with_all_versions(doctor):
    value = uuid7_text()
    path = f"/Patient?identifier=urn:mrn|{value}"
    answers = all_at_once(doctor, lambda api, n: api.put(path, identified(value, multipleBirthInteger=n + 1)), 8)
    assert statuses(answers) == {201: 1, 200: 7}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert sorted(int(answer.json()["meta"]["versionId"]) for answer in answers) == list(range(1, 9))


def test_point_5_parallel_updates_with_the_same_tag_change_once(doctor):
    made = doctor.made(patient())
    path = f"/Patient/{made['id']}"
    answers = all_at_once(
        doctor, lambda api, n: api.put(path, {**made, "multipleBirthInteger": n + 1}, If_Match='W/"1"'), 8
    )
    assert statuses(answers) == {200: 1, 412: 7}
    assert doctor.get(path).headers["ETag"] == 'W/"2"'


def test_point_4_parallel_updates_as_create_make_one_and_then_versions(doctor):
    fhir_id = uuid7_text()
    path = f"/Patient/{fhir_id}"
    answers = all_at_once(doctor, lambda api, n: api.put(path, patient(id=fhir_id, multipleBirthInteger=n + 1)), 8)
    assert statuses(answers) == {201: 1, 200: 7}
    assert doctor.get(path).headers["ETag"] == 'W/"8"'


def test_point_7_parallel_creates_under_one_id_with_if_none_match_make_one(doctor):
    fhir_id = uuid7_text()
    path = f"/Patient/{fhir_id}"
    answers = all_at_once(doctor, lambda api, _: api.put(path, patient(id=fhir_id), If_None_Match="*"), 8)
    assert statuses(answers) == {201: 1, 412: 7}


def test_parallel_updates_are_each_later_than_the_one_before(doctor):
    """Who waits for the row read the clock before those who had it; a deletion and what follows it are versions, too."""
    path = f"/Patient/{doctor.made(patient())['id']}"

    def write(api, n):
        for round_number in range(6):
            sent = patient(id=path[9:], multipleBirthInteger=100 * n + round_number + 1)
            entry = {"request": {"method": "PUT", "url": path[1:]}, "resource": sent}
            bundle = {"resourceType": "Bundle", "type": "transaction", "entry": [entry]}
            answers = [api.put(path, sent) if n % 2 else api.post("", bundle)]
            if n == 0:
                answers.append(api.delete(path))
            assert {answer.status_code for answer in answers} <= {200, 201, 204}

    assert all_at_once(doctor, write, 8) == [None] * 8
    told = [one["response"] for one in doctor.get(f"{path}/_history?_count=200").json()["entry"]]
    versions = [int(one["etag"][3:-1]) for one in told]
    moments = [one["lastModified"] for one in told]
    assert versions == list(range(len(told), 0, -1))
    assert len(told) > 48
    assert moments == sorted(set(moments), reverse=True)


def test_who_changes_a_resource_holds_up_nobody_who_refers_to_it(doctor):
    made = doctor.made(patient())
    with tenant_context(doctor.tenant.id):
        store.locked(doctor.tenant.id, [("Patient", made["id"])])
        (answer,) = race(lambda: twin(doctor).post("/Observation", observation(f"Patient/{made['id']}")))
    assert answer.status_code == 201, answer.content


def test_who_deletes_a_resource_holds_up_those_who_refer_to_it(doctor):
    made = doctor.made(patient())
    name = ("Patient", made["id"])
    with tenant_context(doctor.tenant.id):
        store.locked(doctor.tenant.id, [name], deleting=[name])
        (answer,) = race(lambda: twin(doctor).post("/Observation", observation(f"Patient/{made['id']}")))
    assert (answer.status_code, code_of(answer)) == (409, "concurrent_update")
    assert "Retry-After" in answer.headers


def test_point_25_deleting_races_referring_and_no_reference_leads_nowhere(doctor):
    for _ in range(6):
        made = doctor.made(patient())
        subject = f"Patient/{made['id']}"
        deleted, *referred = race(
            lambda subject=subject: twin(doctor).delete(f"/{subject}"),
            *(lambda subject=subject: twin(doctor).post("/Observation", observation(subject)) for _ in range(3)),
        )
        stored = [answer for answer in referred if answer.status_code == 201]
        assert {answer.status_code for answer in referred} <= {201, 422, 409}
        assert deleted.status_code == (409 if stored else 204), (deleted.content, [one.content for one in referred])
