"""Whose right an approver uses: the own one, or that of a member who has delegated it. Source: contract, supply-order.md 2.

Policy `approval_delegation` [{from, to, until}] of memberships: until then `to` may decide in the place of `from`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from core.actor import Actor, SubjectKind
from core.db import needs_transaction
from core.pipeline import run
from organizations.public import Holder, LocationReach, holders_call, holders_of

from .decisions import Approver
from .refusals import SeparationOfDuties

SCOPE: Final = "procurement.approve"
READ: Final = "procurement.read"


@needs_transaction
def approver_of(  # one keyword argument for each thing that is judged
    actor: Actor,
    policies: Mapping[str, Any],
    *,
    authors: Collection[str],
    decided: Collection[UUID],
    location_id: UUID,
    within: LocationReach,
    at: datetime,
) -> Approver | None:
    """Return whose right the actor uses to decide; None if there is none. The tenant is bound.

    The own right goes before a delegated one. Of several members who have delegated theirs, one who has not decided yet is
    taken. `location_id` is the order's, and must be within the locations of the member as well.

    :raises SeparationOfDuties: the actor is an author, or is only the delegate of authors.
    """
    if str(actor.subject_id) in authors and _might(actor, policies, at):
        raise SeparationOfDuties
    if actor.may(SCOPE):
        return Approver(actor.subject_id)
    holders = _delegators(actor, policies, at)
    reached = [one for one in holders if within.holds(_as_limited(actor, one), location_id)]
    usable = [one for one in reached if str(one.subject_id) not in authors]
    if reached and not usable:
        raise SeparationOfDuties
    usable.sort(key=lambda one: one.subject_id in decided)
    return Approver(actor.subject_id, usable[0].subject_id) if usable else None


def delegated_to(actor: Actor, policies: Mapping[str, Any], at: datetime) -> list[UUID]:
    """Return the memberships that have delegated their right to the actor's, in the order of the policy."""
    if actor.subject.kind is not SubjectKind.USER or not actor.may(READ):
        return []  # no machine ever approves
    mine = [one for one in policies["approval_delegation"] if UUID(one["to"]) == actor.membership_id]
    return [*dict.fromkeys(UUID(one["from"]) for one in mine if datetime.fromisoformat(one["until"]) > at)]


def _might(actor: Actor, policies: Mapping[str, Any], at: datetime) -> bool:
    """Tell whether the actor would decide if it were no author; anybody else lacks the scope."""
    return actor.may(SCOPE) or bool(delegated_to(actor, policies, at))


@needs_transaction
def _delegators(actor: Actor, policies: Mapping[str, Any], at: datetime) -> Sequence[Holder]:
    """Return the active members other than the actor who hold the right and have delegated it to the actor."""
    ids = delegated_to(actor, policies, at)
    if not ids:
        return []
    (found,) = run([holders_call(actor.tenant_id, ids, SCOPE)])
    known = {one.membership_id: one for one in holders_of(found)}
    return [known[key] for key in ids if key in known and known[key].subject_id != actor.subject_id]


def _as_limited(actor: Actor, holder: Holder) -> Actor:
    """Return the actor, limited to the locations of a member."""
    return replace(actor, location_ids=holder.location_ids)
