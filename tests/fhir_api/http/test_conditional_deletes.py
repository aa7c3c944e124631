"""Point 24: conditional deletes of several, all or none, bounded by what the client says."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7_text
from fhir_api import store
from fhir_api.access.models import AccessRecord
from fhir_api.conditions import MOST_DELETED
from fhir_api.models import Method
from ledger.models import Event
from tests.fhir_api.bundles.making import batch, entry, refused, statuses, transaction
from tests.fhir_api.clients import code_of, identified, observation, patient, prescriber
from tests.races import race


@pytest.fixture(scope="module")
def doctor():
    return prescriber()


@pytest.fixture
def value():
    return uuid7_text()


def made(doctor, value, count=3):
    return [doctor.made(identified(value))["id"] for _ in range(count)]


def where(value, count=""):
    return f"/Patient?identifier=urn:mrn|{value}" + (f"&_count={count}" if count else "")


def alive(doctor, ids):
    return [doctor.get(f"/Patient/{fhir_id}").status_code for fhir_id in ids]


def test_point_24_count_lets_several_go(doctor, value):
    ids = made(doctor, value)
    answer = doctor.delete(where(value, "3"))
    assert (answer.status_code, answer.content) == (204, b"")
    assert alive(doctor, ids) == [410] * 3
    assert doctor.delete(where(value, "3")).status_code == 204


@pytest.mark.parametrize("more", ["gender=,", "gender=%2C%2C", "family=,&active=true"])
def test_list_of_nothing_does_not_widen_a_deletion(doctor, value, more):
    ids = made(doctor, value)
    answer = doctor.delete(f"{where(value, '3')}&{more}")
    assert (answer.status_code, code_of(answer)) == (400, "invalid_search")
    assert alive(doctor, ids) == [200] * 3


def test_point_24_more_matches_than_count_are_412_and_nothing_goes(doctor, value):
    ids = made(doctor, value)
    assert code_of(doctor.delete(where(value))) == "multiple_matches"
    answer = doctor.delete(where(value, "2"))
    assert (answer.status_code, code_of(answer)) == (412, "too_many_matches")
    assert alive(doctor, ids) == [200] * 3


@pytest.mark.parametrize("count", ["0", "-1", "many", "1.5", "1&_count=2"])
def test_count_that_is_none_is_400(doctor, value, count):
    ids = made(doctor, value, 1)
    answer = doctor.delete(where(value, count))
    assert (answer.status_code, code_of(answer)) == (400, "invalid_search")
    assert alive(doctor, ids) == [200]


def test_count_above_the_most_is_taken_as_the_most(doctor, value):
    made(doctor, value, 2)
    assert doctor.delete(where(value, "9999999999")).status_code == 204
    wide = doctor.delete("/Patient?_lastUpdated=gt2000&_count=100000")
    assert wide.status_code == 204 or str(MOST_DELETED) in wide.json()["issue"][0]["diagnostics"]


def test_count_alone_is_no_criterion(doctor):
    answer = doctor.delete("/Patient?_count=5")
    assert (answer.status_code, code_of(answer)) == (400, "invalid_search")


def test_only_a_delete_takes_a_count(doctor, value):
    answer = doctor.put(where(value, "2"), identified(value))
    assert (answer.status_code, code_of(answer)) == (400, "unknown_parameter")


def test_what_refers_to_each_other_goes_together(doctor, value):
    ids = [uuid7_text(), uuid7_text()]
    for mine, other in (ids, ids[::-1]):
        doctor.put(f"/Patient/{mine}", identified(value, id=mine))
        link = [{"other": {"reference": f"Patient/{other}"}, "type": "seealso"}]
        doctor.put(f"/Patient/{mine}", identified(value, id=mine, link=link))
    assert doctor.delete(where(value, "2")).status_code == 204
    assert alive(doctor, ids) == [410] * 2


def test_one_that_is_referred_to_keeps_all(doctor, value):
    ids = made(doctor, value, 2)
    doctor.made(observation(f"Patient/{ids[1]}"))
    answer = doctor.delete(where(value, "2"))
    assert (answer.status_code, code_of(answer)) == (409, "still_referenced")
    assert alive(doctor, ids) == [200] * 2


def test_each_has_its_fact_and_all_one_record(doctor, value):
    ids = made(doctor, value)
    before = len(records(doctor))
    doctor.delete(where(value, "3"))
    with tenant_context(doctor.tenant.id):
        told = Event.objects.filter(type="fhir.Patient.deleted", resource_id__in=ids).count()
    assert told == 3
    (record,) = records(doctor)[before:]
    assert (record.interaction, record.resource_type, record.count) == ("delete", "Patient", 3)
    assert record.patients == sorted(ids)
    assert record.parameters == ["_count", "identifier"]


def records(doctor):
    with tenant_context(doctor.tenant.id):
        return list(AccessRecord.objects.filter(interaction="delete").order_by("created_at", "id"))


def test_outcome_tells_how_many(doctor, value):
    made(doctor, value)
    answer = doctor.delete(where(value, "3"), Prefer="return=OperationOutcome")
    assert answer.status_code == 200
    assert "3 resources" in answer.json()["issue"][0]["diagnostics"]


def test_other_tenants_resources_stay(doctor, value):
    ids = made(doctor, value, 2)
    assert prescriber().delete(where(value, "5")).status_code == 204
    assert alive(doctor, ids) == [200] * 2


def test_transaction_deletes_several_and_answers_each_entry_once(doctor, value):
    ids = made(doctor, value)
    other = uuid7_text()
    sent = transaction(
        entry("POST", "Patient", identified(other)),
        entry("DELETE", where(value, "3")[1:]),
        entry("POST", "Patient", patient()),
    )
    assert statuses(doctor.post("", sent)) == [201, 204, 201]
    assert alive(doctor, ids) == [410] * 3


def test_transaction_that_names_one_of_them_beside_is_refused_whole(doctor, value):
    ids = made(doctor, value, 2)
    sent = transaction(entry("DELETE", where(value, "2")[1:]), entry("DELETE", f"Patient/{ids[0]}"))
    assert refused(doctor.post("", sent))[:2] == (400, "resource_named_twice")
    assert alive(doctor, ids) == [200] * 2


def test_batch_entry_beyond_its_count_stands_alone(doctor, value):
    ids, other = made(doctor, value), uuid7_text()
    gone = made(doctor, other, 2)
    sent = batch(entry("DELETE", where(value, "2")[1:]), entry("DELETE", where(other, "2")[1:]))
    assert statuses(doctor.post("", json.loads(json.dumps(sent)))) == [412, 204]
    assert alive(doctor, ids + gone) == [200] * 3 + [410] * 2


def test_what_changed_meanwhile_is_not_deleted_unseen(doctor, value):
    """Of a delete and a change that takes the resource out of the criteria, the second sees the first."""
    ids = made(doctor, value, 4)
    changes = [
        lambda one=one: doctor_of(doctor).put(f"/Patient/{one}", identified(uuid7_text(), id=one)) for one in ids
    ]
    deleted, *changed = race(lambda: doctor_of(doctor).delete(where(value, "4")), *changes)
    assert deleted.status_code in (204, 409)
    assert {answer.status_code for answer in changed} <= {200, 201}
    assert alive(doctor, ids) == [200] * 4


def test_what_matched_in_another_version_is_409(doctor, value):
    """The correction is written but not yet committed when the delete looks for what matches, and is then waited for."""
    (fhir_id,) = made(doctor, value, 1)
    name = ("Patient", fhir_id)
    with ThreadPoolExecutor(1) as pool:
        with tenant_context(doctor.tenant.id):
            before = store.locked(doctor.tenant.id, [name])[name]
            corrected = store.Change(Method.PUT, *name, identified(uuid7_text(), id=fhir_id), before)
            store.write(doctor.tenant.id, [corrected], at=now())
            asked = pool.submit(lambda: doctor_of(doctor).delete(where(value, "2")))
            assert any(blocked() for _ in range(150))
        answer = asked.result(timeout=10)
    assert (answer.status_code, code_of(answer)) == (409, "concurrent_update")
    assert alive(doctor, [fhir_id]) == [200]
    assert doctor.delete(where(value, "2")).status_code == 204


def blocked():
    """Whether another session waits for this one; looked at again after ten milliseconds."""
    time.sleep(0.01)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))")
        return cursor.fetchone() is not None


def doctor_of(doctor):
    """The same credential on a connection of its own."""
    found = type(doctor)(tenant=doctor.tenant)
    found.headers = dict(doctor.headers)
    return found


def test_metadata_says_multiple(doctor):
    resources = doctor.get("/metadata").json()["rest"][0]["resource"]
    assert {one["conditionalDelete"] for one in resources} == {"multiple"}
    assert all("_count" in one["documentation"] and str(MOST_DELETED) in one["documentation"] for one in resources)
