"""The groups of buyers that a supplier has named, as others need them. Source: contract, supply-shelf.md "Supplier profile".

Every tenant below a named organization belongs to the group.
"""

from typing import NamedTuple
from uuid import UUID

from core.pipeline import Call, Rows, Statement

from .states import MemberKind


class Named(NamedTuple):
    """Buyers and organizations, by their ids."""

    buyer_ids: frozenset[UUID]
    organization_ids: frozenset[UUID]


class _Member(NamedTuple):
    """One member of a group."""

    code: str
    kind: str
    member_id: UUID


_STORED = Statement.of(
    "SELECT g.code, m.kind, m.member_id FROM suppliers_buyergroup g"
    " JOIN suppliers_buyergroupmember m ON m.tenant_id = g.tenant_id AND m.group_id = g.id"
    " WHERE g.tenant_id = $1 AND m.tenant_id = $1",
    row=_Member,
)


def groups_call(supplier_id: UUID) -> Call:
    """Return the statement that reads the groups of a supplier, for a transaction bound to it; see `groups_of`."""
    return Call(_STORED, [str(supplier_id)])


def groups_of(found: Rows) -> dict[str, Named]:
    """Return the groups that have members, by their codes."""
    members: dict[str, dict[str, set[UUID]]] = {}
    for one in found.of(_Member):
        members.setdefault(one.code, {kind.value: set() for kind in MemberKind})[one.kind].add(one.member_id)
    return {
        code: Named(frozenset(of[MemberKind.BUYER.value]), frozenset(of[MemberKind.ORGANIZATION.value]))
        for code, of in members.items()
    }
