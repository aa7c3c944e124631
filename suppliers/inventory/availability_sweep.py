"""What expiry does to the availability of products: a lot is sold through the last day of its date, at its location.

Safe to run twice and in several workers. Source: contract, supply-shelf.md sections 3 and 4.
"""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from core.db import role_context, tenant_context
from core.lanes import in_turn
from core.pipeline import run
from core.rounds import GoOn, Rounds, ever
from core.row_security import DISPATCHER
from suppliers.catalog import availability
from suppliers.rounds import BATCH

from .models import Lot
from .states import LotStatus

_QUEUE: Final = "suppliers.refresh_availability"
_SINCE: Final = timedelta(days=2)  # a worker that stood still for so long misses nothing
_EASTERNMOST: Final = timedelta(hours=14)  # there it is tomorrow first
_rounds = Rounds()


def refresh_availability(*, at: datetime, go_on: GoOn = ever) -> int:
    """Look again at the products whose lots have expired within two days; return how many were looked at."""
    total = 0

    def step(tenant_id: UUID, after: UUID) -> UUID | None:
        nonlocal total
        products = _refresh_batch(tenant_id, after, at)
        total += len(products)
        return products[-1] if len(products) == BATCH else None

    for lane in in_turn(_QUEUE):
        with role_context(DISPATCHER):
            found = lane.filter(_expired(at).exclude(tenant__status="closed")).order_by("tenant_id")
            tenants = list(found.values_list("tenant_id", flat=True).distinct())
        _rounds.drain(dict.fromkeys(tenants, UUID(int=0)), step, go_on=go_on)
    return total


def _expired(at: datetime) -> "QuerySet[Lot]":
    found: QuerySet[Lot] = Lot.objects.filter(
        status=LotStatus.RELEASED, expiry_date__gte=(at - _SINCE).date(), expiry_date__lt=(at + _EASTERNMOST).date()
    )
    return found


def _refresh_batch(tenant_id: UUID, after: UUID, at: datetime) -> list[UUID]:
    """Look at the next products of a tenant, in the order of their ids."""
    with tenant_context(tenant_id), transaction.atomic():
        lots = _expired(at).filter(tenant_id=tenant_id, product_id__gt=after).order_by("product_id")
        products = list(lots.values_list("product_id", flat=True).distinct()[:BATCH])
        run(availability.refresh_calls(tenant_id, products, at))
    return products
