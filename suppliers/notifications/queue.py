"""The open alerts of all tenants as staff see them: how many of each type, and the newest of a type."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core.db import role_context
from core.pipeline import Call, Statement, run
from core.row_security import DISPATCHER

PAGE: Final = 100


class Counted(NamedTuple):
    """How many alerts of a type are open, and how many of them are critical."""

    type: str
    open: int
    critical: int
    tenants: int


class Waiting(NamedTuple):
    """One open alert."""

    tenant_id: UUID
    tenant_name: str
    notification_id: UUID
    type: str
    severity: str
    title: str
    created_at: datetime
    is_acknowledged: bool


_COUNTS = Statement.of(
    "SELECT o.type, count(*) AS open, count(*) FILTER (WHERE o.severity = 'critical') AS critical,"
    " count(DISTINCT o.tenant_id) AS tenants FROM suppliers_openalert o GROUP BY o.type ORDER BY o.type",
    row=Counted,
    across="staff see the open alerts of all tenants",
)
_ROWS = Statement.of(
    "SELECT o.tenant_id, t.name AS tenant_name, o.notification_id, o.type, o.severity, n.title, o.created_at,"
    " n.acknowledged_at IS NOT NULL AS is_acknowledged FROM suppliers_openalert o"
    " JOIN suppliers_notification n ON n.tenant_id = o.tenant_id AND n.id = o.notification_id"
    " JOIN organizations_tenant t ON t.id = o.tenant_id WHERE ($1 = '' OR o.type = $1)"
    f" ORDER BY o.created_at DESC, o.notification_id LIMIT {PAGE + 1} OFFSET $2::bigint",
    row=Waiting,
    across="staff see the open alerts of all tenants",
)


def open_alerts(kind: str, skipped: int) -> tuple[list[Counted], list[Waiting]]:
    """Return the counts of all types, and a page of the alerts of one, the newest first, with one more if there is a next page.

    "" stands for every type.
    """
    with role_context(DISPATCHER):
        counts, found = run([Call(_COUNTS, []), Call(_ROWS, [kind, str(skipped)])])
        return counts.of(Counted), found.of(Waiting)
