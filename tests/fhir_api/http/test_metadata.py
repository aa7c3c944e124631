"""What anybody may ask: the CapabilityStatement and the SMART configuration."""

import json

import fhirclient.models.capabilitystatement as models
import pytest

from fhir_api.resources.types import NUMBERS
from tests.fhir_api.clients import Fhir


@pytest.fixture
def nobody():
    return Fhir()


def test_capability_statement_is_public_and_tells_every_type(nobody, settings):
    answer = nobody.get("/metadata")
    assert answer.status_code == 200
    found = answer.json()
    assert (found["fhirVersion"], found["implementation"]["url"]) == ("4.0.1", settings.FHIR_BASE_URL)
    (rest,) = found["rest"]
    assert [one["type"] for one in rest["resource"]] == list(NUMBERS)
    for one in rest["resource"]:
        assert one["updateCreate"] is True
        assert one["conditionalRead"] == "full-support"
        assert {"read", "vread", "create", "update", "patch", "delete", "history-instance", "search-type"} <= {
            interaction["code"] for interaction in one["interaction"]
        }
        assert {"_id", "_lastUpdated"} <= {parameter["name"] for parameter in one["searchParam"]}
    models.CapabilityStatement(found)  # raises where an independent reader finds a fault


def test_capability_statement_that_is_known_is_304(nobody):
    tag = nobody.get("/metadata").headers["ETag"]
    answer = nobody.get("/metadata", If_None_Match=tag)
    assert (answer.status_code, answer.content, answer.headers["ETag"]) == (304, b"", tag)
    assert nobody.get("/metadata", If_None_Match='W/"other"').status_code == 200


def test_smart_configuration_names_the_endpoints(nobody, settings):
    answer = nobody.get("/.well-known/smart-configuration")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/json")
    found = answer.json()
    assert found["token_endpoint"] == f"{settings.BASE_URL}/oauth/token"
    assert {
        "authorization_endpoint",
        "capabilities",
        "code_challenge_methods_supported",
        "grant_types_supported",
    } <= set(found)
    assert found["code_challenge_methods_supported"] == ["S256"]


def test_smart_configuration_announces_clients_that_sign(nobody):
    found = nobody.get("/.well-known/smart-configuration").json()
    assert "private_key_jwt" in found["token_endpoint_auth_methods_supported"]
    assert found["token_endpoint_auth_signing_alg_values_supported"] == ["RS384", "ES384"]
    assert {"client-confidential-asymmetric", "client-confidential-symmetric"} <= set(found["capabilities"])


def test_capability_statement_names_the_exports(nobody):
    rest = nobody.get("/metadata").json()["rest"][0]
    assert "export" in {one["name"] for one in rest["operation"]}
    (of_patients,) = [one for one in rest["resource"] if one["type"] == "Patient"]
    assert "http://hl7.org/fhir/uv/bulkdata/OperationDefinition/patient-export" in json.dumps(of_patients["operation"])
