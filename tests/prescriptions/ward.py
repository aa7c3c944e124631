"""A clinic and a pharmacy with their people, a patient and a prescriber, over HTTP."""

from dataclasses import dataclass, field
from typing import Any

from core.clock import now
from core.db import tenant_context
from organizations.actions.locations import create_location
from tests import factories
from tests.factories import Api
from tests.fhir_api.clients import Fhir

RXNORM = "http://www.nlm.nih.gov/research/umls/rxnorm"
# No table knows it, so that one patient may have many of it.
PLAIN = {"system": RXNORM, "code": "308182", "display": "amoxicillin 250 MG Oral Tablet"}
AMOXICILLIN = {"system": RXNORM, "code": "308192", "display": "Amoxicillin 500 MG Oral Tablet"}


def item(code: dict[str, Any] = PLAIN, **more: Any) -> dict[str, Any]:
    """An item that passes the clinical checks of an adult without a record."""
    return {
        "medication": code,
        "dosage": [
            {
                "text": "1 tablet three times a day",
                "dose": {"value": "1", "unit": "tablet"},
                "frequency": 3,
                "period": "1",
                "period_unit": "d",
            }
        ],
        "quantity": {"value": "21", "unit": "tablet"},
        "days_supply": 7,
        **more,
    }


@dataclass
class Side:
    """A tenant and clients of its people by role."""

    tenant: Any
    people: dict[str, Api] = field(default_factory=dict)
    users: dict[str, Any] = field(default_factory=dict)
    memberships: dict[str, Any] = field(default_factory=dict)

    def join(self, role: str, name: str = "", **terms: Any) -> Api:
        """Make a member and a client of his."""
        person, membership = factories.member(self.tenant, [role], **terms)
        key = name or role
        self.users[key], self.memberships[key] = person, membership
        self.people[key] = Api(token=factories.bearer(person, acr="mfa"), tenant=self.tenant)
        return self.people[key]

    def client(self, role: str) -> Api:
        """A further client of the same person, for a thread of its own."""
        made = Api()
        made.headers = self.people[role].headers
        return made

    def policies(self, **values: Any) -> None:
        """Set policies of the tenant."""
        admin = factories.as_member(self.tenant, ["tenant_admin"])
        path = f"/v1/tenants/{self.tenant.id}/configuration"
        answer = admin.get(path)
        tag = {"If-Match": answer.headers["ETag"]}
        answer = admin.patch(path, json={"policies": values}, headers=tag)
        assert answer.status_code == 200, answer.content

    def place(self, **data: Any) -> str:
        """Make a location."""
        actor = factories.actor_of(self.tenant)

        def work() -> Any:
            with tenant_context(self.tenant.id):
                return create_location(actor, {"name": "Place", "type": "ward", **data}, now())

        return str(factories.committed(work).id)


@dataclass
class Ward:
    """Both sides; `pharmacy_id` is a listed place of the pharmacy."""

    clinic: Side
    pharmacy: Side
    fhir: Fhir
    patient_id: str
    practitioner_id: str
    pharmacy_id: str

    @property
    def prescriber(self) -> Api:
        """The client of the prescriber."""
        return self.clinic.people["prescriber"]

    @property
    def pharmacist(self) -> Api:
        """The client of the pharmacist."""
        return self.pharmacy.people["pharmacist"]

    def body(self, *items: dict[str, Any], **more: Any) -> dict[str, Any]:
        """The body of a draft."""
        return {"patient_id": self.patient_id, "items": list(items) or [item()], **more}

    def draft(self, *items: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Make a draft."""
        return done(self.prescriber.post("/v1/prescriptions", json=self.body(*items, **more)), 201)

    def act(self, one: dict[str, Any], action: str, **body: Any) -> dict[str, Any]:
        """Do something as the prescriber."""
        return done(self.prescriber.post(f"/v1/prescriptions/{one['id']}/{action}", json=body))

    def signed(self, *items: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Make a draft and sign it."""
        return self.act(self.draft(*items, **more), "sign")

    def routed(self, *items: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Make a draft, sign it and route it to the pharmacy."""
        return self.act(self.signed(*items, **more), "route", pharmacy_location_id=self.pharmacy_id)

    def at_pharmacy(self, one: dict[str, Any], action: str, **body: Any) -> Any:
        """Do something as the pharmacist."""
        return self.pharmacist.post(f"/v1/prescriptions/{one['id']}/{action}", json=body)


def done(answer: Any, status: int = 200) -> dict[str, Any]:
    """Return the object of an answer that must have this status."""
    assert answer.status_code == status, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def refused(answer: Any, status: int, code: str) -> dict[str, Any]:
    """Return the problem document of a refusal that must have this status and code."""
    assert (answer.status_code, answer.json().get("code")) == (status, code), answer.content
    found: dict[str, Any] = answer.json()
    return found


def practitioner(licence: str = "L-4711") -> dict[str, Any]:
    """A practitioner with a licence that is valid now."""
    return {
        "resourceType": "Practitioner",
        "active": True,
        "name": [{"family": "Arzt", "given": ["Ada"], "prefix": ["Dr."]}],
        "telecom": [{"system": "phone", "value": "+49 30 1234567"}],
        "qualification": [
            {
                "identifier": [{"system": "urn:licences", "value": licence}],
                "code": {"text": "Physician"},
                "period": {"start": "2015-01-01"},
            }
        ],
    }


def ward(*, also: tuple[str, ...] = ()) -> Ward:
    """Set up both sides; `also` are further kinds of the pharmacy."""
    clinic, pharmacy = Side(factories.provision("provider")), Side(factories.provision("pharmacy", also=also))
    fhir = Fhir(factories.bearer(factories.member(clinic.tenant, ["prescriber"])[0]), clinic.tenant)
    patient = fhir.made(
        {
            "resourceType": "Patient",
            "name": [{"family": "Muster", "given": ["Eva"]}],
            "gender": "female",
            "birthDate": "1980-05-04",
            "address": [{"line": ["Hauptstr. 1"], "postalCode": "10115", "city": "Berlin"}],
        }
    )
    doctor = fhir.made(practitioner())
    clinic.join("prescriber", practitioner_id=doctor["id"])
    clinic.join("nurse")
    pharmacy.join("pharmacist")
    place = pharmacy.place(name="Pharmacy at the Corner", type="pharmacy", listed=True)
    return Ward(clinic, pharmacy, fhir, patient["id"], doctor["id"], place)
