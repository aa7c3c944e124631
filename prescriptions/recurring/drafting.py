"""The job that makes the drafts of recurring treatments, or only tells that they are due.

Each occurrence is a transaction of its own under the lock of its treatment, so the job may run twice and in several workers.
Source: contract, prescriptions.md "Recurring treatments".
"""

import logging
from datetime import datetime
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import transaction

from core.actor import Actor, system_actor
from core.db import role_context, run_bound, tenant_context
from core.errors import InvalidFields, QuotaExceeded
from core.lanes import Lane, in_turn
from core.rounds import GoOn, Rounds, ever
from core.row_security import DISPATCHER
from fhir_api import public as record_of_patients
from fhir_api.public import PatientNotFound
from organizations.public import LocationNotFound
from prescriptions.lifecycle.refusals import TemplateNotFound
from prescriptions.prescribing.drafts import Cause, create_prescription
from prescriptions.states import PauseReason, TreatmentStatus

from . import events
from .actions import record
from .models import RecurringTreatment
from .planning import PLAN, plan, skip_missed, today_in, zone_of
from .serializers import draft_of

BATCH: Final = 20
_QUEUE: Final = "recurring.make_drafts"
_FIRST: Final = UUID(int=0)
_rounds = Rounds()
_log = logging.getLogger(__name__)


def make_drafts(*, at: datetime, go_on: GoOn = ever) -> int:
    """Handle every occurrence whose draft is due, a batch of each tenant in turn; return how many were."""
    handled = 0

    def step(tenant_id: UUID, last: UUID) -> UUID | None:
        nonlocal handled
        found = _due(tenant_id, last, at)
        handled += sum(_of_treatment(tenant_id, treatment_id, at) for treatment_id in found)
        return found[-1] if len(found) == BATCH else None

    for lane in in_turn(_QUEUE):
        _rounds.drain(dict.fromkeys(_tenants(lane, at), _FIRST), step, go_on=go_on)
    return handled


def _tenants(lane: Lane, at: datetime) -> list[UUID]:
    """Return active tenants with treatments that are due."""
    with role_context(DISPATCHER):
        due = RecurringTreatment.objects.filter(drafts_from__lte=at, tenant__status="active")
        return list(lane.filter(due).order_by("tenant_id").values_list("tenant_id", flat=True).distinct())


def _due(tenant_id: UUID, last: UUID, at: datetime) -> list[UUID]:
    """Return the next treatments of a tenant that are due, those behind `last`."""
    with tenant_context(tenant_id):
        due = RecurringTreatment.objects.filter(tenant_id=tenant_id, drafts_from__lte=at, pk__gt=last)
        return list(due.order_by("id").values_list("id", flat=True)[:BATCH])


def _of_treatment(tenant_id: UUID, treatment_id: UUID, at: datetime) -> int:
    """Handle the occurrences of a treatment that are due; a fault in one treatment does not stop the others."""
    handled = 0
    try:
        while _handle(tenant_id, treatment_id, at):
            handled += 1
    except Exception:  # a fault of ours: the row is as it was, and the next run finds it again
        _log.exception("recurring treatment %s was not handled", treatment_id)
    return handled


def _handle(tenant_id: UUID, treatment_id: UUID, at: datetime) -> bool:
    """Handle one occurrence of a treatment; tell whether there may be another one."""
    with tenant_context(tenant_id):
        rows = RecurringTreatment.objects.filter(tenant_id=tenant_id, pk=treatment_id, drafts_from__lte=at)
        row: RecurringTreatment | None = rows.select_for_update(skip_locked=True).first()
        if row is None:  # handled meanwhile, or in another worker's hands
            return False
        return _Step(system_actor(tenant_id), row, zone_of(tenant_id, row.location_id), at).take()


class _Step:
    """What the job does with one locked treatment."""

    def __init__(self, actor: Actor, row: RecurringTreatment, zone: ZoneInfo, at: datetime) -> None:
        self.actor, self.row, self.zone, self.at = actor, row, zone, at
        self.told: list[type[events.TreatmentEvent]] = []

    def take(self) -> bool:
        """Make the draft that is due, or pause; tell whether an occurrence was handled."""
        row, waited = self.row, self.row.status == TreatmentStatus.PAUSED
        if waited:
            skip_missed(row, today_in(self.zone, self.at))
        plan(row, self.zone)  # the zone of the location may be another by now
        if row.drafts_from and row.drafts_from > self.at:
            self._look_later(waited)
            return False
        if waited:
            row.resume()
            self.told.append(events.RecurringTreatmentResumed)
        reason = self._hindrance() if row.next_due_on else None
        if row.next_due_on and reason is None:
            reason = self._occur()
        if waited and reason == PauseReason.QUOTA_EXCEEDED:
            return False  # it stays paused; nothing was written
        if reason:
            self._pause(reason)
        elif row.next_due_on is None:
            row.complete()
            self.told.append(events.RecurringTreatmentCompleted)
        row.save_version("status", "pause_reason", "occurrences_created", "last_prescription_id", *PLAN, at=self.at)
        record(self.actor, row, self.told, self.at)
        return reason is None

    def _look_later(self, waited: bool) -> None:
        """Note when the job is to look again; that occurrences were skipped is a change that callers see."""
        if waited:
            self.row.save_version(*PLAN, at=self.at)
        else:
            self.row.save(update_fields=["drafts_from"])

    def _pause(self, reason: PauseReason) -> None:
        self.row.pause(reason)
        plan(self.row, self.zone)
        self.told = [events.RecurringTreatmentPaused]

    def _hindrance(self) -> PauseReason | None:
        """Return why no draft may be made now; None if nothing speaks against it."""
        row = self.row
        if row.review_by and today_in(self.zone, self.at) > row.review_by:
            return PauseReason.REVIEW_DUE
        prescriber, patient = ("Practitioner", row.prescriber_id), ("Patient", row.patient_id)
        wanted = record_of_patients.lookup(self.actor, [prescriber, patient])
        found = wanted.found(run_bound(row.tenant_id, wanted.calls))
        if prescriber not in found or found[prescriber].resource().get("active") is False:
            return PauseReason.PRESCRIBER_INACTIVE
        if patient not in found:
            return PauseReason.PATIENT_NOT_FOUND
        told = found[patient].resource()
        if told.get("deceasedBoolean") or told.get("deceasedDateTime"):
            return PauseReason.PATIENT_DECEASED
        return None

    def _occur(self) -> PauseReason | None:
        """Make the draft, if the treatment makes any, and go on to the next occurrence; or return what hinders."""
        row = self.row
        if row.auto_create_draft:
            try:
                with transaction.atomic():
                    self._draft()
            except QuotaExceeded:
                return PauseReason.QUOTA_EXCEEDED
            except PatientNotFound:
                return PauseReason.PATIENT_NOT_FOUND
            except TemplateNotFound:
                return PauseReason.TEMPLATE_GONE
            except (InvalidFields, LocationNotFound):  # a person must look at what has changed
                return PauseReason.TEMPLATE_GONE if row.template_id else PauseReason.REVIEW_DUE
        row.next_index += 1
        plan(row, self.zone)
        self.told.append(events.RecurringTreatmentDue)
        return None

    def _draft(self) -> None:
        row = self.row
        cause = Cause(treatment_id=row.id, occurrence_index=row.next_index, author_id=row.created_by)
        made = create_prescription(self.actor, draft_of(row), self.at, cause=cause)
        row.last_prescription_id = made.id
        row.occurrences_created += 1
