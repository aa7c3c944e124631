"""`:in`, `:not-in`, `:above`, `:below`: of tokens by the value sets that R4 binds, of references by their trees, of URIs by path."""

from typing import Any

import pytest
from django.conf import settings

from fhir_api import smart, terminology
from fhir_api.search.refusals import InvalidSearch, UnknownCodeSystem, UnknownValueSet, UnsupportedSearch
from organizations.models import Tenant
from tests import factories
from tests.fhir_api.search import record

Json = dict[str, Any]
SETS = "http://hl7.org/fhir/ValueSet/"
CLINICAL = "http://terminology.hl7.org/CodeSystem/condition-clinical"
STATUS = "http://hl7.org/fhir/observation-status"


def patient(fhir_id: str, **more: Any) -> Json:
    return {"resourceType": "Patient", "id": fhir_id, **more}


def condition(fhir_id: str, system: str, code: str) -> Json:
    status = {"coding": [{"system": system, "code": code}]}
    return {"resourceType": "Condition", "id": fhir_id, "clinicalStatus": status, "subject": {"reference": "Patient/f"}}


def observation(fhir_id: str, status: str, **more: Any) -> Json:
    return {"resourceType": "Observation", "id": fhir_id, "status": status, "code": {"text": "x"}, **more}


def location(fhir_id: str, above: str = "", **more: Any) -> Json:
    part_of = {"partOf": {"reference": above}} if above else {}
    return {"resourceType": "Location", "id": fhir_id, **part_of, **more}


def encounter(fhir_id: str, place: str = "", **more: Any) -> Json:
    places = {"location": [{"location": {"reference": place}}]} if place else {}
    return {
        "resourceType": "Encounter",
        "id": fhir_id,
        "status": "finished",
        "class": {"code": "AMB"},
        **places,
        **more,
    }


ALL = [
    patient("f", gender="female", meta={"profile": ["http://p.org/a"]}),
    patient("u", gender="unknown", meta={"profile": ["http://p.org/a/b/"]}),
    patient("none", meta={"profile": ["http://p.org/ab", "urn:oid:1.2"]}),
    condition("active", CLINICAL, "active"),
    condition("relapse", CLINICAL, "relapse"),
    condition("resolved", CLINICAL, "resolved"),
    condition("foreign", "urn:own", "active"),
    observation("final", "final", subject={"reference": "Patient/f"}),
    observation("amended", "amended"),
    observation("corrected", "corrected", encounter={"reference": "Encounter/part"}),
    location("house"),
    location("floor", "Location/house"),
    location("room", "Location/floor/_history/2"),
    location("elsewhere", "http://other.org/fhir/R4/Location/house"),
    location("ring", "Location/back"),
    location("back", "Location/ring"),
    encounter("in-house", "Location/house"),
    encounter("in-room", "Location/room", partOf={"reference": "Encounter/in-house"}),
    encounter("in-bed", "Location/bed"),
    encounter("nowhere"),
    encounter("part", partOf={"reference": "Encounter/in-room"}),
]


@pytest.fixture(scope="module")
def tenant() -> Tenant:
    made = factories.provision()
    record.put(made.id, [*ALL, location("bed", f"{settings.FHIR_BASE_URL}/Location/room")])
    return made


def found(tenant: Tenant, type_name: str, query: str, **more: Any) -> set[str]:
    bundle = record.asked(tenant.id, type_name, query, strict=True, **more)
    return {name.partition("/")[2] for name in record.names(bundle)}


@pytest.mark.parametrize(
    ("type_name", "query", "expected"),
    [
        ("Patient", f"gender:in={SETS}administrative-gender", {"f", "u"}),
        ("Patient", f"gender:in={SETS}administrative-gender|4.0.1", {"f", "u"}),
        ("Patient", f"gender:in={SETS}observation-status", set()),
        ("Patient", f"gender:not-in={SETS}administrative-gender", {"none"}),
        ("Condition", f"clinical-status:in={SETS}condition-clinical", {"active", "relapse", "resolved"}),
        ("Condition", f"clinical-status:not-in={SETS}condition-clinical", {"foreign"}),
        (
            "Observation",
            f"status:in={SETS}observation-status,{SETS}administrative-gender",
            {"final", "amended", "corrected"},
        ),
        ("Observation", f"subject:Patient.gender:in={SETS}administrative-gender", {"final"}),
        ("Patient", f"_has:Observation:subject:status:in={SETS}observation-status", {"f"}),
        ("Condition", f"clinical-status:below={CLINICAL}|active", {"active", "relapse"}),
        ("Condition", f"clinical-status:below={CLINICAL}|relapse", {"relapse"}),
        ("Condition", f"clinical-status:above={CLINICAL}|relapse", {"active", "relapse"}),
        ("Condition", f"clinical-status:above={CLINICAL}|inactive,{CLINICAL}|resolved", {"resolved"}),
        ("Observation", f"status:below={STATUS}|amended", {"amended", "corrected"}),
        ("Patient", "_profile:below=http://p.org/a", {"f", "u"}),
        ("Patient", "_profile:above=http://p.org/a/b/c", {"f", "u"}),
        ("Patient", "_profile:above=http://p.org/a/b", {"f", "u"}),
        ("Patient", "_profile:above=http://p.org/a", {"f"}),
        ("Patient", "_profile:above=urn:oid:1.2", {"none"}),
    ],
)
def test_codes_and_addresses(tenant: Tenant, type_name: str, query: str, expected: set[str]) -> None:
    assert found(tenant, type_name, query) == expected


@pytest.mark.parametrize(
    ("type_name", "query", "expected"),
    [
        ("Encounter", "location:below=house", {"in-house", "in-room", "in-bed"}),
        ("Encounter", "location:below=Location/room", {"in-room", "in-bed"}),
        ("Encounter", "location:above=bed", {"in-house", "in-room", "in-bed"}),
        ("Encounter", "location:above=Location/floor", {"in-house"}),
        ("Encounter", "location:above=elsewhere", set()),
        ("Encounter", "location:below=house&status=finished&_id=in-bed", {"in-bed"}),
        ("Encounter", "location:below=bed,house", {"in-house", "in-room", "in-bed"}),
        ("Encounter", "location:below=never", set()),
        ("Location", "partof:below=house", {"floor", "room", "bed"}),
        ("Location", "partof:below=ring", {"ring", "back"}),
        ("Location", "partof:above=ring", {"ring", "back"}),
        ("Observation", "encounter:below=Encounter/in-house", {"corrected"}),
        ("Observation", "encounter.location:below=house", set()),
        ("Encounter", "_has:Encounter:part-of:location:below=floor", {"in-house"}),
    ],
)
def test_references_by_their_trees(tenant: Tenant, type_name: str, query: str, expected: set[str]) -> None:
    assert found(tenant, type_name, query) == expected


def test_trees_of_a_type_that_the_token_does_not_reach_are_not_climbed(tenant: Tenant) -> None:
    access = smart.narrowed(frozenset({"user/Encounter.rs"}))
    assert found(tenant, "Encounter", "location:below=house", access=access) == set()


def test_trees_are_climbed_within_the_compartment_of_the_tokens_patient(tenant: Tenant) -> None:
    one = {"subject": {"reference": "Patient/f"}}
    record.put(
        tenant.id,
        [
            encounter("own", **one),
            encounter("others", partOf={"reference": "Encounter/own"}, subject={"reference": "Patient/u"}),
            encounter("behind", partOf={"reference": "Encounter/others"}, **one),
            encounter("next", partOf={"reference": "Encounter/own"}, **one),
        ],
    )
    access = smart.Access(patient="f")

    assert found(tenant, "Encounter", "part-of:below=own") == {"others", "behind", "next"}
    assert found(tenant, "Encounter", "part-of:below=own", access=access) == {"next"}
    assert found(tenant, "Encounter", "part-of:above=others", access=access) == set()


@pytest.mark.parametrize(
    ("query", "refusal"),
    [
        ("gender:in=http://example.org/own", UnknownValueSet),
        (f"gender:in={SETS}administrative-gender|3.0", UnknownValueSet),
        (f"gender:not-in={SETS}languages", UnknownValueSet),
        ("gender:below=urn:own|x", UnknownCodeSystem),
        ("gender:above=male", InvalidSearch),
        (f"identifier:in={SETS}administrative-gender", UnsupportedSearch),
        ("identifier:below=urn:one|7", UnsupportedSearch),
        (f"active:in={SETS}administrative-gender", UnsupportedSearch),
        ("general-practitioner:below=Practitioner/1", InvalidSearch),
        ("link:below=1", UnsupportedSearch),
        ("organization:below=a b", InvalidSearch),
        ("birthdate:below=2020", UnsupportedSearch),
    ],
)
def test_what_is_not_known_is_refused_by_its_code(tenant: Tenant, query: str, refusal: type[Exception]) -> None:
    with pytest.raises(refusal):
        record.asked(tenant.id, "Patient", query)


def test_levels_are_of_codes_that_value_sets_have() -> None:
    for system, levels in terminology._LEVELS.items():
        for code, narrower in levels.items():
            assert terminology.below((system, code)) == ((system, code), *((system, one) for one in narrower))
            for one in narrower:
                assert terminology.above((system, one)) == ((system, one), (system, code))


def test_part_of_a_code_system_tells_no_hierarchy() -> None:
    assert ("http://unitsofmeasure.org", "d") in (terminology.members(f"{SETS}units-of-time") or ())
    assert terminology.below(("http://unitsofmeasure.org", "d")) is None
