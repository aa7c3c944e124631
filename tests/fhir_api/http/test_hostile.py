"""Requests that nobody means well: changed at random places, and never answered with a fault of ours."""

import random

from tests.fhir_api.clients import FHIR, observation, patient, prescriber

REQUESTS = 200
VALUES = ["", "1", None, 0, -1, 1.5, True, [], {}, [None], {"a": None}, "é", "a" * 5000, [[]], "Patient/1", 10**18]
QUERIES = [
    *("", "?", "?identifier=urn:x|1", "?identifier=", "?%00", "?identifier=%00", "?a=%ff", "?_count=2", "?_since=x"),
    *("?name:exact=%C3", "?_format=%00", "?birthdate=ge2020&birthdate=x", "?_id=" + "a" * 3000, "?identifier=a|b|c"),
]
HEADERS = ["", "*", 'W/"1"', "W/", "1", "a,b", '"', "é", "x" * 3000, "identifier=urn:x|1", "return=minimal"]
NAMES = ("If_Match", "If_None_Match", "If_None_Exist", "Prefer", "If_Modified_Since")
MEDIA = [*[FHIR] * 20, "application/json-patch+json", "application/merge-patch+json", "text/xml"]
PATCH = [{"op": "replace", "path": "/gender", "value": "male"}, {"op": "add", "path": "/name/-", "value": {}}]


def changed(chance, value):
    if chance.random() < 0.06:
        return chance.choice(VALUES)
    if isinstance(value, dict):
        found = {name: changed(chance, member) for name, member in value.items() if chance.random() > 0.05}
        if chance.random() < 0.1:
            found[chance.choice(["id", "meta", "text", "contained", "extension", "_gender"])] = chance.choice(VALUES)
        return found
    return [changed(chance, member) for member in value] if isinstance(value, list) else value


def asked(chance, sent):
    """One request: method, path, body, media type and headers."""
    kind, fhir_id = sent["resourceType"], sent["id"]
    path = chance.choice([f"/{kind}", f"/{kind}/{fhir_id}", f"/{kind}/{fhir_id}", f"/{kind}/_history", "/_history"])
    method = "GET" if path.endswith("_history") else chance.choice(["POST", "PUT", "PATCH", "DELETE", "GET"])
    body, media = changed(chance, sent), chance.choice(MEDIA)
    if isinstance(body, dict) and chance.random() < 0.9:
        body |= {"resourceType": kind, "id": fhir_id}
    if method == "PATCH":
        body, media = changed(chance, PATCH), "application/json-patch+json"
    headers = {name: chance.choice(HEADERS) for name in NAMES if chance.random() < 0.06}
    return method, path + chance.choice(QUERIES), body, media, headers


def test_no_request_is_answered_with_a_fault():
    doctor = prescriber()
    someone = doctor.made(patient(identifier=[{"system": "urn:x", "value": "1"}], contact=[{"name": {"family": "X"}}]))
    quantity = {"value": 1.5, "unit": "mg", "system": "http://unitsofmeasure.org", "code": "mg"}
    seen = observation(f"Patient/{someone['id']}", id="seen", valueQuantity=quantity, effectiveDateTime="2020-01-01")
    chance = random.Random(7)
    for _ in range(REQUESTS):
        method, path, body, media, headers = asked(chance, chance.choice([someone, seen]))
        answer = doctor.call(method, path, body, media=media, **headers)
        assert answer.status_code < 500, (method, path, headers, body)
        if answer.status_code >= 400:
            assert answer.json()["resourceType"] == "OperationOutcome"
