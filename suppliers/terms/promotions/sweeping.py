"""What happens to promotions by themselves: their window begins and ends. Source: contract, supply-price.md 1 "Promotion"."""

from datetime import datetime
from typing import Final
from uuid import UUID

from core.actor import system_actor
from core.db import needs_transaction, tenant_context
from core.pipeline import Call, Statement, run
from core.rounds import GoOn, Rounds, ever
from core.watermark import begin_batch
from ledger import public as ledger
from suppliers.rounds import BATCH, by_rounds

from .course import Turn, news, told_sql, turn_sql
from .models import Promotion

_TELL: Final = "suppliers.tell_promotions"
_tellings = Rounds()
# What another worker has told in the meantime is not due any more when its lock is free.
_TURN = Statement.of(
    f"""
WITH due AS MATERIALIZED (
  SELECT d.id FROM suppliers_promotion d WHERE d.tenant_id = $1 AND d.due_at <= $2::timestamptz
  ORDER BY d.id LIMIT {BATCH} FOR NO KEY UPDATE
)
UPDATE suppliers_promotion p SET told = {told_sql("p", "$2::timestamptz")}
FROM due WHERE p.tenant_id = $1 AND p.id = due.id AND p.due_at <= $2::timestamptz
RETURNING {turn_sql("$2::timestamptz")}
""",
    row=Turn,
)


def tell_promotions(*, at: datetime, go_on: GoOn = ever) -> int:
    """Tell of the promotions whose window has begun or ended; return their number."""
    due = Promotion.objects.filter(due_at__lte=at)
    return by_rounds(_TELL, _tellings, due, _tell_batch, at, go_on)


def _tell_batch(tenant_id: UUID, at: datetime) -> int:
    with tenant_context(tenant_id):
        return _tell(tenant_id, begin_batch(tenant_id, at))


@needs_transaction
def _tell(tenant_id: UUID, at: datetime) -> int:
    """Lock promotions that are due, and tell their supplier."""
    (found,) = run([Call(_TURN, [str(tenant_id), at.isoformat()])])
    turns = found.of(Turn)
    ledger.record_many(actor=system_actor(tenant_id), occurrences=news(turns), at=at)
    return len(turns)
