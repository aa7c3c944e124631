"""The date at the supplier, by which prices and offers hold. Source: contract, supply.md 4 "Today"."""

from datetime import date, datetime
from uuid import UUID

from core.pipeline import Call, Rows, Statement

_TODAY = Statement.of(
    "SELECT ($2::timestamptz AT TIME ZONE n.time_zone)::date::text FROM organizations_tenant n WHERE n.id = $1"
)


def today_call(tenant_id: UUID, at: datetime) -> Call:
    """Return the statement that answers the date at a supplier; `today_of` reads its row."""
    return Call(_TODAY, [str(tenant_id), at.isoformat()])


def today_of(found: Rows) -> date:
    """Return the date."""
    return date.fromisoformat((found.value() or b"").decode())
