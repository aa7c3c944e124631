"""The end of exports: files expire, what nobody may fetch any more is deleted piece by piece, old wishes are forgotten."""

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.core import checks
from django.db import connection

from core.actor import system_actor
from core.db import role_context, tenant_context
from core.lanes import Lane, in_turn
from core.row_security import DISPATCHER
from organizations.public import release_quota

from . import states
from .files import QUOTA
from .models import ExportFile, ExportJob

PARTS: Final = 50
REMEMBER: Final = timedelta(days=30)
SHORTEST_HOURS, LONGEST_HOURS = 1, 720

_DROP_PARTS: Final = """
DELETE FROM fhir_api_exportpart WHERE tenant_id = %(tenant)s AND id = ANY (ARRAY(
  SELECT p.id FROM fhir_api_exportpart p JOIN fhir_api_exportfile f ON f.tenant_id = %(tenant)s AND f.id = p.file_id
  WHERE p.tenant_id = %(tenant)s AND f.job_id = %(job)s LIMIT %(limit)s))
"""


def check_settings(**_: object) -> list[checks.CheckMessage]:
    """Tell `manage.py check` what is wrong with the setting."""
    if SHORTEST_HOURS <= settings.FHIR_EXPORT_HOURS <= LONGEST_HOURS:
        return []
    text = (
        f"FHIR_EXPORT_HOURS must lie between {SHORTEST_HOURS} and {LONGEST_HOURS}; it is {settings.FHIR_EXPORT_HOURS}."
    )
    return [checks.Error(text, id="fhir_api.E002")]


def sweep(*, at: datetime) -> int:
    """Expire what is due and delete the files of exports that are over; count the exports that were cleared.

    Each step is a transaction of its own, so that it may be stopped anywhere and run as often as wanted.
    """
    return sum(_sweep(lane, at) for lane in in_turn("fhir_exports.sweep"))


def _sweep(lane: Lane, at: datetime) -> int:
    with role_context(DISPATCHER):
        ended = lane.filter(ExportJob.objects.filter(state__in=(states.COMPLETED, *states.OVER)))
        due = list(
            ended.order_by("created_at", "id").values_list("tenant_id", "id", "state", "expires_at", "updated_at")
        )
    cleared = 0
    for tenant_id, job_id, state, expires_at, updated_at in due:
        if state == states.COMPLETED and (expires_at > at or not _expire(tenant_id, job_id, at)):
            continue
        cleared += clear(tenant_id, job_id, at=at)
        if updated_at < at - REMEMBER:
            _forget(tenant_id, job_id)
    return cleared


def _expire(tenant_id: UUID, job_id: UUID, at: datetime) -> bool:
    with tenant_context(tenant_id):
        mine = ExportJob.objects.filter(tenant_id=tenant_id, id=job_id, state=states.COMPLETED, expires_at__lte=at)
        return bool(mine.update_versions(state=states.EXPIRED, at=at))


def clear(tenant_id: UUID, job_id: UUID, *, at: datetime) -> bool:
    """Delete the files of an export that is over, some parts at a time; tell whether there were any."""
    parameters: dict[str, Any] = {"tenant": tenant_id, "job": job_id, "limit": PARTS}
    while True:
        with tenant_context(tenant_id), connection.cursor() as cursor:
            cursor.execute(_DROP_PARTS, parameters)
            dropped = cursor.rowcount
        if not dropped:
            break
    with tenant_context(tenant_id):
        mine = ExportFile.objects.filter(tenant_id=tenant_id, job_id=job_id)
        size = sum(mine.select_for_update().values_list("size", flat=True))
        deleted = mine.delete()[0] > 0
        if size:
            release_quota(actor=system_actor(tenant_id), key=QUOTA, amount=size, at=at)
        return deleted


def _forget(tenant_id: UUID, job_id: UUID) -> None:
    with tenant_context(tenant_id):
        ExportJob.objects.filter(tenant_id=tenant_id, id=job_id, state__in=states.OVER).delete()
