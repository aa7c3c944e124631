"""How suppliers have delivered in the last 365 days, as buyers read it. Source: contract, supply-shelf.md "Rating".

The rates are sums of roll-ups, as metrics are, over the days before today at the supplier; each supplier is rated once a day.
"""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q

from core.db import needs_transaction, tenant_context
from core.pipeline import run
from core.rounds import GoOn, Rounds, ever
from organizations.public import places_call, places_of
from suppliers.company.models import SupplierProfile
from suppliers.rounds import by_rounds

from .filters import Asked
from .measures import rate_of
from .reading import Point, metric_call

DAYS: Final = timedelta(days=365)
_QUEUE: Final = "suppliers.rate_suppliers"
_FIRST_MIDNIGHT: Final = timedelta(hours=14)  # so far before that of UTC the first zone begins its day
_METRICS: Final = ("on_time_in_full", "fill_rate", "quality_rate", "orders_count")
_rounds = Rounds()


def rate_suppliers(*, at: datetime, go_on: GoOn = ever) -> int:
    """Rate the suppliers for whom a day has begun since they were rated; return how many were looked at."""
    due = SupplierProfile.objects.filter(Q(rated_until__isnull=True) | Q(rated_until__lt=(at + _FIRST_MIDNIGHT).date()))
    return by_rounds(_QUEUE, _rounds, due, _rate_bound, at, go_on)


def _rate_bound(tenant_id: UUID, at: datetime) -> int:
    with tenant_context(tenant_id):
        return _rate(tenant_id, at)


@needs_transaction
def _rate(tenant_id: UUID, at: datetime) -> int:
    """Rate one supplier unless it has been for its day of today; a rating makes no new version of the profile."""
    (found,) = run([places_call(tenant_id, ())])
    zone = ZoneInfo(places_of(found)[None].time_zone)
    today = at.astimezone(zone).date()
    profiles = SupplierProfile.objects.filter(tenant_id=tenant_id).exclude(rated_until__gte=today)
    if not profiles.exists():
        return 0
    on_time, filled, accepted, orders = _sums(tenant_id, today, zone, at)
    return profiles.update(
        on_time_rate=rate_of(*on_time), fill_rate=rate_of(*filled), quality_rate=rate_of(*accepted),
        orders_counted=int(orders[0]), rated_until=today,
    )  # fmt: skip


def _sums(tenant_id: UUID, today: date, zone: ZoneInfo, at: datetime) -> list[tuple[Decimal, Decimal]]:
    """Return the two numbers of each metric over the days before today."""
    asked = Asked(_METRICS[0], today - DAYS, today, "quarter", group="", zone=zone.key, currency="", compare=False)
    values = asked.values(asked.period(zone.key), at)
    found = run([metric_call(tenant_id, one, "", values) for one in _METRICS])
    return [_whole(rows.of(Point)) for rows in found]


def _whole(points: Sequence[Point]) -> tuple[Decimal, Decimal]:
    """Add up the buckets."""
    return (
        sum((one.above or Decimal(0) for one in points), Decimal(0)),
        sum((one.below or Decimal(0) for one in points), Decimal(0)),
    )
