"""Criteria of conditional interactions."""

from typing import Any

import pytest

from core.clock import now
from core.db import tenant_context
from fhir_api import search, store
from fhir_api.models import Method
from fhir_api.search.refusals import InvalidSearch, UnknownSearchParameter, UnsupportedSearch
from organizations.models import Tenant
from tests import factories

ONES = "http://example.org/numbers"


@pytest.fixture(scope="module")
def tenant() -> Tenant:
    return factories.provision()


def put(tenant: Tenant, *resources: dict[str, Any]) -> None:
    changes = [store.Change(Method.PUT, one["resourceType"], one["id"], one) for one in resources]
    with tenant_context(tenant.id):
        store.write(tenant.id, changes, at=now())


def found(tenant: Tenant, type_name: str, criteria: str, **more: Any) -> list[str]:
    with tenant_context(tenant.id):
        return [fhir_id for _, fhir_id in search.matches(tenant.id, type_name, criteria, **more)]


def patient(fhir_id: str, number: str, **more: Any) -> dict[str, Any]:
    identifier = [{"system": ONES, "value": number}]
    return {"resourceType": "Patient", "id": fhir_id, "identifier": identifier, **more}


def test_matches_none_one_and_two_of_many(tenant: Tenant) -> None:
    put(tenant, *(patient(f"m-{n}", "same") for n in range(3)), patient("m-own", "own"))

    assert found(tenant, "Patient", f"identifier={ONES}|own") == ["m-own"]
    assert found(tenant, "Patient", f"?identifier={ONES}%7Cown") == ["m-own"]
    assert found(tenant, "Patient", f"identifier={ONES}|nobody") == []
    assert len(found(tenant, "Patient", f"identifier={ONES}|same")) == 2
    assert len(found(tenant, "Patient", f"identifier={ONES}|same", limit=9)) == 3


def test_matches_sees_only_the_bound_tenant(tenant: Tenant) -> None:
    other = factories.provision()
    put(other, patient("m-foreign", "foreign"))

    assert found(tenant, "Patient", f"identifier={ONES}|foreign") == []
    with tenant_context(tenant.id):
        assert search.matches(other.id, "Patient", f"identifier={ONES}|foreign") == []
    assert found(other, "Patient", f"identifier={ONES}|foreign") == ["m-foreign"]


def test_matches_is_strict(tenant: Tenant) -> None:
    with pytest.raises(UnknownSearchParameter):
        found(tenant, "Patient", f"identifier={ONES}|own&colour=red")
    with pytest.raises(UnknownSearchParameter):
        found(tenant, "Patient", f"identifier={ONES}|own&_sort=name")
    with pytest.raises(UnsupportedSearch):
        found(tenant, "Patient", "identifier:below=1")
    for nothing in ("", "?", "identifier=", "identifier=,"):
        with pytest.raises(InvalidSearch):
            found(tenant, "Patient", nothing)


def test_matches_by_several_criteria_and_kinds(tenant: Tenant) -> None:
    name = [{"family": "Müller", "given": ["Änne"]}]
    put(tenant, patient("m-a", "kinds", name=name, birthDate="1970-03-04", gender="female"))
    put(tenant, patient("m-b", "kinds", name=name, birthDate="1970-03-05", gender="female"))

    assert found(tenant, "Patient", f"identifier={ONES}|kinds&birthdate=1970-03-04") == ["m-a"]
    assert found(tenant, "Patient", "family=MULLER&given=anne&birthdate=gt1970-03-04&gender=female") == ["m-b"]
    assert found(tenant, "Patient", f"identifier={ONES}|kinds&_id=m-b,m-x") == ["m-b"]
    assert found(tenant, "Patient", "family=muller&gender:not=female") == []
