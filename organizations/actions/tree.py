"""Writes on organizations: create, change, move, suspend, resume and close."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import Conflict, Unprocessable
from core.trees import height
from ledger import public as ledger
from organizations.events import (
    OrganizationClosed,
    OrganizationCreated,
    OrganizationMoved,
    OrganizationResumed,
    OrganizationSuspended,
    OrganizationUpdated,
)
from organizations.models import Organization
from organizations.policies import OutsideReach, is_platform
from organizations.queries.reachable import Reach
from organizations.queries.tree import MAX_DEPTH, ORGANIZATIONS, lock_trees, place_of


class UnknownParent(Unprocessable):
    """The parent does not exist, is closed or is out of the caller's reach."""

    code = "unknown_parent"
    title = "There is no such parent organization."


class OrganizationCycle(Conflict):
    """The new parent is the organization itself or below it."""

    code = "organization_cycle"
    title = "An organization cannot be below itself."


class TreeTooDeep(Conflict):
    """The tree of organizations would have more than eight levels."""

    code = "organization_too_deep"
    title = "The tree of organizations has at most eight levels."


@dataclass(frozen=True, slots=True)
class Change:
    """The members of a change."""

    values: dict[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return the members other than `parent_id` and `status`, which have rules of their own."""
        return {name: value for name, value in self.values.items() if name not in ("parent_id", "status")}


@needs_transaction
def create_organization(actor: Actor, data: dict[str, Any], at: datetime) -> Organization:
    """Create an organization; without `parent_id` it is below the actor's own.

    :raises UnknownParent: the parent is not within the actor's reach.
    :raises TreeTooDeep: the organization would be on a ninth level.
    """
    fields = dict(data)
    parent_id = fields.pop("parent_id", None) or (None if is_platform(actor) else actor.organization_id)
    if parent_id is not None:
        _check_parent(actor, parent_id)
        lock_trees(parent_id)
        if place_of(parent_id).depth >= MAX_DEPTH:
            raise TreeTooDeep
    made = Organization(parent_id=parent_id, created_at=at, updated_at=at, **fields)
    made.save(force_insert=True)
    fact = OrganizationCreated(parent_id=str(parent_id) if parent_id else None)
    ledger.record(actor=actor, event=fact, resource_id=made.id, at=at, resource_version=made.version)
    return made


@needs_transaction
def update_organization(actor: Actor, organization: Organization, data: dict[str, Any], at: datetime) -> Organization:
    """Change fields of a locked organization, move it with everything below it, and change its state.

    :raises UnknownParent: the new parent is not within the actor's reach.
    :raises OrganizationCycle: the new parent is the organization or below it.
    :raises TreeTooDeep: an organization would be on a ninth level.
    :raises OutsideReach: the organization would become a root.
    :raises InvalidTransition: the organization cannot change from its state to the wanted one.
    :raises OrganizationInUse: it would be closed while an organization or tenant below it is open.
    """
    change = Change(data)
    facts: list[ledger.EventType] = []
    plain = organization.assign(change.plain())
    if plain:
        facts.append(OrganizationUpdated(changed=sorted(plain)))
    touched = set(plain)
    if "parent_id" in data and data["parent_id"] != organization.parent_id:
        facts.append(_move(actor, organization, data["parent_id"]))
        touched.add("parent")
    if "status" in data and data["status"] != organization.status:
        facts.append(_change_status(organization, data["status"]))
        touched.add("status")
    if not touched:
        return organization
    organization.save_version(*touched, at=at)
    for fact in facts:
        ledger.record(
            actor=actor, event=fact, resource_id=organization.id, at=at, resource_version=organization.version
        )
    return organization


def _move(actor: Actor, organization: Organization, parent_id: UUID | None) -> OrganizationMoved:
    if parent_id is None:
        if not is_platform(actor):
            raise OutsideReach("Only the platform's staff can make an organization a root.")
        lock_trees(organization.id)
    else:
        _check_parent(actor, parent_id)
        lock_trees(organization.id, parent_id)
        target = place_of(parent_id)
        if organization.id in target.path:
            raise OrganizationCycle
        if target.depth + height(ORGANIZATIONS, organization.id) > MAX_DEPTH:
            raise TreeTooDeep
    fact = OrganizationMoved(
        from_parent_id=str(organization.parent_id) if organization.parent_id else None,
        to_parent_id=str(parent_id) if parent_id else None,
    )
    organization.parent_id = parent_id
    return fact


def _check_parent(actor: Actor, parent_id: UUID) -> None:
    known = Organization.objects.filter(pk=parent_id).exclude(status=Organization.Status.CLOSED).exists()
    if not known or not (is_platform(actor) or Reach.of([actor]).holds_organization(parent_id)):
        raise UnknownParent


def _change_status(organization: Organization, wanted: str) -> ledger.EventType:
    if wanted == Organization.Status.ACTIVE:
        organization.resume()
        return OrganizationResumed()
    if wanted == Organization.Status.SUSPENDED:
        organization.suspend()
        return OrganizationSuspended()
    organization.close()
    return OrganizationClosed()
