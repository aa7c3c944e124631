"""Actions on drafts: make one, and replace one. Source: contract, prescriptions.md "Lifecycle"."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from core import rows
from core.actor import Actor
from core.clock import now
from core.db import needs_transaction, run_bound
from core.model_rows import delete_call
from core.pipeline import Call, ReadBack, Statement
from core.watermark import mark_call
from fhir_api import public as record
from organizations import public as organizations
from prescriptions.lifecycle.chain import Witness
from prescriptions.lifecycle.changes import Change
from prescriptions.lifecycle.copies import PRESCRIPTIONS
from prescriptions.lifecycle.models import Prescription, PrescriptionItem
from prescriptions.lifecycle.targets import LockedPrescription, demand
from prescriptions.medications.knowledge import Knowledge
from prescriptions.medications.queries import knowledge_calls, read_knowledge
from prescriptions.states import Status

from . import items as item_columns
from .rules import Grounds, check_items, grounds, local_year, prescriber_of
from .serializers import items_of_template

QUOTA = "prescriptions_per_month"
_TEXTS = ("encounter_id", "notes_to_pharmacy", "patient_instructions")
_USED = Statement.of(
    "UPDATE prescriptions_prescriptiontemplate SET usage_count = usage_count + 1 WHERE tenant_id = $1 AND id = $2"
)


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a draft is made, if not by a person's request: the treatment and the index of its occurrence, or items before.

    `author_id` is the person who counts as the draft's author, and whose templates may be used. `prior_items` are the
    items that its lines follow, in their order, where they are not the same lines of the prescription before.
    """

    treatment_id: UUID | None = None
    occurrence_index: int | None = None
    author_id: UUID | None = None
    prior_items: tuple[UUID, ...] = ()


@needs_transaction
def create_prescription(
    actor: Actor, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None, cause: Cause | None = None
) -> Prescription:
    """Make a draft; the number is drawn after all refusals.

    :raises PatientNotFound, TemplateNotFound, EncounterNotFound, LocationNotFound: the body names what is not there.
    :raises InvalidFields: an item is not complete, or of free text where the tenant prescribes by codes.
    :raises QuotaExceeded: the tenant may make no more prescriptions this month.
    """
    author = cause.author_id if cause and cause.author_id else actor.subject_id
    ground = grounds(actor, data, author)
    wanted = _items(data, ground)
    drawn = _draw(actor, wanted, local_year(ground.zone, at), at)
    row = Prescription(
        tenant_id=actor.tenant_id,
        number=drawn.number,
        created_by=author,
        created_at=at,
        updated_at=at,
        version=0,
        **_columns(actor, data, ground),
    )
    if cause:
        row.recurring_treatment_id, row.occurrence_index = cause.treatment_id, cause.occurrence_index
        if cause.prior_items:
            ground = replace(ground, prior=dict(enumerate(cause.prior_items, 1)))
    items = _new_items(row, wanted, drawn.knowledge, ground, at)
    target = _as_locked(actor, row, items, ground, drawn)
    change = Change(target, at)
    change.enter("created", items=len(items))
    change.calls += [*_template_used(actor, data), *(rows.insert(item) for item in items)]
    return change.commit(reading, new=True)


@needs_transaction
def replace_prescription(
    actor: Actor, target: LockedPrescription, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Prescription:
    """Replace a draft by the body; items keep their ids by position, and the former validation no longer counts.

    :raises InvalidTransition: the prescription is signed, or cancelled.
    :raises PatientNotFound, TemplateNotFound, EncounterNotFound, LocationNotFound, InvalidFields: as for a new draft.
    """
    row: Prescription = target.row
    demand(row, "update")
    ground = grounds(actor, data)
    wanted = _items(data, ground)
    known = run_bound(actor.tenant_id, knowledge_calls(actor.tenant_id, item_columns.codes_of(wanted), ()))
    before = row.status
    change = Change(target, at)
    change.save(*row.assign(_columns(actor, data, ground)))
    if before == Status.CLINICALLY_VALIDATED:
        row.reopen()
        change.save("status")
    if row.validation:
        row.validation = {**row.validation, "stale": True}
        change.save("validation")
    fresh = _new_items(row, wanted, read_knowledge(known), ground, at)
    kept = [_replaced(change, old, new) for old, new in zip(target.items, fresh, strict=False)]
    change.gone = list(target.items[len(fresh) :])
    change.calls += [rows.insert(item) for item in fresh[len(kept) :]]
    change.calls += [delete_call(item) for item in change.gone]
    change.calls += _template_used(actor, data) if data["template_id"] else []
    change.items = (*kept, *fresh[len(kept) :])
    change.made |= {str(item.id) for item in fresh[len(kept) :]}
    change.enter("updated", before=before, items=len(fresh))
    return change.commit(reading)


class _Drawn(NamedTuple):
    """What a new draft is made of beside its body, and the start of the write of its resources."""

    knowledge: Knowledge
    number: str
    display: str
    resources: record.Held


def _draw(actor: Actor, wanted: Sequence[Mapping[str, Any]], year: int, at: datetime) -> _Drawn:
    """Take a unit of the quota, look up the medications, draw the year's next number, and read what the author is called.

    :raises QuotaExceeded: the tenant may make no more prescriptions this month.
    """
    tenant = actor.tenant_id
    *known, taken, number, named, _ = run_bound(
        tenant,
        [
            *knowledge_calls(tenant, item_columns.codes_of(wanted), ()),
            organizations.quota_call(tenant, QUOTA, at=at),
            item_columns.number_call(tenant, year),
            organizations.display_name_call(actor.subject_id),
            mark_call(tenant),
        ],
    )
    resources = record.Held(now())
    organizations.take_quota(taken, actor=actor, key=QUOTA, at=at)
    text = item_columns.number_text(year, int((number.value() or b"0").decode()))
    return _Drawn(read_knowledge(known), text, organizations.display_name_of(named), resources)


def _as_locked(
    actor: Actor, row: Prescription, items: Sequence[PrescriptionItem], ground: Grounds, drawn: _Drawn
) -> LockedPrescription:
    """A new prescription in the form in which changes take one."""
    return LockedPrescription(
        kind=PRESCRIPTIONS,
        actor=actor,
        row=row,
        parties=frozenset(),
        items=tuple(items),
        route=None,
        policies=ground.policies,
        zone=ground.zone,
        settings_version=0,
        witness=Witness(actor, drawn.display),
        jws="",
        resources=drawn.resources,
    )


def _items(data: Mapping[str, Any], ground: Grounds) -> Sequence[Mapping[str, Any]]:
    """Return the checked items of the body, else those of the template.

    :raises InvalidFields: the template's items lack what a prescription needs, or items are of free text.
    """
    found: Sequence[Mapping[str, Any]] | None = data["items"]
    if found is None:
        assert ground.template is not None
        found = items_of_template(ground.template["items"])
    check_items(found, ground.policies)
    return found


def _columns(actor: Actor, data: Mapping[str, Any], ground: Grounds) -> dict[str, Any]:
    template = ground.template
    return {
        **{name: data[name] or "" for name in _TEXTS},
        "notes_to_pharmacy": data["notes_to_pharmacy"] or (template["notes"] if template else ""),
        "patient_id": data["patient_id"],
        "prescriber_id": prescriber_of(actor, data["prescriber_id"] or ""),
        "location_id": data["location_id"],
        "reason_codes": [_coding(one) for one in data["reason_codes"]],
        "priority": data["priority"],
        "category": data["category"],
        "valid_from": data["valid_from"],
        "template_id": data["template_id"],
        "template_version": template["version"] if template else None,
        "prior_prescription_id": data["prior_prescription_id"],
    }


def _coding(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in ("system", "code", "display") if given[name]}


def _new_items(
    row: Prescription, wanted: Sequence[Mapping[str, Any]], knowledge: Knowledge, ground: Grounds, at: datetime
) -> list[PrescriptionItem]:
    return [
        PrescriptionItem(
            tenant_id=row.tenant_id,
            prescription_id=row.id,
            line=line,
            created_at=at,
            updated_at=at,
            **item_columns.columns(one, knowledge, ground.prior.get(line)),
        )
        for line, one in enumerate(wanted, 1)
    ]


def _replaced(change: Change, old: PrescriptionItem, new: PrescriptionItem) -> PrescriptionItem:
    """Give the item in a position the columns of another, and save it if they differ."""
    changed = old.assign({name: getattr(new, name) for name in PrescriptionItem.WRITABLE})
    if changed:
        change.save_item(old, *changed)
    return old


def _template_used(actor: Actor, data: Mapping[str, Any]) -> list[Call]:
    return [Call(_USED, [str(actor.tenant_id), str(data["template_id"])])] if data["template_id"] else []
