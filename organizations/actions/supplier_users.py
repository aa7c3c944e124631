"""Users of a supplier, as its own administrators manage them: the memberships behind `/v1/memberships`, by e-mail."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, Forbidden, InvalidFields
from ledger import public as ledger
from organizations.events import SupplierUserInvited, SupplierUserUpdated
from organizations.models import LIVE, Membership, Tenant
from organizations.roles import SUPPLIER_ADMIN, SUPPLIER_ROLES

from .memberships import LastAdministrator, Terms, change_membership, invite_member, revoke_membership

_ROLES: Final = frozenset(SUPPLIER_ROLES)


class OtherMember(Forbidden):
    """The person is a member with a role that is none of a supplier's, so others manage the membership."""

    title = "This member is not managed here."


@needs_transaction
def save_user(
    actor: Actor, data: Mapping[str, Any], at: datetime, check_found: Callable[[Any], None] | None = None
) -> tuple[Membership, bool]:
    """Invite the person that `email` names, or change role and state of the user; tell whether the person is new.

    `check_found` holds the locked membership, or None, to the caller's preconditions.

    :raises VersionConflict: they do not hold.
    :raises InvalidFields: somebody new needs a role and cannot be inactive; the name of a user is the person's own.
    :raises OtherMember: not all roles of the member are a supplier's.
    :raises LastAdministrator: nobody would be left to administer the supplier.
    :raises ScopeEscalation, GrantBeyondOwn, MakersMembership, OwnRoles, InvalidTransition, QuotaExceeded, AlreadyMember: as
        `actions.memberships`.
    """
    found = _locked(actor, data["email"])
    if check_found:
        check_found(found)
    if found is None:
        return _invite(actor, data, at), True
    if not _ROLES.issuperset(found.roles):
        raise OtherMember
    _check_name(found, data)
    return _change(actor, found, data, at), False


def _locked(actor: Actor, email: str) -> Membership | None:
    """Return the membership of a person that has not ended, locked until the transaction ends."""
    mine = Membership.objects.select_for_update(no_key=True).filter(tenant_id=actor.tenant_id, status__in=LIVE)
    return mine.filter(user__email=email.strip().lower()).first()


def _invite(actor: Actor, data: Mapping[str, Any], at: datetime) -> Membership:
    errors = [] if data.get("role") else [FieldError("role", "required", "Somebody new needs a role.")]
    if not data.get("active", True):
        errors.append(FieldError("active", "unknown_user", "There is no such user to deactivate."))
    if errors:
        raise InvalidFields(errors=errors)
    terms = Terms(roles=(data["role"],), location_ids=actor_locations(actor))
    made, _ = invite_member(actor=actor, email=data["email"], name=data.get("name", ""), terms=terms, at=at)
    _tell(actor, made, SupplierUserInvited(role=data["role"]), at)
    return made


def actor_locations(actor: Actor) -> tuple[UUID, ...]:
    """Return the locations that somebody limited to locations gives: its own; none stand for all."""
    return tuple(sorted(actor.location_ids or ()))


def _check_name(found: Membership, data: Mapping[str, Any]) -> None:
    """Refuse a name that would be lost.

    :raises InvalidFields: it is not the one that is shown.
    """
    shown = found.user.name if found.accepted_at and found.user else found.invited_name
    if data.get("name", shown) != shown:
        message = "Only an invitation takes a name; a user's name is the person's own."
        raise InvalidFields(errors=[FieldError("name", "field_locked", message)])


def _change(actor: Actor, found: Membership, data: Mapping[str, Any], at: datetime) -> Membership:
    """Change role and state; a user who is deactivated before accepting is not invited any more."""
    role, active = data.get("role"), data.get("active")
    roles = [role] if role else found.roles
    ends = active is False and found.status in (Membership.Status.ACTIVE, Membership.Status.INVITED)
    if SUPPLIER_ADMIN in found.roles and (ends or SUPPLIER_ADMIN not in roles):
        _keep_one_administrator(found, at)
    changed = ["role"] * (roles != found.roles) + ["active"] * _moves(found, active)
    wanted: dict[str, Any] = {"roles": roles} if roles != found.roles else {}
    if active is False and found.status == Membership.Status.ACTIVE:
        wanted["status"] = Membership.Status.SUSPENDED.value
    if active is True and found.status == Membership.Status.SUSPENDED:
        wanted["status"] = Membership.Status.ACTIVE.value
    if wanted:
        change_membership(actor, found, wanted, at)
    if ends and found.status == Membership.Status.INVITED:
        revoke_membership(actor, found, at)
    if changed:
        _tell(actor, found, SupplierUserUpdated(changed=changed, roles=list(found.roles), status=found.status), at)
    return found


def _moves(found: Membership, active: bool | None) -> bool:
    """Tell whether a member has to change state; an invited one is active already."""
    if active is None:
        return False
    return active is (found.status == Membership.Status.SUSPENDED)


def _keep_one_administrator(found: Membership, at: datetime) -> None:
    """Require another person with the supplier's administration; the tenant is locked, so that two cannot remove each other.

    :raises LastAdministrator: there is none.
    """
    Tenant.objects.select_for_update(no_key=True).get(pk=found.tenant_id)
    held = Membership.objects.filter(
        Membership.VALIDITY.holds_at(at),
        tenant_id=found.tenant_id,
        user__is_active=True,
        status=Membership.Status.ACTIVE,
        roles__contains=[SUPPLIER_ADMIN],
    )
    if held.filter(pk=found.pk).exists() and not held.exclude(pk=found.pk).exists():
        raise LastAdministrator


def _tell(actor: Actor, row: Membership, fact: ledger.EventType, at: datetime) -> None:
    ledger.record(actor=actor, event=fact, resource_id=row.id, at=at, resource_version=row.version)
