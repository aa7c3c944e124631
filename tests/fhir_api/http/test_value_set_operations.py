"""`ValueSet/$expand` and `$validate-code` over HTTP: R4's small value sets and the tenant's own, and no others."""

import pytest

from core.clock import now
from core.db import tenant_context
from fhir_api.value_sets.actions import keep
from fhir_api.value_sets.documents import read
from tests import factories
from tests.fhir_api.clients import Fhir, code_of, issue_type, prescriber

STATUS, STATUSES = "http://hl7.org/fhir/ValueSet/observation-status", "http://hl7.org/fhir/observation-status"
VITALS, LOINC = "http://example.org/ValueSet/vitals", "http://loinc.org"
CODES = ["29463-7", "8302-2", "85354-9"]


def bring(api, *codes, version="1"):
    concept = [{"code": code} for code in codes]
    resource = {
        "resourceType": "ValueSet",
        "url": VITALS,
        "version": version,
        "title": "Vitals",
        "status": "active",
        "compose": {"include": [{"system": LOINC, "concept": concept}]},
    }
    with tenant_context(api.tenant.id):
        keep(api.tenant.id, read(resource), at=now())


@pytest.fixture(scope="module")
def doctor():
    made = prescriber()
    bring(made, *CODES)
    bring(made, "8302-2", version="2")
    return made


def expanded(api, query):
    answer = api.get(f"/ValueSet/$expand?{query}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def result(answer):
    assert answer.status_code == 200, answer.content
    found = {one["name"]: one for one in answer.json()["parameter"]}
    assert ("message" in found) is not found["result"]["valueBoolean"]
    return found["result"]["valueBoolean"]


def asked(**values):
    parameter = [{"name": name, **value} for name, value in values.items()]
    return {"resourceType": "Parameters", "parameter": parameter}


def test_value_set_of_r4_is_expanded(doctor):
    found = expanded(doctor, f"url={STATUS}")
    assert (found["resourceType"], found["url"], found["version"], found["status"]) == (
        "ValueSet",
        STATUS,
        "4.0.1",
        "active",
    )
    shown = found["expansion"]
    assert (shown["total"], shown["offset"], len(shown["contains"])) == (8, 0, 8)
    assert {"system": STATUSES, "code": "final"} in shown["contains"]
    assert expanded(doctor, f"url={STATUS}|4.0.1&includeDesignations=true")["expansion"]["total"] == 8


def test_own_value_set_is_expanded_in_pages_and_by_text(doctor):
    whole = expanded(doctor, f"url={VITALS}|1")
    assert (whole["title"], [one["code"] for one in whole["expansion"]["contains"]]) == ("Vitals", CODES)
    page = expanded(doctor, f"url={VITALS}&valueSetVersion=1&offset=1&count=1")["expansion"]
    assert ([one["code"] for one in page["contains"]], page["total"], page["offset"]) == (["8302-2"], 3, 1)
    text = expanded(doctor, f"url={VITALS}|1&filter=2-")["expansion"]
    assert ([one["code"] for one in text["contains"]], text["total"]) == (["8302-2"], 1)
    assert text["parameter"] == [{"name": "filter", "valueString": "2-"}]
    assert "contains" not in expanded(doctor, f"url={VITALS}|1&count=0")["expansion"]
    assert expanded(doctor, f"url={VITALS}")["expansion"]["total"] == 1, "the version that came last"
    body = asked(url={"valueUri": VITALS}, valueSetVersion={"valueString": "1"}, count={"valueInteger": 2})
    assert [one["code"] for one in doctor.post("/ValueSet/$expand", body).json()["expansion"]["contains"]] == CODES[:2]


def test_code_is_validated(doctor):
    path = "/ValueSet/$validate-code"
    assert result(doctor.get(f"{path}?url={STATUS}&code=final&system={STATUSES}"))
    assert not result(doctor.get(f"{path}?url={STATUS}&code=done&system={STATUSES}"))
    assert not result(doctor.get(f"{path}?url={STATUS}&code=final&system=urn:other"))
    right, wrong = {"system": LOINC, "code": "8302-2"}, {"system": LOINC, "code": "1-8"}
    for coding, expected in ((right, True), (wrong, False), ({"code": "8302-2"}, False)):
        body = asked(url={"valueUri": f"{VITALS}|1"}, coding={"valueCoding": coding}, display={"valueString": "any"})
        assert result(doctor.post(path, body)) is expected
    for codings, expected in (([wrong, right], True), ([wrong], False), ([], False)):
        concept = {"valueCodeableConcept": {"coding": codings, "text": "x"}}
        assert result(doctor.post(path, asked(url={"valueUri": VITALS}, codeableConcept=concept))) is expected


@pytest.mark.parametrize("operation", ["$expand", "$validate-code"])
def test_unknown_value_set_is_404(doctor, operation):
    code = f"&code=final&system={STATUSES}" if operation == "$validate-code" else ""
    for url in ("http://example.org/none", f"{VITALS}|9", f"{STATUS}|5.0.0"):
        answer = doctor.get(f"/ValueSet/{operation}?url={url}{code}")
        assert (answer.status_code, code_of(answer), issue_type(answer)) == (404, "value_set_not_found", "not-found")
    stranger = prescriber()
    assert stranger.get(f"/ValueSet/{operation}?url={VITALS}{code}").status_code == 404, "another tenant's"


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("$expand", "required"),
        (f"$expand?url={STATUS}&count=-1", "value"),
        (f"$expand?url={STATUS}&count=x", "value"),
        (f"$expand?url={STATUS}&url={VITALS}", "value"),
        (f"$expand?url={STATUS}&exclude-system=x", "not-supported"),
        (f"$validate-code?url={STATUS}", "required"),
        (f"$validate-code?url={STATUS}&code=final", "required"),
        (f"$validate-code?url={STATUS}&coding=final", "value"),
        (f"$validate-code?code=final&system={STATUSES}", "required"),
    ],
)
def test_malformed_question_is_400(doctor, question, kind):
    answer = doctor.get(f"/ValueSet/{question}")
    assert (answer.status_code, code_of(answer), issue_type(answer)) == (400, "invalid_parameters", kind)


def test_no_value_set_is_kept_as_a_resource_and_others_are_refused(doctor):
    assert code_of(doctor.get("/ValueSet/vitals")) == "unknown_resource_type"
    assert Fhir("", doctor.tenant).get(f"/ValueSet/$expand?url={STATUS}").status_code == 401
    person, _ = factories.member(doctor.tenant, ["tenant_admin"])
    other = Fhir(factories.bearer(person), factories.provision())
    assert other.get(f"/ValueSet/$expand?url={STATUS}").status_code == 403


def test_batch_may_ask_for_a_value_set(doctor):
    body = asked(url={"valueUri": STATUS}, count={"valueInteger": 0})
    entries = [
        {"request": {"method": "GET", "url": f"ValueSet/$expand?url={STATUS}&count=0"}},
        {"request": {"method": "POST", "url": "ValueSet/$expand"}, "resource": body},
    ]
    told = doctor.post("", {"resourceType": "Bundle", "type": "batch", "entry": entries}).json()
    assert [one["resource"]["expansion"]["total"] for one in told["entry"]] == [8, 8]


def test_statement_names_the_operations(doctor):
    (rest,) = doctor.get("/metadata").json()["rest"]
    named = {one["name"]: one["definition"] for one in rest["operation"]}
    assert named["expand"] == "http://hl7.org/fhir/OperationDefinition/ValueSet-expand"
    assert named["validate-code"] == "http://hl7.org/fhir/OperationDefinition/ValueSet-validate-code"
    of_observations = next(one for one in rest["resource"] if one["type"] == "Observation")["operation"]
    assert {one["name"] for one in of_observations} == {"validate", "meta", "meta-add", "meta-delete", "lastn"}
    (extension,) = rest["security"]["extension"]
    assert {one["url"] for one in extension["extension"]} == {"authorize", "token"}
