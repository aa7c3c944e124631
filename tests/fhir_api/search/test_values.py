"""Values of each kind, by the numbered points of the contract."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from fhir_api.search.refusals import InvalidSearch
from organizations.models import Tenant
from tests import factories
from tests.fhir_api.search import record

Json = dict[str, Any]
UCUM = "http://unitsofmeasure.org"
LOINC = "http://loinc.org"
AT = datetime(2026, 7, 1, tzinfo=UTC)


def observation(fhir_id: str, **more: Any) -> Json:
    code = {"coding": [{"system": LOINC, "code": more.pop("code", "own")}]}
    return {"resourceType": "Observation", "id": fhir_id, "status": "final", "code": code, **more}


def patient(fhir_id: str, **more: Any) -> Json:
    return {"resourceType": "Patient", "id": fhir_id, **more}


def quantity(value: Any, code: str = "mg", **more: Any) -> Json:
    return {"value": value, "system": UCUM, "code": code, "unit": "milligram", **more}


def location(fhir_id: str, latitude: float, longitude: float) -> Json:
    return {"resourceType": "Location", "id": fhir_id, "position": {"latitude": latitude, "longitude": longitude}}


ALL = [
    patient(
        "strings", name=[{"family": "Müller-Lüdenscheidt", "given": ["Änne Marie"], "prefix": ["Dr."], "text": "Oma"}]
    ),
    patient("plain", name=[{"family": "muller", "given": ["a,b|c$d\\e"]}], active=True, deceasedBoolean=False),
    patient(
        "tokens",
        active=False,
        gender="female",
        deceasedDateTime="2020-05",
        telecom=[{"system": "phone", "value": "555"}, {"system": "email", "value": "a@b.c"}],
        identifier=[
            {
                "system": "urn:one",
                "value": "7",
                "type": {"coding": [{"system": "urn:t", "code": "MR"}], "text": "Record no."},
            },
            {"value": "8"},
        ],
        generalPractitioner=[{"reference": "Practitioner/gp", "identifier": {"system": "urn:gp", "value": "1"}}],
        managingOrganization={"reference": "http://elsewhere.org/fhir/Organization/9/_history/2"},
        meta={
            "tag": [{"system": "urn:tag", "code": "t"}],
            "profile": ["http://p.org/a/b", "http://p.org/ab", "http://p.org/c/d|1.2.0"],
            "source": "urn:s",
        },
    ),
    observation("day", effectiveDateTime="2020-05-10"),
    observation("month", effectiveDateTime="2020-05"),
    observation("instant", effectiveDateTime="2020-05-10T12:00:30+02:00"),
    observation("since", effectivePeriod={"start": "2020-05-01"}),
    observation("until", effectivePeriod={"end": "2020-04-30"}),
    observation("q100", valueQuantity=quantity(100)),
    observation("q99_5", valueQuantity=quantity(99.5)),
    observation("q100_4", valueQuantity=quantity(100.4, "g")),
    observation("q5", valueQuantity={"value": 5.4, "unit": "mg"}),
    observation(
        "parts",
        code="panel",
        component=[
            {"code": {"coding": [{"system": LOINC, "code": "sys"}]}, "valueQuantity": quantity(120, "mm")},
            {"code": {"coding": [{"system": LOINC, "code": "dia"}]}, "valueQuantity": quantity(80, "mm")},
        ],
    ),
    observation(
        "fine",
        code="many digits",
        component=[
            {"code": {"coding": [{"code": "fine"}]}, "valueQuantity": quantity(Decimal(value))}
            for value in ("66.89999999999999", "0.058154287164115435", "1234567.1234567891", "-185.1234567890123456")
        ],
    ),
    observation(
        "coded", code="kind", valueCodeableConcept={"coding": [{"system": "urn:v", "code": "pos"}], "text": "Positive"}
    ),
    observation("texted", code="words", valueString="Clear and Yellow"),
    observation("dated", code="when", valueDateTime="2021-02-03"),
    observation("of-person", code="refs", subject={"reference": "Patient/x1"}, focus=[{"reference": "Device/x1"}]),
    observation("of-group", code="refs", subject={"reference": "Group/x1"}),
    observation("absolute", code="refs", subject={"reference": "http://testserver/fhir/R4/Patient/x1"}),
    observation(
        "of-newborn", code="refs", contained=[patient("newborn", active=True)], subject={"reference": "#newborn"}
    ),
    location("zurich", 47.3769, 8.5417),
    location("bern", 46.9480, 7.4474),
    location("fiji", -17.7, 179.9),
]


@pytest.fixture(scope="module")
def tenant() -> Tenant:
    made = factories.provision()
    record.put(made.id, ALL)
    return made


def found(tenant: Tenant, query: str, type_name: str = "Patient") -> set[str]:
    names = record.all_of(tenant.id, type_name, query, strict=True, at=AT)
    assert len(names) == len(set(names))
    return {name.partition("/")[2] for name in names}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("family=MULLER", {"strings", "plain"}),
        ("family=müller", {"strings", "plain"}),
        ("family=ller", set()),
        ("family:contains=LUDEN", {"strings"}),
        ("family:exact=muller", {"plain"}),
        ("family:exact=Muller", set()),
        ("name=änne marie", {"strings"}),
        ("name=dr.", {"strings"}),
        ("name=oma", {"strings"}),
        ("family=mull,xyz&given=anne", {"strings"}),
        (r"given=a%5C,b%5C|c%5C$d%5C%5Ce", {"plain"}),
        ("given=b", set()),
    ],
)
def test_strings_are_prefixes_without_case_and_accents_29_30(tenant: Tenant, query: str, expected: set[str]) -> None:
    assert found(tenant, query) == expected


@pytest.mark.parametrize("query", ["name=bjorn", "name=BJØRN", "name:contains=SODAL", "family=sødal"])
def test_letters_with_a_stroke_are_those_without_30(query: str) -> None:
    tenant = factories.provision()
    record.put(tenant.id, [patient("stroke", name=[{"family": "Sødal", "given": ["Bjørn"]}])])

    assert found(tenant, query) == {"stroke"}


def test_text_longer_than_the_index_holds_is_refused_and_not_cut_30() -> None:
    tenant, letters = factories.provision(), "é" * 299
    long = patient("long", name=[{"family": f"{letters}ab", "given": [f"{letters}ac"]}])
    record.put(tenant.id, [long, observation("long", code="words", valueString=f"{letters}ab")])

    assert found(tenant, f"family={letters}A") == {"long"}
    assert found(tenant, f"family:contains={letters}A") == {"long"}
    assert found(tenant, f"family:exact={letters}ab") == {"long"}
    assert found(tenant, f"family:exact={letters}ac") == set()
    for query, type_name in (
        (f"family={letters}ac", "Patient"),
        (f"family=x,{letters}ac", "Patient"),
        (f"family:contains={letters}ac", "Patient"),
        (f"identifier:text={letters}ac", "Patient"),
        (f"code-value-string=words${letters}ac", "Observation"),
    ):
        with pytest.raises(InvalidSearch, match="at most 300 characters"):
            found(tenant, query, type_name)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("identifier=7", {"tokens"}),
        ("identifier=urn:one|7", {"tokens"}),
        ("identifier=urn:one|", {"tokens"}),
        ("identifier=|7", set()),
        ("identifier=|8", {"tokens"}),
        ("identifier=urn:two|7", set()),
        ("identifier:of-type=urn:t|MR|7", {"tokens"}),
        ("identifier:of-type=urn:t|MR|8", set()),
        ("identifier:text=record", {"tokens"}),
        ("active=true", {"plain"}),
        ("active:not=true", {"strings", "tokens"}),
        ("active:missing=true", {"strings"}),
        ("active:missing=false", {"plain", "tokens"}),
        ("gender:not=female,male", {"strings", "plain"}),
        ("deceased=true", {"tokens"}),
        ("deceased=false", {"strings", "plain"}),
        ("phone=555", {"tokens"}),
        ("email=555", set()),
        ("_tag=urn:tag|t", {"tokens"}),
        ("_profile=http://p.org/a/b", {"tokens"}),
        ("_profile=http://p.org/a", set()),
        ("_profile:below=http://p.org/a", {"tokens"}),
        ("_profile:below=http://p.org/b", set()),
        ("_profile:below=http://p.org/c/d", {"tokens"}),
        ("_profile:below=http://p.org/c/d/", {"tokens"}),
        ("_profile:below=http://p.org/c", {"tokens"}),
        ("_profile:below=http://p.org/c/d|1", {"tokens"}),
        ("_profile:below=http://p.org/c/d|1.2.0", {"tokens"}),
        ("_profile:below=http://p.org/c/d|2", set()),
        ("_profile:below=http://p.org/c/d|1.20", set()),
        ("_source=urn:s", {"tokens"}),
        ("_id=tokens,plain", {"tokens", "plain"}),
        ("_id:not=tokens", {"plain", "strings"}),
        ("_lastUpdated=gt2020&_id=plain", {"plain"}),
        ("_lastUpdated=lt2020", set()),
    ],
)
def test_tokens_in_their_forms_31(tenant: Tenant, query: str, expected: set[str]) -> None:
    assert found(tenant, query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("code=sys", set()),
        ("code=panel", {"parts"}),
        ("combo-code=sys", {"parts"}),
        ("component-code=http://loinc.org|dia", {"parts"}),
        ("component-code-value-quantity=sys$gt100", {"parts"}),
        ("component-code-value-quantity=dia$gt100", set()),
        (f"component-code-value-quantity={LOINC}|dia$80|{UCUM}|mm", {"parts"}),
        (f"combo-code-value-quantity={LOINC}|sys$120||mm", {"parts"}),
        ("code-value-concept=kind$urn:v|pos", {"coded"}),
        ("code-value-concept=kind$neg", set()),
        ("code-value-string=words$clear", {"texted"}),
        (f"combo-code-value-quantity={LOINC}|sys$120||", {"parts"}),
        ("component-code-value-quantity=fine$66.89999999999999", {"fine"}),
        ("component-code-value-quantity=fine$0.058154287164115435", {"fine"}),
        ("component-code-value-quantity=fine$1234567.1234567891", {"fine"}),
        ("component-code-value-quantity=fine$-185.1234567890123456", {"fine"}),
        ("code-value-date=when$ge2021-02", {"dated"}),
        ("code-value-date=when$lt2021-02", set()),
        ("value-concept:text=posi", {"coded"}),
        ("code=panel,kind", {"parts", "coded"}),
    ],
)
def test_composites_hold_together_and_codes_apart_32_35(tenant: Tenant, query: str, expected: set[str]) -> None:
    assert found(tenant, query, "Observation") == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("subject=x1", {"of-person", "of-group", "absolute"}),
        ("subject=Patient/x1", {"of-person", "absolute"}),
        ("subject:Patient=x1", {"of-person", "absolute"}),
        ("subject=http://testserver/fhir/R4/Patient/x1", {"of-person", "absolute"}),
        ("patient=x1", {"of-person", "absolute"}),
        ("patient=Group/x1", set()),
        ("subject=Group/x1", {"of-group"}),
        ("focus=Device/x1", {"of-person"}),
        ("subject=nobody", set()),
        ("code=refs&patient:missing=true", {"of-group"}),
        ("code=refs&patient:missing=false", {"of-person", "absolute", "of-newborn"}),
    ],
)
def test_references_in_their_forms_33(tenant: Tenant, query: str, expected: set[str]) -> None:
    assert found(tenant, query, "Observation") == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("general-practitioner:identifier=urn:gp|1", {"tokens"}),
        ("general-practitioner:identifier=1", {"tokens"}),
        ("general-practitioner:identifier=urn:gp|", {"tokens"}),
        ("general-practitioner:identifier=urn:gp|2", set()),
        ("general-practitioner:Practitioner=gp", {"tokens"}),
        ("general-practitioner:Organization=gp", set()),
        ("organization=http://elsewhere.org/fhir/Organization/9", {"tokens"}),
        ("organization=9", set()),
    ],
)
def test_references_by_identifier_and_elsewhere_33(tenant: Tenant, query: str, expected: set[str]) -> None:
    assert found(tenant, query) == expected


def test_type_in_a_chain_is_of_those_ends_that_may_have_it_33() -> None:
    tenant = factories.provision()
    ward = {"resourceType": "Location", "id": "ward", "name": "Ward"}
    inner = observation("inner", subject={"reference": "Location/ward"})
    record.put(tenant.id, [ward, inner, observation("outer", focus=[{"reference": "Observation/inner"}])])

    assert found(tenant, "focus.subject:Location.name=ward", "Observation") == {"outer"}


def test_bare_id_of_resources_of_several_types_is_refused_33(tenant: Tenant) -> None:
    record.put(
        tenant.id,
        [patient("twice"), location("twice", 1, 1), observation("of-twice", subject={"reference": "Patient/twice"})],
    )

    with pytest.raises(InvalidSearch, match="Type/id"):
        found(tenant, "subject=twice", "Observation")
    assert found(tenant, "subject=Patient/twice", "Observation") == {"of-twice"}
    assert found(tenant, "subject:Patient=twice", "Observation") == {"of-twice"}
    assert found(tenant, "patient=twice", "Observation") == {"of-twice"}
    record.change(tenant.id, None, ("Location", "twice"))
    assert found(tenant, "subject=twice", "Observation") == {"of-twice"}


@pytest.mark.parametrize(
    ("type_name", "way", "expected"),
    [
        ("Observation", "has-member.subject", "panel"),
        ("Observation", "_has:Observation:derived-from:subject", "source"),
        ("Patient", "_has:Observation:patient:has-member.subject", "twin"),
    ],
)
def test_bare_id_at_the_end_of_a_chain_is_refused_likewise_33(type_name: str, way: str, expected: str) -> None:
    tenant = factories.provision()
    of_twin = {"code": "refs", "subject": {"reference": "Patient/twin"}}
    member = observation("member", derivedFrom=[{"reference": "Observation/source"}], **of_twin)
    panel = observation("panel", hasMember=[{"reference": "Observation/member"}], **of_twin)
    record.put(tenant.id, [patient("twin"), location("twin", 1, 1), observation("source"), member, panel])

    with pytest.raises(InvalidSearch, match="Type/id"):
        found(tenant, f"{way}=twin", type_name)
    assert found(tenant, f"{way}=Patient/twin", type_name) == {expected}
    assert found(tenant, f"{way}:Patient=twin", type_name) == {expected}
    record.change(tenant.id, None, ("Location", "twin"))
    assert found(tenant, f"{way}=twin", type_name) == {expected}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2020-05-10", {"day", "instant"}),
        ("eq2020-05", {"day", "instant", "month"}),
        ("2020", {"day", "instant", "month"}),
        ("ne2020-05-10", {"month", "since", "until"}),
        ("gt2020-05-10", {"month", "since"}),
        ("lt2020-05-10", {"month", "since", "until"}),
        ("ge2020-05-10", {"day", "instant", "month", "since"}),
        ("le2020-05-10", {"day", "instant", "month", "since", "until"}),
        ("sa2020-05-09", {"day", "instant"}),
        ("sa2020-04-30", {"day", "instant", "month", "since"}),
        ("eb2020-05-11", {"day", "instant", "until"}),
        ("ap2020-05-10", {"day", "instant", "month", "since", "until"}),
        ("2020-05-10T10:00Z", {"instant"}),
        ("2020-05-10T10:00:30Z", {"instant"}),
        ("2020-05-10T12:00:30 02:00", {"instant"}),
        ("2020-05-10T12:00:30%2B02:00", {"instant"}),
        ("2020-05-10T10:00:31Z", set()),
        ("2020-05-10T10:00", {"instant"}),
        ("2019,2020-05-10", {"day", "instant"}),
    ],
)
def test_dates_mean_spans_34(tenant: Tenant, value: str, expected: set[str]) -> None:
    assert found(tenant, f"date={value}&code=own", "Observation") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("100", {"q100", "q99_5", "q100_4"}),
        ("100.0", {"q100"}),
        ("1e2", {"q100", "q99_5", "q100_4"}),
        ("99.5", {"q99_5"}),
        (f"100|{UCUM}|mg", {"q100", "q99_5"}),
        (f"100.4|{UCUM}|g", {"q100_4"}),
        ("100||mg", {"q100", "q99_5"}),
        ("100||milligram", {"q100", "q99_5", "q100_4"}),
        ("5.4||mg", {"q5"}),
        (f"5.4|{UCUM}|mg", set()),
        ("gt100", {"q100_4"}),
        ("ge100", {"q100", "q100_4"}),
        ("lt100", {"q99_5", "q5"}),
        ("100||", {"q100", "q99_5", "q100_4"}),
        ("le100", {"q100", "q99_5", "q5"}),
        ("ne100", {"q5"}),
        ("ap5", {"q5"}),
        ("sa100", {"q100_4"}),
        ("eb99.5", {"q5"}),
        ("gt99,5.4", {"q100", "q99_5", "q100_4", "q5"}),
    ],
)
def test_quantities_have_significant_digits_and_units_35(tenant: Tenant, value: str, expected: set[str]) -> None:
    assert found(tenant, f"value-quantity={value}", "Observation") == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("47.37|8.54|5|km", {"zurich"}),
        ("47.37|8.54", {"zurich"}),
        ("47.37|8.54|100000|m", {"zurich", "bern"}),
        ("47.37|8.54|120", {"zurich", "bern"}),
        ("47.37|8.54|50|[mi_i]", {"zurich"}),
        ("-17.7|-179.9|30|km", {"fiji"}),
        ("46.9480|7.4474|0|km", {"bern"}),
    ],
)
def test_near_measures_on_the_globe(tenant: Tenant, value: str, expected: set[str]) -> None:
    assert found(tenant, f"near={value}", "Location") == expected
