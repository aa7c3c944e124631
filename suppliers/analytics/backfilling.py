"""Roll-ups of what happened before they were kept, out of a supplier's own rows: its copies, and the facts of its offers.

Each batch is a transaction and adds only what is not there yet, so a run that ended is simply started again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.db import tenant_context
from core.pipeline import Call, Statement, run

from .rolling import QUARTER, deliveries_calls, orders_calls

BATCH: Final = 200
_START: Final = UUID(int=0)


class Key(NamedTuple):
    """A document."""

    id: UUID


@dataclass(frozen=True, slots=True)
class Backfilled:
    """How many documents of a sort were looked at, and how many roll-ups they lacked."""

    name: str
    read: int
    added: int


_ORDERS = Statement.of(
    f"SELECT t.id FROM suppliers_receivedorder t WHERE t.tenant_id = $1 AND (t.tenant_id, t.id) > ($1, $2::uuid) ORDER BY t.id LIMIT {BATCH}",
    row=Key,
)
_DELIVERIES = Statement.of(
    f"SELECT t.id FROM suppliers_receiveddelivery t WHERE t.tenant_id = $1 AND (t.tenant_id, t.id) > ($1, $2::uuid) ORDER BY t.id LIMIT {BATCH}",
    row=Key,
)
_OFFERS = Statement.of(
    f"SELECT t.id FROM suppliers_offer t WHERE t.tenant_id = $1 AND (t.tenant_id, t.id) > ($1, $2::uuid) ORDER BY t.id LIMIT {BATCH}",
    row=Key,
)
_LOCK_OFFERS = Statement.of(
    "SELECT 1 FROM suppliers_offer t WHERE t.tenant_id = $1 AND t.id = ANY($2::uuid[]) ORDER BY t.id FOR NO KEY UPDATE"
)
# Each fact of an offer says how it stood then; what was kept of an offer that has facts is compared with them.
_FROM_FACTS = Statement.of(
    "INSERT INTO suppliers_rollup (id, tenant_id, kind, bucket, document_id, line_no, product_id, category, currency, entries,"
    " quantity, base, net, list_net) SELECT uuidv7(), $1::uuid, 'offered', z.bucket, z.document_id, 0, z.product_id, z.category,"
    f" '', sum(z.change), 0, 0, 0, 0 FROM (SELECT {QUARTER.format('f.occurred_at')} AS bucket, f.resource_id AS document_id,"
    " (f.data ->> 'product_id')::uuid AS product_id, coalesce(f.figures ->> 'category', '') AS category,"
    " (f.data ->> 'status' = 'published')::int - coalesce(lag((f.data ->> 'status' = 'published')::int)"
    " OVER (PARTITION BY f.resource_id ORDER BY f.occurred_at, f.id), 0) AS change FROM ledger_event f"
    " WHERE f.tenant_id = $1 AND f.resource_type = 'offer' AND f.resource_id = ANY($2::uuid[])"
    " UNION ALL SELECT k.bucket, k.document_id, k.product_id, k.category, -k.entries FROM suppliers_rollup k"
    " WHERE k.tenant_id = $1 AND k.document_id = ANY($2::uuid[]) AND k.kind = 'offered' AND EXISTS (SELECT 1 FROM ledger_event e"
    " WHERE e.tenant_id = $1 AND e.resource_type = 'offer' AND e.resource_id = k.document_id)) z"
    " GROUP BY z.bucket, z.document_id, z.product_id, z.category HAVING sum(z.change) <> 0 RETURNING 1"
)

Calls = Callable[[UUID, Sequence[str]], list[Call]]


def _offers_calls(tenant_id: UUID, keys: Sequence[str]) -> list[Call]:
    values = [str(tenant_id), array_literal(keys)]
    return [Call(_LOCK_OFFERS, values), Call(_FROM_FACTS, values)]


_SORTS: Final[tuple[tuple[str, Statement, Calls], ...]] = (
    ("orders", _ORDERS, orders_calls),
    ("deliveries", _DELIVERIES, deliveries_calls),
    ("offers", _OFFERS, _offers_calls),
)


def backfill(tenant_id: UUID) -> list[Backfilled]:
    """Add what the roll-ups of a supplier lack; return what was found. Safe to run twice, and beside the service."""
    return [_sort(tenant_id, name, keys, calls) for name, keys, calls in _SORTS]


def _sort(tenant_id: UUID, name: str, keys: Statement, calls: Calls) -> Backfilled:
    read, added, after = 0, 0, _START
    while True:
        with tenant_context(tenant_id):
            found = run([Call(keys, [str(tenant_id), str(after)])])[0].of(Key)
            if not found:
                return Backfilled(name, read, added)
            added += len(run(calls(tenant_id, [str(one.id) for one in found]))[-1])
        read, after = read + len(found), found[-1].id
