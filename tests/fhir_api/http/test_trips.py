"""How often a FHIR request goes to PostgreSQL: more trips are a decision, not an accident."""

import pytest

from bench.statements import recording
from core.ids import uuid7_text
from tests.fhir_api.clients import observation, patient, prescriber


@pytest.fixture(scope="module")
def doctor():
    found = prescriber()
    found.made(patient())  # the credential is known from here on
    return found


def trips(ask, status):
    with recording() as record:
        answer = ask()
    assert answer.status_code == status, answer.content
    return len(record), record.texts()


def test_reads_are_one_trip_and_one_for_their_record(doctor):
    path = f"/Patient/{doctor.made(patient())['id']}"
    for address in (path, f"{path}/_history/1", f"{path}/_history", "/Patient/_history", "/_history?_count=3"):
        count, texts = trips(lambda address=address: doctor.get(address), 200)
        assert count == 2, (address, texts)


def test_reads_of_no_patients_data_are_one_trip(doctor):
    place = doctor.made({"resourceType": "Location", "name": "Ward"})["id"]
    for address in (f"/Location/{place}", f"/Location/{place}/_history", "/Location/_history"):
        count, texts = trips(lambda address=address: doctor.get(address), 200)
        assert count == 1, (address, texts)


def test_creating_is_three_trips(doctor):
    subject = f"Patient/{doctor.made(patient())['id']}"
    count, texts = trips(lambda: doctor.post("/Observation", observation(subject)), 201)
    assert count == 3, texts


def test_updating_is_four_trips(doctor):
    made = doctor.made(patient())
    count, texts = trips(lambda: doctor.put(f"/Patient/{made['id']}", {**made, "gender": "male"}), 200)
    assert count == 4, texts


def test_updating_without_change_is_three_trips(doctor):
    made = doctor.made(patient())
    count, texts = trips(lambda: doctor.put(f"/Patient/{made['id']}", made), 200)
    assert count == 3, texts


def test_conditional_create_that_matches_is_four_trips_and_one_for_its_record(doctor):
    value = uuid7_text()
    body = patient(identifier=[{"system": "urn:mrn", "value": value}])
    doctor.made(body)
    count, texts = trips(lambda: doctor.post("/Patient", body, If_None_Exist=f"identifier=urn:mrn|{value}"), 200)
    assert count == 5, texts
