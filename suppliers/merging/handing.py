"""What the supplier on the platform gets at a merge: copies, traces of prices, files and figures, as if it had been handed all."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final
from uuid import UUID

from core import rows
from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.pipeline import run
from organizations.public import hand_over
from suppliers.analytics.rolling import deliveries_calls, orders_calls
from suppliers.files.handing_over import bound_call, bound_of, received_calls
from suppliers.orders.limits import traces_of
from suppliers.orders.models import PriceTrace, PurchaseOrderLine

from .moving import Moved
from .tables import SORTS

_BATCH: Final = 200
_ORDERS, _DELIVERIES = SORTS[0].name, SORTS[1].name


@needs_transaction
def hand_documents(actor: Actor, into_id: UUID, moved: Moved, at: datetime) -> None:
    """Write what the supplier reads of the documents of the buyer, which is bound before and afterwards.

    A copy is as old as its document. Nobody is told: hundreds of old documents are no news.
    """
    own = actor.tenant_id
    for keys in _batches(moved[_ORDERS]):
        run([bind_call(into_id), rows.insert_all(PriceTrace, [*_traces(actor, into_id, keys, at)]), bind_call(own)])
    for one in SORTS:
        hand_over(own, into_id, one.kind, moved[one.name], at)
    for keys in _batches({key for documents in moved.values() for key in documents}):
        (found,) = run([bound_call(own, keys)])
        files = [one.as_received() for one in bound_of(found)]
        if files:
            run(received_calls(into_id, own, files, at, bound_id=own))
    for calls, name in ((orders_calls, _ORDERS), (deliveries_calls, _DELIVERIES)):
        for keys in _batches(moved[name]):
            run([bind_call(into_id), *calls(into_id, [str(key) for key in keys]), bind_call(own)])


def _batches(keys: Collection[UUID]) -> Iterator[Sequence[UUID]]:
    ordered = sorted(keys)
    for first in range(0, len(ordered), _BATCH):
        yield ordered[first : first + _BATCH]


@needs_transaction
def _traces(actor: Actor, into_id: UUID, orders: Sequence[UUID], at: datetime) -> Iterator[dict[str, object]]:
    """Yield the traces of prices of orders, as sending an order writes them."""
    lines = PurchaseOrderLine.objects.of(actor).filter(order_id__in=orders).order_by("order_id", "line_no")
    for order_id, group in groupby(lines, key=lambda line: line.order_id):
        yield {
            "id": order_id, "tenant_id": into_id, "created_at": at, "updated_at": at, "version": 1,
            "traces": traces_of([*group]),
        }  # fmt: skip
