"""What `./dev bench prescriptions` needs of the database beside copies: callers, people of the record, a hard validation, chains.

    python -m bench.prescriptions_world callers

Each verb prints JSON. Tokens live ten minutes, so `callers` is asked anew.
"""

import argparse
import json
import secrets
from datetime import timedelta
from typing import Any
from uuid import UUID

from .place import setup_django
from .population import token_of

PATIENTS, PRACTITIONERS = 200, 20
HARD = "bench-hard"  # the patient with the long record
DRUGS, PAIRS, OBSERVATIONS = 25, 10_000, 1_000
RXNORM = "http://www.nlm.nih.gov/research/umls/rxnorm"
CHAINS, ENTRIES_OF_EACH = 1_000, 20
_INGREDIENTS = 160  # of which some 12,000 pairs can be made
_BODY_WEIGHT = {"coding": [{"system": "http://loinc.org", "code": "29463-7"}]}
_CATEGORIES = "http://terminology.hl7.org/CodeSystem/observation-category"
_VITAL_SIGNS = {"coding": [{"system": _CATEGORIES, "code": "vital-signs"}]}
_CALLERS = {
    "prescriber": "demo-hospital",
    "nurse": "demo-hospital",
    "auditor": "demo-hospital",
    "tenant-admin": "demo-hospital",
    "pharmacist": "demo-pharmacy",
    "supplier-admin": "demo-supplier",
}


def patient(number: int) -> str:
    """The id of a patient of the record; there are `PATIENTS` of them."""
    return f"bench-person-{number % PATIENTS}"


def practitioner(number: int) -> str:
    """The id of a practitioner with a schedule; there are `PRACTITIONERS` of them."""
    return f"bench-practitioner-{number % PRACTITIONERS}"


def _tenant(slug: str) -> Any:
    from organizations.models import Tenant

    return Tenant.objects.using("owner").get(slug=slug)


def callers() -> dict[str, dict[str, str]]:
    """A tenant and a fresh token for each of the demo people that the benchmark needs."""
    from organizations.models import User

    found = {}
    for name, slug in _CALLERS.items():
        person, tenant = User.objects.using("owner").get(email=f"{name}@demo.example"), _tenant(slug)
        found[name] = {"tenant": str(tenant.id), "token": token_of(person, tenant_id=tenant.id)}
    return found


def places() -> dict[str, str]:
    """The clinic's place, made once, and the demo pharmacy's listed one."""
    from core.actor import system_actor
    from core.clock import now
    from core.db import tenant_context
    from organizations.actions.locations import create_location
    from organizations.models import Location

    clinic = _tenant("demo-hospital")
    rows = Location.objects.using("owner")
    found = rows.filter(tenant=clinic, name="Bench ward").first()
    if found is None:
        with tenant_context(clinic.id):
            found = create_location(system_actor(clinic.id), {"name": "Bench ward", "type": "ward"}, now())
    pharmacy = rows.get(tenant=_tenant("demo-pharmacy"), type="pharmacy", listed=True)
    return {"clinic": str(found.id), "pharmacy": str(pharmacy.id)}


def record() -> dict[str, int]:
    """Put patients, practitioners and the long record of one patient into the clinical record."""
    people: list[dict[str, Any]] = [
        {"resourceType": "Patient", "id": key, "gender": "female", "birthDate": "1980-05-04", "name": [{"family": "B"}]}
        for key in [HARD, *map(patient, range(PATIENTS))]
    ]
    people += [
        {"resourceType": "Practitioner", "id": practitioner(number), "active": True, "name": [{"family": "B"}]}
        for number in range(PRACTITIONERS)
    ]
    weights = [
        {
            "resourceType": "Observation",
            "id": f"bench-weight-{number}",
            "status": "final",
            "category": [_VITAL_SIGNS],
            "code": _BODY_WEIGHT,
            "subject": {"reference": f"Patient/{HARD}"},
            "effectiveDateTime": f"{2020 + number % 5}-03-{1 + number % 28:02d}",
            "valueQuantity": {
                "value": 60 + number % 9,
                "unit": "kg",
                "system": "http://unitsofmeasure.org",
                "code": "kg",
            },
        }
        for number in range(OBSERVATIONS)
    ]
    _project(people)
    _project(weights)
    return {"people": len(people), "observations": len(weights)}


def _project(resources: list[dict[str, Any]]) -> None:
    from core.actor import system_actor
    from core.clock import now
    from core.db import tenant_context
    from fhir_api.public import project

    clinic = _tenant("demo-hospital").id
    for first in range(0, len(resources), 100):
        with tenant_context(clinic):
            project(system_actor(clinic), resources[first : first + 100], at=now())


def knowledge() -> dict[str, int]:
    """Give the clinic medications with an ingredient each, and pairs that interact; a few are of those medications."""
    from prescriptions.medications.models import TenantInteraction, TenantMedication

    clinic = _tenant("demo-hospital").id
    drugs = [
        TenantMedication(
            tenant_id=clinic, system=RXNORM, code=f"9900{number:02d}", display=f"Benchdrug {number} 5 MG Oral Tablet",
            ingredients=[_ingredient(number)], form="tablet", strength="5 MG", unit="tablet",
        )
        for number in range(DRUGS)
    ]  # fmt: skip
    all_pairs = [(one, other) for one in range(_INGREDIENTS) for other in range(one + 1, _INGREDIENTS)]
    near = [pair for pair in all_pairs if pair[1] < DRUGS and sum(pair) % 10 == 0]
    far = [pair for pair in all_pairs if pair[1] >= DRUGS]
    pairs = [
        TenantInteraction(
            tenant_id=clinic, a=_ingredient(one), b=_ingredient(other), severity="low", text="Watch.", source="bench"
        )
        for one, other in (near + far)[:PAIRS]
    ]
    TenantMedication.objects.using("owner").bulk_create(drugs, ignore_conflicts=True)
    TenantInteraction.objects.using("owner").bulk_create(pairs, batch_size=1_000, ignore_conflicts=True)
    return {"medications": len(drugs), "pairs": len(pairs)}


def _ingredient(number: int) -> str:
    return f"benchdrug{number:03d}"


def drug(number: int) -> dict[str, str]:
    """The coding of one of the clinic's own medications."""
    return {"system": RXNORM, "code": f"9900{number:02d}", "display": f"Benchdrug {number} 5 MG Oral Tablet"}


def chains() -> dict[str, int]:
    """Give the other hospital drafts whose histories verify; they are copies of one draft of the clinic."""
    from core.ids import uuid7
    from prescriptions.lifecycle.chain_models import AuditEntry, AuditOrigin
    from prescriptions.lifecycle.models import Prescription

    other = _tenant("demo-other-hospital").id
    if Prescription.objects.using("owner").filter(tenant_id=other).exists():
        return {"entries": 0}
    model: Any = Prescription.objects.using("owner").filter(tenant=_tenant("demo-hospital"), status="draft").first()
    rows, entries, origins = [], [], []
    for number in range(CHAINS):
        values = {one.attname: getattr(model, one.attname) for one in Prescription._meta.concrete_fields}
        row = Prescription(**values | {"id": uuid7(), "tenant_id": other, "number": f"V{number:09d}"})
        row.chain_length, row.chain_hash = 0, "0" * 64
        made = [_entry(row, step) for step in range(ENTRIES_OF_EACH)]
        rows.append(row)
        entries += [AuditEntry(**values) for values, _ in made]
        origins += [AuditOrigin(id=values["id"], tenant_id=other, salt=salt) for values, salt in made]
    Prescription.objects.using("owner").bulk_create(rows, batch_size=500)
    AuditEntry.objects.using("owner").bulk_create(entries, batch_size=1_000)
    AuditOrigin.objects.using("owner").bulk_create(origins, batch_size=1_000)
    return {"entries": len(entries)}


def _entry(row: Any, step: int) -> tuple[dict[str, Any], str]:
    """One entry of a history as the service writes it, and the salt of what lies apart."""
    from core.clock import now
    from core.ids import uuid7
    from prescriptions.lifecycle.chain import hash_of, in_milliseconds, origin_digest

    salt, who = secrets.token_hex(16), str(UUID(int=1))
    values = {
        "id": uuid7(), "tenant_id": row.tenant_id, "prescription_id": row.id, "patient_id": row.patient_id,
        "sequence": row.chain_length + 1, "action": "created" if step == 0 else "updated",
        "actor": {"type": "user", "id": who, "tenant_id": str(row.tenant_id), "membership_id": None, "role": None,
                  "client_id": None},
        "actor_id": UUID(int=1), "from_status": "" if step == 0 else "draft", "to_status": "draft", "details": {},
        "request_id": "", "origin_digest": origin_digest(salt, "", "", ""),
        "occurred_at": in_milliseconds(now() - timedelta(days=1)), "prev_hash": row.chain_hash,
    }  # fmt: skip
    values["hash"] = hash_of(values)
    row.chain_length, row.chain_hash = values["sequence"], values["hash"]
    return values, salt


def main() -> None:
    """Carry out one verb."""
    verbs = {"callers": callers, "places": places, "record": record, "knowledge": knowledge, "chains": chains}
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("verb", choices=verbs)
    wanted = parser.parse_args()
    setup_django()
    print(json.dumps(verbs[wanted.verb]()))


if __name__ == "__main__":
    main()
