"""Points 1 to 9: create, read, vread, update and delete over HTTP."""

import re

import pytest

from core.ids import uuid7_text
from tests import factories
from tests.fhir_api.clients import code_of, issue_type, patient, prescriber, reader


@pytest.fixture(scope="module")
def doctor():
    return prescriber()


def test_point_1_create_answers_location_tag_and_time_and_ignores_what_is_the_servers(doctor, settings):
    sent = patient(id="mine", meta={"versionId": "9", "lastUpdated": "2001-01-01T00:00:00Z", "source": "urn:here"})
    answer = doctor.post("/Patient", sent)
    assert answer.status_code == 201
    made = answer.json()
    assert made["id"] != "mine"
    assert made["meta"]["versionId"] == "1"
    assert made["meta"]["source"] == "urn:here"
    assert made["meta"]["lastUpdated"] > "2020"
    assert answer.headers["Location"] == f"{settings.FHIR_BASE_URL}/Patient/{made['id']}/_history/1"
    assert answer.headers["ETag"] == 'W/"1"'
    assert answer.headers["Last-Modified"].endswith("GMT")
    read = doctor.get(f"/Patient/{made['id']}")
    assert (read.status_code, read.content) == (200, answer.content)
    assert {name: read.headers[name] for name in ("ETag", "Last-Modified")} == {
        name: answer.headers[name] for name in ("ETag", "Last-Modified")
    }


def test_point_1_patient_ids_show_no_time_and_others_are_uuid7(doctor):
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4.*", doctor.made(patient())["id"])
    place = doctor.made({"resourceType": "Location", "name": "Ward"})
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7.*", place["id"])


def test_digits_of_decimals_and_unknown_order_survive(doctor):
    raw = (
        b'{"resourceType":"Observation","status":"final","code":{"text":"x"},"valueQuantity":{"value":1.10},'
        b'"_effectiveDateTime":{"extension":[{"url":"urn:a","valueCode":"b"}]}}'
    )
    answer = doctor.post("/Observation", raw)
    assert answer.status_code == 201, answer.content
    assert b'"valueQuantity":{"value":1.10},"_effectiveDateTime"' in answer.content
    assert doctor.get(f"/Observation/{answer.json()['id']}").content == answer.content


def test_sign_of_a_decimal_nought_survives_what_is_written_and_read(doctor):
    raw = b'{"resourceType":"Observation","status":"final","code":{"text":"x"},"valueQuantity":{"value":-0}}'
    made = doctor.post("/Observation", raw)
    path = f"/Observation/{made.json()['id']}"
    patched = doctor.patch(path, [{"op": "replace", "path": "/code/text", "value": "y"}])
    for answer in (
        made,
        patched,
        doctor.get(path),
        doctor.get(f"{path}?_pretty=true"),
        doctor.get(path[:12] + "?_summary=data"),
    ):
        assert b"-0}" in b"".join(answer.content.split())
    same = doctor.put(path, raw.replace(b"{", b'{"id":"%b",' % made.json()["id"].encode(), 1).replace(b'"x"', b'"y"'))
    assert (same.status_code, same.headers["ETag"]) == (200, 'W/"2"')


def test_point_2_tag_is_weak_and_the_version_that_the_body_tells(doctor):
    path = f"/Patient/{doctor.made(patient())['id']}"
    for number in ("1", "2", "3"):
        read, version = doctor.get(path), doctor.get(f"{path}/_history/{number}")
        assert {answer.headers["ETag"] for answer in (read, version)} == {f'W/"{number}"'}
        assert {answer.json()["meta"]["versionId"] for answer in (read, version)} == {number}
        doctor.patch(path, [{"op": "add", "path": "/multipleBirthInteger", "value": int(number)}])


@pytest.mark.parametrize("sent", [None, "other"])
def test_point_3_update_with_another_or_no_id_is_400(doctor, sent):
    fhir_id = uuid7_text()
    answer = doctor.put(f"/Patient/{fhir_id}", patient(**({"id": sent} if sent else {})))
    assert (answer.status_code, code_of(answer)) == (400, "id_mismatch")
    assert doctor.get(f"/Patient/{fhir_id}").status_code == 404


def test_point_4_update_creates_updates_and_revives(doctor):
    fhir_id = f"pat.{uuid7_text()[:20]}"
    first = doctor.put(f"/Patient/{fhir_id}", patient(id=fhir_id))
    assert (first.status_code, first.headers["ETag"]) == (201, 'W/"1"')
    assert first.headers["Location"].endswith(f"/Patient/{fhir_id}/_history/1")
    second = doctor.put(f"/Patient/{fhir_id}", patient(id=fhir_id, gender="other"))
    assert (second.status_code, second.headers["ETag"]) == (200, 'W/"2"')
    assert second.headers["Location"].endswith(f"/Patient/{fhir_id}/_history/2")
    assert doctor.delete(f"/Patient/{fhir_id}").status_code == 204
    revived = doctor.put(f"/Patient/{fhir_id}", patient(id=fhir_id))
    assert (revived.status_code, revived.headers["ETag"], revived.json()["meta"]["versionId"]) == (201, 'W/"4"', "4")


def test_update_without_change_makes_no_version(doctor):
    made = doctor.made(patient())
    turned = {name: made[name] for name in reversed(made)}
    answer = doctor.put(f"/Patient/{made['id']}", turned)
    assert answer.headers["Location"].endswith("/_history/1")
    assert (answer.status_code, answer.headers["ETag"], answer.json()) == (200, 'W/"1"', made)
    other = (
        b'{"resourceType":"Observation","id":"%b","status":"final","code":{"text":"x"},"valueQuantity":{"value":%b}}'
    )
    fhir_id = uuid7_text()
    for digits, tag in ((b"1.1", 'W/"1"'), (b"1.1", 'W/"1"'), (b"1.10", 'W/"2"')):
        answer = doctor.put(f"/Observation/{fhir_id}", other % (fhir_id.encode(), digits))
        assert answer.headers["ETag"] == tag


def test_point_5_stale_if_match_is_412_and_changes_nothing(doctor):
    made = doctor.made(patient())
    path = f"/Patient/{made['id']}"
    assert doctor.put(path, {**made, "gender": "other"}, If_Match='W/"1"').status_code == 200
    for method, body in (("PUT", {**made, "gender": "male"}), ("DELETE", None)):
        answer = doctor.call(method, path, body, If_Match='W/"1"')
        assert (answer.status_code, code_of(answer), issue_type(answer)) == (412, "version_conflict", "conflict")
        assert answer.headers["ETag"] == 'W/"2"'
    assert doctor.get(path).json()["gender"] == "other"


def test_point_5_if_match_for_what_does_not_exist_is_412(doctor):
    fhir_id = uuid7_text()
    for tag in ('W/"1"', "*"):
        assert doctor.put(f"/Patient/{fhir_id}", patient(id=fhir_id), If_Match=tag).status_code == 412
    assert doctor.get(f"/Patient/{fhir_id}").status_code == 404


@pytest.mark.parametrize("tag", ["W/abc", 'W/"abc"', '"', "W/1,", 'W/"1"x'])
def test_point_6_malformed_if_match_is_400(doctor, tag):
    made = doctor.made(patient())
    answer = doctor.put(f"/Patient/{made['id']}", {**made, "gender": "other"}, If_Match=tag)
    assert (answer.status_code, code_of(answer)) == (400, "invalid_precondition")


def test_version_is_a_text_and_has_no_noughts_in_front(doctor):
    made = doctor.made(patient())
    path = f"/Patient/{made['id']}"
    assert doctor.put(path, {**made, "gender": "other"}, If_Match='W/"01"').status_code == 412
    refused = doctor.post(
        "/Patient", patient(link=[{"other": {"reference": f"{path[1:]}/_history/01"}, "type": "refer"}])
    )
    assert (refused.status_code, code_of(refused)) == (422, "reference_not_found")
    assert doctor.get(path).json() == made


@pytest.mark.parametrize("tag", ["1", '"1"', 'W/"7", W/"1"', "*"])
def test_point_6_bare_strong_and_listed_tags_match(doctor, tag):
    made = doctor.made(patient())
    assert doctor.put(f"/Patient/{made['id']}", {**made, "gender": "other"}, If_Match=tag).status_code == 200


def test_point_7_if_none_match_star_only_creates(doctor):
    fhir_id = uuid7_text()
    path = f"/Patient/{fhir_id}"
    assert doctor.put(path, patient(id=fhir_id), If_None_Match="*").status_code == 201
    answer = doctor.put(path, patient(id=fhir_id, gender="male"), If_None_Match="*")
    assert (answer.status_code, code_of(answer)) == (412, "already_exists")
    assert doctor.get(path).json()["gender"] == "female"


def test_point_8_unknown_is_404_deleted_410_and_versions_stay(doctor):
    unknown = doctor.get(f"/Patient/{uuid7_text()}")
    assert (unknown.status_code, code_of(unknown), issue_type(unknown)) == (404, "resource_not_found", "not-found")
    made = doctor.made(patient())
    path = f"/Patient/{made['id']}"
    assert doctor.delete(path).status_code == 204
    gone = doctor.get(path)
    assert (gone.status_code, code_of(gone), issue_type(gone), gone.headers["ETag"]) == (
        410,
        "gone",
        "deleted",
        'W/"2"',
    )
    assert doctor.get(f"{path}/_history/1").json() == made
    assert doctor.get(f"{path}/_history/2").status_code == 410
    for version in ("3", "0", "01", "x", "1.0", "9" * 30):
        assert doctor.get(f"{path}/_history/{version}").status_code == 404


def test_point_8_delete_is_idempotent_and_of_the_absent_too(doctor):
    made = doctor.made(patient())
    path = f"/Patient/{made['id']}"
    first, second = doctor.delete(path), doctor.delete(path)
    assert [(one.status_code, one.content, one.headers.get("ETag")) for one in (first, second)] == [
        (204, b"", 'W/"2"'),
        (204, b"", 'W/"2"'),
    ]
    assert doctor.delete(f"/Patient/{uuid7_text()}").status_code == 204
    told = doctor.delete(path, Prefer="return=OperationOutcome")
    assert (told.status_code, told.json()["resourceType"]) == (200, "OperationOutcome")


@pytest.mark.parametrize("fhir_id", ["a_b", "a%20b", "x" * 65, "%C3%A9", "a%00b"])
def test_point_9_malformed_id_is_400(doctor, fhir_id):
    for method in ("GET", "DELETE"):
        assert doctor.call(method, f"/Patient/{fhir_id}").status_code == 400
    assert doctor.get(f"/Patient/{fhir_id}/_history").status_code == 400


def test_point_9_ids_are_case_sensitive(doctor):
    fhir_id = f"Ab{uuid7_text()[:12]}"
    assert doctor.put(f"/Patient/{fhir_id}", patient(id=fhir_id)).status_code == 201
    assert doctor.get(f"/Patient/{fhir_id.lower()}").status_code == 404


@pytest.mark.parametrize("type_name", ["patient", "PATIENT", "Slot", "Nonsense", "Patient "])
def test_points_9_and_10_misspelt_and_unknown_types_are_404(doctor, type_name):
    for method, path, body in (
        ("GET", f"/{type_name}/1", None),
        ("POST", f"/{type_name}", patient()),
        ("PUT", f"/{type_name}/1", patient(id="1")),
        ("GET", f"/{type_name}/_history", None),
        ("GET", f"/{type_name}/1/_history/1", None),
    ):
        answer = doctor.call(method, path, body)
        assert (answer.status_code, code_of(answer), issue_type(answer)) == (
            404,
            "unknown_resource_type",
            "not-supported",
        )


def test_subsetted_resource_is_refused(doctor):
    made = doctor.made(patient())
    tag = {"system": "http://terminology.hl7.org/CodeSystem/v3-ObservationValue", "code": "SUBSETTED"}
    answer = doctor.put(f"/Patient/{made['id']}", {**made, "gender": "male", "meta": {"tag": [tag]}})
    assert (answer.status_code, code_of(answer)) == (422, "subsetted")
    assert answer.json()["issue"][0]["expression"] == ["Patient.meta.tag"]
    assert doctor.get(f"/Patient/{made['id']}").json() == made


def test_codes_of_refusals_are_of_an_absolute_system(doctor, settings):
    issue = doctor.get("/Patient/never").json()["issue"][0]
    system = f"{settings.BASE_URL}/problems"
    assert issue["details"] == {"coding": [{"system": system, "code": "resource_not_found"}]}


def test_invalid_resource_is_422_with_the_place(doctor):
    answer = doctor.post("/Patient", patient(gender="mann"))
    assert answer.status_code == 422
    assert answer.json()["issue"][0]["expression"] == ["Patient.gender"]


@pytest.mark.parametrize("meta", [None, [], "x", 7, {"tag": 1}, {"tag": [1]}])
def test_meta_of_another_form_is_422_and_never_a_fault(doctor, meta):
    made = doctor.made(patient())
    for answer in (
        doctor.put(f"/Patient/{made['id']}", {**made, "meta": meta}),
        doctor.post("/Patient", patient(meta=meta)),
    ):
        assert answer.status_code == 422, answer.content
    assert doctor.get(f"/Patient/{made['id']}").json() == made


def test_other_tenants_resources_are_404(doctor):
    made = doctor.made(patient())
    stranger = prescriber()
    path = f"/Patient/{made['id']}"
    for method, address, body in (
        ("GET", path, None),
        ("HEAD", path, None),
        ("GET", f"{path}/_history", None),
        ("GET", f"{path}/_history/1", None),
    ):
        assert stranger.call(method, address, body).status_code == 404
    patched = stranger.patch(path, [{"op": "replace", "path": "/gender", "value": "male"}])
    assert (patched.status_code, code_of(patched)) == (404, "resource_not_found")
    assert stranger.delete(path).status_code == 204
    own = stranger.put(path, patient(id=made["id"], gender="other"))
    assert (own.status_code, own.headers["ETag"]) == (201, 'W/"1"')
    assert doctor.get(path).json() == made


def test_reader_may_not_write_until_the_policy_says_so(doctor):
    pharmacist = reader(doctor.tenant)
    refused = pharmacist.post("/Patient", patient())
    assert (refused.status_code, code_of(refused), issue_type(refused)) == (403, "insufficient_scope", "forbidden")
    lenient = factories.provision("provider")
    admin = factories.as_member(lenient)
    changed = admin.patch(
        f"/v1/tenants/{lenient.id}/configuration", json={"policies": {"fhir_write_scope": "healthcare.read"}}
    )
    assert changed.status_code == 200, changed.content
    assert reader(lenient).post("/Patient", patient()).status_code == 201


def test_without_scope_or_credential_nothing_is_answered(doctor):
    person, _ = factories.member(doctor.tenant, ["tenant_admin"])
    from tests.fhir_api.clients import Fhir

    admin = Fhir(factories.bearer(person), doctor.tenant)
    assert code_of(admin.get("/Patient/1")) == "insufficient_scope"
    nobody = Fhir("", doctor.tenant).get("/Patient/1")
    assert (nobody.status_code, code_of(nobody), issue_type(nobody)) == (401, "not_authenticated", "login")
    assert "WWW-Authenticate" in nobody.headers


def test_feature_of_the_plan_is_demanded():
    free = prescriber(factories.provision("provider", plan="free"))
    answer = free.get("/Patient/1")
    assert (answer.status_code, code_of(answer)) == (403, "feature_not_enabled")


def test_repeated_create_with_the_same_key_is_replayed(doctor):
    key, body = uuid7_text(), patient()
    first = doctor.post("/Patient", body, Idempotency_Key=key)
    again = doctor.post("/Patient", body, Idempotency_Key=key)
    assert (again.status_code, again.content, again.headers["Idempotency-Replayed"]) == (201, first.content, "true")
    assert again.headers["Content-Type"] == "application/fhir+json; charset=utf-8"
    assert {name: again.headers[name] for name in ("ETag", "Location", "Last-Modified")} == {
        name: first.headers[name] for name in ("ETag", "Location", "Last-Modified")
    }
