"""Transactions over HTTP: point 40 of the contract. All of a Bundle is stored, or nothing of it."""

import base64
import json

import pytest

from tests import factories
from tests.fhir_api.bundles.making import (
    batch,
    entry,
    history,
    located,
    refused,
    responses,
    statuses,
    transaction,
    urn,
)
from tests.fhir_api.clients import FHIR, Fhir, identified, observation, patient, prescriber, reader

PRACTITIONER = {"resourceType": "Practitioner", "name": [{"family": "Rot"}]}


@pytest.fixture
def api():
    return prescriber()


def test_transaction_answers_in_the_order_of_the_request_with_all_members(api):
    """Point 40; the order of carrying out is another: DELETE, POST, PUT, GET."""
    old = api.made(patient())
    answer = api.post(
        "",
        transaction(
            entry("GET", "Patient/put-1"),
            entry("PUT", "Patient/put-1", patient(id="put-1")),
            entry("POST", "Patient", patient()),
            entry("DELETE", f"Patient/{old['id']}"),
        ),
    )
    read, put, made, deleted = responses(answer)
    assert answer.headers["Content-Type"] == "application/fhir+json; charset=utf-8"
    assert (answer.json()["resourceType"], answer.json()["type"]) == ("Bundle", "transaction-response")
    assert [one["status"] for one in (read, put, made, deleted)] == [
        "200 OK",
        "201 Created",
        "201 Created",
        "204 No Content",
    ]
    assert put["location"].endswith("/fhir/R4/Patient/put-1/_history/1")
    for one in (read, put, made):
        assert (one["etag"], one["lastModified"][-1]) == ('W/"1"', "Z")
    stored = api.get(f"/{located(made)}").json()
    assert made["lastModified"] == stored["meta"]["lastUpdated"]
    assert answer.json()["entry"][0]["resource"]["id"] == "put-1"
    assert "resource" not in answer.json()["entry"][1]
    assert api.get(f"/Patient/{old['id']}").status_code == 410


def test_representation_is_answered_on_request(api):
    answer = api.post("", transaction(entry("POST", "Patient", patient())), Prefer="return=representation")
    (one,) = answer.json()["entry"]
    assert one["resource"] == api.get(f"/{located(one['response'])}").json()
    told = api.post("", transaction(entry("POST", "Patient", patient())), Prefer="return=OperationOutcome")
    assert responses(told)[0]["outcome"]["issue"][0]["severity"] == "information"


def test_empty_transaction_is_fine(api):
    assert api.post("", transaction()).json() == {"resourceType": "Bundle", "type": "transaction-response"}
    assert api.post("/", {"resourceType": "Bundle", "type": "transaction"}).status_code == 200


def test_placeholders_are_replaced_where_links_are(api):
    """Point 40: references, uri, url, oid, uuid and narratives; not canonicals, not other texts."""
    who, what, oid = urn(), urn(), "urn:oid:1.2.3.4"
    div = f'<div xmlns="http://www.w3.org/1999/xhtml"><a href="{who}">x</a> <img src="{oid}" alt="a"/> {who}</div>'
    extensions = [
        {"url": "http://e/uri", "valueUri": who},
        {"url": "http://e/url", "valueUrl": who},
        {"url": "http://e/uuid", "valueUuid": who},
        {"url": "http://e/oid", "valueOid": oid},
        {"url": "http://e/canonical", "valueCanonical": who},
        {"url": "http://e/string", "valueString": who},
        {"url": "http://e/reference", "valueReference": {"reference": oid}},
    ]
    seen = observation(
        who,
        text={"status": "generated", "div": div},
        extension=extensions,
        identifier=[{"system": "urn:ietf:rfc:3986", "value": who}],
        hasMember=[{"reference": what}],
        performer=[{"reference": oid, "display": who}],
    )
    answer = api.post(
        "",
        transaction(
            entry("POST", "Observation", seen),
            entry("POST", "Patient", patient(), who),
            entry("POST", "Observation", observation(who), what),
            entry("POST", "Practitioner", PRACTITIONER, oid),
        ),
    )
    first, second, third, fourth = (located(one) for one in responses(answer))
    stored = api.get(f"/{first}").json()
    assert stored["subject"] == {"reference": second}
    assert stored["hasMember"] == [{"reference": third}]
    assert stored["performer"] == [{"reference": fourth, "display": who}]
    assert stored["identifier"] == [{"system": "urn:ietf:rfc:3986", "value": who}]
    assert stored["text"]["div"] == div.replace(f'"{who}"', f'"{second}"').replace(f'"{oid}"', f'"{fourth}"')
    assert stored["extension"] == [
        {"url": "http://e/uri", "valueUri": second},
        {"url": "http://e/url", "valueUrl": second},
        {"url": "http://e/uuid", "valueUri": second},  # a relative link is no uuid
        {"url": "http://e/oid", "valueUri": fourth},
        {"url": "http://e/canonical", "valueCanonical": who},
        {"url": "http://e/string", "valueString": who},
        {"url": "http://e/reference", "valueReference": {"reference": fourth}},
    ]


def test_placeholders_in_contained_resources_and_beside_primitives_are_replaced(api):
    who = urn()
    seen = observation(
        who,
        contained=[{"resourceType": "Observation", "id": "c", **observation(who)}],
        derivedFrom=[{"reference": "#c"}],
        _status={"extension": [{"url": "http://e/uri", "valueUri": who}]},
    )
    answer = api.post("", transaction(entry("POST", "Observation", seen), entry("POST", "Patient", patient(), who)))
    first, second = (located(one) for one in responses(answer))
    stored = api.get(f"/{first}").json()
    assert stored["contained"][0]["subject"] == {"reference": second}
    assert stored["_status"]["extension"] == [{"url": "http://e/uri", "valueUri": second}]


def test_full_urls_of_another_server_are_replaced(api):
    """References relative to an entry's own server lead to its entries. Source: R4 bundle.html#references."""
    there = "http://other.example.org/fhir"
    answer = api.post(
        "",
        transaction(
            entry("POST", "Patient", patient(id="23"), f"{there}/Patient/23"),
            entry("POST", "Observation", observation("Patient/23"), f"{there}/Observation/1"),
            entry("POST", "Observation", observation(f"{there}/Patient/23"), f"{there}/Observation/2"),
        ),
    )
    first, second, third = (located(one) for one in responses(answer))
    assert first != "Patient/23"
    for one in (second, third):
        assert api.get(f"/{one}").json()["subject"] == {"reference": first}


def test_versions_of_entries_are_replaced(api):
    """What an entry says it is; another version of it is not of this Bundle. Source: R4 bundle.html#references."""
    there = "http://other.example.org/fhir"
    answer = api.post(
        "",
        transaction(
            entry("POST", "Patient", patient(id="23", meta={"versionId": "4"}), f"{there}/Patient/23"),
            entry("POST", "Observation", observation("Patient/23/_history/4"), f"{there}/Observation/1"),
            entry("POST", "Observation", observation(f"{there}/Patient/23/_history/4")),
            entry("POST", "Observation", observation(f"{there}/Patient/23/_history/3")),
        ),
    )
    first, *others = (located(one) for one in responses(answer))
    assert [api.get(f"/{one}").json()["subject"]["reference"] for one in others] == [
        first,
        first,
        f"{there}/Patient/23/_history/3",
    ]


def test_reference_to_a_placeholder_that_is_no_entry_is_400(api):
    answer = api.post(
        "", transaction(entry("POST", "Patient", patient(), urn()), entry("POST", "Observation", observation(urn())))
    )
    assert refused(answer) == (400, "unresolved_reference", "Bundle.entry[1].resource.subject.reference")
    assert history(api) == []


def test_conditional_references_are_resolved(api):
    """Point 40; those that mean something of the same Bundle too, since they are resolved last."""
    stored = api.made({**PRACTITIONER, "identifier": [{"system": "urn:npi", "value": "1"}]})
    new = {**PRACTITIONER, "identifier": [{"system": "urn:npi", "value": "2"}]}
    seen = observation(
        "Patient?identifier=urn:mrn|7",
        performer=[{"reference": f"Practitioner?identifier=urn:npi|{n}"} for n in (1, 2)],
    )
    answer = api.post(
        "",
        transaction(
            entry("POST", "Observation", seen),
            entry("POST", "Patient", identified("7")),
            entry("POST", "Practitioner", new),
        ),
    )
    first, second, third = (located(one) for one in responses(answer))
    found = api.get(f"/{first}").json()
    assert found["subject"] == {"reference": second}
    assert found["performer"] == [{"reference": f"Practitioner/{stored['id']}"}, {"reference": third}]


def test_conditional_reference_that_matches_none_or_several_is_412(api):
    for _ in range(2):
        api.made(identified("twice"))
    before = history(api)
    for value in ("never", "twice"):
        seen = observation(f"Patient?identifier=urn:mrn|{value}")
        answer = api.post("", transaction(entry("POST", "Patient", patient()), entry("POST", "Observation", seen)))
        place = "Bundle.entry[1].resource.subject.reference"
        assert refused(answer) == (412, "conditional_reference_failed", place)
    assert history(api) == before


def test_conditional_reference_to_what_the_transaction_deletes_is_412(api):
    gone = api.made(identified("gone"))
    seen = observation("Patient?identifier=urn:mrn|gone")
    answer = api.post("", transaction(entry("POST", "Observation", seen), entry("DELETE", f"Patient/{gone['id']}")))
    assert refused(answer)[:2] == (412, "conditional_reference_failed")


@pytest.mark.parametrize(
    ("reference", "code"),
    [("Patient?haircut=short", "unknown_parameter"), ("Slot?status=free", "unsupported_entry")],
)
def test_conditional_reference_with_criteria_that_cannot_be_asked_is_refused_at_its_place(api, reference, code):
    answer = api.post("", transaction(entry("POST", "Observation", observation(reference))))
    assert answer.status_code in (400, 422)
    assert refused(answer)[1:] == (code, "Bundle.entry[0].resource.subject.reference")


def test_conditional_references_of_another_tenant_see_nothing(api):
    mine = api.made(identified("shared"))
    other = prescriber()
    seen = observation("Patient?identifier=urn:mrn|shared")
    assert refused(other.post("", transaction(entry("POST", "Observation", seen))))[1] == "conditional_reference_failed"
    answer = other.post(
        "", transaction(entry("POST", "Patient", identified("shared"), ifNoneExist="identifier=urn:mrn|shared"))
    )
    assert statuses(answer) == [201]
    assert located(responses(answer)[0]) != f"Patient/{mine['id']}"


def test_conditional_create_update_and_delete(api):
    known, gone = api.made(identified("known")), api.made(identified("gone"))
    answer = api.post(
        "",
        transaction(
            entry("POST", "Patient", identified("known"), ifNoneExist="identifier=urn:mrn|known"),
            entry("POST", "Patient", identified("new"), ifNoneExist="identifier=urn:mrn|new"),
            entry("PUT", "Patient?identifier=urn:mrn|put", identified("put")),
            entry("DELETE", "Patient?identifier=urn:mrn|gone"),
            entry("DELETE", "Patient?identifier=urn:mrn|never"),
        ),
    )
    assert statuses(answer) == [200, 201, 201, 204, 204]
    assert located(responses(answer)[0]) == f"Patient/{known['id']}"
    assert api.get(f"/Patient/{known['id']}").json() == known
    assert api.get(f"/Patient/{gone['id']}").status_code == 410


def test_references_lead_to_what_a_conditional_create_found(api):
    known, who = api.made(identified("known")), urn()
    answer = api.post(
        "",
        transaction(
            entry("POST", "Observation", observation(who)),
            entry("POST", "Patient", identified("known"), who, ifNoneExist="identifier=urn:mrn|known"),
        ),
    )
    assert api.get(f"/{located(responses(answer)[0])}").json()["subject"] == {"reference": f"Patient/{known['id']}"}


def test_conditional_create_does_not_find_what_the_transaction_deletes(api):
    """DELETE comes before POST. Source: R4 http.html#trules."""
    gone = api.made(identified("again"))
    answer = api.post(
        "",
        transaction(
            entry("POST", "Patient", identified("again"), ifNoneExist="identifier=urn:mrn|again"),
            entry("DELETE", f"Patient/{gone['id']}"),
        ),
    )
    assert statuses(answer) == [201, 204]
    assert located(responses(answer)[0]) != f"Patient/{gone['id']}"


def test_equal_conditional_creates_of_one_transaction_create_once(api):
    one, other = urn(), urn()
    answer = api.post(
        "",
        transaction(
            entry("POST", "Patient", identified("once"), one, ifNoneExist="identifier=urn:mrn|once"),
            entry("POST", "Patient", identified("once"), other, ifNoneExist="identifier=urn:mrn|once"),
            entry("POST", "Observation", observation(one)),
            entry("POST", "Observation", observation(other)),
        ),
    )
    first, second, *seen = responses(answer)
    assert (first["status"][:3], second["status"][:3]) == ("201", "200")
    assert located(first) == located(second)
    assert {api.get(f"/{located(one)}").json()["subject"]["reference"] for one in seen} == {located(first)}


def test_patches_come_as_binary_or_parameters(api):
    one, two, who = api.made(patient()), api.made(patient()), urn()
    operations = [{"op": "add", "path": "/generalPractitioner", "value": [{"reference": who}]}]
    binary = {
        "resourceType": "Binary",
        "contentType": "application/json-patch+json; charset=utf-8",
        "data": base64.b64encode(json.dumps(operations).encode()).decode(),
    }
    parts = {
        "type": {"valueCode": "replace"},
        "path": {"valueString": "Patient.gender"},
        "value": {"valueCode": "other"},
    }
    parameters = {
        "resourceType": "Parameters",
        "parameter": [{"name": "operation", "part": [{"name": name, **value} for name, value in parts.items()]}],
    }
    answer = api.post(
        "",
        transaction(
            entry("PATCH", f"Patient/{one['id']}", binary),
            entry("PATCH", f"Patient/{two['id']}", parameters),
            entry("POST", "Practitioner", PRACTITIONER, who),
        ),
    )
    assert statuses(answer) == [200, 200, 201]
    assert api.get(f"/Patient/{one['id']}").json()["generalPractitioner"] == [
        {"reference": located(responses(answer)[2])}
    ]
    assert api.get(f"/Patient/{two['id']}").json()["gender"] == "other"


def test_reads_see_what_the_transaction_wrote(api):
    known = api.made(patient())
    url = f"Patient/{known['id']}"
    answer = api.post(
        "",
        transaction(
            entry("GET", f"{url}/_history"),
            entry("GET", f"{url}/_history/1"),
            entry("GET", url),
            entry("HEAD", url),
            entry("GET", url, ifNoneMatch='W/"2"'),
            entry("PUT", url, {**known, "active": True}),
        ),
    )
    told, first, second, head, unchanged, _ = answer.json()["entry"]
    assert [one["resource"]["meta"]["versionId"] for one in told["resource"]["entry"]] == ["2", "1"]
    assert (first["resource"]["meta"]["versionId"], second["resource"]["meta"]["versionId"]) == ("1", "2")
    assert (head["response"]["etag"], "resource" in head) == ('W/"2"', False)
    assert unchanged["response"] == {"status": "304 Not Modified", "etag": 'W/"2"'}


def test_who_only_reads_may_only_read_in_bundles(api):
    known = api.made(patient())
    other = reader(api.tenant)
    reading, writing = entry("GET", f"Patient/{known['id']}"), entry("POST", "Patient", patient())
    assert statuses(other.post("", transaction(reading))) == [200]
    assert other.post("", transaction(reading, writing)).status_code == 403
    assert statuses(other.post("", batch(writing, reading))) == [403, 200]
    assert len(history(api)) == 1


def test_repeated_bundle_with_one_key_is_carried_out_once(api):
    sent = transaction(entry("POST", "Patient", patient()))
    first, second = (api.post("", sent, Idempotency_Key="k") for _ in range(2))
    assert (first.content, second.headers["Idempotency-Replayed"]) == (second.content, "true")
    assert len(history(api)) == 1
    assert api.post("", transaction(), Idempotency_Key="k").status_code == 422


def test_digits_and_extensions_of_entries_are_kept(api):
    raw = b"""{"resourceType":"Bundle","type":"transaction","entry":[{"request":{"method":"PUT","url":"Observation/o"},
    "resource":{"resourceType":"Observation","id":"o","status":"final","code":{"text":"x"},
    "valueQuantity":{"value":1.10,"_value":{"id":"v"}}}}]}"""
    assert api.post("", raw, media=FHIR).status_code == 200
    assert b'"value":1.10,"_value":{"id":"v"}' in api.get("/Observation/o").content


def test_scopes_of_the_token_hold_for_each_entry(api):
    person, _ = factories.member(api.tenant, ["prescriber"])
    token = factories.bearer(person, scopes="healthcare.read healthcare.write user/Patient.cruds user/Observation.u")
    narrow = Fhir(token, api.tenant)
    (made,) = responses(narrow.post("", transaction(entry("POST", "Patient", patient()))))
    seen = observation(located(made), id="o")
    for one in (
        entry("POST", "Observation", seen),
        entry("PUT", "Observation/o", seen),  # which would create it
        entry("POST", "Patient", patient(generalPractitioner=[{"reference": "Practitioner?identifier=a|b"}])),
        entry("GET", "Practitioner/p"),
    ):
        assert narrow.post("", transaction(entry("POST", "Patient", patient()), one)).status_code == 403, one
        assert statuses(narrow.post("", batch(one))) == [403], one
    assert len(history(api)) == 1
