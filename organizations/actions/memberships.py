"""Writes on memberships: invite, add, change, suspend, resume and revoke."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import Conflict, FieldError, InvalidFields, Unprocessable
from ledger import public as ledger
from organizations.events import (
    MembershipActivated,
    MembershipInvited,
    MembershipRevoked,
    MembershipSuspended,
    MembershipUpdated,
)
from organizations.grants import Extent, is_later, may_administer, may_grant_extent
from organizations.models import Location, Membership, ServiceAccount, Tenant, User
from organizations.plans import USERS
from organizations.policies import (
    OwnRoles,
    is_platform,
    may_be_of_machine,
    may_grant,
    may_grant_to_key,
    scopes_of_roles,
)
from organizations.roles import TENANT_ADMIN
from organizations.signin import invitations

from .quotas import consume_quota, release_quota


class LastAdministrator(Conflict):
    """The change would leave the tenant without an administrator."""

    code = "last_administrator"
    title = "The last administrator of a tenant cannot be removed."


class UnknownAccount(Unprocessable):
    """The tenant has no such service account."""

    code = "unknown_service_account"
    title = "There is no such service account."


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a membership: roles, locations, validity and practitioner."""

    roles: tuple[str, ...]
    location_ids: tuple[UUID, ...] = ()
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    practitioner_id: str | None = None

    @property
    def extent(self) -> Extent:
        """Where and until when the membership holds."""
        return Extent.of(self.location_ids, self.valid_until)

    @classmethod
    def of(cls, values: dict[str, Any]) -> "Terms":
        """Take the terms from a validated body."""
        return cls(
            roles=tuple(dict.fromkeys(values["roles"])),
            location_ids=tuple(values.get("location_ids") or ()),
            valid_from=values.get("valid_from"),
            valid_until=values.get("valid_until"),
            practitioner_id=values.get("practitioner_id"),
        )


@needs_transaction
def create_membership(actor: Actor, data: dict[str, Any], at: datetime) -> Membership:
    """Invite the person that `email` names, or add the service account that `service_account_id` names.

    :raises ScopeEscalation, GrantBeyondOwn, MachineScope, InvalidFields, AlreadyMember, UnknownAccount, QuotaExceeded:
        as `invite_member` and `add_known_service`.
    """
    terms = Terms.of(data)
    if "service_account_id" in data:
        return add_known_service(actor=actor, account_id=data["service_account_id"], terms=terms, at=at)
    membership, _ = invite_member(actor=actor, email=data["email"], name=data.get("name", ""), terms=terms, at=at)
    return membership


@needs_transaction
def invite_member(*, actor: Actor, email: str, name: str, terms: Terms, at: datetime) -> tuple[Membership, str]:
    """Invite a person, who need not have an account; return the membership and the token of the invitation.

    :raises ScopeEscalation, GrantBeyondOwn: a role holds scopes the actor lacks, or the terms go beyond the actor's own.
    :raises InvalidFields: a role or location does not exist in the tenant.
    :raises AlreadyMember: the person has a membership in the tenant.
    :raises QuotaExceeded: the tenant's quota of users is used up.
    """
    check_terms(actor, terms)
    membership = open_membership(actor=actor, user=user_of(email), terms=terms, at=at, name=name)
    ledger.record(
        actor=actor,
        event=MembershipInvited(roles=list(terms.roles)),
        resource_id=membership.id,
        at=at,
        resource_version=1,
    )
    return membership, invitations.issue(membership=membership, at=at)


@needs_transaction
def add_member(*, actor: Actor, user: User, terms: Terms, at: datetime) -> Membership:
    """Make a person an active member without an invitation, which only the platform may do.

    :raises AlreadyMember: the person has a membership in the tenant.
    :raises InvalidFields, QuotaExceeded: as `invite_member`.
    """
    check_terms(actor, terms)
    membership = open_membership(actor=actor, user=user, terms=terms, at=at)
    _activate(actor, membership, at)
    return membership


@needs_transaction
def add_service(*, actor: Actor, account: ServiceAccount, terms: Terms, at: datetime) -> Membership:
    """Make a service account a member; the caller has checked that its roles may be granted.

    :raises GrantBeyondOwn: the terms go beyond the actor's own.
    :raises AlreadyMember: the account has a membership in the tenant.
    """
    may_grant_extent(actor, terms.extent)
    _check_locations(actor, terms.location_ids)
    membership = _insert(actor, terms, at, service_account=account)
    _activate(actor, membership, at)
    return membership


@needs_transaction
def add_known_service(*, actor: Actor, account_id: UUID, terms: Terms, at: datetime) -> Membership:
    """Make a service account of the actor's tenant a member.

    :raises UnknownAccount: the tenant has no such account.
    :raises ScopeEscalation, GrantBeyondOwn, MachineScope: the terms may not be granted to the account.
    :raises AlreadyMember: the account has a membership in the tenant.
    """
    account = ServiceAccount.objects.filter(pk=account_id, tenant_id=actor.tenant_id).first()
    if account is None:
        raise UnknownAccount
    may_grant_to_key(actor, scopes_of_roles(actor.tenant_id, terms.roles))
    return add_service(actor=actor, account=account, terms=terms, at=at)


@needs_transaction
def open_membership(*, actor: Actor, user: User, terms: Terms, at: datetime, name: str = "") -> Membership:
    """Create an invited membership and count it against the quota of users; the caller has checked the terms.

    :param name: what the inviter calls the person, shown until the invitation is accepted.
    :raises AlreadyMember: the person has a membership in the tenant.
    :raises QuotaExceeded: the tenant's quota of users is used up.
    """
    membership = _insert(actor, terms, at, user=user, invited_name=name)
    consume_quota(actor=actor, key=USERS, at=at)
    return membership


@needs_transaction
def change_membership(actor: Actor, membership: Membership, data: dict[str, Any], at: datetime) -> Membership:
    """Change roles, locations, validity and state of a locked membership.

    :raises OwnRoles: the actor would change locations, validity or practitioner of its own membership, or add a role.
    :raises ScopeEscalation, GrantBeyondOwn, MachineScope, MakersMembership: the actor may not change this membership, or
        may not grant what the change adds.
    :raises LastAdministrator: nobody would be left to administer the tenant.
    :raises InvalidTransition: the membership cannot change from its state to the wanted one.
    """
    fields = {name: value for name, value in data.items() if name != "status" and getattr(membership, name) != value}
    wanted = data.get("status", membership.status)
    _check_change(actor, membership, fields, resumes=wanted != membership.status == Membership.Status.SUSPENDED)
    if _ends_administration(membership, fields, wanted, at):
        _keep_one_administrator(membership, at)
    facts: list[ledger.EventType] = []
    membership.assign(fields)
    if fields:
        facts.append(MembershipUpdated(changed=sorted(fields)))
    touched = list(fields)
    if wanted != membership.status:
        facts.append(_change_status(membership, wanted))
        touched.append("status")
    if touched:
        membership.save_version(*touched, at=at)
    for fact in facts:
        ledger.record(actor=actor, event=fact, resource_id=membership.id, at=at, resource_version=membership.version)
    return membership


@needs_transaction
def revoke_membership(actor: Actor, membership: Membership, at: datetime) -> Membership:
    """Revoke a locked membership and release its unit of the quota of users.

    :raises ScopeEscalation, GrantBeyondOwn, MakersMembership: the actor may not end this membership.
    :raises LastAdministrator: nobody would be left to administer the tenant.
    :raises InvalidTransition: the membership has already ended.
    """
    may_administer(actor, membership)
    if _ends_administration(membership, {}, Membership.Status.REVOKED, at):
        _keep_one_administrator(membership, at)
    membership.revoke()
    membership.save_version("status", at=at)
    if membership.user_id is not None:
        release_quota(actor=actor, key=USERS, at=at)
    ledger.record(
        actor=actor, event=MembershipRevoked(), resource_id=membership.id, at=at, resource_version=membership.version
    )
    return membership


def check_terms(actor: Actor, terms: Terms) -> None:
    """Refuse terms that the actor may not grant and locations that the tenant does not have.

    :raises ScopeEscalation: a role holds scopes the actor lacks.
    :raises GrantBeyondOwn: locations or validity go beyond the actor's own.
    :raises InvalidFields: a role or location does not exist.
    """
    may_grant(actor, scopes_of_roles(actor.tenant_id, terms.roles))
    may_grant_extent(actor, terms.extent)
    _check_locations(actor, terms.location_ids)


def _change_status(membership: Membership, wanted: str) -> ledger.EventType:
    if wanted == Membership.Status.SUSPENDED:
        membership.suspend()
        return MembershipSuspended()
    membership.resume()
    return MembershipActivated(roles=membership.roles)


def _check_locations(actor: Actor, location_ids: Iterable[UUID]) -> None:
    wanted = set(location_ids)
    if wanted - set(Location.objects.of(actor).filter(id__in=wanted).values_list("id", flat=True)):
        raise InvalidFields(errors=[FieldError("location_ids", "unknown_location", "There is no such location.")])


def _check_change(actor: Actor, membership: Membership, fields: dict[str, Any], *, resumes: bool) -> None:
    may_administer(actor, membership)
    added = [role for role in fields.get("roles", ()) if role not in membership.roles]
    own_terms = {"location_ids", "valid_until", "valid_from", "practitioner_id"}
    if membership.id == actor.membership_id and (added or fields.keys() & own_terms):
        raise OwnRoles
    if "roles" in fields:
        granted = scopes_of_roles(actor.tenant_id, fields["roles"])
        kept = scopes_of_roles(actor.tenant_id, set(membership.roles) & set(fields["roles"]))
        if membership.service_account_id is not None:
            may_be_of_machine(granted - kept)
        may_grant(actor, granted - kept)
    if added or resumes or _is_widened(membership, fields):
        places = fields.get("location_ids", membership.location_ids)
        may_grant_extent(actor, Extent.of(places, fields.get("valid_until", membership.valid_until)))
    if "location_ids" in fields:
        _check_locations(actor, fields["location_ids"])


def _is_widened(membership: Membership, fields: dict[str, Any]) -> bool:
    """Tell whether a change adds locations, or time at either end."""
    before, after = set(membership.location_ids), set(fields.get("location_ids", membership.location_ids))
    begins = fields.get("valid_from", membership.valid_from)
    return (
        (bool(before) and (not after or not after <= before))
        or is_later(fields.get("valid_until", membership.valid_until), membership.valid_until)
        or (membership.valid_from is not None and (begins is None or begins < membership.valid_from))
    )


@needs_transaction
def user_of(email: str) -> User:
    """Return the person with this e-mail address, who may belong to other tenants, or create one without a name."""
    address = email.strip().lower()
    return User.objects.filter(email=address).first() or User.objects.create_user(address, None)


def _insert(actor: Actor, terms: Terms, at: datetime, **subject: Any) -> Membership:
    membership = Membership(
        tenant_id=actor.tenant_id,
        **subject,
        roles=list(terms.roles),
        location_ids=list(terms.location_ids),
        valid_from=terms.valid_from,
        valid_until=terms.valid_until,
        practitioner_id=terms.practitioner_id,
        invited_by=None if is_platform(actor) else actor.subject_id,
        created_at=at,
        updated_at=at,
    )
    membership.save(force_insert=True)
    return membership


def _activate(actor: Actor, membership: Membership, at: datetime) -> None:
    membership.accept(at)
    membership.save_version("status", "accepted_at", "invited_name", at=at)
    fact = MembershipActivated(roles=membership.roles)
    ledger.record(actor=actor, event=fact, resource_id=membership.id, at=at, resource_version=membership.version)


def _administers(membership: Membership, at: datetime) -> bool:
    return (
        membership.user_id is not None
        and TENANT_ADMIN in membership.roles
        and membership.status == Membership.Status.ACTIVE
        and (membership.valid_until is None or membership.valid_until > at)
    )


def _ends_administration(membership: Membership, fields: dict[str, Any], status: str, at: datetime) -> bool:
    if not _administers(membership, at):
        return False
    until = fields.get("valid_until", membership.valid_until)
    stays = TENANT_ADMIN in fields.get("roles", membership.roles) and status == Membership.Status.ACTIVE
    return not stays or (until is not None and until <= at)


def _keep_one_administrator(membership: Membership, at: datetime) -> None:
    """Require another administrator; the tenant is locked, so that two cannot remove each other."""
    Tenant.objects.select_for_update(no_key=True).get(pk=membership.tenant_id)
    others = Membership.objects.filter(
        Membership.VALIDITY.holds_at(at),
        tenant_id=membership.tenant_id,
        user__is_active=True,
        status=Membership.Status.ACTIVE,
        roles__contains=[TENANT_ADMIN],
    ).exclude(pk=membership.pk)
    if not others.exists():
        raise LastAdministrator
