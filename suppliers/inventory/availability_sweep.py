"""What time does to the availability of products: a lot is sold while it lasts long enough, by the date at its location.

Safe to run twice and in several workers. Source: contract, supply-shelf.md sections 3 and 4.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from core.db import role_context, tenant_context
from core.lanes import in_turn
from core.pipeline import Call, Statement, run
from core.rounds import GoOn, Rounds, ever
from core.row_security import DISPATCHER
from suppliers.catalog import availability
from suppliers.company.models import SupplierProfile
from suppliers.rounds import BATCH

from .models import Lot
from .states import LotStatus

_QUEUE: Final = "suppliers.refresh_availability"
_SINCE: Final = timedelta(days=2)  # a worker that stood still for so long misses nothing
_EASTERNMOST: Final = timedelta(hours=14)  # there it is tomorrow first
_SHELF_LIFE_QUEUE: Final = "suppliers.refresh_shelf_life"
_rounds = Rounds()
_shelf_life_rounds = Rounds()


def refresh_availability(*, at: datetime, go_on: GoOn = ever) -> int:
    """Look again at the products whose lots have expired within two days; return how many were looked at."""
    return _by_rounds(_QUEUE, _rounds, _expired(at).exclude(tenant__status="closed"), _expired_products, at, go_on)


def refresh_shelf_life(*, at: datetime, go_on: GoOn = ever) -> int:
    """Look again at the products whose lots have come, within two days, to last too short to be sold; return how many.

    Which lots these are depends on the product, so each supplier is asked for its own.
    """
    suppliers = SupplierProfile.objects.exclude(tenant__status="closed")
    return _by_rounds(_SHELF_LIFE_QUEUE, _shelf_life_rounds, suppliers, _short_lived_products, at, go_on)


def _by_rounds(
    queue: str,
    rounds: Rounds,
    due: "QuerySet[Any]",
    find: Callable[[UUID, UUID, datetime], list[UUID]],
    at: datetime,
    go_on: GoOn,
) -> int:
    """Look at the products that `find` names, a batch of each tenant in turn; return how many were looked at."""
    total = 0

    def step(tenant_id: UUID, after: UUID) -> UUID | None:
        nonlocal total
        with tenant_context(tenant_id), transaction.atomic():
            products = find(tenant_id, after, at)
            run(availability.refresh_calls(tenant_id, products, at))
        total += len(products)
        return products[-1] if len(products) == BATCH else None

    for lane in in_turn(queue):
        with role_context(DISPATCHER):
            found = lane.filter(due).order_by("tenant_id")
            tenants = list(found.values_list("tenant_id", flat=True).distinct())
        rounds.drain(dict.fromkeys(tenants, UUID(int=0)), step, go_on=go_on)
    return total


def _expired(at: datetime) -> "QuerySet[Lot]":
    found: QuerySet[Lot] = Lot.objects.filter(
        status=LotStatus.RELEASED, expiry_date__gte=(at - _SINCE).date(), expiry_date__lt=(at + _EASTERNMOST).date()
    )
    return found


def _expired_products(tenant_id: UUID, after: UUID, at: datetime) -> list[UUID]:
    """Return the next products of a tenant with lots that have expired, in the order of their ids."""
    lots = _expired(at).filter(tenant_id=tenant_id, product_id__gt=after).order_by("product_id")
    return list(lots.values_list("product_id", flat=True).distinct()[:BATCH])


class _Found(NamedTuple):
    """A product."""

    id: UUID


# From one number of days that the supplier's products name to the next one, by the index; then the lots that came to it.
_SHORT_LIVED: Final = Statement.of(
    f"""
WITH RECURSIVE rest (days) AS (
  (SELECT p.min_remaining_shelf_life_days FROM suppliers_product p WHERE p.tenant_id = $1 AND p.min_remaining_shelf_life_days > 0
    ORDER BY 1 LIMIT 1)
  UNION ALL SELECT f.days FROM rest r CROSS JOIN LATERAL (SELECT p.min_remaining_shelf_life_days AS days FROM suppliers_product p
    WHERE p.tenant_id = $1 AND p.min_remaining_shelf_life_days > 0 AND p.min_remaining_shelf_life_days > r.days ORDER BY 1 LIMIT 1) f)
SELECT DISTINCT p.id FROM rest r
CROSS JOIN LATERAL (SELECT l.product_id FROM suppliers_lot l WHERE l.tenant_id = $1 AND l.expiry_date >= $3::date + r.days
  AND l.expiry_date < $4::date + r.days AND l.product_id > $2::uuid OFFSET 0) l
JOIN suppliers_product p ON p.tenant_id = $1 AND p.id = l.product_id AND p.min_remaining_shelf_life_days = r.days
ORDER BY p.id LIMIT {BATCH}
""",
    row=_Found,
)


def _short_lived_products(tenant_id: UUID, after: UUID, at: datetime) -> list[UUID]:
    """Return the next products of a supplier with lots that have come to last too short, in the order of their ids."""
    window = ((at - _SINCE).date().isoformat(), (at + _EASTERNMOST).date().isoformat())
    (found,) = run([Call(_SHORT_LIVED, [str(tenant_id), str(after), *window])])
    return [one.id for one in found.of(_Found)]
