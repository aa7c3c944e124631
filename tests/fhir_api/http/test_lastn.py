"""`Observation/$lastn`: the newest of each code, grouped by codings that are shared, as the search may see them."""

import json
import random

import pytest

from bench.statements import recording
from core.db import tenant_context
from fhir_api.access.models import AccessRecord
from tests import factories
from tests.fhir_api.clients import Fhir, code_of, issue_type, observation, patient, prescriber
from tests.fhir_api.search import record

LOINC, SNOMED = "http://loinc.org", "http://snomed.info/sct"
VITAL = [{"coding": [{"system": "http://terminology.hl7.org/CodeSystem/observation-category", "code": "vital-signs"}]}]


def coded(*codings, text=""):
    concept = {"coding": [{"system": system, "code": code} for system, code in codings]} if codings else {}
    return {**concept, **({"text": text} if text else {})}


WEIGHT, WEIGHT_TOO = (LOINC, "29463-7"), (SNOMED, "27113001")


class Ward:
    """Two patients of one clinic; each observation of the first by a name of ours."""

    def __init__(self):
        tenant = factories.provision("provider")  # one that has vital signs without values and times
        answer = factories.as_member(tenant).patch(
            f"/v1/tenants/{tenant.id}/configuration", json={"policies": {"fhir_vital_signs": "off"}}
        )
        assert answer.status_code == 200
        self.doctor = prescriber(tenant)
        self.own, self.other = self.doctor.made(patient()), self.doctor.made(patient())
        self.names = {}
        keep = self.keep
        keep("weight 1", coded(WEIGHT), "2020-01-01")
        keep("weight 2", coded(WEIGHT, WEIGHT_TOO), "2020-01-02")
        keep("weight 3", coded(WEIGHT_TOO), "2020-01-03")
        keep("weight late", coded(WEIGHT), None)
        keep("pulse 1", coded((LOINC, "8867-4"), text="Pulse"), "2020-02-01")
        keep("pulse 2", coded((LOINC, "8867-4"), text="Heart rate"), "2020-02-02T10:00:00Z")
        keep("pulse in words 1", coded(text="Pulse"), "2020-03-01")
        keep("pulse in words 2", coded(text="Pulse"), "2020-03-02")
        keep("pulse in other words", coded(text="pulse"), "2020-02-28")
        keep("lab", coded((LOINC, "2160-0")), "2020-04-01", category=[])
        self.doctor.made(self.made_of(self.other, coded(WEIGHT), "2021-01-01"))

    def made_of(self, whose, code, at, category=None, **more):
        given = {"category": VITAL if category is None else category, **more}
        given |= {"effectiveDateTime": at} if at else {}
        found = observation(f"Patient/{whose['id']}", **given, code=code)
        return {name: value for name, value in found.items() if value != []}

    def keep(self, name, code, at, **more):
        made = self.doctor.made(self.made_of(self.own, code, at, **more))
        self.names[f"Observation/{made['id']}"] = name

    def path(self, query=""):
        return f"/Observation/$lastn?patient={self.own['id']}&category=vital-signs{query}"

    def asked(self, query="", api=None):
        answer = (api or self.doctor).get(self.path(query))
        assert answer.status_code == 200, answer.content
        return answer.json()

    def named(self, query="", api=None):
        return [self.names[one] for one in record.names(self.asked(query, api))]


@pytest.fixture(scope="module")
def ward():
    return Ward()


def test_newest_of_each_code_is_found(ward):
    assert ward.named() == ["pulse in words 2", "pulse in other words", "pulse 2", "weight 3"]


def test_max_is_of_each_code_and_translations_are_one_code(ward):
    assert ward.named("&max=2") == [
        "pulse in words 2",
        "pulse in words 1",
        "pulse in other words",
        "pulse 2",
        "pulse 1",
        "weight 3",
        "weight 2",
    ]
    assert [one for one in ward.named("&max=10") if "weight" in one] == [
        "weight 3",
        "weight 2",
        "weight 1",
        "weight late",
    ]


def test_other_parameters_narrow_what_is_grouped(ward):
    assert ward.named("&date=lt2020-01-03") == ["weight 2"]
    assert ward.named("&code:text=heart") == ["pulse 2"]
    found = ward.doctor.get(f"/Observation/$lastn?subject=Patient/{ward.own['id']}&code={LOINC}|2160-0").json()
    assert [ward.names[one] for one in record.names(found)] == ["lab"]
    included = record.names(ward.asked("&_include=Observation:patient"), "include")
    assert included == [f"Patient/{ward.own['id']}"]


def test_answer_is_a_searchset_that_tells_what_was_asked(ward):
    found = ward.asked("&max=3&_sort=date&_elements=status")
    assert (found["type"], found["total"], [one["relation"] for one in found["link"]]) == ("searchset", 8, ["self"])
    assert found["link"][0]["url"].endswith(
        f"/Observation/$lastn?patient={ward.own['id']}&category=vital-signs&_elements=status&max=3"
    )
    outcomes = [one for one in found["entry"] if one["search"]["mode"] == "outcome"]
    assert [one["resource"]["issue"][0]["code"] for one in outcomes] == ["not-supported"]
    assert "effectiveDateTime" not in found["entry"][0]["resource"]


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("category=vital-signs", "required"),
        ("patient=1", "required"),
        ("patient=1&status=final", "required"),
        ("patient=1&category=vital-signs&max=0", "value"),
        ("patient=1&category=vital-signs&max=x", "value"),
        ("patient=1&category=vital-signs&max=1&max=2", "value"),
    ],
)
def test_question_without_subject_or_code_is_refused(ward, query, kind):
    answer = ward.doctor.get(f"/Observation/$lastn?{query}")
    assert (answer.status_code, code_of(answer), issue_type(answer)) == (400, "invalid_search", kind)


def test_parameters_may_come_in_the_body(ward):
    given = [
        {"name": "patient", "valueString": ward.own["id"]},
        {"name": "category", "valueCode": "vital-signs"},
        {"name": "max", "valuePositiveInt": 2},
    ]
    answer = ward.doctor.post("/Observation/$lastn", {"resourceType": "Parameters", "parameter": given})
    assert record.names(answer.json()) == record.names(ward.asked("&max=2"))
    entry = {"request": {"method": "GET", "url": ward.path().removeprefix("/")}}
    told = ward.doctor.post("", {"resourceType": "Bundle", "type": "batch", "entry": [entry]}).json()
    assert record.names(told["entry"][0]["resource"]) == record.names(ward.asked())
    broken = {"resourceType": "Parameters", "parameter": [{"name": "patient", "valueBoolean": True}]}
    assert code_of(ward.doctor.post("/Observation/$lastn", broken)) == "invalid_parameters"


def test_patient_of_a_token_sees_his_own_only_and_scopes_are_those_of_a_search(ward):
    person, _ = factories.member(ward.doctor.tenant, ["prescriber"])

    def bound(scopes, whose):
        return Fhir(factories.bearer(person, scopes=scopes, tenant=ward.doctor.tenant, patient=whose["id"]))

    assert ward.named(api=bound("patient/*.rs", ward.own)) == ward.named()
    assert ward.asked(api=bound("patient/*.rs", ward.other)).get("entry", []) == []
    assert bound("patient/Patient.rs", ward.own).get(ward.path()).status_code == 403
    assert prescriber().get(ward.path()).json()["total"] == 0


def test_record_of_the_patient_is_left(ward):
    ward.named()
    with tenant_context(ward.doctor.tenant.id):
        last = AccessRecord.objects.filter(tenant_id=ward.doctor.tenant.id).latest("created_at", "id")
    assert (last.interaction, last.resource_type, last.patients, last.count) == (
        "lastn",
        "Observation",
        [ward.own["id"]],
        4,
    )
    assert last.parameters == ["category", "patient"]


def test_many_observations_are_read_in_one_statement(ward):
    """Python gets what is answered, not what is grouped, and finds what a walk through all of it finds."""
    chance = random.Random(14)
    whose = ward.doctor.made(patient())
    codes = [(LOINC, f"{n}-0") for n in range(7)]
    made = [
        {**ward.made_of(whose, coded(chance.choice(codes)), f"2020-{chance.randint(1, 12):02}-01"), "id": f"o{n}"}
        for n in range(300)
    ]
    record.put(ward.doctor.tenant.id, made)
    path = f"/Observation/$lastn?patient={whose['id']}&category=vital-signs&max=3"
    with recording() as statements:
        answer = ward.doctor.get(path)
    assert len(statements) == 2, "the question with its proof, and the access record"
    by_code = {}
    for one in answer.json()["entry"]:
        by_code.setdefault(json.dumps(one["resource"]["code"]), []).append(one["resource"]["effectiveDateTime"])
    for code, dates in by_code.items():
        whole = sorted((one["effectiveDateTime"] for one in made if json.dumps(one["code"]) == code), reverse=True)
        assert dates == whole[:3], code
    assert len(by_code) == 7
