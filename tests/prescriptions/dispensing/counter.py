"""Steps of a pharmacy that the tests of dispensing share, and what must hold after each."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections, transaction

from core.db import tenant_context
from core.invariants import breaches
from ledger.models import Event
from prescriptions.models import (
    AuditEntry,
    Dispensation,
    Prescription,
    PrescriptionItem,
    PrescriptionToken,
    ReceivedDispensation,
    ReceivedPrescription,
    Route,
)
from tests.prescriptions.ward import Side, Ward, done, item

BASE = "/v1/prescriptions"


def dispense(ward: Ward, one: dict[str, Any], **body: Any) -> dict[str, Any]:
    """Dispense as the pharmacist."""
    return done(ward.at_pharmacy(one, "dispense", **body), 201)


def line(one: dict[str, Any], place: int = 0, **more: Any) -> dict[str, Any]:
    """A line for one of a prescription's items."""
    return {"item_id": one["items"][place]["id"], **more}


def as_owner(ward: Ward, one: dict[str, Any]) -> dict[str, Any]:
    """The prescription as its owner reads it."""
    return done(ward.prescriber.get(f"{BASE}/{one['id']}"))


def as_pharmacy(ward: Ward, one: dict[str, Any]) -> dict[str, Any]:
    """The prescription as the pharmacy reads it."""
    return done(ward.pharmacist.get(f"{BASE}/{one['id']}"))


def assert_whole(ward: Ward) -> None:
    """Every rule between rows holds in both tenants: copies are what the owner's rows say."""
    for side in (ward.clinic, ward.pharmacy):
        assert list(breaches(side.tenant.id)) == []


def refills(fills: int = 2, **more: Any) -> dict[str, Any]:
    """An item of several fills without an interval between them."""
    return item(fills_allowed=fills, days_supply=None, **more)


def stored(ward: Ward, one: dict[str, Any]) -> dict[str, Any]:
    """Everything that a step about a prescription may change, as it stands in both tenants."""
    key, found = one["id"], {}
    with tenant_context(ward.clinic.tenant.id):
        for model, filters in (
            (Prescription, {"id": key}),
            (PrescriptionItem, {"prescription_id": key}),
            (Route, {"prescription_id": key}),
            (Dispensation, {"prescription_id": key}),
            (AuditEntry, {"prescription_id": key}),
            (Event, {"resource_id": key}),
        ):
            found[model.__name__] = list(model._default_manager.filter(**filters).order_by("id").values())
    with tenant_context(ward.pharmacy.tenant.id):
        for model, filters in ((ReceivedPrescription, {"id": key}), (ReceivedDispensation, {"prescription_id": key})):
            found[model.__name__] = list(model._default_manager.filter(**filters).order_by("id").values())
        found["told"] = list(Event.objects.filter(resource_id=key).order_by("id").values())
    found["tokens"] = list(PrescriptionToken.objects.filter(prescription_id=key).values())
    return found


def told(side: Side, one: dict[str, Any]) -> list[str]:
    """What a tenant was told of a prescription, in order."""
    with tenant_context(side.tenant.id):
        found = Event.objects.filter(resource_id=one["id"], type__startswith="prescription.").order_by(
            "occurred_at", "id"
        )
        return [event.type.removeprefix("prescription.") for event in found]


def entered(ward: Ward, one: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The history of a prescription: action, status before, status after."""
    with tenant_context(ward.clinic.tenant.id):
        found = AuditEntry.objects.filter(prescription_id=one["id"]).order_by("sequence")
        return [(entry.action, entry.from_status, entry.to_status) for entry in found]


@contextmanager
def nothing_changes(ward: Ward, one: dict[str, Any]) -> Iterator[None]:
    """Prove that what is done in the block leaves the prescription as it was, in both tenants."""
    before = stored(ward, one)
    yield
    assert stored(ward, one) == before


def move(one: dict[str, Any], **columns: Any) -> None:
    """Set columns of a signed prescription, as if time had passed; its guard is off for this statement alone."""
    guard = "ALTER TABLE prescriptions_prescription {} TRIGGER prescriptions_rx_snapshot_once"
    assigned = ", ".join(f"{name} = %s" for name in columns)
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute(guard.format("DISABLE"))
        cursor.execute(
            f"UPDATE prescriptions_prescription SET {assigned} WHERE id = %s", [*columns.values(), one["id"]]
        )
        assert cursor.rowcount == 1
        cursor.execute(guard.format("ENABLE"))
