"""The counters of a delivery's lines beside what its receipts say, for the pages of staff. Source: contract, supply.md, desk 4."""

from typing import Final, NamedTuple
from uuid import UUID

from django.db.models import Q, Sum

from .models import Delivery, DeliveryLine
from .receipt_models import Receipt, ReceiptLine
from .states import DeliveryStatus
from .tally import Count, dealt_with

MOST_LINES: Final = 100


class Derived(NamedTuple):
    """A line with what the receipts that stand say of it; of a lost delivery what was not received counts as short."""

    of: DeliveryLine
    receipts: Count
    open: int

    @property
    def agrees(self) -> bool:
        """Whether the counters are what they are derived from."""
        return Count(self.of.accepted, self.of.rejected, self.of.short) == self.receipts


def derived_lines(row: Delivery) -> list[Derived]:
    """Return the first lines of a delivery with the derivation of their counters; the buyer is bound."""
    mine = DeliveryLine.objects.filter(tenant_id=row.tenant_id, delivery_id=row.pk)
    lines = list(mine.order_by("line_no")[:MOST_LINES])
    sums = _sums(row, [one.pk for one in lines])
    return [_derived(row, one, sums.get(one.pk, Count())) for one in lines]


def _derived(row: Delivery, line: DeliveryLine, count: Count) -> Derived:
    if row.status == DeliveryStatus.LOST:
        count = count._replace(short=count.short + max(line.base_quantity - count.total, 0))
    return Derived(line, count, max(line.base_quantity - dealt_with(line), 0))


def _sums(row: Delivery, lines: list[UUID]) -> dict[UUID, Count]:
    """Return what the receipts that stand count of lines: neither those that were reversed, nor those that reverse."""
    receipts = Receipt.objects.filter(tenant_id=row.tenant_id, delivery_id=row.pk)
    reversed_ = receipts.filter(reverses__isnull=False).values("reverses_id")
    standing = receipts.filter(Q(reverses__isnull=True) & ~Q(pk__in=reversed_)).values("pk")
    found = ReceiptLine.objects.filter(tenant_id=row.tenant_id, delivery_line_id__in=lines, receipt_id__in=standing)
    summed = found.values_list("delivery_line_id").annotate(Sum("accepted"), Sum("rejected"), Sum("short"))
    return {key: Count(*counts) for key, *counts in summed}
