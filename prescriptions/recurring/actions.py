"""Actions on recurring treatments: begin, change, pause, resume, end. Drafts are made by `drafting`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from ledger import public as ledger
from prescriptions.prescribing.items import template_item
from prescriptions.prescribing.rules import check_items, grounds, prescriber_of
from prescriptions.prescribing.serializers import items_of_template
from prescriptions.states import PauseReason, TreatmentStatus

from . import events
from .dates import Rhythm, changed
from .models import RecurringTreatment
from .planning import PLAN, RHYTHM, plan, rhythm_of, set_rhythm, skip_missed, today_in, zone_of
from .queries import demand
from .serializers import draft_of

_LIMITS: Final = ("end_date", "max_occurrences")
_SETTINGS: Final = ("lead_days", "review_by", "auto_create_draft")


@needs_transaction
def create_treatment(actor: Actor, data: Mapping[str, Any], at: datetime) -> RecurringTreatment:
    """Begin a treatment; occurrences that were due before today are skipped.

    :raises InvalidFields: there is no prescriber, no or twofold content, or no occurrence ahead.
    :raises PatientNotFound, TemplateNotFound, LocationNotFound: the body names what is not there.
    """
    row = _new(actor, data, at)
    _check_content(actor, row)
    zone = zone_of(actor.tenant_id, row.location_id)
    skip_missed(row, today_in(zone, at))
    plan(row, zone)
    if row.next_due_on is None:
        raise _invalid("schedule.end_date", "No occurrence lies ahead.")
    row.save(force_insert=True)
    record(actor, row, [events.RecurringTreatmentCreated], at)
    return row


@needs_transaction
def change_treatment(
    actor: Actor, treatment: RecurringTreatment, data: Mapping[str, Any], at: datetime
) -> RecurringTreatment:
    """Change a locked treatment; another interval counts from the next occurrence on.

    :raises InvalidTransition: the treatment is completed or ended.
    :raises InvalidFields: as at the beginning, or the start is changed although an occurrence was made.
    :raises PatientNotFound, TemplateNotFound, LocationNotFound: a new content names what is not there.
    """
    row = treatment
    demand(row, "update")
    before = {name: getattr(row, name) for name in _columns()}
    _set_content(row, data)
    for name in _SETTINGS:
        if name in data:
            setattr(row, name, data[name])
    zone = zone_of(actor.tenant_id, row.location_id)
    _set_schedule(row, data.get("schedule", {}), zone, at)
    plan(row, zone)
    if (row.items, row.template_id) != (before["items"], before["template_id"]):
        _check_content(actor, row)
    if all(getattr(row, name) == value for name, value in before.items()):
        return row
    told = _completed(row)
    row.save_version(*_columns(), "status", at=at)
    record(actor, row, told, at)
    return row


@needs_transaction
def pause_treatment(actor: Actor, treatment: RecurringTreatment, at: datetime) -> RecurringTreatment:
    """Make no drafts until a person resumes the treatment.

    :raises InvalidTransition: it is not active.
    """
    demand(treatment, "pause")
    treatment.pause(PauseReason.BY_PERSON)
    treatment.drafts_from = None
    return _moved(actor, treatment, [events.RecurringTreatmentPaused], at)


@needs_transaction
def resume_treatment(actor: Actor, treatment: RecurringTreatment, at: datetime) -> RecurringTreatment:
    """Make drafts again; occurrences that were due before today are skipped.

    :raises InvalidTransition: it is not paused.
    """
    demand(treatment, "resume")
    treatment.resume()
    zone = zone_of(actor.tenant_id, treatment.location_id)
    skip_missed(treatment, today_in(zone, at))
    plan(treatment, zone)
    told: list[type[events.TreatmentEvent]] = [events.RecurringTreatmentResumed, *_completed(treatment)]
    return _moved(actor, treatment, told, at)


@needs_transaction
def end_treatment(actor: Actor, treatment: RecurringTreatment, at: datetime) -> RecurringTreatment:
    """End the treatment for good; drafts that were made stay.

    :raises InvalidTransition: it is completed or ended.
    """
    demand(treatment, "end")
    treatment.end()
    treatment.next_due_on = treatment.drafts_from = None
    return _moved(actor, treatment, [events.RecurringTreatmentEnded], at)


def record(actor: Actor, row: RecurringTreatment, told: list[type[events.TreatmentEvent]], at: datetime) -> None:
    """Record what happened to a treatment, in this order."""
    facts = [ledger.Occurrence(event(status=str(row.status)), row.id, row.version) for event in told]
    ledger.record_many(actor=actor, occurrences=facts, at=at)


def _moved(
    actor: Actor, row: RecurringTreatment, told: list[type[events.TreatmentEvent]], at: datetime
) -> RecurringTreatment:
    row.save_version("status", "pause_reason", *PLAN, at=at)
    record(actor, row, told, at)
    return row


def _completed(row: RecurringTreatment) -> list[type[events.TreatmentEvent]]:
    """Complete an active treatment without a further occurrence; return what is to be told."""
    if row.status != TreatmentStatus.ACTIVE or row.next_due_on is not None:
        return []
    row.complete()
    return [events.RecurringTreatmentCompleted]


def _columns() -> tuple[str, ...]:
    return ("template_id", "items", "start_date", *_LIMITS, *_SETTINGS, *RHYTHM, *PLAN)


def _new(actor: Actor, data: Mapping[str, Any], at: datetime) -> RecurringTreatment:
    schedule = data["schedule"]
    start = schedule["start_date"]
    row = RecurringTreatment(
        tenant_id=actor.tenant_id,
        patient_id=data["patient_id"],
        prescriber_id=prescriber_of(actor, data["prescriber_id"] or ""),
        location_id=data["location_id"],
        start_date=start,
        created_by=actor.subject_id,
        created_at=at,
        updated_at=at,
        **{name: data[name] for name in _SETTINGS if name in data},
        **{name: schedule.get(name) for name in _LIMITS},
    )
    if not row.prescriber_id:
        raise _invalid("prescriber_id", "Name the prescriber.", "required")
    _check_end(row)
    set_rhythm(row, Rhythm.starting(start, schedule["every"], schedule["unit"]))
    _set_content(row, data)
    return row


def _set_content(row: RecurringTreatment, data: Mapping[str, Any]) -> None:
    """Take over template or items; one replaces the other.

    :raises InvalidFields: both are given, or neither is left.
    """
    items, template_id = data.get("items"), data.get("template_id")
    if items and template_id:
        raise _invalid("template_id", "Give items or a template_id, not both.")
    if items or "items" in data:
        row.items = [template_item(one) for one in items] if items else None
    if template_id or "template_id" in data:
        row.template_id = template_id
    if items:
        row.template_id = None
    if template_id:
        row.items = None
    if not (row.items or row.template_id):
        raise _invalid("items", "Give items, or a template_id.", "required")


def _check_content(actor: Actor, row: RecurringTreatment) -> None:
    """Check that a draft could be made now.

    :raises PatientNotFound, TemplateNotFound, LocationNotFound: something is not there.
    :raises InvalidFields: the items lack what a draft needs.
    """
    body = draft_of(row)
    ground = grounds(actor, body)
    check_items(body["items"] or items_of_template((ground.template or {})["items"]), ground.policies)


def _set_schedule(row: RecurringTreatment, given: Mapping[str, Any], zone: Any, at: datetime) -> None:
    for name in _LIMITS:
        if name in given:
            setattr(row, name, given[name])
    every, unit = given.get("every", row.every), given.get("unit", row.unit)
    start = given.get("start_date", row.start_date)
    if start != row.start_date:
        if row.next_index > row.occurrences_skipped:
            raise _invalid("schedule.start_date", "An occurrence was made already.")
        row.start_date, row.next_index, row.occurrences_skipped = start, 0, 0
        set_rhythm(row, Rhythm.starting(start, every, unit))
        skip_missed(row, today_in(zone, at))
    elif (every, unit) != (row.every, row.unit):
        set_rhythm(row, changed(rhythm_of(row), row.next_index, every, unit))
    _check_end(row)


def _check_end(row: RecurringTreatment) -> None:
    if row.end_date and row.end_date < row.start_date:
        raise _invalid("schedule.end_date", "A treatment does not end before it begins.")


def _invalid(field: str, message: str, code: str = "invalid") -> InvalidFields:
    return InvalidFields(errors=[FieldError(field, code, message)])
