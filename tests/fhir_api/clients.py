"""Clients of the FHIR interface, and small resources that are valid."""

import json as jsonlib
from typing import Any

from core.ids import uuid7_text
from tests import factories
from tests.factories import Client

BASE = "/fhir/R4"
FHIR = "application/fhir+json"


class Fhir:
    """A client with one token and, if wanted, one tenant in the header; paths are below the base."""

    def __init__(self, token: str = "", tenant: Any = None) -> None:
        self.client = Client(raise_request_exception=False)
        self.headers: dict[str, str] = {}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        if tenant is not None:
            self.headers["X-Tenant-Id"] = str(getattr(tenant, "id", tenant))
        self.tenant = tenant

    def call(self, method: str, path: str, body: Any = None, *, media: str = FHIR, **headers: str) -> Any:
        """Send one request; `body` is JSON to be, or bytes; headers are named with underscores: `If_Match`."""
        content = body if isinstance(body, bytes) else b"" if body is None else jsonlib.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.generic(method, BASE + path, content, content_type=media, headers={**self.headers, **named})

    def get(self, path: str, **more: Any) -> Any:
        """Send a GET."""
        return self.call("GET", path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> Any:
        """Send a POST."""
        return self.call("POST", path, body, **more)

    def put(self, path: str, body: Any = None, **more: Any) -> Any:
        """Send a PUT."""
        return self.call("PUT", path, body, **more)

    def patch(self, path: str, body: Any = None, **more: Any) -> Any:
        """Send a PATCH, by default a JSON Patch."""
        return self.call("PATCH", path, body, **{"media": "application/json-patch+json", **more})

    def delete(self, path: str, **more: Any) -> Any:
        """Send a DELETE."""
        return self.call("DELETE", path, **more)

    def made(self, resource: dict[str, Any]) -> dict[str, Any]:
        """Create a resource and return it as it was answered."""
        answer = self.post(f"/{resource['resourceType']}", resource)
        assert answer.status_code == 201, answer.content
        found: dict[str, Any] = answer.json()
        return found


def prescriber(tenant: Any = None) -> Fhir:
    """A client of a member who reads and writes the record."""
    home = tenant or factories.provision("provider")
    person, _ = factories.member(home, ["prescriber"])
    return Fhir(factories.bearer(person), home)


def reader(tenant: Any) -> Fhir:
    """A client of a member who only reads it."""
    person, _ = factories.member(tenant, ["pharmacist"])
    return Fhir(factories.bearer(person), tenant)


def patient(**more: Any) -> dict[str, Any]:
    """A patient."""
    return {"resourceType": "Patient", "name": [{"family": "Muster", "given": ["Eva"]}], "gender": "female", **more}


def identified(value: str = "", **more: Any) -> dict[str, Any]:
    """A patient with an identifier that no other has."""
    return patient(identifier=[{"system": "urn:mrn", "value": value or uuid7_text()}], **more)


def observation(subject: str, **more: Any) -> dict[str, Any]:
    """An observation of a patient: 1.10 of something."""
    return {
        "resourceType": "Observation",
        "status": "final",
        "code": {"coding": [{"system": "http://loinc.org", "code": "2160-0"}]},
        "subject": {"reference": subject},
        **more,
    }


def vital_sign(subject: str, code: str, value: float, unit: str, **more: Any) -> dict[str, Any]:
    """A vital sign of a patient as R4's profiles have it."""
    category = {"system": "http://terminology.hl7.org/CodeSystem/observation-category", "code": "vital-signs"}
    return observation(
        subject,
        **{
            "category": [{"coding": [category]}],
            "code": {"coding": [{"system": "http://loinc.org", "code": code}]},
            "effectiveDateTime": "2026-01-02",
            "valueQuantity": {"value": value, "unit": unit, "system": "http://unitsofmeasure.org", "code": unit},
            **more,
        },
    )


def code_of(answer: Any) -> str:
    """The platform's code of the first issue of a refusal, whose form is checked too."""
    assert answer.headers["Content-Type"] == "application/fhir+json; charset=utf-8", answer.content
    document = answer.json()
    assert document["resourceType"] == "OperationOutcome"
    assert document["issue"]
    for issue in document["issue"]:
        assert issue["severity"]
        assert issue["code"]
    found: str = document["issue"][0]["details"]["coding"][0]["code"]
    return found


def issue_type(answer: Any) -> str:
    """R4's type of the first issue."""
    found: str = answer.json()["issue"][0]["code"]
    return found
