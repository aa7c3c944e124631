"""Asking the access log: who read of a patient, what somebody read, what was read in an emergency."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from core.conditions import TENANT, Condition
from core.db import needs_transaction

from .models import AccessPatient, AccessRecord

MOST = 10_000

# The reads of prescriptions that another app records: what its audit history calls them, and the interactions.
RX_READS: Final = {"read": ("rx.read", "rx.list"), "verified": ("rx.verify",), "exported": ("rx.export",)}


@dataclass(frozen=True, slots=True)
class Question:
    """Which records are wanted; the newest `limit` of them. Both ends of time bound the ranges that are looked into."""

    since: datetime
    until: datetime
    patient: str = ""
    subject_id: UUID | None = None
    emergencies: bool = False
    limit: int = 100


def reads_of_patient(patient_id: str) -> Condition:
    """Return the condition on records `t` that they are about a patient, for lists of another app."""
    return Condition(
        f"t.id IN (SELECT p.id FROM fhir_api_accesspatient p WHERE p.tenant_id = {TENANT} AND p.patient = {{0}})",
        (patient_id,),
    )


@needs_transaction
def records(tenant_id: UUID, question: Question) -> list[AccessRecord]:
    """The records of the bound tenant that were asked for, newest first."""
    limit = min(question.limit, MOST)
    if question.patient:
        return _of_patient(tenant_id, question, limit)
    return list(_narrowed(AccessRecord.objects.filter(tenant_id=tenant_id), question)[:limit])


def _of_patient(tenant_id: UUID, question: Question, limit: int) -> list[AccessRecord]:
    """The index of patients tells which; where more is asked than the patient, it is looked through to the end."""
    named = AccessPatient.objects.filter(
        tenant_id=tenant_id,
        patient=question.patient,
        created_at__gte=question.since,
        created_at__lt=question.until,
    ).values("id")
    return list(_narrowed(AccessRecord.objects.filter(tenant_id=tenant_id, id__in=named), question)[:limit])


def _narrowed(rows: QuerySet[Any], question: Question) -> QuerySet[Any]:
    rows = rows.filter(created_at__gte=question.since, created_at__lt=question.until)
    if question.subject_id:
        rows = rows.filter(subject_id=question.subject_id)
    if question.emergencies:
        rows = rows.exclude(reason="")
    return rows.order_by("-created_at", "-id")
