"""Inclusions, chains and `_has`, and what a narrowed token may see of them."""

from typing import Any

import pytest

from fhir_api import smart
from fhir_api.definitions.parameters import BY_TYPE
from fhir_api.resources.types import NUMBERS
from fhir_api.search.refusals import InvalidSearch, UnknownSearchParameter
from organizations.models import Tenant
from tests import factories
from tests.fhir_api.search import record

Json = dict[str, Any]
ENCOUNTER = {"status": "finished", "class": {"code": "AMB"}}


def patient(fhir_id: str, family: str, **more: Any) -> Json:
    return {"resourceType": "Patient", "id": fhir_id, "name": [{"family": family}], **more}


def observation(fhir_id: str, subject: str, **more: Any) -> Json:
    code = {"coding": [{"code": more.pop("code", "c")}]}
    found = {"resourceType": "Observation", "id": fhir_id, "status": "final", "code": code}
    return {**found, "subject": {"reference": subject}, **more}


ALL = [
    {"resourceType": "Organization", "id": "top", "name": "Top"},
    {"resourceType": "Organization", "id": "mid", "name": "Middle", "partOf": {"reference": "Organization/top"}},
    {"resourceType": "Organization", "id": "low", "name": "Low", "partOf": {"reference": "Organization/mid"}},
    {"resourceType": "Practitioner", "id": "doc", "name": [{"family": "Doctor"}]},
    patient("a", "Alpha", managingOrganization={"reference": "Organization/low"}),
    patient("b", "Beta", generalPractitioner=[{"reference": "Practitioner/doc"}]),
    {"resourceType": "Encounter", "id": "visit", **ENCOUNTER, "subject": {"reference": "Patient/a"}},
    observation(
        "a1", "Patient/a", encounter={"reference": "Encounter/visit"}, performer=[{"reference": "Practitioner/doc"}]
    ),
    observation("a2", "Patient/a", code="other"),
    observation("b1", "Patient/b", hasMember=[{"reference": "Observation/a1"}], code="group"),
    observation("gone", "Patient/never"),
    observation("foreign", "http://elsewhere.org/Patient/a"),
]


@pytest.fixture(scope="module")
def tenant() -> Tenant:
    made = factories.provision()
    record.put(made.id, ALL)
    return made


def included(tenant: Tenant, type_name: str, query: str, **more: Any) -> set[str]:
    bundle = record.asked(tenant.id, type_name, query, strict=True, **more)
    names = record.names(bundle) + record.names(bundle, "include")
    assert len(names) == len(set(names))
    modes = [entry["search"]["mode"] for entry in bundle.get("entry", [])]
    assert modes == sorted(modes, reverse=True), "matches come first"
    return set(record.names(bundle, "include"))


@pytest.mark.parametrize(
    ("type_name", "query", "expected"),
    [
        ("Observation", "_id=a1&_include=Observation:subject", {"Patient/a"}),
        ("Observation", "_id=a1&_include=Observation:patient", {"Patient/a"}),
        ("Observation", "_id=a1&_include=Observation:subject:Group", set()),
        ("Observation", "_id=a1&_include=Observation:encounter:Encounter", {"Encounter/visit"}),
        ("Observation", "_id=a1&_include=*", {"Patient/a", "Encounter/visit", "Practitioner/doc"}),
        ("Observation", "_id=a1&_include=Observation:*", {"Patient/a", "Encounter/visit", "Practitioner/doc"}),
        ("Observation", "_id=a1,a2&_include=Observation:has-member", set()),
        ("Observation", "_id=b1,a1&_include=Observation:has-member", set()),
        ("Observation", "_id=b1&_include=Observation:has-member", {"Observation/a1"}),
        ("Observation", "_id=gone,foreign&_include=Observation:subject", set()),
        ("Observation", "_id=a1&_include=Observation:subject&_include=Patient:organization", {"Patient/a"}),
        (
            "Observation",
            "_id=a1&_include=Observation:subject&_include:iterate=Patient:organization",
            {"Patient/a", "Organization/low"},
        ),
        (
            "Observation",
            "_id=a1&_include=Observation:subject&_include:iterate=Patient:organization&_include:iterate=Organization:partof",
            {"Patient/a", "Organization/low", "Organization/mid", "Organization/top"},
        ),
        ("Patient", "_id=a&_revinclude=Observation:subject", {"Observation/a1", "Observation/a2"}),
        ("Patient", "_id=a&_revinclude=Observation:subject:Group", set()),
        (
            "Patient",
            "_id=a&_revinclude=Observation:subject&_revinclude=Encounter:patient",
            {"Observation/a1", "Observation/a2", "Encounter/visit"},
        ),
        ("Patient", "_id=a&_revinclude=*", {"Observation/a1", "Observation/a2", "Encounter/visit"}),
        (
            "Patient",
            "_id=a&_revinclude=Encounter:patient&_revinclude:iterate=Observation:encounter",
            {"Encounter/visit", "Observation/a1"},
        ),
        ("Organization", "_id=top&_revinclude:iterate=Organization:partof", {"Organization/mid", "Organization/low"}),
    ],
)
def test_inclusions_bring_what_they_name(tenant: Tenant, type_name: str, query: str, expected: set[str]) -> None:
    assert included(tenant, type_name, query) == expected


def test_inclusions_are_not_counted_and_each_page_has_its_own_36_37(tenant: Tenant) -> None:
    query = "code=c,group,other&subject=Patient/a,Patient/b&_include=Observation:subject&_count=1&_total=accurate"
    pages = []
    while query:
        bundle = record.asked(tenant.id, "Observation", query)
        assert bundle["total"] == 3
        pages.append((record.names(bundle), record.names(bundle, "include")))
        query = record.next_query(bundle)

    assert sorted(pages) == [
        (["Observation/a1"], ["Patient/a"]),
        (["Observation/a2"], ["Patient/a"]),
        (["Observation/b1"], ["Patient/b"]),
    ]


def test_summaries_and_elements_tell_that_they_are_parts_38(tenant: Tenant) -> None:
    query = "_id=a1&_elements=subject&_include=Observation:subject"
    match, one = (entry["resource"] for entry in record.asked(tenant.id, "Observation", query)["entry"])

    assert set(match) == {"resourceType", "id", "meta", "status", "code", "subject"}
    assert match["meta"]["tag"][0]["code"] == "SUBSETTED"
    assert "tag" not in one["meta"]
    text = record.asked(tenant.id, "Observation", "_id=a1&_summary=text")["entry"][0]["resource"]
    assert set(text) == {"resourceType", "id", "meta", "status", "code"}
    short = record.asked(tenant.id, "Observation", "_id=a1&_summary=true")["entry"][0]["resource"]
    assert set(short) == {"resourceType", "id", "meta", "status", "code", "subject", "encounter", "performer"}
    assert set(record.asked(tenant.id, "Observation", "_id=a1&_summary=data")["entry"][0]["resource"]) == set(short)
    whole = record.asked(tenant.id, "Observation", "_id=a1&_summary=false")["entry"][0]["resource"]
    assert "tag" not in whole["meta"]
    with pytest.raises(InvalidSearch):
        record.asked(tenant.id, "Observation", "_id=a1&_summary=text&_revinclude=Observation:has-member")


@pytest.mark.parametrize(
    ("type_name", "query", "expected"),
    [
        ("Observation", "subject:Patient.family=alpha", {"a1", "a2"}),
        ("Observation", "patient.family=beta", {"b1"}),
        ("Observation", "subject.family=alpha,beta", {"a1", "a2", "b1"}),
        ("Observation", "patient.organization.name=low", {"a1", "a2"}),
        ("Observation", "patient.organization.partof.name=middle", {"a1", "a2"}),
        ("Observation", "patient.family:not=x", None),
        ("Observation", "patient._id=a&code=other", {"a2"}),
        ("Patient", "_has:Observation:patient:code=other", {"a"}),
        ("Patient", "_has:Observation:subject:code=c,group", {"a", "b"}),
        ("Patient", "_has:Observation:patient:_has:Observation:has-member:code=group", {"a"}),
        ("Patient", "_has:Observation:patient:performer:Practitioner.family=doctor", {"a"}),
        ("Patient", "_has:Observation:patient:encounter.class=AMB", {"a"}),
        ("Practitioner", "_has:Patient:general-practitioner:family=beta", {"doc"}),
        ("Practitioner", "_has:Patient:general-practitioner:family=alpha", set()),
        ("Observation", "patient._has:Encounter:patient:class=AMB", {"a1", "a2"}),
    ],
)
def test_chains_and_has_in_depth(tenant: Tenant, type_name: str, query: str, expected: set[str] | None) -> None:
    if expected is None:
        with pytest.raises(Exception, match="modifier"):
            record.all_of(tenant.id, type_name, query)
        return
    found = record.all_of(tenant.id, type_name, query, strict=True)
    assert {name.partition("/")[2] for name in found} == expected
    assert len(found) == len(expected)
    assert record.asked(tenant.id, type_name, f"{query}&_count=0")["total"] == len(expected)


def test_chain_of_unknown_parts_is_refused(tenant: Tenant) -> None:
    for query in (
        "patient.colour=x",
        "_has:Observation:patient:colour=x",
        "_has:Observation:code:status=x",
        "_has:Colour:x:y=1",
    ):
        with pytest.raises(UnknownSearchParameter):
            record.asked(tenant.id, "Patient" if "_has" in query else "Observation", query, strict=True)


# -- what a token may not see ------------------------------------------------------------------------------------------


def only(*types: str, patient: str = "") -> smart.Access:
    return smart.Access({name: frozenset("rs") for name in types}, patient)


def test_types_out_of_reach_are_neither_included_nor_tested(tenant: Tenant) -> None:
    access = only("Observation", "Encounter")

    assert included(tenant, "Observation", "_id=a1&_include=*", access=access) == {"Encounter/visit"}
    assert included(tenant, "Encounter", "_id=visit&_revinclude=*", access=access) == {"Observation/a1"}
    assert included(tenant, "Encounter", "_id=visit&_include=Encounter:patient", access=access) == set()
    assert record.all_of(tenant.id, "Observation", "patient.family=alpha", access=access) == []
    with pytest.raises(UnknownSearchParameter):
        record.all_of(
            tenant.id, "Encounter", "_has:DiagnosticReport:encounter:status=final", access=access, strict=True
        )
    assert set(record.all_of(tenant.id, "", "_count=50", access=access)) == {
        name
        for name in (f"{one['resourceType']}/{one['id']}" for one in ALL)
        if name.startswith(("Encounter", "Observation"))
    }


def test_patient_compartment_holds_matches_chains_and_inclusions(tenant: Tenant) -> None:
    access = only("Patient", "Observation", "Encounter", "Organization", "Practitioner", patient="b")

    assert record.all_of(tenant.id, "Patient", "_count=50", access=access) == ["Patient/b"]
    assert record.all_of(tenant.id, "Observation", "_count=50", access=access) == ["Observation/b1"]
    assert record.asked(tenant.id, "Observation", "_count=0", access=access)["total"] == 1
    assert record.all_of(tenant.id, "Observation", "code=c", access=access) == []
    assert record.all_of(tenant.id, "Encounter", "_count=50", access=access) == []
    assert record.all_of(tenant.id, "Observation", "patient.family=alpha", access=access) == []
    assert record.all_of(tenant.id, "Patient", "_has:Observation:patient:code=other", access=access) == []
    assert included(tenant, "Observation", "_id=b1&_include=*", access=access) == {"Patient/b"}
    assert included(tenant, "Practitioner", "_id=doc&_revinclude=*", access=access) == {"Patient/b"}
    assert included(tenant, "Organization", "_id=low&_revinclude=Patient:organization", access=access) == set()


def test_another_tenant_is_out_of_reach_of_chains_has_and_inclusions(tenant: Tenant) -> None:
    other = factories.provision()
    record.put(other.id, [observation("theirs", "Patient/a", code="other"), patient("mine", "Own")])

    assert record.all_of(other.id, "Observation", "patient.family=alpha") == []
    assert included(other, "Observation", "_id=theirs&_include=Observation:subject") == set()
    assert record.all_of(other.id, "Patient", "_has:Observation:patient:code=other") == []
    assert included(tenant, "Patient", "_id=a&_revinclude=Observation:subject") == {"Observation/a1", "Observation/a2"}
    assert record.all_of(other.id, "Organization", "name=top") == []


def test_inclusions_end_at_a_thousand_and_say_so() -> None:
    tenant = factories.provision()
    record.put(
        tenant.id,
        [patient("much", "Much"), *(observation(f"much-{n}", "Patient/much", code="m") for n in range(1_010))],
    )

    bundle = record.asked(tenant.id, "Patient", "_id=much&_revinclude=Observation:subject")

    assert len(record.names(bundle, "include")) == 1_000
    told = bundle["entry"][-1]
    assert told["search"]["mode"] == "outcome"
    assert told["resource"]["issue"][0]["code"] == "incomplete"


def test_inclusions_end_after_five_steps_and_say_so() -> None:
    tenant = factories.provision()
    above = [{"partOf": {"reference": f"Organization/o{n - 1}"}} if n else {"name": "o"} for n in range(8)]
    chain = [{"resourceType": "Organization", "id": f"o{n}", **more} for n, more in enumerate(above)]
    record.put(tenant.id, chain)

    def told(query: str) -> tuple[int, list[str]]:
        bundle = record.asked(tenant.id, "Organization", query, strict=True)
        issues = [entry["resource"]["issue"] for entry in bundle["entry"] if entry["search"]["mode"] == "outcome"]
        return len(record.names(bundle, "include")), [one["details"]["coding"][0]["code"] for (one,) in issues]

    assert told("_id=o7&_include:iterate=Organization:partof") == (5, ["includes_deep"])
    assert told("_id=o5&_include:iterate=Organization:partof") == (5, [])
    assert told("_id=o0&_revinclude:iterate=Organization:partof") == (5, ["includes_deep"])
    assert told("_id=o2&_revinclude:iterate=Organization:partof") == (5, [])


def test_inclusions_have_a_most_and_the_same_one_counts_once(tenant: Tenant) -> None:
    many = "&".join(f"_include=Observation:subject:{kind}" for kind in ("Patient", "Group", "Device", "Location"))
    assert included(tenant, "Observation", f"_id=a1&{many}&{many}") == {"Patient/a"}
    parameters = [one.code for one in BY_TYPE["Observation"].values() if one.kind == "reference"]
    pairs = [f"_include=Observation:{code}:{kind}" for code in parameters for kind in NUMBERS][:51]
    with pytest.raises(InvalidSearch):
        included(tenant, "Observation", "&".join(["_id=a1", *pairs]))
