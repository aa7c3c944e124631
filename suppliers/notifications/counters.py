"""Counters of a tenant's notifications, from which the list takes its total. Source: contract, supply.md 9."""

from typing import Final
from uuid import UUID

from core.pipeline import Call, Statement

from .states import Shelved

STRIPES: Final = 16

# The stripe is the writer's session's: two transactions at once wait for each other once in sixteen times.
_COUNT = Statement.of(
    "INSERT INTO suppliers_notificationcounter AS c (tenant_id, state, stripe, notifications)"
    f" VALUES ($1, $2, pg_backend_pid() % {STRIPES}, $3::bigint)"
    " ON CONFLICT (tenant_id, state, stripe) DO UPDATE SET notifications = c.notifications + excluded.notifications"
)


def count_call(tenant_id: UUID, number: int, state: Shelved = Shelved.CURRENT) -> Call:
    """Return the statement that counts notifications, or fewer where negative; send it last, since others may wait for it."""
    return Call(_COUNT, [str(tenant_id), state.value, str(number)])
