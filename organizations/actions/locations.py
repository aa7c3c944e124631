"""Writing places: their fields, their place in the tree, the words they are found by, and the pharmacy directory."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from core.actor import Actor, system_actor
from core.db import needs_transaction, tenant_context
from core.errors import Conflict, FieldError, Forbidden, InvalidFields
from core.text_folding import words as words_of
from core.trees import height, path
from ledger import public as ledger
from organizations import directory, events, plans
from organizations.models import Location, LocationStatus, LocationType, LocationWord, Tenant
from organizations.models.locations import MAX_DEPTH
from organizations.queries import locations

from .quotas import consume_quota, release_quota

MAX_WORDS = 40


class LocationForbidden(Forbidden):
    """A membership limited to certain places may not make new ones outside them."""

    code = "location_forbidden"
    title = "The membership is limited to certain locations."


class LocationCycle(Conflict):
    """A place cannot be within itself."""

    code = "location_cycle"
    title = "A location cannot be within itself."


class LocationTooDeep(Conflict):
    """The tree of places would be deeper than eight."""

    code = "location_too_deep"
    title = "Locations nest at most 8 deep."


@needs_transaction
def create_default(*, tenant: Tenant, at: datetime) -> Location:
    """This function will give a tenant its first location, named after it; a tenant that has one keeps it."""
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
    """This function will add a place to the actor's tenant and count it; `data` holds writable fields.

    :raises LocationForbidden: the membership is limited to certain places.
    :raises InvalidFields: parent or organization are not the tenant's, or a place is listed that does not dispense.
    :raises LocationTooDeep: more than eight deep.
    :raises QuotaExceeded: the plan allows no more places.
    """
    if actor.location_ids:
        raise LocationForbidden
    row = Location(tenant_id=actor.tenant_id, created_at=at, updated_at=at)
    _assign(row, {"organization_id": _home(actor), **data})
    _check_references(actor, row, {"organization_id", "parent_id"} & set(data))
    row.save(force_insert=True)
    _index_words(row)
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
    """This function will change fields of a place, whose locked row is given; a change of nothing keeps the version.

    :raises InvalidFields: as `create_location`.
    :raises LocationCycle, LocationTooDeep: the new parent does not do.
    :raises QuotaExceeded: a place is put to use again and the plan allows no more.
    """
    row = location
    was_used = row.status != LocationStatus.INACTIVE
    changed = _assign(row, data)
    if not changed:
        return row
    _check_references(actor, row, set(changed))
    row.save_version(*changed, at=at)
    _follow_up(actor, row, changed, at)
    _count_use(actor, was_used, row.status != LocationStatus.INACTIVE, at)
    return row


def _follow_up(actor: Actor, row: Location, changed: list[str], at: datetime) -> None:
    if {"name", "identifiers"} & set(changed):
        _index_words(row)
    directory.publish(row, at=at)
    fact = events.LocationUpdated(changed=changed)
    ledger.record(actor=actor, event=fact, resource_id=row.id, at=at, resource_version=row.version)


def _count_use(actor: Actor, was_used: bool, is_used: bool, at: datetime) -> None:
    if is_used and not was_used:
        consume_quota(actor=actor, key=plans.LOCATIONS, at=at)
    elif was_used and not is_used:
        release_quota(actor=actor, key=plans.LOCATIONS, at=at)


def _assign(row: Location, data: Mapping[str, Any]) -> list[str]:
    changed = row.assign(data)
    was_dispensing, row.is_dispensing = row.is_dispensing, row.type == LocationType.PHARMACY
    return changed + ["is_dispensing"] * (row.is_dispensing != was_dispensing)


def _home(actor: Actor) -> UUID | None:
    return Tenant.objects.filter(id=actor.tenant_id).values_list("organization_id", flat=True).first()


def _check_references(actor: Actor, row: Location, changed: set[str]) -> None:
    if row.listed and not row.is_dispensing:
        raise _invalid("listed", "not_dispensing", "Only a pharmacy can be in the pharmacy directory.")
    if "organization_id" in changed and not locations.owns_organization(actor, row.organization_id):
        raise _invalid("organization_id", "does_not_exist", "No such organization within the tenant's own.")
    if "parent_id" in changed and row.parent_id is not None:
        _check_parent(actor, row, row.parent_id)


def _check_parent(actor: Actor, row: Location, parent_id: UUID) -> None:
    """Moves of one tenant's places wait for one another: two that are each harmless could make a circle together."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"locations {actor.tenant_id}"])
    if not locations.reachable(actor).filter(id=parent_id).exists():
        raise _invalid("parent_id", "does_not_exist", "No such location.")
    ancestors = path(locations.LOCATIONS, parent_id)
    if row.id in ancestors:
        raise LocationCycle
    if len(ancestors) + height(locations.LOCATIONS, row.id) > MAX_DEPTH:
        raise LocationTooDeep


def _invalid(name: str, code: str, message: str) -> InvalidFields:
    return InvalidFields(message, errors=[FieldError(name, code, message)])


def _index_words(row: Location) -> None:
    texts = [row.name, *(str(one.get("value", "")) for one in row.identifiers)]
    words = list(dict.fromkeys(word[:60] for text in texts for word in words_of(text)))[:MAX_WORDS]
    LocationWord.objects.filter(tenant_id=row.tenant_id, location_id=row.id).delete()
    LocationWord.objects.bulk_create(
        [LocationWord(tenant_id=row.tenant_id, location_id=row.id, word=word) for word in words]
    )
