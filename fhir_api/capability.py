"""The CapabilityStatement of this server, printed from the registry. Source: R4 capabilitystatement.html."""

from functools import lru_cache
from typing import Any, Final

from django.conf import settings

from . import registry
from .compartments import DEFINITIONS as COMPARTMENT_DEFINITIONS
from .conditions import MOST_DELETED
from .definitions.parameters import Parameter
from .resources import Json
from .resources.types import FHIR_VERSION

SOFTWARE_VERSION: Final = "1.0.0"
PUBLISHED: Final = "2026-07-01"
_SECURITY_SYSTEM: Final = "http://terminology.hl7.org/CodeSystem/restful-security-service"
_BULK_DATA: Final = "http://hl7.org/fhir/uv/bulkdata"
_OPERATIONS: Final = "http://hl7.org/fhir/OperationDefinition"
_OAUTH_URIS: Final = "http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris"


@lru_cache(maxsize=4)
def statement(base_url: str, issuer: str) -> Json:
    """The statement of the server at an address."""
    return {
        "resourceType": "CapabilityStatement",
        "id": "healthcare-platform",
        "url": f"{base_url}/metadata",
        "version": SOFTWARE_VERSION,
        "name": "HealthcarePlatform",
        "title": "Healthcare Platform FHIR R4",
        "status": "active",
        "date": PUBLISHED,
        "kind": "instance",
        "instantiates": [f"{_BULK_DATA}/CapabilityStatement/bulk-data"],
        "software": {"name": "Healthcare Platform", "version": SOFTWARE_VERSION},
        "implementation": {"description": "The clinical record of the Healthcare Platform", "url": base_url},
        "fhirVersion": FHIR_VERSION,
        "format": ["json", "application/fhir+json"],
        "patchFormat": ["application/json-patch+json", "application/merge-patch+json", "application/fhir+json"],
        "rest": [
            {
                "mode": "server",
                "security": _security(issuer),
                "resource": [_resource(name) for name in registry.types()],
                "interaction": [{"code": code} for code in registry.SYSTEM],
                "compartment": list(COMPARTMENT_DEFINITIONS.values()),
                "operation": [
                    {"name": "validate", "definition": f"{_OPERATIONS}/Resource-validate"},
                    {"name": "meta", "definition": f"{_OPERATIONS}/Resource-meta"},
                    {"name": "expand", "definition": f"{_OPERATIONS}/ValueSet-expand"},
                    {"name": "validate-code", "definition": f"{_OPERATIONS}/ValueSet-validate-code"},
                    {"name": "export", "definition": f"{_BULK_DATA}/OperationDefinition/export"},
                ],
            }
        ],
    }


def _security(issuer: str) -> Json:
    addresses = {name: f"{issuer}/{path}" for name, path in _ENDPOINTS.items()}
    return {
        "cors": bool(settings.CORS_ALLOWED_ORIGINS),
        "service": [{"coding": [{"system": _SECURITY_SYSTEM, "code": "SMART-on-FHIR"}], "text": "OAuth 2.0 bearer"}],
        "description": "A bearer token (client credentials or authorization code) with the scope healthcare.read; "
        "writes need the scope that the tenant's policy names.",
        "extension": [
            {"url": _OAUTH_URIS, "extension": [{"url": name, "valueUri": url} for name, url in addresses.items()]}
        ],
    }


_PATIENT_EXPORT: Final = {"name": "export", "definition": f"{_BULK_DATA}/OperationDefinition/patient-export"}
_GROUP_EXPORT: Final = {"name": "export", "definition": f"{_BULK_DATA}/OperationDefinition/group-export"}
_LASTN: Final = {"name": "lastn", "definition": f"{_OPERATIONS}/Observation-lastn"}
_OF_ALL_TYPES: Final = tuple(
    {"name": name, "definition": f"{_OPERATIONS}/Resource-{name}"}
    for name in ("validate", "meta", "meta-add", "meta-delete")
)
_DOCUMENTATION: Final = (
    f"A conditional delete of several names with `_count` how many it may delete, at most {MOST_DELETED}; without `_count` one "
    "may match, and more are refused with 412."
)
_ENDPOINTS: Final = {"authorize": "authorize", "token": "token"}  # the extension's definition knows no others of ours


def _resource(name: str) -> Json:
    references = registry.references(name)
    return {
        "type": name,
        "profile": f"http://hl7.org/fhir/StructureDefinition/{name}",
        "documentation": _DOCUMENTATION,
        "interaction": [{"code": code} for code in registry.INSTANCE_AND_TYPE],
        "versioning": "versioned",
        "readHistory": True,
        "updateCreate": True,
        "conditionalCreate": True,
        "conditionalRead": "full-support",
        "conditionalUpdate": True,
        "conditionalDelete": "multiple",
        "referencePolicy": ["literal", "logical", "local", "enforced"],
        "searchInclude": ["*", *(f"{name}:{one.code}" for one in references)],
        "searchRevInclude": list(registry.referring(name)),
        "searchParam": [_parameter(one) for one in registry.search_parameters(name)],
        "operation": _operations(name),
    }


def _operations(name: str) -> list[Json]:
    everything = {"name": "everything", "definition": f"{_OPERATIONS}/{name}-everything"}
    of_types = {
        "Patient": [everything, _PATIENT_EXPORT],
        "Encounter": [everything],
        "Observation": [_LASTN],
        "Group": [_GROUP_EXPORT],
    }
    return [*_OF_ALL_TYPES, *of_types.get(name, [])]


def _parameter(one: Parameter) -> dict[str, Any]:
    return {"name": one.code, "definition": one.url, "type": one.kind}
