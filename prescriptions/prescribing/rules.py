"""What a draft refers to, looked up in few trips, and the rules that need it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import orjson

from core.actor import Actor
from core.db import run_bound
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Rows, Statement
from fhir_api import public as record
from fhir_api.public import PatientNotFound
from organizations import public as organizations
from organizations.public import LocationNotFound
from prescriptions.lifecycle.refusals import SIGN, EncounterNotFound, TemplateNotFound
from prescriptions.lifecycle.targets import WITHIN

_TEMPLATE = Statement.of(
    "SELECT t.items, t.default_notes, t.version FROM prescriptions_prescriptiontemplate t"
    " WHERE t.tenant_id = $1 AND t.id = $2 AND t.archived_at IS NULL AND (t.owner_id = $3 OR t.visibility = 'tenant'"
    " OR (t.visibility = 'location' AND ($4::uuid[] = '{}' OR t.location_id = ANY($4::uuid[]))))"
)
_PRIOR = Statement.of(
    "SELECT i.line, i.id FROM prescriptions_prescriptionitem i WHERE i.tenant_id = $1 AND i.prescription_id = $2"
)


@dataclass(frozen=True, slots=True)
class Grounds:
    """What a draft stands on: policies, the zone of its days, the template's members, and the items that it follows."""

    policies: Mapping[str, Any]
    zone: ZoneInfo
    template: Mapping[str, Any] | None
    prior: Mapping[int, UUID]


def grounds(actor: Actor, data: Mapping[str, Any], author: UUID | None = None) -> Grounds:
    """Look up what a body refers to; templates as the author sees them, who is the caller unless another is named.

    :raises PatientNotFound, TemplateNotFound, EncounterNotFound, LocationNotFound: as named, in this order.
    """
    tenant, place = actor.tenant_id, data["location_id"]
    names = [("Patient", data["patient_id"])]
    wanted = record.lookup(actor, names)
    encounter = data["encounter_id"] or ""
    calls = [
        *wanted.calls,
        organizations.policies_call(tenant),
        organizations.places_call(tenant, [place] if place else []),
        _template_call(actor, data["template_id"], author or actor.subject_id),
        Call(_PRIOR, [str(tenant), str(data["prior_prescription_id"]) if data["prior_prescription_id"] else None]),
    ]
    found = run_bound(tenant, calls)
    policies, places, template, prior = found[wanted.width :]
    if ("Patient", data["patient_id"]) not in wanted.found(found[: wanted.width]):
        raise PatientNotFound
    if data["template_id"] and not len(template):
        raise TemplateNotFound
    if encounter and not record.read(actor, [("Encounter", encounter)], for_rules=True):
        raise EncounterNotFound
    at = organizations.places_of(places)
    if (place and place not in at) or not WITHIN.holds(actor, place):
        raise LocationNotFound
    return Grounds(
        organizations.policies_of(policies),
        ZoneInfo((at.get(place) or at[None]).time_zone),
        _template_of(template),
        _prior_of(prior),
    )


def _template_call(actor: Actor, template_id: UUID | None, author: UUID) -> Call:
    places = "{" + ",".join(str(one) for one in actor.location_ids) + "}"
    key = str(template_id) if template_id else None
    return Call(_TEMPLATE, [str(actor.tenant_id), key, str(author), places])


def _template_of(rows: Rows) -> Mapping[str, Any] | None:
    if not len(rows):
        return None
    items, notes, version = rows.row()
    return {
        "items": orjson.loads(items or b"[]"),
        "notes": (notes or b"").decode(),
        "version": int((version or b"0").decode()),
    }


def _prior_of(rows: Rows) -> dict[int, UUID]:
    pairs = (rows.row(number) for number in range(len(rows)))
    return {int((line or b"0").decode()): UUID((key or b"").decode()) for line, key in pairs}


def prescriber_of(actor: Actor, asked: str) -> str:
    """Return the prescriber of a draft: whom the body names, else the caller's practitioner where he may sign."""
    return asked or (actor.practitioner_id if actor.may(SIGN) else "")


def check_items(items: Sequence[Mapping[str, Any]], policies: Mapping[str, Any]) -> None:
    """Refuse items of free text where the tenant does not allow them.

    :raises InvalidFields: an item has a text instead of a code.
    """
    if policies["free_text_medication_allowed"]:
        return
    message = "This tenant prescribes by codes only."
    errors = [
        FieldError(f"items.{place}.medication", "required", message)
        for place, item in enumerate(items)
        if item["medication"] is None
    ]
    if errors:
        raise InvalidFields(errors=errors)


def local_year(zone: ZoneInfo, at: datetime) -> int:
    """Return the year of an instant where the tenant is."""
    return at.astimezone(zone).year
