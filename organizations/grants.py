"""What an actor may hand on: never more than its own scopes, at its own locations, until its own end.

Scopes are judged by `policies.may_grant`; this module judges locations, validity, and what a machine may change.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from core.actor import Actor, SubjectKind
from core.errors import Forbidden

from .models import ApiKey, Membership
from .policies import ScopeEscalation, is_platform, scopes_of_roles

_MOST_MAKERS = 50


class GrantBeyondOwn(Forbidden):
    """The locations or the validity lie beyond those of the caller's own credential and membership."""

    code = "grant_beyond_own"
    title = "You cannot go beyond your own locations and validity."
    extensions = {"beyond": ["location_ids", "valid_until"]}


class MakersMembership(Forbidden):
    """A machine cannot change the membership of whoever made it."""

    code = "separation_of_duties"
    title = "A machine cannot change the rights of its maker."


@dataclass(frozen=True, slots=True)
class Extent:
    """Where and until when rights hold; None stands for all locations, and for no end."""

    location_ids: frozenset[UUID] | None = None
    ends_at: datetime | None = None

    @classmethod
    def of(cls, location_ids: Iterable[UUID], ends_at: datetime | None) -> "Extent":
        """Take the extent from the columns of a membership, in which no locations stand for all."""
        return cls(frozenset(location_ids) or None, ends_at)

    def beyond(self, other: "Extent") -> list[str]:
        """Name the members in which this extent goes beyond another."""
        places = other.location_ids is not None and (
            self.location_ids is None or not self.location_ids <= other.location_ids
        )
        return ["location_ids"] * places + ["valid_until"] * is_later(self.ends_at, other.ends_at)


EVERYWHERE = Extent()


def is_later(one: datetime | None, other: datetime | None) -> bool:
    """Tell whether an end lies after another; None is no end."""
    return other is not None and (one is None or one > other)


def earliest(*ends: datetime | None) -> datetime | None:
    """Return the first of some ends; None if none of them is an end."""
    return min((end for end in ends if end is not None), default=None)


def extent_of(actor: Actor) -> Extent:
    """Return the extent of an actor's own rights: of its membership and, for an API key, until the key ends.

    :raises RuntimeError: the actor has no membership, so it has nothing to grant; a programming error.
    """
    if is_platform(actor):
        return EVERYWHERE
    if actor.membership_id is None:
        raise RuntimeError("an actor without a membership grants nothing")
    own = Membership.objects.filter(tenant_id=actor.tenant_id, pk=actor.membership_id)
    ends = list(own.values_list("valid_until", flat=True))
    key = actor.subject.credential.partition("key:")[2]
    if key:
        keys = ApiKey.objects.filter(tenant_id=actor.tenant_id, pk=key)
        ends += [end for row in keys.values_list("expires_at", "overlap_ends_at") for end in row]
    return Extent.of(actor.location_ids, earliest(*ends))


def may_grant_extent(actor: Actor, wanted: Extent) -> None:
    """Require that locations and validity of what an actor grants lie within its own.

    :raises GrantBeyondOwn: they do not; the error names the members.
    """
    beyond = wanted.beyond(extent_of(actor))
    if beyond:
        raise GrantBeyondOwn(beyond=beyond)


def may_administer(actor: Actor, membership: Membership) -> None:
    """Require that an actor may change or end a membership at all, whatever the change.

    Whoever is limited to locations administers the members of these locations. A machine moreover changes no
    membership whose rights go beyond its own, and never that of its maker.

    :raises GrantBeyondOwn: the membership has other locations, or, for a machine, a later end.
    :raises ScopeEscalation: a machine lacks scopes of the membership.
    :raises MakersMembership: the membership is that of the machine's maker.
    """
    if is_platform(actor):
        return
    machine = actor.subject.kind is SubjectKind.SERVICE
    if machine and {membership.user_id, membership.service_account_id} & makers_of(actor):
        raise MakersMembership
    beyond = Extent.of(membership.location_ids, membership.valid_until).beyond(extent_of(actor))
    if "location_ids" in beyond or (machine and beyond):
        raise GrantBeyondOwn(beyond=beyond)
    if not machine:
        return
    missing = scopes_of_roles(actor.tenant_id, membership.roles) - actor.scopes
    if missing:
        raise ScopeEscalation(scopes=sorted(missing))


def makers_of(actor: Actor) -> frozenset[UUID]:
    """Return who made a machine: who added its membership or issued a key of it, and the makers of these machines."""
    found: set[UUID] = set()
    waiting = {actor.subject_id}
    while waiting and len(found) < _MOST_MAKERS:
        of_machine = {"tenant_id": actor.tenant_id, "service_account_id__in": waiting}
        members = Membership.objects.filter(**of_machine).values_list("invited_by", "id")
        rows = list(members)
        issued = ApiKey.objects.filter(tenant_id=actor.tenant_id, membership_id__in=[row[1] for row in rows])
        makers = {row[0] for row in rows} | set(issued.values_list("created_by", flat=True))
        waiting = {maker for maker in makers if maker is not None} - found - {actor.subject_id}
        found |= waiting
    return frozenset(found)
