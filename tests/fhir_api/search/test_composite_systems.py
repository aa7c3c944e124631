"""Composites with a system alone (`system|`) beside the value: what holds together is found, and nothing else."""

from typing import Any

import pytest

from fhir_api.search.refusals import InvalidSearch
from organizations.models import Tenant
from tests import factories
from tests.fhir_api.search import record

Json = dict[str, Any]
LOINC, SNOMED, OWN, UCUM = "http://loinc.org", "http://snomed.info/sct", "urn:own", "http://unitsofmeasure.org"
REPLACES = "http://hl7.org/fhir/document-relationship-type"


def coded(system: str, code: str = "c", **more: Any) -> Json:
    return {"coding": [{"system": system, "code": code}], **more}


def observation(fhir_id: str, system: str = LOINC, **more: Any) -> Json:
    return {"resourceType": "Observation", "id": fhir_id, "status": "final", "code": coded(system), **more}


def quantity(value: float) -> Json:
    return {"valueQuantity": {"value": value, "system": UCUM, "code": "mg"}}


def component(system: str, **value: Any) -> Json:
    return {"code": coded(system), **value}


def document(fhir_id: str, **more: Any) -> Json:
    content = [{"attachment": {"url": "http://example.org/d"}}]
    return {"resourceType": "DocumentReference", "id": fhir_id, "status": "current", "content": content, **more}


def group(fhir_id: str, **value: Any) -> Json:
    trait = {"code": coded(LOINC, "trait"), "exclude": False, **value}
    return {"resourceType": "Group", "id": fhir_id, "type": "person", "actual": False, "characteristic": [trait]}


ALL = [
    {"resourceType": "Patient", "id": "p"},
    observation("six", subject={"reference": "Patient/p"}, **quantity(6)),
    observation("four", **quantity(4)),
    observation("own six", OWN, **quantity(6)),
    observation("sampled", valueSampledData={"origin": {"value": 6}, "period": 1, "dimensions": 1, "data": "1 2"}),
    observation("words", valueString="Clear"),
    observation("text", valueCodeableConcept={"text": "Clear"}),
    observation("positive", valueCodeableConcept=coded(SNOMED, "pos")),
    observation("own positive", OWN, valueCodeableConcept=coded(SNOMED, "pos")),
    observation("dated", valueDateTime="2021-02-03"),
    observation("parts", OWN, component=[component(LOINC, **quantity(6)), component(OWN, **quantity(60))]),
    observation("traits", OWN, component=[component(LOINC, valueCodeableConcept=coded(SNOMED, "pos"))]),
    observation("both", component=[component(OWN, **quantity(6))], **quantity(4)),
    document("first"),
    document("second", relatesTo=[{"code": "replaces", "target": {"reference": "DocumentReference/first"}}]),
    group("boolean", valueBoolean=True),
    group("concept", valueCodeableConcept=coded(SNOMED, "yes")),
]
for one in ALL:
    one["id"] = one["id"].replace(" ", "-")


@pytest.fixture(scope="module")
def tenant() -> Tenant:
    made = factories.provision()
    record.put(made.id, ALL)
    return made


def found(tenant: Tenant, query: str, type_name: str = "Observation") -> set[str]:
    return {name.partition("/")[2] for name in record.all_of(tenant.id, type_name, query, strict=True)}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"code-value-quantity={LOINC}|$gt5", {"six"}),
        (f"code-value-quantity={LOINC}|$gt3", {"six", "four", "both"}),
        (f"code-value-quantity={LOINC}|$6|{UCUM}|mg", {"six"}),
        (f"code-value-quantity={LOINC}|$6||g", set()),
        (f"code-value-quantity={OWN}|$gt5,{LOINC}|$lt5", {"own-six", "four", "both"}),
        (f"code-value-quantity={LOINC}|$gt5&patient=p", {"six"}),
        (f"code-value-quantity={LOINC}|$gt3&patient=p", {"six"}),
        (f"code-value-quantity={SNOMED}|$gt1", set()),
        (f"code-value-string={LOINC}|$clear", {"words"}),
        (f"code-value-date={LOINC}|$ge2021-02", {"dated"}),
        (f"code-value-concept={LOINC}|${SNOMED}|", {"positive"}),
        (f"code-value-concept={LOINC}|$pos", {"positive"}),
        (f"code-value-concept=c${SNOMED}|", {"positive", "own-positive"}),
        (f"code-value-concept={LOINC}|c${SNOMED}|pos", {"positive"}),
        (f"component-code-value-quantity={LOINC}|$gt5", {"parts"}),
        (f"component-code-value-quantity={LOINC}|$gt50", set()),
        (f"component-code-value-quantity={OWN}|$gt50", {"parts"}),
        (f"component-code-value-concept={LOINC}|${SNOMED}|", {"traits"}),
        (f"component-code-value-concept={OWN}|$pos", set()),
        (f"combo-code-value-quantity={LOINC}|$gt5", {"six", "parts"}),
        (f"combo-code-value-quantity={OWN}|$6", {"own-six", "both"}),
        (f"combo-code-value-concept={LOINC}|${SNOMED}|", {"positive", "traits"}),
    ],
)
def test_system_alone_is_a_token_of_composites(tenant: Tenant, query: str, expected: set[str]) -> None:
    assert found(tenant, query) == expected


def test_composite_with_a_system_equals_code_and_value_by_hand(tenant: Tenant) -> None:
    for value in ("6", "gt5", "lt5", f"ge4|{UCUM}|mg", "ne4", "ap6"):
        composite = found(tenant, f"code-value-quantity={LOINC}|${value}")
        assert composite == found(tenant, f"code={LOINC}|&value-quantity={value}") - {"sampled"}, value


def test_composites_of_further_types_take_a_system(tenant: Tenant) -> None:
    target = f"relationship={REPLACES}|$DocumentReference/first"
    assert found(tenant, target, "DocumentReference") == {"second"}
    assert found(tenant, f"relationship={LOINC}|$DocumentReference/first", "DocumentReference") == set()
    assert found(tenant, f"characteristic-value={LOINC}|$true", "Group") == {"boolean"}
    assert found(tenant, f"characteristic-value={LOINC}|${SNOMED}|", "Group") == {"concept"}
    assert found(tenant, f"characteristic-value={SNOMED}|$true", "Group") == set()


def test_composite_with_a_system_stands_in_chains_sorts_and_counts(tenant: Tenant) -> None:
    assert found(tenant, f"_has:Observation:patient:code-value-quantity={LOINC}|$gt5", "Patient") == {"p"}
    assert found(tenant, f"_has:Observation:patient:code-value-quantity={OWN}|$gt5", "Patient") == set()
    query = f"code-value-quantity={LOINC}|$gt3&_sort=_id&_total=accurate"
    assert record.asked(tenant.id, "Observation", query)["total"] == 3
    assert record.names(record.asked(tenant.id, "Observation", query)) == [
        "Observation/both",
        "Observation/four",
        "Observation/six",
    ]


@pytest.mark.parametrize(
    "query", ["code-value-quantity=|$5", "code-value-quantity=a|b|c$5", f"code-value-string={LOINC}|"]
)
def test_what_is_no_token_is_refused(tenant: Tenant, query: str) -> None:
    with pytest.raises(InvalidSearch):
        found(tenant, query)
