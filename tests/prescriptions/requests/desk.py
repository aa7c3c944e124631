"""What the tests of requests share: asking, answering, and what must hold after each."""

from typing import Any

from core.db import tenant_context
from core.invariants import breaches
from fhir_api.access.models import AccessRecord
from ledger.models import Event
from prescriptions.lifecycle.chain import START, hash_of
from prescriptions.models import AuditEntry, PrescriptionRequest
from tests.prescriptions.ward import Side, Ward, done

BASE = "/v1/prescriptions"
REQUESTS = f"{BASE}/requests"


def ask(ward: Ward, one: dict[str, Any], kind: str = "renewal", **body: Any) -> Any:
    """Ask as the pharmacist, of the first item unless the body names one or none is needed."""
    given = {"kind": kind, "item_id": one["items"][0]["id"], **body}
    return ward.at_pharmacy(one, "requests", **given)


def asked(ward: Ward, one: dict[str, Any], kind: str = "renewal", **body: Any) -> dict[str, Any]:
    """Ask for something that nobody has asked for."""
    return done(ask(ward, one, kind, **body), 201)


def answer(ward: Ward, request: dict[str, Any], decision: str, **body: Any) -> Any:
    """Answer as the prescriber."""
    return ward.prescriber.post(f"{REQUESTS}/{request['id']}/respond", json={"decision": decision, **body})


def fetch(ward: Ward, one: dict[str, Any]) -> dict[str, Any]:
    """The prescription as its owner reads it."""
    return done(ward.prescriber.get(f"{BASE}/{one['id']}"))


def rows_of(ward: Ward, one: dict[str, Any]) -> list[PrescriptionRequest]:
    """The requests about a prescription as the owner's tenant keeps them."""
    with tenant_context(ward.clinic.tenant.id):
        rows = PrescriptionRequest.objects.filter(tenant_id=ward.clinic.tenant.id, prescription_id=one["id"])
        return list(rows.order_by("created_at", "id"))


def told(side: Side, request: dict[str, Any]) -> list[tuple[str, dict[str, Any], int]]:
    """What a tenant was told of a request."""
    with tenant_context(side.tenant.id):
        rows = Event.objects.filter(tenant_id=side.tenant.id, resource_id=request["id"]).order_by("occurred_at", "id")
        return [(event.type, event.data, event.resource_version) for event in rows]


def history(ward: Ward, one: dict[str, Any]) -> list[AuditEntry]:
    """The history of a prescription, whose chain must hold."""
    with tenant_context(ward.clinic.tenant.id):
        rows = AuditEntry.objects.filter(tenant_id=ward.clinic.tenant.id, prescription_id=one["id"])
        found = list(rows.order_by("sequence"))
    before = START
    for entry in found:
        assert (entry.prev_hash, entry.hash) == (before, hash_of(vars(entry)))
        before = entry.hash
    return found


def reads(side: Side, interaction: str) -> list[AccessRecord]:
    """The access records of a tenant."""
    with tenant_context(side.tenant.id):
        rows = AccessRecord.objects.filter(tenant_id=side.tenant.id, interaction=interaction)
        return list(rows.order_by("created_at", "id"))


def assert_whole(ward: Ward) -> None:
    """Every rule between rows holds in both tenants: copies are what the owner's rows say."""
    for side in (ward.clinic, ward.pharmacy):
        assert list(breaches(side.tenant.id)) == []
