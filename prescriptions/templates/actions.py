"""Actions on templates. Source: contract, prescriptions.md "Templates"."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from core.actor import Actor
from core.db import needs_transaction, run_bound
from core.search_terms import words_of
from ledger import public as ledger
from organizations import public as organizations
from organizations.public import LocationNotFound
from prescriptions.prescribing.items import template_item

from .events import (
    PrescriptionTemplateCreated,
    PrescriptionTemplateDeleted,
    PrescriptionTemplateUpdated,
    TemplateEvent,
)
from .models import PrescriptionTemplate
from .queries import AT

_TEXTS: Final = ("description", "specialty", "default_notes")


@needs_transaction
def create_template(actor: Actor, data: Mapping[str, Any], at: datetime) -> PrescriptionTemplate:
    """Make a template, which is the caller's.

    :raises LocationNotFound: the tenant has no such active location, or it is beyond the caller's.
    :raises TemplateNameTaken: the caller has another template of this name.
    """
    _check_location(actor, data)
    row = PrescriptionTemplate(
        tenant_id=actor.tenant_id, owner_id=actor.subject_id, created_at=at, updated_at=at, **_columns(data)
    )
    row.save(force_insert=True)
    _tell(actor, row, PrescriptionTemplateCreated, at)
    return row


@needs_transaction
def replace_template(
    actor: Actor, template: PrescriptionTemplate, data: Mapping[str, Any], at: datetime
) -> PrescriptionTemplate:
    """Replace a locked template; drafts that were made of it stay as they are.

    :raises LocationNotFound: the tenant has no such active location, or it is beyond the caller's.
    :raises TemplateNameTaken: the owner has another template of this name.
    """
    _check_location(actor, data)
    changed = template.assign(_columns(data))
    if changed:
        template.save_version(*changed, at=at)
        _tell(actor, template, PrescriptionTemplateUpdated, at)
    return template


@needs_transaction
def archive_template(actor: Actor, template: PrescriptionTemplate, at: datetime) -> PrescriptionTemplate:
    """Archive a locked template: nobody sees it any more, and its name is free."""
    template.archived_at = at
    template.save_version("archived_at", at=at)
    _tell(actor, template, PrescriptionTemplateDeleted, at)
    return template


def _check_location(actor: Actor, data: Mapping[str, Any]) -> None:
    wanted = data["location_id"]
    if wanted is None:
        return
    (found,) = run_bound(actor.tenant_id, [organizations.places_call(actor.tenant_id, [wanted])])
    if wanted not in organizations.places_of(found) or not AT.holds(actor, wanted):
        raise LocationNotFound


def _columns(data: Mapping[str, Any]) -> dict[str, Any]:
    texts = {name: data[name] or "" for name in _TEXTS}
    return {
        **texts,
        "name": data["name"],
        "visibility": data["visibility"],
        "location_id": data["location_id"],
        "items": [template_item(one) for one in data["items"]],
        "words": words_of(f"{data['name']} {texts['description']} {texts['specialty']}"),
    }


def _tell(actor: Actor, row: PrescriptionTemplate, event: type[TemplateEvent], at: datetime) -> None:
    ledger.record(
        actor=actor,
        event=event(visibility=str(row.visibility)),
        resource_id=row.id,
        at=at,
        resource_version=row.version,
    )
