"""Asking for a report."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from core import jobs
from core.actor import Actor
from core.clock import rfc3339
from core.db import needs_transaction
from core.pipeline import run
from ledger import public as ledger
from organizations.public import consume_quota, places_call, places_of
from suppliers.analytics.buckets import start_of
from suppliers.files.report_rights import SCOPES

from .models import Report
from .refusals import DataScopeMissing

CARRY_ON: Final = "suppliers.carry_reports_on"
QUOTA: Final = "exports_per_day"


@needs_transaction
def request_report(actor: Actor, data: Mapping[str, Any], at: datetime) -> Report:
    """Note the wish for a report as of now, and ring for somebody to write it.

    :raises DataScopeMissing: the actor may not read what the report tells of.
    :raises core.errors.QuotaExceeded: the plan allows no more exports today.
    """
    scope = SCOPES[data["type"]]
    if not actor.may(scope):
        raise DataScopeMissing(
            f"A report of {data['type']} needs the scope {scope}.",
            headers={"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{scope}"'},
            required=[scope],
        )
    parameters = data["parameters"]
    begin, end = _period(actor.tenant_id, parameters.get("from"), parameters.get("to"))
    report: Report = Report.objects.create(
        tenant_id=actor.tenant_id, type=data["type"], parameters=_kept(parameters), format=data["format"],
        as_of=at, begins_at=begin, ends_at=end, started_by=actor.subject_id,
        location_ids=sorted(actor.location_ids), created_at=at, updated_at=at,
    )  # fmt: skip
    consume_quota(actor=actor, key=QUOTA, at=at)
    jobs.enqueue(CARRY_ON, expires_seconds=jobs.RING_SECONDS)
    return report


@needs_transaction
def record(actor: Actor, report: Report, fact: ledger.EventType, at: datetime) -> None:
    """Record what became of a report."""
    ledger.record(actor=actor, event=fact, resource_id=report.id, at=at, resource_version=report.version)


def _kept(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters as JSON has them."""
    return {name: _text(value) for name, value in parameters.items()}


def _text(value: Any) -> Any:
    if isinstance(value, datetime):
        return rfc3339(value)
    return value if isinstance(value, str | list) else str(value)


def _period(
    tenant_id: UUID, begin: date | datetime | None, end: date | datetime | None
) -> tuple[datetime | None, datetime | None]:
    """Return the instants of a period; a plain date is its start in the tenant's time zone."""
    given = (begin, end)
    zone = ZoneInfo("UTC")
    if any(one is not None and not isinstance(one, datetime) for one in given):
        (found,) = run([places_call(tenant_id, ())])
        zone = ZoneInfo(places_of(found)[None].time_zone)
    first, last = (one if one is None or isinstance(one, datetime) else start_of(one, zone) for one in given)
    return first, last
