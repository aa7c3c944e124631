"""The suppliers of all tenants as staff see them on the qualification desk: how they stand, and what waits for a review."""

from typing import Final, NamedTuple
from uuid import UUID

from core.db import role_context
from core.pipeline import Call, Statement, run
from core.row_security import DISPATCHER

from .states import Qualification

PAGE: Final = 100
EXPIRING_DAYS: Final = 90


class Desk(NamedTuple):
    """One supplier: how it stands, what staff have not seen, and its licences by how they stand today."""

    id: UUID
    name: str
    status: str
    is_stored: bool
    identity_waits: bool
    bank_waits: bool
    unverified: int
    expiring: int
    expired: int


_LICENSES: Final = (
    "LEFT JOIN (SELECT l.tenant_id, count(*) FILTER (WHERE l.verified_at IS NULL) AS unverified,"
    f" count(*) FILTER (WHERE l.valid_to > d.today AND l.valid_to <= d.today + {EXPIRING_DAYS}) AS expiring,"
    " count(*) FILTER (WHERE l.valid_to <= d.today) AS expired"
    " FROM suppliers_supplierlicense l JOIN organizations_tenant n ON n.id = l.tenant_id"
    " CROSS JOIN LATERAL (SELECT (now() AT TIME ZONE n.time_zone)::date AS today) d GROUP BY l.tenant_id) c ON c.tenant_id = n.id"
)
_ROWS = Statement.of(
    "SELECT n.id, n.name, coalesce(f.qualification_status, 'registered') AS status, f.id IS NOT NULL AS is_stored,"
    " f.id IS NOT NULL AND f.identity_reviewed_at IS NULL AS identity_waits,"
    " coalesce(f.bank_account_last4 <> '' AND f.bank_reviewed_at IS NULL, false) AS bank_waits,"
    " coalesce(c.unverified, 0) AS unverified, coalesce(c.expiring, 0) AS expiring, coalesce(c.expired, 0) AS expired"
    " FROM organizations_tenant n LEFT JOIN suppliers_supplierprofile f ON f.tenant_id = n.id"
    f" {_LICENSES}"
    " WHERE 'supplier' = ANY(n.kinds) AND n.status <> 'closed' AND n.managed_by_id IS NULL"
    " AND ($1 = '' OR coalesce(f.qualification_status, 'registered') = $1)"
    " AND ($2 = '' OR position(lower($2) in lower(n.name)) > 0)"
    f" ORDER BY n.name, n.id LIMIT {PAGE + 1} OFFSET $3::bigint",
    row=Desk,
    across="staff see the suppliers of all tenants",
)


def suppliers(status: str, search: str, skipped: int) -> list[Desk]:
    """Return a page of suppliers by name, with one more if there is a next page; "" stands for every status and name."""
    with role_context(DISPATCHER):
        (found,) = run([Call(_ROWS, [status, search, str(skipped)])])
        return found.of(Desk)


STATUSES: Final = tuple(one.value for one in Qualification)
