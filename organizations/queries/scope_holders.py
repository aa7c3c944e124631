"""Members who hold a scope by their roles, for rules that name a second person."""

from collections.abc import Iterable
from typing import Any, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.pipeline import Call, Rows, Statement
from organizations.models import Membership
from organizations.roles import NEVER_BY_MACHINES


class Holder(NamedTuple):
    """A member: the membership, the person or the service behind it, and the places that it is limited to, as texts."""

    membership_id: UUID
    subject_id: UUID
    places: Any

    @property
    def location_ids(self) -> frozenset[UUID]:
        """The locations that the membership is limited to; empty means all."""
        return frozenset(map(UUID, self.places))


_RESERVED = ",".join(sorted(NEVER_BY_MACHINES))
_HOLDER = Statement.of(
    "SELECT m.id AS membership_id, coalesce(m.user_id, m.service_account_id) AS subject_id,"
    " to_json(m.location_ids) AS places"
    " FROM organizations_membership m"
    " LEFT JOIN organizations_user u ON u.id = m.user_id"
    " LEFT JOIN organizations_serviceaccount a ON a.id = m.service_account_id"
    f" WHERE m.tenant_id = $1 AND m.id = ANY($2::uuid[]) AND m.status = 'active' AND {Membership.VALIDITY.holds_now('m')}"
    " AND coalesce(u.is_active, a.is_active) AND EXISTS (SELECT 1 FROM organizations_role r WHERE r.code = ANY(m.roles)"
    " AND (r.tenant_id IS NULL OR r.tenant_id = m.tenant_id) AND $3 = ANY(r.scopes))"
    f" AND (m.user_id IS NOT NULL OR $3 <> ALL('{{{_RESERVED}}}'::text[]))",
    row=Holder,
)


def holder_call(tenant_id: UUID, membership_id: UUID | None, scope: str) -> Call:
    """Return the call that finds an active member of the bound tenant who holds a scope; `holder_of` reads its rows."""
    return holders_call(tenant_id, [membership_id] if membership_id else [], scope)


def holder_of(rows: Rows) -> Holder | None:
    """Return the member; None if there is no such member, or it does not hold the scope."""
    return next(iter(holders_of(rows)), None)


def holders_call(tenant_id: UUID, membership_ids: Iterable[UUID], scope: str) -> Call:
    """Return the call that finds those of some members of the bound tenant who are active and hold a scope."""
    return Call(_HOLDER, [str(tenant_id), array_literal(membership_ids), scope])


def holders_of(rows: Rows) -> list[Holder]:
    """Return the members that `holders_call` has found."""
    return rows.of(Holder)
