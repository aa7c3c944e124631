"""The practitioners of the demo's people, in the clinical records of their tenants."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import transaction

from core.actor import system_actor
from core.db import tenant_context
from core.ids import parse_uuid
from fhir_api import public as record

PRACTITIONERS = {
    "prescriber": ("demo-prescriber", "Demo", "Prescriber", "DEMO-LICENCE-1"),
    "other_prescriber": ("demo-other-prescriber", "Demo", "Other Prescriber", "DEMO-LICENCE-2"),
    "pharmacist": ("demo-pharmacist", "Demo", "Pharmacist", "DEMO-LICENCE-3"),
}


def seed_practitioners(path: Path, *, at: datetime) -> None:
    """Write a Practitioner with a licence for each prescriber and pharmacist of demo.json; what is there stays."""
    demo = json.loads(path.read_text(encoding="utf-8"))
    for name, person in PRACTITIONERS.items():
        tenant_id = parse_uuid(demo["tenants"][demo["users"][name]["tenant"]]["id"])
        assert tenant_id is not None
        with transaction.atomic(), tenant_context(tenant_id):
            record.project(system_actor(tenant_id), [_practitioner(*person)], at=at)


def _practitioner(key: str, given: str, family: str, licence: str) -> dict[str, Any]:
    qualification = {
        "identifier": [{"system": "urn:demo:licences", "value": licence}],
        "code": {"text": "Licence of the demonstration"},
        "period": {"start": "2020-01-01"},
    }
    return {
        "resourceType": "Practitioner",
        "id": key,
        "active": True,
        "name": [{"family": family, "given": [given]}],
        "telecom": [{"system": "phone", "value": "+1 555 0100"}],
        "qualification": [qualification],
    }
