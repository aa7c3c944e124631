"""Every address of the FHIR interface asks for a credential and a scope, in FHIR's own form; two documents are public."""

import pytest

from core.ids import uuid7_text
from fhir_api.urls import urlpatterns
from tests import factories
from tests.fhir_api.clients import Fhir, code_of

PUBLIC = {"capabilities", "smart"}
ROUTES = [
    (str(pattern.pattern), method.upper(), action)
    for pattern in urlpatterns
    for method, action in pattern.callback.actions.items()
]
GUARDED = [route for route in ROUTES if route[2] not in PUBLIC]
VALUES = {"<str:type_name>": "Patient", "<str:fhir_id>": "1", "<str:version>": "1"}
VALUES |= {"<uuid:job_id>": uuid7_text(), "<str:name>": "Patient.1.ndjson"}
VALUES |= {"<compartment:kind>": "Patient", "<member:type_name>": "Observation"}


def address(route):
    for name, value in VALUES.items():
        route = route.replace(name, value)
    assert "<" not in route, route
    return route


def names(routes):
    return pytest.mark.parametrize(("route", "method", "action"), routes, ids=[f"{one[1]} {one[0]}" for one in routes])


@names(GUARDED)
def test_without_credential_is_401(route, method, action):
    answer = Fhir().call(method, address(route))
    assert answer.status_code == 401
    if method != "HEAD":
        assert code_of(answer) == "not_authenticated"


@names(GUARDED)
def test_member_without_clinical_scope_is_403(route, method, action):
    tenant = factories.provision("provider")
    person, _ = factories.member(tenant, ["tenant_admin"])
    answer = Fhir(factories.bearer(person), tenant).call(method, address(route))
    assert answer.status_code == 403
    if method != "HEAD":
        assert code_of(answer) == "insufficient_scope"


@names(GUARDED)
def test_stranger_in_the_tenant_is_403(route, method, action):
    mine, theirs = factories.provision("provider"), factories.provision("provider")
    person, _ = factories.member(mine, ["prescriber"])
    answer = Fhir(factories.bearer(person), theirs).call(method, address(route))
    assert answer.status_code == 403
    if method != "HEAD":
        assert code_of(answer) == "tenant_forbidden"


@names([route for route in ROUTES if route[2] in PUBLIC])
def test_public_documents_need_nothing(route, method, action):
    assert Fhir().call(method, address(route)).status_code == 200


def test_token_bound_to_a_tenant_needs_no_header():
    tenant = factories.provision("provider")
    person, _ = factories.member(tenant, ["prescriber"])
    bound = Fhir(factories.bearer(person, tenant=tenant))
    assert bound.post("/Location", {"resourceType": "Location", "name": "Ward"}).status_code == 201
    assert Fhir(factories.bearer(person)).get("/Location/_history").json()["total"] == 1
