"""Invitations: single-use links by which a person accepts a membership and, if new, sets a password."""

from datetime import datetime, timedelta

from django.conf import settings

from core.actor import Actor, Subject, SubjectKind
from core.canonical import sha256_hex
from core.crypto import random_text
from core.db import needs_transaction, tenant_context
from core.errors import FieldError, Malformed
from ledger import public as ledger
from organizations.events import MembershipActivated
from organizations.models import Invitation, Membership, OutgoingMail, User

from . import mails, passwords
from .resets import InvalidLink

LIFETIME = timedelta(days=7)


class NobodyToInvite(Malformed):
    """The membership belongs to a service account, or does not wait for acceptance."""

    code = "nobody_to_invite"
    title = "This membership cannot be invited."


@needs_transaction
def issue(*, membership: Membership, at: datetime) -> str:
    """Create the token of an invitation link, invalidate earlier links, and queue the mail.

    :returns: the token; only its digest is stored, so it cannot be read again.
    :raises NobodyToInvite: the membership belongs to a service account, or does not wait for acceptance.
    """
    if membership.user is None or membership.status != Membership.Status.INVITED:
        raise NobodyToInvite
    Invitation.objects.filter(membership=membership, accepted_at__isnull=True).update(expires_at=at)
    token = f"hpi_{random_text(43)}"
    Invitation.objects.create(
        digest=sha256_hex(token.encode()), membership=membership, created_at=at, expires_at=at + LIFETIME
    )
    content = {
        "to": membership.user.email,
        "tenant": membership.tenant.name,
        "link": link(token),
        "days": LIFETIME.days,
    }
    mails.put(OutgoingMail.Kind.INVITATION, content, at=at)
    return token


def link(token: str) -> str:
    """Return the link of the mail: the address of the page that accepts the invitation."""
    return f"{settings.BASE_URL.rstrip('/')}/oauth/invitation?token={token}"


def person_of(token: str, *, at: datetime) -> User | None:
    """Return the active person whom a link still invites; None if it invites nobody any more."""
    live = Invitation.objects.select_related("membership__user").filter(
        digest=sha256_hex(token.encode()), accepted_at__isnull=True, expires_at__gt=at
    )
    found = live.filter(membership__status=Membership.Status.INVITED, membership__user__is_active=True).first()
    return found.membership.user if found else None


@needs_transaction
def accept(*, token: str, password: str, name: str, at: datetime) -> User:
    """Activate the invited membership and return its person.

    A new person sets a password. A person with an account must give the present password: the author of the link,
    perhaps an administrator of another tenant, must not be able to take over the account.

    :raises InvalidLink: the link is unknown, used or too old, or the membership was withdrawn.
    :raises InvalidCredentials: the person has an account, and the password is wrong.
    :raises WeakPassword: the new password breaks a rule.
    """
    row = Invitation.objects.select_for_update().filter(digest=sha256_hex(token.encode())).first()
    if row is None or row.accepted_at is not None or row.expires_at <= at:
        raise _invalid()
    membership = Membership.objects.select_for_update().get(pk=row.membership_id)
    user = membership.user
    if membership.status != Membership.Status.INVITED or user is None or not user.is_active:
        raise _invalid()
    _prove_or_set(user, password=password, name=name or membership.invited_name, at=at)
    membership.accept(at)
    membership.save_version("status", "accepted_at", "invited_name", at=at)
    row.accepted_at = at
    row.save(update_fields=["accepted_at"])
    _record_activation(membership, user, at)
    return user


def _record_activation(membership: Membership, user: User, at: datetime) -> None:
    subject = Subject(id=user.id, kind=SubjectKind.USER, credential="invitation")
    actor = Actor(subject=subject, tenant_id=membership.tenant_id, membership_id=membership.id)
    fact = MembershipActivated(roles=membership.roles)
    with tenant_context(membership.tenant_id):
        ledger.record(actor=actor, event=fact, resource_id=membership.id, at=at, resource_version=membership.version)


def _prove_or_set(user: User, *, password: str, name: str, at: datetime) -> None:
    if user.has_usable_password():
        if not user.check_password(password):
            raise passwords.InvalidCredentials("You already have an account; enter its password.")
        return
    passwords.check_strength(password, user=user)
    user.set_password(password)
    user.name = name or user.name
    user.password_changed_at = at
    user.save(update_fields=["password", "name", "password_changed_at"])


def _invalid() -> InvalidLink:
    return InvalidLink(errors=[FieldError("token", "invalid_link", "The invitation is no longer valid.")])
