"""Writes on the tree of organizations: create, change, move, suspend, resume, close."""

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
    """The named parent does not exist within reach."""

    code = "unknown_parent"
    title = "There is no such parent organization."


class OrganizationCycle(Conflict):
    """An organization would hang below itself."""

    code = "organization_cycle"
    title = "An organization cannot be below itself."


class TreeTooDeep(Conflict):
    """The tree may have eight levels."""

    code = "organization_too_deep"
    title = "The tree of organizations has at most eight levels."


@dataclass(frozen=True, slots=True)
class Change:
    """A change of fields; `parent_id` and `status` count only when they are named in `given`."""

    values: dict[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """The fields without a rule of their own."""
        return {name: value for name, value in self.values.items() if name not in ("parent_id", "status")}


@needs_transaction
def create_organization(actor: Actor, data: dict[str, Any], at: datetime) -> Organization:
    """This function will add an organization, below the actor's own where no parent is named.

    :raises UnknownParent: the parent is not within the actor's reach.
    :raises TreeTooDeep: it would stand on a ninth level.
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
    """This function will change fields, move the organization with everything below it, and change its state.

    :raises UnknownParent: the new parent is not within the actor's reach.
    :raises OrganizationCycle: the new parent is the organization or below it.
    :raises TreeTooDeep: something below would stand on a ninth level.
    :raises OutsideReach: it would become a root of its own.
    :raises InvalidTransition: its state does not allow the wanted one.
    :raises OrganizationInUse: it is to be closed, and something below it is open.
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
            raise OutsideReach("Only the platform's staff makes an organization a root.")
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
