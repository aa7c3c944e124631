"""How long history is kept, and the dropping of what is older: whole partitions, never single rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from core.db import role_context
from core.history.partitions import History, ask, read_ranges
from core.lanes import HERE, Lane, in_turn
from core.row_security import DISPATCHER
from webhooks import states

from .partitions import BODIES, HISTORIES

SHORTEST_DAYS, LONGEST_DAYS = 7, 3650
RESUMABLE = timedelta(hours=72)
_BATCH = 1000

# What lies frozen with an endpoint that was disabled, and is too old to be resumed, has failed. Live work is never touched.
_SETTLE = f"""
WITH old AS (
  SELECT tenant_id, created_at, id FROM webhooks_delivery d
  WHERE state = ANY(%(unfinished)s) AND created_at < %(before)s {HERE}
    AND NOT EXISTS (
      SELECT 1 FROM webhooks_delivery_due due WHERE due.tenant_id = d.tenant_id AND due.delivery_id = d.id)
  ORDER BY created_at, id LIMIT {_BATCH} FOR UPDATE SKIP LOCKED)
UPDATE webhooks_delivery d SET state = %(failed)s, last_error = 'expired', next_attempt_at = NULL, done_at = %(at)s
FROM old WHERE d.tenant_id = old.tenant_id AND d.created_at = old.created_at AND d.id = old.id
"""
_FORGET_HOURS = f"""
DELETE FROM webhooks_endpoint_hour WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM webhooks_endpoint_hour WHERE hour < %(before)s {HERE} LIMIT {_BATCH} FOR UPDATE SKIP LOCKED))
"""


@dataclass(frozen=True, slots=True)
class Policy:
    """How long each kind of history is kept."""

    bodies: timedelta
    metadata: timedelta

    def keep(self, history: History) -> timedelta:
        """For how long this table's rows are kept."""
        return self.bodies if history is BODIES else self.metadata


@dataclass(frozen=True, slots=True)
class Held:
    """A partition that is old enough and was not dropped, and why."""

    partition: str
    reason: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """What one run took away, and what it left for a reason."""

    partitions: list[str]
    held: list[Held]
    settled: int
    hours: int


def policy() -> Policy:
    """Read the policy from the settings.

    :raises ImproperlyConfigured: a number of days is out of bounds, or bodies would outlive what tells of them.
    """
    bodies, metadata = settings.WEBHOOKS_BODIES_DAYS, settings.WEBHOOKS_HISTORY_DAYS
    for name, days in (("WEBHOOKS_BODIES_DAYS", bodies), ("WEBHOOKS_HISTORY_DAYS", metadata)):
        if not SHORTEST_DAYS <= days <= LONGEST_DAYS:
            raise ImproperlyConfigured(f"{name} must lie between {SHORTEST_DAYS} and {LONGEST_DAYS}; it is {days}.")
    if bodies > metadata:
        raise ImproperlyConfigured(
            f"WEBHOOKS_BODIES_DAYS ({bodies}) must not be more than WEBHOOKS_HISTORY_DAYS ({metadata})."
        )
    return Policy(timedelta(days=bodies), timedelta(days=metadata))


def check_settings(**_: Any) -> list[checks.CheckMessage]:
    """Tell `manage.py check` what is wrong with the settings of the history."""
    try:
        policy()
    except ImproperlyConfigured as error:
        return [checks.Error(str(error), id="webhooks.E001")]
    return []


def drop_old(chosen: Policy, *, at: datetime) -> Dropped:
    """Drop every partition that is older than the policy, unless unfinished work holds it back.

    :raises Busy: a lock was held all the time.
    """
    settled = _settle(before=at - max(RESUMABLE, min(chosen.bodies, chosen.metadata)), at=at)
    gone, held = [], []
    for name, reason in _drop(chosen, at):
        if reason is None:
            gone.append(name)
        else:
            held.append(Held(name, reason))
    return Dropped(gone, held, settled, _forget_hours(before=at - chosen.metadata))


def _drop(chosen: Policy, at: datetime) -> Iterator[tuple[str, str | None]]:
    for history in HISTORIES:
        keep = chosen.keep(history)
        for one in read_ranges(history.table):
            if one.upper <= at - keep:
                (reason,) = ask("SELECT hp_history_drop(%s, %s, %s)", history.table, one.name, keep)[0]
                yield one.name, reason


def _settle(*, before: datetime, at: datetime) -> int:
    values = {"unfinished": list(states.UNFINISHED), "failed": states.FAILED, "before": before, "at": at}
    return sum(_repeat(_SETTLE, lane, values) for lane in in_turn("webhooks.settle"))


def _forget_hours(*, before: datetime) -> int:
    return sum(_repeat(_FORGET_HOURS, lane, {"before": before}) for lane in in_turn("webhooks.forget_hours"))


def _repeat(statement: str, lane: Lane, values: dict[str, Any]) -> int:
    """Run a bounded statement in one lane until it finds nothing, each time in a transaction of its own."""
    total = 0
    while True:
        with role_context(DISPATCHER), connection.cursor() as cursor:
            cursor.execute(lane.sql(statement), values | lane.parameters)
            done = int(cursor.rowcount)
        total += done
        if done < _BATCH:
            return total
