"""What a run reads: the record, the patient's other prescriptions and the tables, all in the trip that locks it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import orjson

from core.actor import Actor
from core.clock import now
from core.db import needs_transaction
from core.pipeline import Call, Rows, Statement
from fhir_api import public as record
from organizations import public as organizations
from organizations.public import KeyPurpose
from prescriptions.lifecycle.models import PrescriptionItem
from prescriptions.lifecycle.targets import LockedPrescription, Owned, People
from prescriptions.medications.knowledge_sql import knowledge_statement
from prescriptions.medications.queries import read_knowledge

from . import codes
from .inputs import Inputs, Item, Json, OtherPrescription, PatientRecord, Policies, Prescriber

_TERMS: Final = ("AllergyIntolerance", "Condition")
_STATEMENTS: Final = ("MedicationStatement",)
_TYPES: Final = ("Patient", *_TERMS, *_STATEMENTS, "Observation")
_OBSERVATIONS: Final = sorted(
    f"{system}|{code}"
    for system, code in codes.BODY_WEIGHT | codes.EGFR | codes.PREGNANCY_STATUS | codes.BREASTFEEDING_STATUS
)
# What else can still be dispensed to the patient of prescription $2 of tenant $1, at the instant $3.
_FROM_OTHERS: Final = (
    "FROM prescriptions_prescription t JOIN prescriptions_prescription o ON o.tenant_id = t.tenant_id"
    " AND o.patient_id = t.patient_id AND o.id <> t.id WHERE t.tenant_id = $1 AND t.id = $2 AND o.tenant_id = $1"
    " AND o.status IN ('signed', 'routed') AND o.expires_at > $3::timestamptz"
)
_REMAINS: Final = "i.status IN ('pending', 'partial')"
# The last column tells whether it is the prescription that $2 continues.
_OTHERS = Statement.of(
    "SELECT o.id::text, o.number, (SELECT json_agg(json_build_object('line', i.line, 'medication', i.medication,"
    " 'medication_text', i.medication_text)) FROM prescriptions_prescriptionitem i WHERE i.tenant_id = $1"
    f" AND i.prescription_id = o.id AND {_REMAINS})::text, (o.id = t.prior_prescription_id) IS TRUE {_FROM_OTHERS}"
    " ORDER BY o.created_at, o.id"
)
_LANGUAGE = Statement.of("SELECT n.locale FROM organizations_tenant n WHERE n.id = $1")
_ITEMS: Final = (
    "SELECT i.medication ->> 'system', i.medication ->> 'code' FROM prescriptions_prescriptionitem i"
    f" WHERE i.tenant_id = $1 AND i.prescription_id = ANY(ARRAY(SELECT $2::uuid UNION ALL SELECT o.id {_FROM_OTHERS}))"
    f" AND (i.prescription_id = $2 OR {_REMAINS})"
)
_TERM_CODES: Final = record.codings_sql("$4", "$.code", "$.reaction[*].substance")
_STATEMENT_CODES: Final = record.codings_sql("$5", "$.medicationCodeableConcept")
# What the tables say of all that the prescription, the others and the patient's record name.
_KNOWLEDGE = knowledge_statement(
    f"{_ITEMS} UNION {_STATEMENT_CODES} UNION SELECT asked, code FROM allergy", _TERM_CODES
)


@dataclass(frozen=True, slots=True, eq=False)
class OwnedWithRecord(Owned):
    """The `find` of an operation that runs the clinical checks, or shows what they have checked.

    `signs` tells that the caller is to sign, where nobody is named, so that his Practitioner and the key are read too.
    One access record `validation` is left.
    """

    signs: bool = False

    def reads_behind(self, actor: Actor, prescription_id: UUID, people: People) -> Sequence[Call]:
        """Return the statements whose rows `gather` reads, and behind them the one of the signing key."""
        tenant, at = str(actor.tenant_id), now().isoformat()
        prescriber_id = people.prescriber_id or (actor.practitioner_id if self.signs else "")
        keys = [record.patient_keys(people.patient_id, types) for types in (_TERMS, _STATEMENTS)]
        return [
            *record.patient_lookup(actor, people.patient_id, _TYPES, {"Observation": _OBSERVATIONS}).calls,
            Call(_OTHERS, [tenant, str(prescription_id), at]),
            Call(_LANGUAGE, [tenant]),
            Call(_KNOWLEDGE, [tenant, str(prescription_id), at, *keys]),
            *record.lookup(actor, [("Practitioner", prescriber_id)] if prescriber_id else []).calls,
            *([organizations.signing_key_call(KeyPurpose.SNAPSHOT)] if self.signs else []),
        ]

    @needs_transaction
    def judge_again(self, actor: Actor, *path: Any) -> None:
        """Judge by the row as it is now; a replay runs no checks, and reads no record.

        :raises NotFound: it is at a place beyond the caller's.
        """
        Owned(self.judge).judge_again(actor, *path)


def gather(target: LockedPrescription, prescriber_id: str, at: datetime) -> Inputs:
    """Return all that the rules may read of a prescription that `OwnedWithRecord` has locked."""
    patient, others, language, known, *people = target.read
    practitioners = record.resources_of(people[0]).get("Practitioner", ()) if prescriber_id else ()
    return Inputs(
        items=[item_of(one) for one in target.items],
        record=_record(record.resources_of(patient)),
        knowledge=read_knowledge([known]),
        at=at,
        today=at.astimezone(target.zone).date(),
        others=list(_others(others)),
        prescriber=Prescriber(prescriber_id, next(iter(practitioners), None)),
        policies=Policies.of(target.policies),
        language=(language.value() or b"en").decode() or "en",
    )


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
