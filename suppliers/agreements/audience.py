"""For whom a version in force holds: rows of the supplier beside its copy. Source: contract, supply-price.md 5 "Scope"."""

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.db import bind_call
from core.pipeline import Call, Rows, Statement
from organizations.public import tenants_below_sql, tenants_by_distance_sql
from suppliers.company.groups import Named, groups_call, groups_of
from suppliers.marketplace.audiences import LOCK

from .models import PriceAgreement
from .states import AgreementScope


class Scoped(NamedTuple):
    """A version that holds for an organization, as its audience is computed; `group_code` is empty for all of it."""

    supplier_id: UUID
    version_id: UUID
    organization_id: UUID
    group_code: str


# $1 supplier, $2 version, $3 organization, $4 whether there is a group, $5 its buyers and $6 its organizations.
_MEMBERS = (
    f"SELECT n.id, min(n.distance) AS distance FROM {tenants_by_distance_sql('$3::uuid')} n WHERE n.id <> $1"
    f" AND (NOT $4::boolean OR n.id = ANY($5::uuid[]) OR {tenants_below_sql('$6::uuid[]')}) GROUP BY n.id"
)
_ADD = Statement.of(
    "INSERT INTO suppliers_agreementaudience AS u (tenant_id, agreement_id, member_tenant_id, distance)"
    f" SELECT $1::uuid, $2::uuid, found.id, found.distance FROM ({_MEMBERS}) found"
    " ON CONFLICT (tenant_id, agreement_id, member_tenant_id) DO UPDATE SET distance = EXCLUDED.distance"
    " WHERE u.distance <> EXCLUDED.distance RETURNING 1"
)
_DROP = Statement.of(
    "DELETE FROM suppliers_agreementaudience u WHERE u.tenant_id = $1 AND u.agreement_id = $2"
    f" AND u.member_tenant_id NOT IN (SELECT found.id FROM ({_MEMBERS}) found)"
)
_DIFFER = Statement.of(
    f"SELECT count(*)::text FROM (SELECT u.member_tenant_id AS id, u.distance FROM suppliers_agreementaudience u"
    " WHERE u.tenant_id = $1 AND u.agreement_id = $2) have"
    f" FULL JOIN ({_MEMBERS}) want ON want.id = have.id WHERE have.distance IS DISTINCT FROM want.distance"
)
_ADD_ONE = Statement.of(
    "INSERT INTO suppliers_agreementaudience (tenant_id, agreement_id, member_tenant_id, distance) VALUES ($1, $2, $3, 0)"
    " ON CONFLICT (tenant_id, agreement_id, member_tenant_id) DO NOTHING RETURNING 1"
)
_CLEAR_OTHERS = Statement.of(
    "DELETE FROM suppliers_agreementaudience u WHERE u.tenant_id = $1 AND u.agreement_id <> $2 AND u.agreement_id IN"
    " (SELECT c.id FROM suppliers_receivedagreement c WHERE c.tenant_id = $1 AND c.agreement_id = $3)"
)
_CLEAR = Statement.of("DELETE FROM suppliers_agreementaudience u WHERE u.tenant_id = $1 AND u.agreement_id = $2")


def first_calls(row: PriceAgreement) -> list[Call]:
    """Return the statements by which the audience of a version replaces those of the versions before it.

    They bind the supplier. Of the scope `organization` they only read what `later_calls` needs.
    """
    mine = [str(row.supplier_tenant_id), str(row.id)]
    cleared = Call(_CLEAR_OTHERS, [*mine, str(row.agreement_id)])
    if row.scope == AgreementScope.TENANT:
        return [bind_call(row.supplier_tenant_id), cleared, Call(_ADD_ONE, [*mine, str(row.tenant_id)])]
    return [bind_call(row.supplier_tenant_id), cleared, Call(LOCK), groups_call(row.supplier_tenant_id)]


def later_calls(row: PriceAgreement, stored: Rows) -> list[Call]:
    """Return the statements that write the audience of an organization's version, none of a tenant's; the supplier is bound.

    `stored` is what the last of `first_calls` has read.
    """
    if row.scope != AgreementScope.ORGANIZATION:
        return []
    return member_calls(Scoped(row.supplier_tenant_id, row.id, row.scope_id, row.group_code), groups_of(stored))


def member_calls(scoped: Scoped, groups: Mapping[str, Named]) -> list[Call]:
    """Return the statements that bring the audience of an organization's version up to date, bound to the supplier.

    `groups` are the supplier's; nobody belongs to one that is gone.
    """
    given = _given(scoped, groups)
    return [Call(_DROP, given), Call(_ADD, given)]


def differences_call(scoped: Scoped, groups: Mapping[str, Named]) -> Call:
    """Return the statement that counts the members that a version has too many, lacks, or has at a wrong distance."""
    return Call(_DIFFER, _given(scoped, groups))


def _given(scoped: Scoped, groups: Mapping[str, Named]) -> list[str]:
    named = groups.get(scoped.group_code) or Named(frozenset(), frozenset())
    return [
        str(scoped.supplier_id),
        str(scoped.version_id),
        str(scoped.organization_id),
        "true" if scoped.group_code else "false",
        array_literal(named.buyer_ids),
        array_literal(named.organization_ids),
    ]


def clear_call(supplier_id: UUID, version_id: UUID) -> Call:
    """Return the statement that takes the audience of a version away, bound to the supplier."""
    return Call(_CLEAR, [str(supplier_id), str(version_id)])
