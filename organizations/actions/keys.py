"""Writes on API keys: create, rotate with an overlap, revoke. The secret is returned once and never stored."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.clock import rfc3339
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields, NotFound
from core.results import Revealed
from ledger import public as ledger
from organizations import api_key_format
from organizations.events import ApiKeyCreated, ApiKeyRevoked, ApiKeyRotated
from organizations.grants import Extent, GrantBeyondOwn, earliest, extent_of, is_later, may_administer
from organizations.models import ApiKey, Membership, ServiceAccount, Tenant
from organizations.plans import API_KEYS
from organizations.policies import is_platform, may_grant_to_key, scopes_of_roles

from .memberships import Terms, add_service, revoke_membership
from .quotas import consume_quota, release_quota

LIFETIME = timedelta(days=365)
LONGEST_LIFETIME = timedelta(days=730)
OVERLAP_HOURS = 24


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new key and its text, which is shown only once."""

    row: ApiKey
    text: str


@needs_transaction
def issue_key(actor: Actor, data: dict[str, Any], at: datetime) -> Revealed:
    """Create a key, or the successor of the key that `replaces` names, and reveal its text.

    :raises NotFound: the tenant has no such key to replace.
    :raises InvalidTransition: the key to replace is no longer active.
    :raises InvalidFields, ScopeEscalation, GrantBeyondOwn, MachineScope, QuotaExceeded: as `create_key`.
    :raises MakersMembership: the caller is a machine, and would replace a key of its maker.
    """
    terms = dict(data)
    replaces, overlap_hours = terms.pop("replaces", None), terms.pop("overlap_hours", OVERLAP_HOURS)
    made = create_key(actor, terms, at) if replaces is None else rotate_key(actor, replaces, terms, at, overlap_hours)
    return Revealed(made.row, {"api_key": made.text})


@needs_transaction
def create_key(actor: Actor, data: dict[str, Any], at: datetime) -> NewKey:
    """Create a key for a partner, with a service account and a membership of its own.

    The membership has the locations and the end of the actor's own, and the key ends no later.

    :raises InvalidFields: a role is unknown, a scope is outside the roles, or the expiry is out of range.
    :raises ScopeEscalation, MachineScope: a scope may not be granted.
    :raises GrantBeyondOwn: the key would outlive the actor's own membership.
    :raises QuotaExceeded: the tenant's quota of keys is used up.
    """
    roles = list(dict.fromkeys(data["roles"]))
    scopes = _scopes(actor, roles, data.get("scopes"))
    own = extent_of(actor)
    expires_at = _expiry(data.get("expires_at"), own, at)
    account = ServiceAccount.objects.create(
        name=data["name"], partner=data["partner"], tenant_id=actor.tenant_id, created_at=at
    )
    terms = Terms(tuple(roles), location_ids=tuple(sorted(own.location_ids or ())), valid_until=own.ends_at)
    membership = add_service(actor=actor, account=account, terms=terms, at=at)
    row, plain = _build(actor, membership, at)
    row.name, row.partner, row.roles, row.scopes = data["name"], data["partner"], roles, scopes
    row.allowed_cidrs, row.expires_at = list(data.get("allowed_cidrs") or ()), expires_at
    row.save(force_insert=True)
    consume_quota(actor=actor, key=API_KEYS, at=at)
    ledger.record(actor=actor, event=ApiKeyCreated(key_id=row.key_id), resource_id=row.id, at=at, resource_version=1)
    return NewKey(row, plain.text)


@needs_transaction
def rotate_key(actor: Actor, replaces: UUID, data: dict[str, Any], at: datetime, overlap_hours: int) -> NewKey:
    """Create a successor that works at once; the old key works until the overlap ends.

    Members that `data` lacks are taken from the old key.

    :raises NotFound: the tenant has no such key.
    :raises InvalidTransition: the old key is no longer active.
    :raises InvalidFields, ScopeEscalation, GrantBeyondOwn, MachineScope: as `create_key`.
    :raises MakersMembership: the actor is a machine, and its maker stands behind the key.
    """
    old = locked_key(actor, replaces)
    may_administer(actor, old.membership)
    roles = list(dict.fromkeys(data.get("roles") or old.roles))
    if set(roles) - set(old.roles):
        raise InvalidFields(
            errors=[FieldError("roles", "roles_widened", "The new key cannot have roles that the replaced key lacks.")]
        )
    if data.get("partner", old.partner) != old.partner:
        raise InvalidFields(
            errors=[FieldError("partner", "partner_changed", "The partner of the replaced key cannot change.")]
        )
    scopes = _scopes(actor, roles, data.get("scopes") or [scope for scope in old.scopes if data.get("roles") is None])
    row, plain = _build(actor, old.membership, at)
    row.name, row.partner = data.get("name") or old.name, old.partner
    row.roles, row.scopes, row.rotated_from = roles, scopes, old
    row.allowed_cidrs = list(data.get("allowed_cidrs", old.allowed_cidrs))
    row.expires_at = _expiry(data.get("expires_at"), extent_of(actor), at, old.membership.valid_until)
    ends_at = at + timedelta(hours=overlap_hours)
    old.rotate(ends_at)
    if overlap_hours == 0:
        old.revoke()
    old.save_version("status", "overlap_ends_at", at=at)
    row.save(force_insert=True)
    created = ApiKeyCreated(key_id=row.key_id)
    rotated = ApiKeyRotated(key_id=old.key_id, replaced_by_id=str(row.id), overlap_ends_at=rfc3339(ends_at))
    ledger.record(actor=actor, event=created, resource_id=row.id, at=at, resource_version=1)
    ledger.record(actor=actor, event=rotated, resource_id=old.id, at=at, resource_version=old.version)
    return NewKey(row, plain.text)


@needs_transaction
def revoke_key(actor: Actor, key: ApiKey, at: datetime) -> ApiKey:
    """Revoke a locked key at once, and its membership unless another working key uses it.

    :raises ScopeEscalation, GrantBeyondOwn, MakersMembership: the actor may not end the key's membership.
    :raises InvalidTransition: the key has already ended.
    """
    may_administer(actor, key.membership)
    key.revoke()
    key.save_version("status", at=at)
    end_unused_membership(actor=actor, key=key, at=at)
    ledger.record(
        actor=actor, event=ApiKeyRevoked(key_id=key.key_id), resource_id=key.id, at=at, resource_version=key.version
    )
    return key


@needs_transaction
def end_unused_membership(*, actor: Actor, key: ApiKey, at: datetime) -> None:
    """Revoke the membership of an ended key and release its quota, unless a successor still works."""
    if ApiKey.objects.filter(membership_id=key.membership_id, status__in=["active", "rotating"]).exists():
        return
    membership = Membership.objects.select_for_update(no_key=True).get(pk=key.membership_id)
    if membership.status in (Membership.Status.ACTIVE, Membership.Status.SUSPENDED):
        revoke_membership(actor=actor, membership=membership, at=at)
        release_quota(actor=actor, key=API_KEYS, at=at)


def locked_key(actor: Actor, key_id: UUID) -> ApiKey:
    """Lock and return an API key of the actor's tenant.

    :raises NotFound: the tenant has no such key.
    """
    found = ApiKey.objects.select_for_update(no_key=True, of=("self",)).select_related("membership")
    row = found.filter(tenant_id=actor.tenant_id, pk=key_id).first()
    if row is None:
        raise NotFound("No such API key.")
    return row


def _build(actor: Actor, membership: Membership, at: datetime) -> tuple[ApiKey, api_key_format.PlainKey]:
    sandbox = Tenant.objects.filter(pk=actor.tenant_id, environment=Tenant.Environment.SANDBOX).exists()
    plain = api_key_format.new_key("test" if sandbox else "live")
    row = ApiKey(
        key_id=plain.key_id,
        digest=plain.digest(),
        last4=plain.last4,
        tenant_id=actor.tenant_id,
        membership=membership,
        environment=plain.environment,
        created_by=None if is_platform(actor) else actor.subject_id,
        created_at=at,
        updated_at=at,
    )
    return row, plain


def _scopes(actor: Actor, roles: list[str], wanted: list[str] | None) -> list[str]:
    held = scopes_of_roles(actor.tenant_id, roles)
    scopes = {scope.replace(":", ".") for scope in wanted} if wanted else set(held)
    outside = sorted(scopes - held)
    if outside:
        raise InvalidFields(
            errors=[FieldError("scopes", "scope_not_in_roles", f"No role of the key holds {outside[0]!r}.")]
        )
    may_grant_to_key(actor, frozenset(scopes))
    return sorted(scopes)


def _expiry(wanted: datetime | None, own: Extent, at: datetime, most: datetime | None = None) -> datetime:
    """Return when a key ends: as wanted, else after a year, or with the actor's membership or the key's own (`most`)."""
    if wanted is None:
        return earliest(at + LIFETIME, own.ends_at, most) or at + LIFETIME
    if not at < wanted <= at + LONGEST_LIFETIME:
        message = f"expires_at must be within the next {LONGEST_LIFETIME.days} days."
        raise InvalidFields(errors=[FieldError("expires_at", "out_of_range", message)])
    if is_later(wanted, own.ends_at):
        raise GrantBeyondOwn(beyond=["expires_at"])
    if is_later(wanted, most):
        message = "The membership of the key ends before."
        raise InvalidFields(errors=[FieldError("expires_at", "out_of_range", message)])
    return wanted
