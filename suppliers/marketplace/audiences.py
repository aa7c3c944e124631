"""Audiences: who belongs to one, kept as rows, so that what a buyer may see is one comparison. Source: contract, supply.md 3.7.

An audience names tenants, organizations and groups of the supplier's profile. Its members are these tenants, the
tenants run by these organizations or by those below them, and those of the groups. Members are computed anew where an
audience is made, where the groups of its supplier change, and where a tenant comes below an organization or leaves it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Self
from uuid import UUID

import orjson

from core import rows
from core.arrays import array_literal
from core.db import needs_transaction
from core.errors import FieldError
from core.ids import uuid7
from core.pipeline import Call, Statement, run
from organizations.public import tenants_below_sql
from suppliers.company.groups import Named, groups_call, groups_of

from .models import AudienceOrganization

_KINDS: Final = ("tenant", "organization", "group")
# A tenant that comes to be and an audience that names the organization above it would miss each other: this lock makes
# one of the two wait for the other's end.
LOCK: Final = Statement.of("SELECT pg_advisory_xact_lock(hashtextextended('audiences', 0))")
_KNOWN = Statement.of(
    "SELECT n.id::text FROM organizations_tenant n WHERE n.id = ANY($1::uuid[]) AND n.managed_by_id IS NULL"
    " UNION ALL SELECT g.id::text FROM organizations_organization g WHERE g.id = ANY($2::uuid[])"
)
_MAKE = Statement.of(
    "INSERT INTO suppliers_audience (id, tenant_id, digest, tenant_ids, organization_ids, group_codes)"
    " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant_id, digest) DO NOTHING RETURNING id::text"
)
_FIND = Statement.of("SELECT a.id::text FROM suppliers_audience a WHERE a.tenant_id = $1 AND a.digest = $2")
_LOCK_ONE = Statement.of(
    "SELECT json_build_array(a.tenant_ids, a.organization_ids, a.group_codes)::text FROM suppliers_audience a"
    " WHERE a.tenant_id = $1 AND a.id = $2 FOR NO KEY UPDATE"
)
_WITH_GROUPS = Statement.of(
    "SELECT a.id::text FROM suppliers_audience a WHERE a.tenant_id = $1 AND ($2::boolean OR a.group_codes <> '[]') ORDER BY a.id"
)
_DROP_ORGANIZATIONS = Statement.of(
    "DELETE FROM suppliers_audienceorganization WHERE tenant_id = $1 AND audience_id = $2"
)
# Of the supplier $1 and its audience $2: the tenants $3 and those below the organizations $4.
_MEMBERS = (
    "SELECT n.id FROM organizations_tenant n WHERE n.id <> $1"
    f" AND (n.id = ANY($3::uuid[]) OR {tenants_below_sql('$4::uuid[]')})"
)
_DROP_MEMBERS = Statement.of(
    "DELETE FROM suppliers_audiencemember m WHERE m.tenant_id = $1 AND m.audience_id = $2"
    f" AND m.member_tenant_id NOT IN ({_MEMBERS})"
)
_ADD_MEMBERS = Statement.of(
    "INSERT INTO suppliers_audiencemember (tenant_id, audience_id, member_tenant_id)"
    f" SELECT $1::uuid, $2::uuid, found.id FROM ({_MEMBERS}) found"
    " ON CONFLICT (tenant_id, audience_id, member_tenant_id) DO NOTHING RETURNING 1"
)


_DIFFER = Statement.of(
    "SELECT (SELECT count(*) FROM suppliers_audiencemember m WHERE m.tenant_id = $1 AND m.audience_id = $2"
    f" AND m.member_tenant_id NOT IN ({_MEMBERS}))::text,"
    f" (SELECT count(*) FROM ({_MEMBERS}) n WHERE NOT EXISTS (SELECT 1 FROM suppliers_audiencemember m"
    " WHERE m.tenant_id = $1 AND m.audience_id = $2 AND m.member_tenant_id = n.id))::text"
)


class Choice(NamedTuple):
    """Whom an audience names: tenants, organizations, and groups by their codes; each as text, in order, once."""

    tenant_ids: list[str]
    organization_ids: list[str]
    group_codes: list[str]

    @classmethod
    def of(cls, data: Mapping[str, Iterable[Any]]) -> Self:
        """Take the choice from a checked body."""
        return cls(*(sorted({str(one) for one in data[name]}) for name in cls._fields))

    @property
    def digest(self) -> str:
        """What tells two choices apart."""
        return hashlib.sha256(orjson.dumps(list(self))).hexdigest()


def unknown(tenant_id: UUID, named: Mapping[str, tuple[str, Sequence[Any]]]) -> list[FieldError]:
    """Name each buyer, organization or group of the supplier that there is not.

    `named` has, by the member of the body, what it names ("tenant", "organization" or "group"), and the ids or codes.
    """
    of = {kind: {one for that, ids in named.values() if that == kind for one in ids} for kind in _KINDS}
    if not any(of.values()):
        return []
    asked = Call(_KNOWN, [array_literal(of["tenant"]), array_literal(of["organization"])])
    found, stored = run([asked, groups_call(tenant_id)])
    known: set[Any] = {UUID((found.value(number) or b"").decode()) for number in range(len(found))}
    known |= groups_of(stored).keys()
    return [
        FieldError(f"{name}.{number}", f"unknown_{kind}", f"There is no such {kind}.")
        for name, (kind, ids) in named.items()
        for number, one in enumerate(ids)
        if one not in known
    ]


@needs_transaction
def audience_of(tenant_id: UUID, choice: Choice) -> UUID:
    """Return the supplier's audience of a choice, which is made if there is none; its tenant is bound."""
    given = [orjson.dumps(one) for one in choice]
    made, found = run(
        [
            Call(_MAKE, [str(uuid7()), str(tenant_id), choice.digest, *given]),
            Call(_FIND, [str(tenant_id), choice.digest]),
        ]
    )
    audience_id = UUID((found.value() or b"").decode())
    if len(made):
        rebuild(tenant_id, [audience_id])
    return audience_id


@needs_transaction
def audiences_of(tenant_id: UUID, *, with_groups: bool = False) -> list[UUID]:
    """List the audiences of a supplier, which is bound; `with_groups`: those that name a group."""
    (found,) = run([Call(_WITH_GROUPS, [str(tenant_id), "f" if with_groups else "t"])])
    return [UUID((found.value(number) or b"").decode()) for number in range(len(found))]


@needs_transaction
def rebuild(tenant_id: UUID, audiences: Iterable[UUID]) -> None:
    """Compute the members of audiences of one supplier anew; the supplier is bound."""
    wanted = sorted(audiences)
    if not wanted:
        return
    mine = str(tenant_id)
    named = _read(tenant_id, wanted, [Call(LOCK)])
    run([call for audience_id, one in named.items() for call in _calls(mine, str(audience_id), one)])


@needs_transaction
def differences(tenant_id: UUID) -> Iterator[tuple[UUID, str]]:
    """Yield the audiences of a supplier, which is bound, whose members are not those that they name, and what differs."""
    wanted = audiences_of(tenant_id)
    named = _read(tenant_id, wanted, []) if wanted else {}
    for audience_id, one in named.items():
        (found,) = run([Call(_DIFFER, _given(str(tenant_id), str(audience_id), one))])
        too_many, missing = (int(value or 0) for value in found.row())
        if too_many or missing:
            yield audience_id, f"has {too_many} members too many and lacks {missing}"


def _read(tenant_id: UUID, audiences: Sequence[UUID], before: Sequence[Call]) -> dict[UUID, Named]:
    """Lock audiences in the order given, behind some statements; return whom each names."""
    locks = [Call(_LOCK_ONE, [str(tenant_id), str(one)]) for one in audiences]
    found = run([*before, *locks, groups_call(tenant_id)])[len(before) :]
    groups = groups_of(found[-1])
    choices = zip(audiences, found[:-1], strict=True)
    return {
        audience_id: _named(Choice(*orjson.loads(choice.value() or b"[]")), groups)
        for audience_id, choice in choices
        if len(choice)
    }


def _named(choice: Choice, groups: Mapping[str, Named]) -> Named:
    """Return all tenants and organizations that a choice names; a group that is gone names none."""
    chosen = [groups[code] for code in choice.group_codes if code in groups]
    return Named(
        frozenset(map(UUID, choice.tenant_ids)).union(*(one.buyer_ids for one in chosen)),
        frozenset(map(UUID, choice.organization_ids)).union(*(one.organization_ids for one in chosen)),
    )


def _calls(tenant_id: str, audience_id: str, named: Named) -> list[Call]:
    """Return the statements that bring the rows of an audience up to date; nobody who stays is touched."""
    pointers = [
        {"tenant_id": tenant_id, "organization_id": str(one), "audience_id": audience_id}
        for one in sorted(named.organization_ids)
    ]
    given = _given(tenant_id, audience_id, named)
    return [
        Call(_DROP_ORGANIZATIONS, [tenant_id, audience_id]),
        *([rows.insert_all(AudienceOrganization, pointers)] if pointers else []),
        Call(_DROP_MEMBERS, given),
        Call(_ADD_MEMBERS, given),
    ]


def _given(tenant_id: str, audience_id: str, named: Named) -> list[str]:
    return [tenant_id, audience_id, array_literal(named.buyer_ids), array_literal(named.organization_ids)]
