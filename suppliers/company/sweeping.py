"""What happens to licences by themselves: their end comes near, and their supplier is told of it once for each threshold."""

from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet

from core.actor import system_actor
from core.db import needs_transaction, tenant_context
from core.model_rows import save_all_call
from core.pipeline import run
from core.rounds import GoOn, Rounds, ever
from ledger import public as ledger
from suppliers.rounds import BATCH, by_rounds

from .events import LicenseExpired, LicenseExpiring
from .models import SupplierLicense
from .states import THRESHOLDS
from .today import today_call, today_of

_TELL: Final = "suppliers.tell_licenses"
_rounds = Rounds()
_EASTERNMOST: Final = timedelta(hours=14)  # there it is tomorrow first


def tell_licenses(*, at: datetime, go_on: GoOn = ever) -> int:
    """Tell suppliers of licences that end within 90, 30 or 7 days or have ended; return how many were told of.

    A licence whose end is nearer than several thresholds is told of by the nearest alone.
    """
    return by_rounds(_TELL, _rounds, _ending((at + _EASTERNMOST).date()), _tell_batch, at, go_on)


def _ending(today: date) -> "QuerySet[SupplierLicense]":
    """Return the licences whose nearest threshold has not been told."""
    due = Q()
    for days in THRESHOLDS:
        untold = Q(told_days__isnull=True) | Q(told_days__gt=days)
        due |= Q(valid_to__lte=today + timedelta(days=days)) & untold
    found: QuerySet[SupplierLicense] = SupplierLicense.objects.filter(
        due, Q(told_days__isnull=True) | Q(told_days__gt=0), valid_to__isnull=False
    )
    return found


def _tell_batch(tenant_id: UUID, at: datetime) -> int:
    with tenant_context(tenant_id):
        return _tell(tenant_id, at)


@needs_transaction
def _tell(tenant_id: UUID, at: datetime) -> int:
    """Lock licences that are due, note the threshold, and tell their supplier."""
    (found,) = run([today_call(tenant_id, at)])
    today = today_of(found)
    due = _ending(today).filter(tenant_id=tenant_id).order_by("id")
    rows = list(due.select_for_update(no_key=True)[:BATCH])
    facts = []
    for row in rows:
        assert row.valid_to is not None  # `_ending` asks for an end
        left = (row.valid_to - today).days
        row.told_days = min(days for days in THRESHOLDS if left <= days)
        kind = LicenseExpiring if row.told_days else LicenseExpired
        facts.append(ledger.Occurrence(kind.of(row), tenant_id))
    if rows:
        saved = save_all_call(rows, "told_days", at=at)
        run([saved, *ledger.statements_of_many(actor=system_actor(tenant_id), occurrences=facts, at=at)])
    return len(rows)
