"""Writes on locations, with their search terms and the pharmacy directory."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor, system_actor
from core.db import needs_transaction, tenant_context
from core.errors import Conflict, FieldError, Forbidden, InvalidFields
from core.text_folding import words as words_of
from core.trees import height, lock, path
from ledger import public as ledger
from organizations import directory, events, plans
from organizations.models import Location, LocationStatus, LocationType, LocationWord, Tenant
from organizations.models.locations import MAX_DEPTH
from organizations.queries import locations

from .quotas import consume_quota, release_quota

MAX_WORDS = 40


class LocationForbidden(Forbidden):
    """The membership is limited to certain locations, and the request concerns the whole tenant."""

    code = "location_forbidden"
    title = "The membership is limited to certain locations."


class LocationCycle(Conflict):
    """The new parent is the location itself or within it."""

    code = "location_cycle"
    title = "A location cannot be within itself."


class LocationTooDeep(Conflict):
    """The tree of locations would have more than eight levels."""

    code = "location_too_deep"
    title = "The tree of locations has at most eight levels."


@needs_transaction
def create_default(*, tenant: Tenant, at: datetime) -> Location:
    """Create a tenant's first location, named after the tenant; return the oldest one if there are any."""
    kind = LocationType.PHARMACY if "pharmacy" in tenant.kinds else LocationType.SITE
    if set(tenant.kinds) == {"supplier"}:
        kind = LocationType.WAREHOUSE
    with tenant_context(tenant.id):
        found: Location | None = Location.objects.filter(tenant_id=tenant.id).order_by("created_at", "id").first()
        if found is not None:
            return found
        data = {"name": tenant.name, "type": kind, "organization_id": tenant.organization_id}
        return create_location(actor=system_actor(tenant.id), data=data, at=at)


@needs_transaction
def create_location(actor: Actor, data: Mapping[str, Any], at: datetime) -> Location:
    """Create a location in the actor's tenant and count it against the quota; `data` holds writable fields.

    :raises LocationForbidden: the membership is limited to certain locations.
    :raises InvalidFields: parent or organization is not the tenant's, or a location is listed that does not dispense.
    :raises LocationTooDeep: the location would be on a ninth level.
    :raises QuotaExceeded: the plan allows no more locations.
    """
    if actor.location_ids:
        raise LocationForbidden
    row = Location(tenant_id=actor.tenant_id, created_at=at, updated_at=at)
    _assign(row, {"organization_id": _organization_of_tenant(actor), **data})
    _check_references(actor, row, {"organization_id", "parent_id"} & set(data))
    row.save(force_insert=True)
    _replace_search_terms(row)
    directory.publish(row, at=at)
    ledger.record(
        actor=actor,
        event=events.LocationCreated(location_type=row.type),
        resource_id=row.id,
        at=at,
        resource_version=row.version,
    )
    if row.status != LocationStatus.INACTIVE:
        consume_quota(actor=actor, key=plans.LOCATIONS, at=at)
    return row


@needs_transaction
def update_location(actor: Actor, location: Location, data: Mapping[str, Any], at: datetime) -> Location:
    """Change fields of a locked location; if nothing changes, the version stays.

    :raises InvalidFields: as `create_location`.
    :raises LocationCycle: the new parent is the location or within it.
    :raises LocationTooDeep: a location would be on a ninth level.
    :raises QuotaExceeded: an inactive location is reactivated, and the plan allows no more.
    """
    row = location
    was_used = row.status != LocationStatus.INACTIVE
    changed = _assign(row, data)
    if not changed:
        return row
    _check_references(actor, row, set(changed))
    row.save_version(*changed, at=at)
    _publish_change(actor, row, changed, at)
    _adjust_quota(actor, was_used, row.status != LocationStatus.INACTIVE, at)
    return row


def _publish_change(actor: Actor, row: Location, changed: list[str], at: datetime) -> None:
    if {"name", "identifiers"} & set(changed):
        _replace_search_terms(row)
    directory.publish(row, at=at)
    fact = events.LocationUpdated(changed=changed)
    ledger.record(actor=actor, event=fact, resource_id=row.id, at=at, resource_version=row.version)


def _adjust_quota(actor: Actor, was_used: bool, is_used: bool, at: datetime) -> None:
    if is_used and not was_used:
        consume_quota(actor=actor, key=plans.LOCATIONS, at=at)
    elif was_used and not is_used:
        release_quota(actor=actor, key=plans.LOCATIONS, at=at)


def _assign(row: Location, data: Mapping[str, Any]) -> list[str]:
    changed = row.assign(data)
    was_dispensing, row.is_dispensing = row.is_dispensing, row.type == LocationType.PHARMACY
    return changed + ["is_dispensing"] * (row.is_dispensing != was_dispensing)


def _organization_of_tenant(actor: Actor) -> UUID | None:
    return Tenant.objects.filter(id=actor.tenant_id).values_list("organization_id", flat=True).first()


def _check_references(actor: Actor, row: Location, changed: set[str]) -> None:
    if row.listed and not row.is_dispensing:
        raise _invalid("listed", "not_dispensing", "Only a pharmacy can be in the pharmacy directory.")
    if "organization_id" in changed and not locations.owns_organization(actor, row.organization_id):
        raise _invalid("organization_id", "does_not_exist", "The tenant has no such organization.")
    if "parent_id" in changed and row.parent_id is not None:
        _check_parent(actor, row, row.parent_id)


def _check_parent(actor: Actor, row: Location, parent_id: UUID) -> None:
    """Check the new parent while the tenant's tree is locked."""
    lock("locations", actor.tenant_id)
    if not locations.reachable(actor).filter(id=parent_id).exists():
        raise _invalid("parent_id", "does_not_exist", "No such location.")
    ancestors = path(locations.LOCATIONS, parent_id, tenant_id=actor.tenant_id)
    if row.id in ancestors:
        raise LocationCycle
    if len(ancestors) + height(locations.LOCATIONS, row.id, tenant_id=actor.tenant_id) > MAX_DEPTH:
        raise LocationTooDeep


def _invalid(name: str, code: str, message: str) -> InvalidFields:
    return InvalidFields(message, errors=[FieldError(name, code, message)])


def _replace_search_terms(row: Location) -> None:
    texts = [row.name, *(str(one.get("value", "")) for one in row.identifiers)]
    words = list(dict.fromkeys(word[:60] for text in texts for word in words_of(text)))[:MAX_WORDS]
    LocationWord.objects.filter(tenant_id=row.tenant_id, location_id=row.id).delete()
    LocationWord.objects.bulk_create(
        [LocationWord(tenant_id=row.tenant_id, location_id=row.id, word=word) for word in words]
    )
