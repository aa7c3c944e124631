"""Steps of a pharmacy that the tests of dispensing share, and what must hold after each."""

from typing import Any

from core.invariants import breaches
from tests.prescriptions.ward import Ward, done, item

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
