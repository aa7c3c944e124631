"""Keeping projected resources as their rows are, in the transaction that changes the rows."""

from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

from django.conf import settings

from core import watermark
from core.actor import Actor, Subject, SubjectKind
from core.db import needs_transaction, tenant_context
from fhir_api import events, owners, store
from fhir_api.reading import read_stored
from fhir_api.resources import Json, canonical
from fhir_api.store import Change, Version
from fhir_api.store.models import Method
from ledger import public as ledger
from organizations.public import (
    shown_locations,
    shown_organizations,
    tenants_above,
    tenants_with,
)

from . import addresses, building

FEATURE: Final = "fhir"
_PLACES: Final = ("location.created", "location.updated")
_TENANTS: Final = ("tenant.provisioned", "entitlement.changed")
_ORGANIZATIONS: Final = tuple(f"organization.{what}" for what in ("updated", "moved", "suspended", "resumed", "closed"))


def subscribe() -> None:
    """Have the ledger tell of every change of an organization, a place, or what a tenant may use; keep what is made of them."""
    owners.own("Organization", addresses.of_organizations)
    owners.own("Location", addresses.of_locations)
    ledger.subscribe(follow, types=(*_PLACES, *_TENANTS, *_ORGANIZATIONS))


def follow(facts: Sequence[ledger.Fact]) -> None:
    """Bring the resources behind these facts up to date, by the same actor and in the same transaction."""
    for fact in facts if settings.FHIR_PROJECTIONS else ():
        if fact.type in _PLACES:
            _place(fact)
        elif fact.type in _TENANTS:
            _tenant(fact)
        else:
            _organization(fact)


@needs_transaction
def project(actor: Actor) -> list[Version]:
    """Bring all projected resources of the actor's tenant, which must be bound, up to date; the new versions."""
    places = shown_locations(actor.tenant_id)
    organizations = shown_organizations(actor.tenant_id)
    known = [str(one.id) for one in organizations]
    made = [(str(one.id), building.organization(one, known=known)) for one in organizations]
    made += [(str(one.id), building.location(one)) for one in places]
    return _write(actor, made)


def _place(fact: ledger.Fact) -> None:
    if not tenants_with(FEATURE, ids=[fact.tenant_id]):
        return
    places = shown_locations(fact.tenant_id, [fact.resource_id])
    named = [one.organization_id for one in places if one.organization_id]
    made = [*_organizations(fact.tenant_id, named), *((str(one.id), building.location(one)) for one in places)]
    _write(_actor(fact, fact.tenant_id), made)


def _tenant(fact: ledger.Fact) -> None:
    for tenant_id in tenants_with(FEATURE, ids=[fact.tenant_id]):
        project(_actor(fact, tenant_id))


def _organization(fact: ledger.Fact) -> None:
    """An organization is shown in its own tenants and in those above it that have places of it."""
    for tenant_id in tenants_with(FEATURE, ids=tenants_above(fact.resource_id)):
        with tenant_context(tenant_id):
            made = _organizations(tenant_id, [fact.resource_id])
            _write(_actor(fact, tenant_id), made)


def _organizations(tenant_id: UUID, ids: Iterable[UUID]) -> list[tuple[str, Json]]:
    wanted = set(ids)
    shown = shown_organizations(tenant_id) if wanted else []
    known = [str(one.id) for one in shown]
    return [(str(one.id), building.organization(one, known=known)) for one in shown if one.id in wanted]


def _write(actor: Actor, made: Sequence[tuple[str, Json]]) -> list[Version]:
    at = watermark.begin(actor.tenant_id)
    names = [(resource["resourceType"], fhir_id) for fhir_id, resource in made]
    current = store.locked(actor.tenant_id, names) if names else {}
    changes = []
    for (_, resource), name in zip(made, names, strict=True):
        before = current.get(name)
        if before is None or before.body is None or canonical(resource) != canonical(read_stored(before.body)):
            changes.append(Change(Method.PUT, *name, resource, before))
    versions = store.write(actor.tenant_id, changes, at=at)
    told = [(_verb(change), version) for change, version in zip(changes, versions, strict=True)]
    events.facts(actor, told, at)
    return versions


def _verb(change: Change) -> str:
    alive = change.before is not None and change.before.body is not None
    return events.UPDATED if alive else events.CREATED


def _actor(fact: ledger.Fact, tenant_id: UUID) -> Actor:
    """Whoever changed the row."""
    subject = Subject(id=fact.subject_id, kind=SubjectKind(fact.subject_kind), credential=fact.credential)
    own = fact.tenant_id == tenant_id
    membership_id = fact.membership_id if own else None
    return Actor(subject=subject, tenant_id=tenant_id, membership_id=membership_id, request_id=fact.request_id)
