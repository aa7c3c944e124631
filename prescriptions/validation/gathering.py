"""What a run reads, in two trips: the record and the patient's other prescriptions, then the tables of medications."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import orjson

from core.db import run_bound
from core.pipeline import Call, Rows, Statement
from fhir_api import public as record
from prescriptions.lifecycle.models import Prescription, PrescriptionItem
from prescriptions.lifecycle.targets import LockedPrescription
from prescriptions.medications.knowledge import Knowledge
from prescriptions.medications.queries import knowledge_calls, read_knowledge

from . import codes
from .inputs import Inputs, Item, Json, OtherPrescription, PatientRecord, Policies, Prescriber

_TYPES: Final = ("Patient", "AllergyIntolerance", "Condition", "MedicationStatement", "Observation")
_OBSERVATIONS: Final = sorted(
    f"{system}|{code}"
    for system, code in codes.BODY_WEIGHT | codes.EGFR | codes.PREGNANCY_STATUS | codes.BREASTFEEDING_STATUS
)
# What else can still be dispensed to the patient of prescription $2 of tenant $1, at the instant $3, and whether it is
# the prescription that $2 continues.
_OTHERS = Statement.of(
    "SELECT o.id::text, o.number, (SELECT json_agg(json_build_object('line', i.line, 'medication', i.medication,"
    " 'medication_text', i.medication_text)) FROM prescriptions_prescriptionitem i WHERE i.tenant_id = $1"
    " AND i.prescription_id = o.id AND i.status IN ('pending', 'partial'))::text,"
    " (o.id = t.prior_prescription_id) IS TRUE FROM prescriptions_prescription t JOIN prescriptions_prescription o ON o.tenant_id = t.tenant_id"
    " AND o.patient_id = t.patient_id AND o.id <> t.id WHERE t.tenant_id = $1 AND t.id = $2 AND o.tenant_id = $1"
    " AND o.status IN ('signed', 'routed') AND o.expires_at > $3::timestamptz ORDER BY o.created_at, o.id"
)
_LANGUAGE = Statement.of("SELECT n.locale FROM organizations_tenant n WHERE n.id = $1")


def gather(target: LockedPrescription, prescriber_id: str, at: datetime) -> Inputs:
    """Read all that the rules may read of a locked prescription; one access record `validation` is left."""
    return gather_beside(target, prescriber_id, at, ())[0]


def gather_beside(
    target: LockedPrescription, prescriber_id: str, at: datetime, calls: Sequence[Call]
) -> tuple[Inputs, Sequence[Rows]]:
    """As `gather`, with statements of the caller in the same trip; their rows come second."""
    row: Prescription = target.row
    tenant = row.tenant_id
    patient = record.patient_lookup(target.owner, row.patient_id, _TYPES, {"Observation": _OBSERVATIONS})
    names = [("Practitioner", prescriber_id)] if prescriber_id else []
    practitioner = record.lookup(target.owner, names)
    found = run_bound(
        tenant,
        [
            *patient.calls,
            *practitioner.calls,
            Call(_OTHERS, [str(tenant), str(row.id), at.isoformat()]),
            Call(_LANGUAGE, [str(tenant)]),
            *calls,
        ],
    )
    width = patient.width + practitioner.width
    read, (others, language, *beside) = found[:width], found[width:]
    held = patient.resources(read[: patient.width])
    people = practitioner.found(read[patient.width :])
    known_others = list(_others(others))
    items = [item_of(one) for one in target.items]
    record_of = _record(held)
    inputs = Inputs(
        items=items,
        record=record_of,
        knowledge=_knowledge(tenant, items, record_of, known_others),
        at=at,
        today=at.astimezone(target.zone).date(),
        others=known_others,
        prescriber=Prescriber(prescriber_id, people[names[0]].resource() if names and names[0] in people else None),
        policies=Policies.of(target.policies),
        language=(language.value() or b"en").decode() or "en",
    )
    return inputs, beside


def item_of(row: PrescriptionItem) -> Item:
    """Return an item as rules read it."""
    held = row.medication or {}
    return Item(
        line=row.line,
        system=held.get("system") or "",
        code=held.get("code") or "",
        display=held.get("display") or "",
        medication_text=row.medication_text,
        ingredient_codes=tuple(held.get("ingredient_codes") or ()),
        form=held.get("form") or "",
        dosage=row.dosage,
        quantity=Decimal(row.quantity_value),
        quantity_unit=row.quantity_unit,
        quantity_in_words=row.quantity_in_words,
        days_supply=row.days_supply,
        fills_allowed=row.fills_allowed,
        schedule=row.schedule,
    )


def _record(held: Mapping[str, Sequence[Json]]) -> PatientRecord:
    return PatientRecord(
        patient=next(iter(held.get("Patient", ())), None),
        allergies=held.get("AllergyIntolerance", ()),
        conditions=held.get("Condition", ()),
        statements=held.get("MedicationStatement", ()),
        observations=held.get("Observation", ()),
    )


def _others(rows: Rows) -> Iterator[OtherPrescription]:
    for number in range(len(rows)):
        key, name, items, is_continued = ((value or b"").decode() for value in rows.row(number))
        if items:
            held = [_other_item(one) for one in orjson.loads(items)]
            yield OtherPrescription(key, name, held, is_continued=is_continued == "t")


def _other_item(held: Mapping[str, Any]) -> Item:
    medication = held["medication"] or {}
    return Item(
        line=held["line"],
        system=medication.get("system") or "",
        code=medication.get("code") or "",
        display=medication.get("display") or "",
        medication_text=held["medication_text"],
        ingredient_codes=tuple(medication.get("ingredient_codes") or ()),
    )


def _knowledge(
    tenant_id: Any, items: Iterable[Item], held: PatientRecord, others: Iterable[OtherPrescription]
) -> Knowledge:
    drugs = {(one.system, one.code) for one in items}
    drugs |= {(one.system, one.code) for other in others for one in other.items}
    drugs |= {pair for one in held.statements for pair in _codings(one.get("medicationCodeableConcept"))}
    terms = {pair for one in (*held.allergies, *held.conditions) for pair in _codings(one.get("code"))}
    for allergy in held.allergies:
        for reaction in allergy.get("reaction", ()):
            terms |= set(_codings(reaction.get("substance")))
    calls = knowledge_calls(tenant_id, _sound(drugs | terms), _sound(terms))
    return read_knowledge(run_bound(tenant_id, calls))


def _codings(concept: Any) -> Iterator[tuple[str, str]]:
    for coding in (concept or {}).get("coding", ()):
        yield coding.get("system", ""), coding.get("code", "")


def _sound(pairs: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    return sorted((system, code) for system, code in pairs if system and code)
