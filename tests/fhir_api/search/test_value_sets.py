"""Value sets that a tenant brings: read from ValueSet resources, kept by the command, and meant by `:in` and `:not-in`."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from core.clock import now
from core.db import tenant_context
from fhir_api import search
from fhir_api.search.refusals import InvalidSearch, UnknownValueSet
from fhir_api.value_sets.actions import keep
from fhir_api.value_sets.documents import UnusableValueSet, read
from fhir_api.value_sets.models import MOST_CODES
from organizations.models import Tenant
from tests import factories
from tests.fhir_api.search import record

Json = dict[str, Any]
LOINC, OWN = "http://loinc.org", "http://example.org/codes"
VITALS = "http://example.org/ValueSet/vitals"


def value_set(url: str = VITALS, **more: Any) -> Json:
    return {"resourceType": "ValueSet", "url": url, "status": "active", **more}


def listed(*codes: str, system: str = LOINC) -> Json:
    return {"system": system, "concept": [{"code": code} for code in codes]}


def expanded(*contains: Json, **more: Any) -> Json:
    return {"timestamp": "2026-01-01", "contains": list(contains), **more}


def observation(fhir_id: str, code: str, system: str = LOINC, patient: str = "one") -> Json:
    return {
        "resourceType": "Observation",
        "id": fhir_id,
        "status": "final",
        "code": {"coding": [{"system": system, "code": code}]},
        "subject": {"reference": f"Patient/{patient}"},
    }


@pytest.fixture(scope="module")
def tenant() -> Tenant:
    made = factories.provision()
    record.put(
        made.id,
        [
            {"resourceType": "Patient", "id": "one"},
            {"resourceType": "Patient", "id": "two"},
            observation("weight", "29463-7"),
            observation("height", "8302-2"),
            observation("other", "1-8", patient="two"),
            observation("own", "8302-2", OWN, patient="two"),
        ],
    )
    bring(made, value_set(compose={"include": [listed("29463-7", "8302-2")]}))
    return made


def bring(tenant: Tenant, resource: Json) -> bool:
    with tenant_context(tenant.id):
        return keep(tenant.id, read(resource), at=now())


def found(tenant: Tenant, type_name: str, query: str, **more: Any) -> set[str]:
    return {name.partition("/")[2] for name in record.names(record.asked(tenant.id, type_name, query, **more))}


@pytest.mark.parametrize(
    ("type_name", "query", "expected"),
    [
        ("Observation", f"code:in={VITALS}", {"weight", "height"}),
        ("Observation", f"code:not-in={VITALS}", {"other", "own"}),
        ("Observation", f"code:in={VITALS}&subject=Patient/two", set()),
        ("Patient", f"_has:Observation:patient:code:in={VITALS}", {"one"}),
        (
            "Observation",
            f"status:in=http://hl7.org/fhir/ValueSet/observation-status&code:in={VITALS}",
            {"weight", "height"},
        ),
    ],
)
def test_searches_mean_the_codes_of_the_tenants_value_set(
    tenant: Tenant, type_name: str, query: str, expected: set[str]
) -> None:
    assert found(tenant, type_name, query) == expected


def test_one_trip_reads_all_value_sets_of_a_search_and_none_where_r4_has_them(tenant: Tenant) -> None:
    trips: list[int] = []
    found(tenant, "Observation", "status:in=http://hl7.org/fhir/ValueSet/observation-status", trips=trips)
    without = len(trips)
    trips.clear()
    found(tenant, "Observation", f"code:in={VITALS},{VITALS}&code:not-in={VITALS}", trips=trips)
    assert len(trips) <= without + 2  # the value sets, and the count of the rarest


def test_pages_of_such_a_search_go_on(tenant: Tenant) -> None:
    assert len(record.all_of(tenant.id, "Observation", f"code:in={VITALS}&_count=1")) == 2


def test_conditions_of_writes_mean_it_too(tenant: Tenant) -> None:
    with tenant_context(tenant.id):
        assert search.matches(tenant.id, "Observation", f"code:in={VITALS}&subject=Patient/two") == []
        assert len(search.matches(tenant.id, "Observation", f"code:in={VITALS}")) == 2


def test_another_tenants_value_set_is_not_known(tenant: Tenant) -> None:
    with pytest.raises(UnknownValueSet):
        found(factories.provision(), "Observation", f"code:in={VITALS}")


def test_versions_are_told_apart_and_the_last_one_is_meant(tenant: Tenant) -> None:
    url = "http://example.org/ValueSet/changing"
    assert bring(tenant, value_set(url, version="1", compose={"include": [listed("8302-2")]}))
    assert bring(tenant, value_set(url, version="2", compose={"include": [listed("1-8")]}))

    assert found(tenant, "Observation", f"code:in={url}|1") == {"height"}
    assert (
        found(tenant, "Observation", f"code:in={url}|2") == found(tenant, "Observation", f"code:in={url}") == {"other"}
    )
    with pytest.raises(UnknownValueSet):
        found(tenant, "Observation", f"code:in={url}|3")

    assert not bring(tenant, value_set(url, version="1", compose={"include": [listed("29463-7")]}))
    assert found(tenant, "Observation", f"code:in={url}") == {"weight"}


def test_value_sets_of_one_parameter_have_a_bound_together(tenant: Tenant) -> None:
    codes = [f"c{number}" for number in range(MOST_CODES)]
    bring(tenant, value_set("http://example.org/ValueSet/large", compose={"include": [listed(*codes)]}))
    assert found(tenant, "Observation", "code:in=http://example.org/ValueSet/large") == set()
    with pytest.raises(InvalidSearch):
        found(tenant, "Observation", f"code:in=http://example.org/ValueSet/large,{VITALS}")


@pytest.mark.parametrize(
    ("more", "codes"),
    [
        (
            {"expansion": expanded({"system": OWN, "code": "a"}, {"system": LOINC, "code": "b"})},
            {OWN: ["a"], LOINC: ["b"]},
        ),
        (
            {
                "expansion": expanded(
                    {"system": OWN, "code": "a", "abstract": True, "contains": [{"system": OWN, "code": "b"}]}
                )
            },
            {OWN: ["b"]},
        ),
        (
            {"expansion": expanded({"display": "group", "contains": [{"system": OWN, "code": "c"}]}, total=2)},
            {OWN: ["c"]},
        ),
        ({"compose": {"include": [listed("a", "b", "a")], "exclude": [listed("b")]}}, {LOINC: ["a"]}),
    ],
)
def test_codes_are_read_from_the_expansion_or_the_list(more: Json, codes: dict[str, list[str]]) -> None:
    assert read(value_set(**more)).codes == codes


@pytest.mark.parametrize(
    "resource",
    [
        None,
        [],
        {"resourceType": "Patient"},
        value_set("not-absolute", compose={"include": [listed("a")]}),
        value_set("http://[never", compose={"include": [listed("a")]}),
        value_set(f"{VITALS}|1", compose={"include": [listed("a")]}),
        value_set("urn:x:" + "x" * 500, compose={"include": [listed("a")]}),
        value_set("http://hl7.org/fhir/ValueSet/administrative-gender", compose={"include": [listed("a")]}),
        value_set(version=7, compose={"include": [listed("a")]}),
        value_set(),
        value_set(compose=[]),
        value_set(compose={"include": {}}),
        value_set(compose={"include": [{"system": LOINC}]}),
        value_set(compose={"include": [listed("a") | {"filter": [{}]}]}),
        value_set(compose={"include": [{"valueSet": [VITALS]}]}),
        value_set(compose={"include": [listed("a")], "exclude": [{"system": LOINC}]}),
        value_set(compose={"include": [{"concept": [{"code": "a"}]}]}),
        value_set(compose={"include": [listed("a")], "exclude": [listed("a")]}),
        value_set(compose={"include": [listed(*map(str, range(MOST_CODES + 1)))]}),
        value_set(expansion=expanded({"code": "a"})),
        value_set(expansion=expanded({"system": OWN, "code": "a"}, total=2)),
        value_set(expansion=7),
    ],
)
def test_what_does_not_tell_its_codes_is_refused(resource: Any) -> None:
    with pytest.raises(UnusableValueSet):
        read(resource)


def test_the_command_brings_replaces_forgets_and_lists(tmp_path: Any) -> None:
    tenant = factories.provision()
    one = value_set(compose={"include": [listed("a")]})
    two = value_set("http://example.org/ValueSet/two", version="1", compose={"include": [listed("a", "b")]})
    file = tmp_path / "sets.json"
    file.write_text(
        json.dumps({"resourceType": "Bundle", "type": "collection", "entry": [{"resource": one}, {"resource": two}]})
    )

    assert "brought" in run(tenant, str(file))
    assert "replaced" in run(tenant, str(file))
    assert f"{VITALS}  1 codes" in run(tenant)
    assert "1 value sets" in run(tenant, "--remove", VITALS)

    file.write_text(json.dumps([one, value_set("http://example.org/ValueSet/bad")]))
    for wrong in ([str(file)], [str(tmp_path / "none.json")], ["--remove", VITALS]):
        with pytest.raises(CommandError):
            run(tenant, *wrong)
    assert "1 value sets" in run(tenant)


def run(tenant: Tenant, *arguments: str) -> str:
    out = StringIO()
    call_command("fhir_value_sets", *arguments, "--tenant", str(tenant.id), stdout=out)
    return out.getvalue()
