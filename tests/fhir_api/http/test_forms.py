"""Points 10 to 18: forms of requests and answers, preferences, refusals, and conditional reads."""

import json

import pytest

from core.ids import uuid7_text
from tests.factories import Client
from tests.fhir_api.clients import BASE, FHIR, Fhir, code_of, issue_type, patient, prescriber

JSON = "application/fhir+json; charset=utf-8"


@pytest.fixture(scope="module")
def doctor():
    return prescriber()


@pytest.fixture(scope="module")
def made(doctor):
    return doctor.made(patient())


# -- methods and addresses ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/Patient/1", "DELETE, GET, HEAD, PATCH, PUT"),
        ("PUT", "/Patient/1/_history", "GET, HEAD"),
        ("DELETE", "/metadata", "GET, HEAD"),
        ("OPTIONS", "/Patient/1", "DELETE, GET, HEAD, PATCH, PUT"),
        ("TRACE", "/_history", "GET, HEAD"),
    ],
)
def test_point_10_unsupported_method_is_405_with_allow(doctor, method, path, allowed):
    answer = doctor.call(method, path)
    assert (answer.status_code, code_of(answer), issue_type(answer)) == (405, "method_not_allowed", "not-supported")
    assert answer.headers["Allow"] == allowed


@pytest.mark.parametrize("path", ["/Patient/1/2/3", "/Patient/", "/Patient/1/_history/1/2", "x"])
def test_address_that_does_not_exist_is_an_outcome(doctor, path):
    answer = doctor.get(path)
    assert (answer.status_code, code_of(answer)) == (404, "route_not_found")
    assert answer.json()["id"] == answer.headers["X-Request-Id"]


def test_unknown_operation_is_404(doctor):
    answer = doctor.get("/Patient/$frobnicate")
    assert (answer.status_code, code_of(answer), issue_type(answer)) == (404, "unknown_operation", "not-supported")


def test_request_id_is_the_outcomes_where_it_has_the_form_of_an_id(doctor):
    answer = doctor.get("/Patient/none", X_Request_Id="my-own.id")
    assert (answer.json()["id"], answer.headers["X-Request-Id"]) == ("my-own.id", "my-own.id")
    other = doctor.get("/Patient/none", X_Request_Id="under_score")
    assert ("id" in other.json(), other.headers["X-Request-Id"]) == (False, "under_score")


# -- what is accepted ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "accept",
    [
        "application/fhir+json",
        "application/fhir+json, application/json",
        "application/json;q=0.9, application/fhir+json",
        "application/json;q=0.5, */*",
        "*/*",
        "application/*",
        "text/html, application/fhir+json;q=0.5",
        "application/fhir+json; fhirVersion=4.0",
        'Application/FHIR+JSON; fhirVersion="4.0"; charset=UTF-8',
        "",
    ],
)
def test_points_11_13_and_14_accepted_types_get_fhir_json(doctor, made, accept):
    answer = doctor.get(f"/Patient/{made['id']}", Accept=accept)
    assert (answer.status_code, answer.headers["Content-Type"], answer.json()) == (200, JSON, made)


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("application/json", "application/json"),
        ("text/json", "text/json"),
        ("application/json, */*", "application/json"),
        ("application/json, application/fhir+json;q=0.9", "application/json"),
        ("text/html, application/json;q=0.5, */*;q=0.1", "application/json"),
    ],
)
def test_generic_type_that_is_asked_for_is_answered_by_every_interaction(doctor, made, accept, media):
    wanted, path = f"{media}; charset=utf-8", f"/Patient/{made['id']}"
    bundle = {"resourceType": "Bundle", "type": "batch", "entry": [{"request": {"method": "GET", "url": "Patient"}}]}
    answers = [
        doctor.get(path, Accept=accept),
        doctor.get("/Patient", Accept=accept),
        doctor.get("/Patient/none", Accept=accept),
        doctor.get("/nowhere/at/all/or/so", Accept=accept),
        doctor.get("/metadata", Accept=accept),
        doctor.get(f"{path}/_history", Accept=accept),
        doctor.post("/Patient/$validate", patient(), Accept=accept),
        doctor.post("/Patient", patient(), Accept=accept),
        doctor.post("", bundle, Accept=accept),
        doctor.get(f"{path}?_format={media}"),
        doctor.get(f"{path}?_format={media}", Accept="application/fhir+json"),
    ]
    assert [one.headers["Content-Type"] for one in answers] == [wanted] * len(answers)
    assert answers[4].headers["Vary"] == "Accept"
    for form in ("json", "application/fhir%2Bjson", "application/fhir+json", "*/*"):
        assert doctor.get(f"{path}?_format={form}", Accept=accept).headers["Content-Type"] == JSON


@pytest.mark.parametrize(
    "accept",
    [
        "application/fhir+xml",
        "text/html",
        "application/fhir+json; fhirVersion=3.0",
        "application/fhir+json;q=0",
        "application/fhir+turtle, application/xml",
    ],
)
def test_points_11_and_13_other_types_and_versions_are_406(doctor, made, accept):
    answer = doctor.get(f"/Patient/{made['id']}", Accept=accept)
    assert (answer.status_code, code_of(answer), issue_type(answer)) == (406, "not_acceptable", "not-supported")


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ("json", 200),
        ("application/json", 200),
        ("application/fhir+json", 200),
        ("application%2Ffhir%2Bjson", 200),
        ("application/fhir%2Bjson;fhirVersion=4.0", 200),
        ("xml", 406),
        ("application/fhir%2Bxml", 406),
        ("application/fhir%2Bjson;fhirVersion=5.0", 406),
        ("nonsense", 406),
    ],
)
def test_point_12_format_goes_before_accept(doctor, made, form, status):
    wrong = "application/fhir+xml" if status == 200 else FHIR
    assert doctor.get(f"/Patient/{made['id']}?_format={form}", Accept=wrong).status_code == status


def test_point_12_pretty_has_lines_and_the_same_digits(doctor):
    raw = b'{"resourceType":"Observation","status":"final","code":{"text":"x"},"valueQuantity":{"value":1.10}}'
    found = json.loads(doctor.post("/Observation", raw).content)
    answer = doctor.get(f"/Observation/{found['id']}?_pretty=true")
    assert b'\n  "valueQuantity": {\n    "value": 1.10\n' in answer.content
    assert answer.json() == found
    assert b"\n" in doctor.get("/Observation/none?_pretty=true").content


@pytest.mark.parametrize(
    "media",
    [
        "text/plain",
        "application/fhir+xml",
        "application/x-www-form-urlencoded",
        "application/fhir+json; fhirVersion=5.0",
        "application/fhir+json; charset=latin-1",
        "",
    ],
)
def test_points_11_and_13_other_bodies_are_415(doctor, media):
    for method, path in (("POST", "/Patient"), ("PUT", "/Patient/1"), ("PATCH", "/Patient/1")):
        answer = doctor.call(method, path, patient(id="1"), media=media)
        assert (answer.status_code, code_of(answer), issue_type(answer)) == (
            415,
            "unsupported_media_type",
            "not-supported",
        )


@pytest.mark.parametrize(
    "media", ["application/json", "text/json", "application/fhir+json;fhirVersion=4.0;charset=utf-8"]
)
def test_point_11_equal_types_of_bodies_are_taken(doctor, media):
    assert doctor.post("/Patient", patient(), media=media).status_code == 201


# -- Prefer -------------------------------------------------------------------------------------------------------------


def test_point_15_prefer_chooses_the_body_and_keeps_headers(doctor):
    full = doctor.post("/Patient", patient(), Prefer="return=nonsense")
    assert full.json()["resourceType"] == "Patient"
    empty = doctor.post("/Patient", patient(), Prefer="handling=strict, return=minimal")
    assert (empty.status_code, empty.content, "Content-Type" in empty.headers) == (201, b"", False)
    assert {"Location", "ETag", "Last-Modified"} <= set(empty.headers)
    told = doctor.post("/Patient", patient(), Prefer="return=OperationOutcome")
    assert (told.status_code, told.json()["issue"][0]["severity"]) == (201, "information")
    assert {"Location", "ETag", "Last-Modified"} <= set(told.headers)


def test_point_15_errors_carry_an_outcome_whatever_is_preferred(doctor):
    answer = doctor.get("/Patient/none", Prefer="return=minimal")
    assert code_of(answer) == "resource_not_found"
    assert code_of(doctor.post("/Patient", b"{", Prefer="return=minimal")) == "invalid_json"


# -- bodies that cannot be read -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b" ", "invalid_json"),
        (b"{", "invalid_json"),
        (b'{"resourceType":"Patient",}', "invalid_json"),
        (b"[]", "not_an_object"),
        (b'"Patient"', "not_an_object"),
        (b"{}", "wrong_resource_type"),
        (b'{"resourceType":7}', "wrong_resource_type"),
        (b'{"resourceType":"Observation"}', "wrong_resource_type"),
        (b'{"resourceType":"Patient","gender":"male","gender":"female"}', "duplicate_key"),
        (b'{"resourceType":"Patient","x":NaN}', "invalid_json"),
        (b'{"resourceType":"Patient","x":"\\u0000"}', "nul_character"),
        (b'{"resourceType":"Patient","x":"\\ud800"}', "lone_surrogate"),
        (b'{"resourceType":"Patient","x":99999999999999999999}', "number_out_of_range"),
        (b'{"resourceType":"Patient","x":-9999999999999999999}', "number_out_of_range"),
        (b'{"resourceType":"Patient","x":' + b"[" * 70 + b"]" * 70 + b"}", "nesting_too_deep"),
        (b'\xef\xbb\xbf{"resourceType":"Patient"}', "invalid_json"),
        (b'{"resourceType":"Patient","x":"\xff"}', "invalid_json"),
    ],
)
def test_points_17_and_18_unreadable_body_is_400(doctor, body, code):
    for method, path in (("POST", "/Patient"), ("PUT", "/Patient/1")):
        answer = doctor.call(method, path, body)
        assert (answer.status_code, code_of(answer)) == (400, code)
    assert doctor.get("/Patient/1").status_code == 404


def test_body_above_one_mebibyte_is_413(doctor):
    answer = doctor.post("/Patient", patient(language="x" * 1_048_576))
    assert (answer.status_code, code_of(answer), issue_type(answer)) == (413, "body_too_large", "too-long")


# -- conditional reads --------------------------------------------------------------------------------------------------


def test_read_with_a_known_version_is_304(doctor, made):
    path = f"/Patient/{made['id']}"
    for tag in ('W/"1"', '"1"', 'W/"7", W/"1"', "*"):
        answer = doctor.get(path, If_None_Match=tag)
        assert (answer.status_code, answer.content, answer.headers["ETag"]) == (304, b"", 'W/"1"')
    assert doctor.get(path, If_None_Match='W/"2"').status_code == 200


def test_read_since_the_last_change_is_304(doctor, made):
    path = f"/Patient/{made['id']}"
    at = doctor.get(path).headers["Last-Modified"]
    assert doctor.get(path, If_Modified_Since=at).status_code == 304
    assert doctor.get(path, If_Modified_Since="Sat, 01 Jan 2000 00:00:00 GMT").status_code == 200
    assert doctor.get(path, If_Modified_Since="rubbish").status_code == 200
    assert doctor.get(path, If_Modified_Since=at, If_None_Match='W/"2"').status_code == 200


def test_head_has_the_headers_of_get_and_no_body(doctor, made):
    path = f"/Patient/{made['id']}"
    whole, head = doctor.get(path), doctor.call("HEAD", path)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("ETag", "Last-Modified", "Content-Type"):
        assert head.headers[name] == whole.headers[name]
    assert doctor.call("HEAD", "/Patient/none").status_code == 404


# -- refusals before the view -------------------------------------------------------------------------------------------


def test_edge_refuses_in_fhirs_form(settings):
    client = Client(raise_request_exception=False)
    foreign = client.get(f"{BASE}/Patient/1", headers={"Host": "evil.example"})
    assert (foreign.status_code, code_of(foreign)) == (400, "host_not_allowed")
    settings.PRODUCTION = True
    plain = client.get(f"{BASE}/Patient/1")
    assert (plain.status_code, code_of(plain)) == (400, "https_required")


def test_rate_limit_refuses_in_fhirs_form(doctor, settings):
    settings.RATE_LIMIT_OVERRIDES = {"fhir": 2}
    fresh = prescriber(doctor.tenant)
    answers = [fresh.get("/Patient/none") for _ in range(4)]
    assert (answers[-1].status_code, code_of(answers[-1]), issue_type(answers[-1])) == (
        429,
        "rate_limited",
        "throttled",
    )
    assert int(answers[-1].headers["Retry-After"]) > 0
    assert answers[-1].headers["RateLimit-Limit"] == "2"


def test_rest_keeps_its_problem_documents():
    answer = Client(raise_request_exception=False).get("/v1/nothing")
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_read_in_part_is_tagged_and_refused_as_an_update(doctor):
    made = doctor.made(patient(address=[{"city": "Bern"}], photo=[{"title": "x"}]))
    path = f"/Patient/{made['id']}"
    for address in (path, f"{path}/_history/1"):
        for query, kept in (
            ("_summary=true", {"name", "gender", "address"}),
            ("_elements=gender", {"gender"}),
            ("_summary=text", set()),
            ("_summary=data", {"name", "gender", "address", "photo"}),
        ):
            answer = doctor.get(f"{address}?{query}")
            assert (answer.status_code, answer.headers["ETag"]) == (200, 'W/"1"')
            assert set(answer.json()) - {"resourceType", "id", "meta"} == kept
            assert answer.json()["meta"]["tag"][0]["code"] == "SUBSETTED"
            assert doctor.put(path, answer.json()).status_code == 422
        assert doctor.get(f"{address}?_summary=false").json() == made
        assert doctor.get(f"{address}?_summary=some").status_code == 400
        assert doctor.get(f"{address}?_summary=count").status_code == 400


def test_patches_of_three_kinds_over_http(doctor):
    found = doctor.made(patient())
    path = f"/Patient/{found['id']}"
    part = [{"name": "type", "valueCode": "replace"}, {"name": "path", "valueString": "Patient.gender"}]
    fhir_path = {
        "resourceType": "Parameters",
        "parameter": [{"name": "operation", "part": [*part, {"name": "value", "valueCode": "unknown"}]}],
    }
    for body, media, gender in (
        ([{"op": "replace", "path": "/gender", "value": "male"}], "application/json-patch+json", "male"),
        ({"gender": "other"}, "application/merge-patch+json", "other"),
        (fhir_path, FHIR, "unknown"),
    ):
        answer = doctor.patch(path, body, media=media)
        assert (answer.status_code, answer.json()["gender"]) == (200, gender), answer.content
    assert answer.headers["ETag"] == 'W/"4"'
    same = doctor.patch(path, {"gender": "unknown"}, media="application/merge-patch+json")
    assert (same.status_code, same.headers["ETag"]) == (200, 'W/"4"')
    stale = doctor.patch(path, {"gender": "male"}, media="application/merge-patch+json", If_Match='W/"1"')
    assert (stale.status_code, code_of(stale)) == (412, "version_conflict")


def test_patch_of_absent_and_deleted_is_404_and_410(doctor):
    change = [{"op": "replace", "path": "/gender", "value": "male"}]
    assert doctor.patch(f"/Patient/{uuid7_text()}", change).status_code == 404
    found = doctor.made(patient())
    doctor.delete(f"/Patient/{found['id']}")
    answer = doctor.patch(f"/Patient/{found['id']}", change)
    assert (answer.status_code, code_of(answer)) == (410, "gone")


def test_credential_of_two_kinds_is_refused_in_fhirs_form(doctor):
    both = Fhir(doctor.headers["Authorization"].removeprefix("Bearer "), doctor.tenant)
    both.headers["X-API-Key"] = "hpk_live_x"
    assert code_of(both.get("/Patient/1")) == "invalid_request"
