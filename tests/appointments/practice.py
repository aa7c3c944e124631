"""A clinic of the tests: a tenant with a location, a practitioner and a patient, and clients of its people."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from core.ids import uuid7_text
from fhir_api.public import project
from organizations.models import Location, Tenant
from tests import factories
from tests.factories import Api

BASE = "/v1/appointments"
ZONE = "Europe/Berlin"
ALL_WEEK = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


@dataclass
class Clinic:
    """A tenant that can book."""

    tenant: Tenant
    api: Api
    location: str
    practitioner: str
    patient: str

    def body(self, starts_at: datetime, /, **more: Any) -> dict[str, Any]:
        """A body that books an appointment of 30 minutes."""
        found = {
            "patient_id": self.patient,
            "practitioner_id": self.practitioner,
            "location_id": self.location,
            "starts_at": starts_at.isoformat(),
            "duration_minutes": 30,
        }
        return {name: value for name, value in (found | more).items() if value is not ...}

    def book(self, starts_at: datetime, /, **more: Any) -> dict[str, Any]:
        """Book, and return the appointment."""
        answer = self.api.post(BASE, json=self.body(starts_at, **more))
        assert answer.status_code == 201, answer.content
        return answer.json()["data"]

    def act(self, appointment: dict[str, Any] | str, action: str, json: Any = None, **more: Any) -> Any:
        """Call an action of an appointment."""
        key = appointment if isinstance(appointment, str) else appointment["id"]
        return self.api.post(f"{BASE}/{key}/{action}", json=json, **more)

    def read(self, key: str) -> dict[str, Any]:
        """Read an appointment."""
        answer = self.api.get(f"{BASE}/{key}")
        assert answer.status_code == 200, answer.content
        return answer.json()["data"]

    def put_schedule(self, hours: list[Any], *, practitioner: str = "", **more: Any) -> Any:
        """Put a schedule."""
        path = f"{BASE}/schedules/{practitioner or self.practitioner}"
        return self.api.put(path, json={"hours": hours, **more})


def clinic(*, time_zone: str = ZONE, plan: str = "", **location: Any) -> Clinic:
    """Set up a clinic; `location` holds members of its location."""
    tenant = factories.provision("provider", time_zone=time_zone, plan=plan)
    api = factories.as_member(tenant, ["nurse"])
    return Clinic(tenant, api, place(tenant, **location), practitioner(tenant), patient(tenant))


def place(tenant: Tenant, name: str = "Ward", **values: Any) -> str:
    """Make a location and return its id."""
    with tenant_context(tenant.id):
        made = Location(tenant_id=tenant.id, organization_id=tenant.organization_id, name=name, type="site", **values)
        made.save(force_insert=True)
    return str(made.id)


def resource(tenant: Tenant, kind: str, **members: Any) -> str:
    """Put a resource into the clinical record and return its id."""
    fhir_id = uuid7_text()
    with tenant_context(tenant.id):
        project(system_actor(tenant.id), [{"resourceType": kind, "id": fhir_id, **members}], at=now())
    return fhir_id


def practitioner(tenant: Tenant, **members: Any) -> str:
    """Make a practitioner in the clinical record."""
    return resource(tenant, "Practitioner", **{"active": True, "name": [{"family": "Doc"}], **members})


def patient(tenant: Tenant) -> str:
    """Make a patient in the clinical record."""
    return resource(tenant, "Patient", name=[{"family": "Person"}])


def monday(hour: int = 9, minute: int = 0, *, zone: str = ZONE, weeks: int = 2) -> datetime:
    """A time on a coming Monday in a zone."""
    today = datetime.now(ZoneInfo(zone)).date()
    day = today + timedelta(days=7 * weeks - today.weekday())
    return datetime(day.year, day.month, day.day, hour, minute, tzinfo=ZoneInfo(zone))


def rfc(at: datetime) -> str:
    """An instant as answers write it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
