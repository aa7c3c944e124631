"""Transactions that are refused, each with its entry named, and nothing of them stored: point 40 of the contract."""

import json

import pytest

from tests.fhir_api.bundles.making import batch, bundle, entry, history, refused, statuses, transaction, urn
from tests.fhir_api.clients import identified, issue_type, observation, patient, prescriber


@pytest.fixture
def api():
    return prescriber()


@pytest.mark.parametrize(
    "kind", ["collection", "searchset", "document", "history", "transaction-response", "", None, 1]
)
def test_bundle_of_another_type_is_400(api, kind):
    assert refused(api.post("", bundle(kind, entry("POST", "Patient", patient())))) == (
        400,
        "invalid_bundle",
        "Bundle.type",
    )
    assert history(api) == []


@pytest.mark.parametrize(("name", "place"), [("foo", "Bundle.foo"), ("Bundle.foo", "Bundle"), ("a b", "Bundle")])
def test_unknown_member_of_a_bundle_is_400_and_named(api, name, place):
    sent = transaction(entry("POST", "Patient", patient())) | {name: 1}
    assert refused(api.post("", sent)) == (400, "invalid_entry", place)
    sent = transaction({**entry("POST", "Patient", patient()), name: 1})
    assert refused(api.post("", sent))[2] == place.replace("Bundle", "Bundle.entry[0]")
    assert history(api) == []


BUNDLES = {
    "total": ({"total": 1}, "Bundle.total"),
    "id": ({"id": "a b"}, "Bundle.id"),
    "meta": ({"meta": 5}, "Bundle.meta"),
    "timestamp": ({"timestamp": "foo"}, "Bundle.timestamp"),
    "identifier": ({"identifier": {"use": "mine"}}, "Bundle.identifier"),
    "link": ({"link": [{"relation": "self"}]}, "Bundle.link[0]"),
    "no links": ({"link": []}, "Bundle.link"),
}


@pytest.mark.parametrize("case", BUNDLES)
def test_bundle_of_another_form_is_400_and_named(api, case):
    more, place = BUNDLES[case]
    sent = transaction(entry("POST", "Patient", patient())) | more
    assert refused(api.post("", sent)) == (400, "invalid_entry", place)
    assert history(api) == []


ENTRIES = {
    "search": ({"search": {"mode": "match"}}, "search"),
    "response": ({"response": {"status": "200"}}, "response"),
    "version in the full url": ({"fullUrl": "http://e.org/fhir/Patient/1/_history/1"}, "fullUrl"),
    "empty full url": ({"fullUrl": ""}, "fullUrl"),
    "link": ({"link": 3}, "link"),
    "extension": ({"extension": [{"valueString": "x"}]}, "extension[0]"),
}


@pytest.mark.parametrize("case", ENTRIES)
def test_entry_of_another_form_is_400_and_named(api, case):
    more, place = ENTRIES[case]
    sent = entry("POST", "Patient", patient()) | more
    assert refused(api.post("", transaction(sent))) == (400, "invalid_entry", f"Bundle.entry[0].{place}")
    assert statuses(api.post("", batch(sent))) == [400]
    assert history(api) == []


def test_bundle_with_all_that_it_may_have_is_carried_out(api):
    link = [{"relation": "self", "url": "http://e.org/fhir"}]
    extension = [{"url": "http://e.org/x", "valueString": "x"}]
    sent = transaction(
        {**entry("POST", "Patient", patient(), "http://e.org/fhir/Patient/1"), "id": "e", "link": link}
        | {"extension": extension}
    ) | {
        "id": "b1",
        "meta": {"tag": [{"code": "x"}]},
        "language": "en",
        "identifier": {"value": "1"},
        "timestamp": "2026-01-31T12:30:00Z",
        "link": link,
    }
    assert statuses(api.post("", sent)) == [201]


TWICE = {
    "two updates": [entry("PUT", "Patient/a", patient(id="a")), entry("PUT", "Patient/a", patient(id="a"))],
    "update and delete": [entry("PUT", "Patient/a", patient(id="a")), entry("DELETE", "Patient/a")],
    "two conditional updates": [entry("PUT", "Patient?identifier=urn:mrn|a", identified("a"))] * 2,
    "conditional create and update": [
        entry("POST", "Patient", identified("a"), ifNoneExist="identifier=urn:mrn|a"),
        entry("PUT", "Patient?identifier=urn%3Amrn%7Ca", identified("a")),
    ],
    "conditional create that names its type, and update": [
        entry("POST", "Patient", identified("a"), ifNoneExist="Patient?identifier=urn:mrn|a&gender=female"),
        entry("PUT", "Patient?gender=female&identifier=urn:mrn|a", identified("a")),
    ],
}


@pytest.mark.parametrize("case", TWICE)
def test_resource_that_is_named_twice_is_400(api, case):
    assert refused(api.post("", transaction(*TWICE[case]))) == (400, "resource_named_twice", "Bundle.entry[1]")
    assert history(api) == []


def test_resource_that_two_conditions_find_is_400(api):
    known = api.made(identified("known"))
    answer = api.post(
        "",
        transaction(
            entry("PUT", "Patient?identifier=urn:mrn|known", identified("known")),
            entry("DELETE", f"Patient/{known['id']}"),
        ),
    )
    assert refused(answer)[:2] == (400, "resource_named_twice")
    assert issue_type(answer) == "duplicate"


def test_full_url_of_two_entries_is_400(api):
    who = urn()
    answer = api.post(
        "", transaction(entry("POST", "Patient", patient(), who), entry("POST", "Patient", patient(), who))
    )
    assert refused(answer) == (400, "invalid_entry", "Bundle.entry[1].fullUrl")


def test_preconditions_of_entries_hold(api):
    known = api.made(patient())
    url = f"Patient/{known['id']}"
    stale = api.post("", transaction(entry("PUT", url, {**known, "active": True}, ifMatch='W/"7"')))
    assert refused(stale) == (412, "version_conflict", "Bundle.entry[0]")
    exists = api.post("", transaction(entry("PUT", url, {**known, "active": True}, ifNoneMatch="*")))
    assert refused(exists) == (412, "already_exists", "Bundle.entry[0]")
    malformed = api.post("", transaction(entry("PUT", url, known, ifMatch='W/"x"')))
    assert refused(malformed)[0::2] == (400, "Bundle.entry[0]")
    absent = api.post("", transaction(entry("PUT", "Patient/never", patient(id="never"), ifMatch="*")))
    assert refused(absent) == (412, "version_conflict", "Bundle.entry[0]")
    assert statuses(api.post("", transaction(entry("PUT", url, known, ifMatch="*")))) == [200]
    assert statuses(api.post("", transaction(entry("PUT", url, {**known, "active": True}, ifMatch='W/"1"')))) == [200]


@pytest.mark.parametrize(
    "resource",
    [
        None,
        {"resourceType": "Patient"},
        {"resourceType": "Binary", "contentType": "application/json-patch+json", "data": "%"},
        {"resourceType": "Binary", "contentType": "application/json-patch+json", "data": 1},
        {"resourceType": "Binary", "contentType": "text/plain", "data": ""},
        {"resourceType": "Binary", "contentType": "application/json-patch+json", "data": "eA=="},
        {"resourceType": "Parameters", "parameter": [{"name": "operation"}]},
    ],
)
def test_patch_that_is_none_is_refused_at_its_entry(api, resource):
    known = api.made(patient())
    answer = api.post("", transaction(entry("PATCH", f"Patient/{known['id']}", resource)))
    assert answer.status_code in (400, 422)
    assert refused(answer)[2].startswith("Bundle.entry[0]")
    assert len(history(api)) == 1


MALFORMED = {
    "no request": {"resource": patient()},
    "no object": "Patient",
    "no method": {"request": {"url": "Patient"}, "resource": patient()},
    "unknown method": entry("TRACE", "Patient", patient()),
    "no url": {"request": {"method": "POST"}, "resource": patient()},
    "url of another server": entry("POST", "http://example.org/Patient", patient()),
    "no type": entry("POST", "patient", patient()),
    "no resource": entry("POST", "Patient"),
    "resource is no object": entry("POST", "Patient", []),
    "resource of another type": entry("POST", "Patient", observation("Patient/1")),
    "another id": entry("PUT", "Patient/a", patient(id="b")),
    "no id": entry("PUT", "Patient/a", patient()),
    "invalid id": entry("PUT", "Patient/a_b", patient(id="a_b")),
    "put to a type": entry("PUT", "Patient", patient()),
    "post to an id": entry("POST", "Patient/a", patient()),
    "delete of a type": entry("DELETE", "Patient"),
    "delete of a version": entry("DELETE", "Patient/a/b"),
    "misspelt condition": entry("POST", "Patient", patient(), ifNonExist="identifier=1"),
    "misspelt member": {**entry("POST", "Patient", patient()), "ressource": {}},
    "condition is no text": entry("POST", "Patient", patient(), ifNoneExist=1),
    "full url is no text": {**entry("POST", "Patient", patient()), "fullUrl": 1},
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_entry_is_400_and_named(api, case):
    answer = api.post("", transaction(entry("POST", "Patient", patient()), MALFORMED[case]))
    status, _, place = refused(answer)
    assert (status, place.partition("]")[0]) == (400, "Bundle.entry[1")
    assert history(api) == []


@pytest.mark.parametrize(
    "one",
    [
        entry("POST", "Slot", {"resourceType": "Slot"}),
        entry("DELETE", "Schedule/1"),
        entry("PUT", "Patient/$validate", patient()),
        entry("POST", "Patient/$merge", patient()),
        entry("POST", "Patient/_search", patient()),
        entry("GET", "$export"),
    ],
)
def test_entry_that_is_not_supported_is_422_and_named(api, one):
    """Decision of the contract: another type in an entry is 422 with its place."""
    answer = api.post("", transaction(entry("POST", "Patient", patient()), one))
    assert refused(answer) == (422, "unsupported_entry", "Bundle.entry[1].request.url")
    assert history(api) == []


CRITERIA = {
    "delete": (entry("DELETE", "Patient?foo=1"), "url"),
    "delete without criteria": (entry("DELETE", "Patient?gender="), "url"),
    "update": (entry("PUT", "Patient?birthdate=foo", patient()), "url"),
    "create": (entry("POST", "Patient", patient(), ifNoneExist="foo=1"), "ifNoneExist"),
    "create by another type": (entry("POST", "Patient", patient(), ifNoneExist="Observation?code=1"), "ifNoneExist"),
    "read": (entry("GET", "Patient/a", ifModifiedSince="yesterday"), "ifModifiedSince"),
}


@pytest.mark.parametrize("case", CRITERIA)
def test_condition_that_cannot_be_read_is_400_and_named(api, case):
    one, member = CRITERIA[case]
    status, _, place = refused(api.post("", transaction(entry("POST", "Patient", patient()), one)))
    assert (status, place) == (400, f"Bundle.entry[1].request.{member}")
    assert history(api) == []


def test_fault_in_the_last_entry_leaves_nothing(api):
    """Point 40: one OperationOutcome, nothing stored; each broken rule is named with its entry."""
    good = [entry("POST", "Patient", patient()) for _ in range(30)]
    bad = [entry("POST", "Patient", patient(gender="mann")), entry("POST", "Patient", patient(birthDate="2023-02-30"))]
    answer = api.post("", transaction(*good, *bad))
    assert answer.status_code == 422
    places = {one["expression"][0] for one in answer.json()["issue"]}
    assert places == {"Bundle.entry[30].resource.gender", "Bundle.entry[31].resource.birthDate"}
    assert history(api) == []


def test_read_that_fails_fails_the_transaction(api):
    answer = api.post("", transaction(entry("POST", "Patient", patient()), entry("GET", "Patient/never")))
    assert refused(answer)[0::2] == (404, "Bundle.entry[1]")
    assert history(api) == []


def test_bundle_has_bounds(api):
    answer = api.post("", transaction(*[entry("DELETE", "Patient/a")] * 5_001))
    assert refused(answer) == (400, "too_many_entries", "Bundle.entry")
    big = json.dumps(transaction(entry("POST", "Patient", patient(language="x" * 10 * 1024 * 1024)))).encode()
    assert api.post("", big).status_code == 413


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"resourceType":"Patient"}', b'{"resourceType":"Bundle","type":"batch","type":"batch"}']
)
def test_body_that_is_no_bundle_is_400(api, body):
    assert api.post("", body).status_code == 400


def test_bundle_of_another_media_type_is_415(api):
    assert api.post("", transaction(), media="text/plain").status_code == 415
    assert api.call("PUT", "").status_code == 405
