"""The date at a tenant, in its own time zone. Source: contract, supply.md 4 "Today"."""

from datetime import date, datetime
from uuid import UUID

from core.pipeline import Call, Rows, Statement


def today_sql(tenant: str, at: str = "now()") -> str:
    """Write the date at a tenant, whose id and the instant are given as SQL."""
    return f"({at} AT TIME ZONE (SELECT n.time_zone FROM organizations_tenant n WHERE n.id = {tenant}))::date"


_TODAY = Statement.of(f"SELECT {today_sql('$1::uuid', '$2::timestamptz')}::text")


def today_call(tenant_id: UUID, at: datetime) -> Call:
    """Return the statement that answers the date at a tenant; `today_of` reads its row."""
    return Call(_TODAY, [str(tenant_id), at.isoformat()])


def today_of(found: Rows) -> date:
    """Return the date."""
    return date.fromisoformat((found.value() or b"").decode())
