"""The SQL of the authenticator: it checks credentials, proves memberships and binds the transaction to a tenant.

The proof of a membership binds the tenant, the subject, the membership's locations and the database role. `hp_bind`
is in its select list, so only the row that proves the membership binds them.
"""

from typing import Any, NamedTuple
from uuid import UUID

from core import db
from core.actor import Subject, SubjectKind
from core.pipeline import Call, Statement

from .models import ApiKey, Membership


class Proof(NamedTuple):
    """A row of the proof of a membership; lists are JSON. `scopes` has a list for each role, which may overlap."""

    membership_id: UUID
    tenant_id: UUID
    roles: bytes
    location_ids: Any
    status: str
    kinds: bytes
    features: bytes
    rate_limits: Any
    organization_id: UUID
    scopes: bytes
    reads_while_suspended: bool
    practitioner_id: str | None


class Key(NamedTuple):
    """A row of the look-up of an API key; `scopes` is JSON."""

    id: str
    digest: str
    account_id: UUID
    tenant_id: UUID
    scopes: bytes
    allowed_cidrs: Any


_COLUMNS = """
SELECT m.id AS membership_id, m.tenant_id, array_to_json(m.roles) AS roles, array_to_json(m.location_ids) AS location_ids,
       t.status, array_to_json(t.kinds) AS kinds, array_to_json(t.features) AS features, t.rate_limits, t.organization_id,
       (SELECT coalesce(json_agg(r.scopes), '[]') FROM organizations_role r
         WHERE r.code = ANY(m.roles) AND (r.tenant_id IS NULL OR r.tenant_id = m.tenant_id)) AS scopes,
       t.reads_while_suspended, m.practitioner_id"""
_BIND = ", " + db.bind_expression(
    tenant="m.tenant_id::text", subject="$1::uuid::text", location_ids="m.location_ids::text", role="$3"
)
_MEMBERSHIP_VALID = f"m.status = 'active' AND {Membership.VALIDITY.holds_now('m')}"
_NOT_DENIED = "NOT EXISTS (SELECT 1 FROM organizations_deniedtoken d WHERE d.value IN ({jti}, {sid}))"
_KEY_VALID = f"k.status IN ('active', 'rotating') AND {ApiKey.VALIDITY.holds_now('k')}"

_FROM = "FROM organizations_membership m JOIN organizations_tenant t ON t.id = m.tenant_id"
_USER = "JOIN organizations_user u ON u.id = m.user_id AND u.is_active"
_SERVICE = "JOIN organizations_serviceaccount a ON a.id = m.service_account_id AND a.is_active"
_OPEN = "t.status <> 'closed'"


def _pair(join: str, owner: str, standing: str, extra: str, tail: str) -> tuple[Statement, Statement]:
    """Build two statements: one proves and binds one tenant, the other lists all tenants of a subject."""
    one = f"{_COLUMNS}{_BIND} {_FROM} {join} WHERE {owner} = $1 AND m.tenant_id = $2 AND {standing} AND {extra}"
    every = f"{_COLUMNS} {_FROM} {join} WHERE {owner} = $1 AND {_OPEN} AND {standing} AND {tail} ORDER BY m.tenant_id LIMIT 500"
    return Statement.of(one, row=Proof), Statement.of(every, row=Proof, across="all tenants of one subject")


_USER_ONE, _USER_ALL = _pair(
    _USER,
    "m.user_id",
    _MEMBERSHIP_VALID,
    _NOT_DENIED.format(jti="$4", sid="$5"),
    _NOT_DENIED.format(jti="$2", sid="$3"),
)
_CLIENT_ONE, _CLIENT_ALL = _pair(
    _SERVICE,
    "m.service_account_id",
    _MEMBERSHIP_VALID,
    _NOT_DENIED.format(jti="$4", sid="$5"),
    _NOT_DENIED.format(jti="$2", sid="$3"),
)
_KEY_ONE, _KEY_ALL = _pair(
    f"{_SERVICE} JOIN organizations_apikey k ON k.membership_id = m.id AND {_KEY_VALID}",
    "m.service_account_id",
    _MEMBERSHIP_VALID,
    "k.id = $4 AND k.tenant_id = $2",
    "k.id = $2",
)

_USER_VALID = Statement.of(
    f"SELECT 1 FROM organizations_user u WHERE u.id = $1 AND u.is_active AND {_NOT_DENIED.format(jti='$2', sid='$3')}"
)
_CLIENT_VALID = Statement.of(
    "SELECT 1 FROM organizations_serviceaccount a WHERE a.id = $1 AND a.is_active AND "
    + _NOT_DENIED.format(jti="$2", sid="$3")
)
_KEY_AND_HOLDER_VALID = Statement.of(
    "SELECT 1 FROM organizations_apikey k JOIN organizations_membership m ON m.id = k.membership_id"
    " JOIN organizations_serviceaccount a ON a.id = m.service_account_id AND a.is_active"
    f" WHERE a.id = $1 AND k.id = $2 AND {_KEY_VALID}",
    across="a credential, of which the tenant is not known yet",
)

KEY = Statement.of(
    "SELECT k.id::text, k.digest, m.service_account_id AS account_id, k.tenant_id, array_to_json(k.scopes) AS scopes,"
    " array_to_json(k.allowed_cidrs) AS allowed_cidrs FROM organizations_apikey k"
    " JOIN organizations_membership m ON m.id = k.membership_id"
    f" WHERE k.key_id = $1 AND {_KEY_VALID}",
    row=Key,
    across="a credential, of which the tenant is not known yet",
)
REPORT = Statement.of(
    "INSERT INTO organizations_securitylogentry (id, code, subject, credential, tenant_id, route, address, request_id)"
    " VALUES ($1,$2,$3,$4,$5,$6,$7,$8)"
)


def _is_key(subject: Subject) -> bool:
    return subject.credential.startswith("key:")


def _credential_ids(subject: Subject) -> list[str]:
    """The ids by which the credential can be revoked: that of the key, or those of token and session."""
    return [subject.credential.removeprefix("key:")] if _is_key(subject) else [subject.token_id, subject.session_id]


def _choose(subject: Subject, *, user: Statement, client: Statement, key: Statement) -> Statement:
    if _is_key(subject):
        return key
    return user if subject.kind is SubjectKind.USER else client


def one_tenant(subject: Subject, tenant_id: UUID, role: str) -> Call:
    """Prove the membership in one tenant and bind the transaction to it under a database role."""
    statement = _choose(subject, user=_USER_ONE, client=_CLIENT_ONE, key=_KEY_ONE)
    return Call(statement, [str(subject.id), str(tenant_id), role, *_credential_ids(subject)])


def all_tenants(subject: Subject) -> Call:
    """List every tenant where the subject is an active member; binds nothing."""
    statement = _choose(subject, user=_USER_ALL, client=_CLIENT_ALL, key=_KEY_ALL)
    return Call(statement, [str(subject.id), *_credential_ids(subject)])


def valid_credential(subject: Subject) -> Call:
    """Return a row if the credential and its holder are still valid."""
    statement = _choose(subject, user=_USER_VALID, client=_CLIENT_VALID, key=_KEY_AND_HOLDER_VALID)
    return Call(statement, [str(subject.id), *_credential_ids(subject)])
