"""Nothing of another tenant is shown, found, referred to, counted or changed, whatever interaction asks for it.

Every text of the other tenant's resources holds a canary; ids, identifiers, codes and paging links of theirs are used by us.
"""

import json

import pytest

from core.ids import uuid7_text
from fhir_api.compartments import types_of
from fhir_api.definitions.facts import COMPARTMENTS
from tests import factories
from tests.fhir_api import data
from tests.fhir_api.clients import BASE, observation, patient, prescriber
from tests.fhir_api.search import record


class Record:
    """One tenant's record: a patient with what belongs to him, told by a canary that nobody else has."""

    def __init__(self):
        self.tenant = factories.provision("provider")
        self.doctor = prescriber(self.tenant)
        self.canary = f"canary{factories.suffix()}"
        name = [{"family": self.canary, "given": [self.canary]}]
        identifier = [{"system": f"urn:{self.canary}", "value": self.canary}]
        made = self.doctor.made
        self.practitioner = made({"resourceType": "Practitioner", "name": name, "identifier": identifier})
        self.patient = made(patient(name=name, identifier=identifier))
        subject = f"Patient/{self.patient['id']}"
        note = [{"text": self.canary}]
        performer = [{"reference": f"Practitioner/{self.practitioner['id']}"}]
        self.observations = [
            made(observation(subject, note=note, identifier=identifier, performer=performer)) for _ in range(3)
        ]
        changed = self.doctor.put(f"/Patient/{self.patient['id']}", {**self.patient, "active": True})
        assert changed.status_code == 200
        self.further = self.keep_further()
        self.link = next_link(self.doctor.get(f"/Observation?patient={self.patient['id']}&_count=1"))

    def keep_further(self):
        """One official example of each further type, with an id and a tag that tell whose it is."""
        tag = {"tag": [{"system": f"urn:{self.canary}", "code": self.canary}]}
        of_types = {one["resourceType"]: one for one in data.read_lines("r4-more-examples.ndjson.gz")}
        found = [{**one, "id": f"{self.canary}-{n}", "meta": tag} for n, one in enumerate(of_types.values())]
        record.put(self.tenant.id, found)
        return found

    def ids(self):
        own = (self.patient, self.practitioner, *self.observations, *self.further)
        return [one["id"] for one in own]


def next_link(answer):
    """The path of a page's next link below the base."""
    (found,) = [link["url"] for link in answer.json()["link"] if link["relation"] == "next"]
    return found.partition(BASE)[2]


@pytest.fixture(scope="module")
def mine():
    return Record()


@pytest.fixture(scope="module")
def theirs():
    return Record()


def questions(theirs):
    """Everything that can be asked about their record."""
    patient_id, seen = theirs.patient["id"], theirs.observations[0]["id"]
    word, token = theirs.canary, f"urn:{theirs.canary}|{theirs.canary}"
    yield from (
        f"/Patient/{patient_id}",
        f"/Patient/{patient_id}/_history",
        f"/Patient/{patient_id}/_history/1",
        f"/Observation/{seen}",
        f"/Observation/{seen}/_history",
        "/Patient/_history",
        "/_history",
        theirs.link,
    )
    for search in (
        f"/Patient?_id={patient_id}",
        f"/Patient?family={word}",
        f"/Patient?name:contains={word[2:]}",
        f"/Patient?identifier={token}",
        f"/Patient?_has:Observation:patient:identifier={token}",
        f"/Observation?identifier={token}",
        f"/Observation?patient={patient_id}",
        f"/Observation?subject=Patient/{patient_id}",
        f"/Observation?patient.family={word}",
        f"/Observation?patient.identifier={token}",
        f"/Observation?performer:Practitioner.name={word}",
        f"/Practitioner?_has:Observation:performer:patient.family={word}",
    ):
        yield search
        yield f"{search}&_include=*&_revinclude=*&_count=200"
        yield f"{search}&_summary=count"
        yield f"{search}&_total=accurate&_sort=-_lastUpdated"
    for kind, fhir_id in (
        ("Patient", patient_id),
        ("Practitioner", theirs.practitioner["id"]),
        *((one["resourceType"], one["id"]) for one in theirs.further if one["resourceType"] in COMPARTMENTS),
    ):
        for member in (*types_of(kind), "*"):
            yield f"/{kind}/{fhir_id}/{member}"
            yield f"/{kind}/{fhir_id}/{member}?_include=*&_revinclude=*&_count=200&_total=accurate"
    for one in theirs.further:
        kind = one["resourceType"]
        yield from (f"/{kind}/{one['id']}", f"/{kind}/{one['id']}/_history", f"/{kind}/_history")
        yield f"/{kind}?_tag={token}&_include=*&_revinclude=*&_count=200"
        yield f"/{kind}?_tag={token}&_summary=count"
    yield "/Patient?_revinclude=Observation:patient&_count=200"
    yield "/Observation?_include=Observation:patient&_include=Observation:performer&_count=200"
    yield "?_type=Patient,Observation,Practitioner&_count=200"


def test_their_record_answers_its_own_doctor(theirs):
    told = [question for question in questions(theirs) if theirs.canary in theirs.doctor.get(question).content.decode()]
    assert len(told) > 80


def test_no_question_of_ours_shows_anything_of_theirs(mine, theirs):
    for question in questions(theirs):
        answer = mine.doctor.get(question)
        shown = answer.content.decode().replace(question.partition("?")[2], "")
        assert answer.status_code in (200, 400, 404, 410), (question, answer.content)
        document = json.loads(shown)
        entries = json.dumps(
            [one for one in document.get("entry", []) if one.get("search", {}).get("mode") != "outcome"]
        )
        assert theirs.canary not in entries, question
        assert not any(fhir_id in entries for fhir_id in theirs.ids()), question
        if "_summary=count" in question:
            assert document["total"] == 0, question


def test_their_tenant_in_our_header_is_refused(mine, theirs):
    doctor = prescriber(mine.tenant)
    doctor.headers["X-Tenant-Id"] = str(theirs.tenant.id)
    for question in questions(theirs):
        assert doctor.get(question).status_code == 403, question


def test_no_write_of_ours_reaches_theirs(mine, theirs):
    patient_id, seen = theirs.patient["id"], theirs.observations[0]["id"]
    token = f"urn:{theirs.canary}|{theirs.canary}"
    gone = [{"op": "replace", "path": "/status", "value": "amended"}]
    call = mine.doctor.call
    assert call("PATCH", f"/Observation/{seen}", gone, media="application/json-patch+json").status_code == 404
    assert (
        call("PATCH", f"/Observation?identifier={token}", gone, media="application/json-patch+json").status_code == 404
    )
    assert call("DELETE", f"/Observation/{seen}").status_code == 204, "nothing was there"
    assert call("DELETE", f"/Observation?identifier={token}").status_code == 204
    refused = call("POST", "/Observation", observation(f"Patient/{patient_id}"))
    assert refused.status_code == 422, "their patient does not exist for us"
    own = call("PUT", f"/Patient/{patient_id}", patient(id=patient_id))
    assert (own.status_code, own.headers["ETag"]) == (201, 'W/"1"'), "the same id is another resource in our tenant"
    made = call("POST", "/Patient", patient(), If_None_Exist=f"identifier={token}")
    assert made.status_code == 201, "their identifier matches nothing of ours"
    again = theirs.doctor.get(f"/Patient/{patient_id}")
    assert (again.headers["ETag"], again.json()["name"][0]["family"]) == ('W/"2"', theirs.canary)
    assert theirs.doctor.get(f"/Observation/{seen}").headers["ETag"] == 'W/"1"'


def test_no_transaction_of_ours_resolves_to_theirs(mine, theirs):
    token = f"urn:{theirs.canary}|{theirs.canary}"

    def bundle(kind, *entries):
        return {"resourceType": "Bundle", "type": kind, "entry": list(entries)}

    def entry(method, url, resource=None, **more):
        found = {"request": {"method": method, "url": url, **more}}
        return found | ({"resource": resource, "fullUrl": f"urn:uuid:{uuid7_text()}"} if resource else {})

    by_condition = observation(f"Patient?identifier={token}")
    refused = mine.doctor.post("", bundle("transaction", entry("POST", "Observation", by_condition)))
    assert refused.status_code == 412, refused.content
    asked = [question.removeprefix("/") for question in questions(theirs) if not question.startswith("?")]
    told = mine.doctor.post("", bundle("batch", *(entry("GET", question) for question in asked if "$" not in question)))
    assert told.status_code == 200, told.content[:300]
    shown = json.dumps([one.get("resource") for one in told.json()["entry"]])
    for question in asked:
        shown = shown.replace(question.partition("?")[2], "") if "?" in question else shown
    assert f'"{theirs.canary}"' not in shown
    assert not any(f'"id": "{fhir_id}"' in shown for fhir_id in theirs.ids()[1:])
