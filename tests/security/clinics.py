"""One of each thing of a clinic and a pharmacy that a path may name."""

from tests.appointments import practice
from tests.prescriptions.recurring.test_treatments import made, template
from tests.prescriptions.requests.desk import asked
from tests.prescriptions.ward import done, ward

CLINICAL = (
    "appointments", "dispensation_id", "practitioner_id", "prescription_id", "prescriptions", "recurring", "request_id",
    "templates",
)  # fmt: skip


def clinical_ids() -> dict[str, str]:
    """Return ids of rows that a clinic, and a pharmacy, keep."""
    house, clinic = ward(), practice.clinic()
    routed = house.routed()
    found = {
        "prescriptions": routed["id"],
        "prescription_id": routed["id"],
        "request_id": asked(house, routed)["id"],
        "dispensation_id": done(house.at_pharmacy(routed, "dispense"), 201)["id"],
        "recurring": made(house)["id"],
        "templates": template(house)["id"],
        "practitioner_id": clinic.practitioner,
        "appointments": clinic.book(practice.monday())["id"],
    }
    return {kind: str(found[kind]) for kind in CLINICAL}
