"""The walk of a recall through the buyers concerned, one transaction for each; it may end anywhere and go on later.

It begins by listing them: a notice for each, all in one transaction.

Safe in several workers: a notice that another worker holds is passed by, and looked at again under its lock. Lock order:
notice, the buyer's orders, its deliveries, recall, its lots, levels, reservations, received copies.
Source: contract, supply-shelf.md "Recall".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core.actor import system_actor
from core.clock import rfc3339
from core.db import bind_call, needs_transaction, tenant_context
from core.model_rows import rows_of, save_call
from core.pipeline import Call, Statement, run
from core.rounds import GoOn, Rounds, ever
from core.watermark import begin_batch
from ledger.public import Occurrence
from organizations import public as organizations
from suppliers.inventory.events import LotQuarantined
from suppliers.inventory.levels import changed, levels_of_products, read_levels
from suppliers.inventory.reservations import changes
from suppliers.inventory.reservations.breaking import NOTHING, Freed, break_all
from suppliers.inventory.reservations.order_books import hold_orders
from suppliers.inventory.states import LotStatus, NoticeStatus
from suppliers.rounds import BATCH, by_rounds

from . import carriers
from .buyers import list_buyers
from .issuing import WALK, recalled
from .models import RECALL_NOTICES, Recall, RecallNotice

_walks = Rounds()
_NOTICE = ", ".join(f'n."{field.column}"' for field in RecallNotice._meta.concrete_fields)
_RECALL = ", ".join(f'r."{field.column}"' for field in Recall._meta.concrete_fields)
_DUE = (
    "n.tenant_id = $1 AND (r.withdrawn_at IS NULL AND n.status = 'pending'"
    " OR r.withdrawn_at IS NOT NULL AND n.status NOT IN ('withdrawn', 'unreachable'))"
)
_CLAIM = Statement.of(
    f"SELECT {_NOTICE} FROM suppliers_recallnotice n"
    " JOIN suppliers_recall r ON r.tenant_id = n.tenant_id AND r.id = n.recall_id AND r.tenant_id = $1"
    f" WHERE {_DUE} AND NOT r.is_walked ORDER BY n.id LIMIT 1 FOR UPDATE OF n SKIP LOCKED"
)
_SHARE = Statement.of(f"SELECT {_RECALL} FROM suppliers_recall r WHERE r.tenant_id = $1 AND r.id = $2 FOR SHARE")
_LOT = Statement.of("SELECT r.lot_id::text FROM suppliers_recall r WHERE r.tenant_id = $1 AND r.id = $2")
_STATUS = Statement.of("SELECT n.status FROM organizations_tenant n WHERE n.id = $1")
_FINISH = Statement.of(
    "UPDATE suppliers_recall r SET is_walked = true WHERE r.tenant_id = $1 AND r.id = $2"
    " AND r.buyers_to_list IS NULL AND NOT EXISTS"
    f" (SELECT 1 FROM suppliers_recallnotice n WHERE n.recall_id = r.id AND {_DUE}) RETURNING 1"
)
# Of the buyer $1, whose lots come from the lot $3 of the supplier $2.
_ORIGIN = "l.tenant_id = $1 AND l.origin_tenant_id = $2 AND l.origin_lot_id = $3"
# What the buyer took in before the supplier had the lot comes from it, too.
_TRACE_LOT = Statement.of(
    "UPDATE suppliers_lot l SET origin_tenant_id = $2, origin_lot_id = $3, version = l.version + 1, updated_at = $6"
    " WHERE l.tenant_id = $1 AND l.product_id = $4 AND l.lot_number = $5 AND l.origin_lot_id IS NULL RETURNING l.id::text"
)
_LOCK_LOTS = Statement.of(f"SELECT l.id::text FROM suppliers_lot l WHERE {_ORIGIN} ORDER BY l.id FOR NO KEY UPDATE")
_TURN_LOTS = Statement.of(
    "UPDATE suppliers_lot l SET status = $4, status_reason = $5, version = l.version + 1, updated_at = $6"
    f" WHERE {_ORIGIN} AND l.status <> $4 AND (l.status = 'recalled' OR $4 = 'recalled') RETURNING l.id::text"
)
_MARK_LEVELS = Statement.of(
    "UPDATE suppliers_stocklevel v SET is_untold = true WHERE v.tenant_id = $1 AND v.id IN (SELECT w.id"
    " FROM suppliers_stocklevel w JOIN suppliers_lot l ON l.tenant_id = w.tenant_id AND l.id = w.lot_id"
    f" WHERE w.tenant_id = $1 AND {_ORIGIN} ORDER BY w.id FOR NO KEY UPDATE OF w) RETURNING v.id::text"
)
_STILL_HELD = Statement.of(
    "SELECT CASE WHEN EXISTS (SELECT 1 FROM suppliers_stockplace s WHERE s.tenant_id = $1 AND s.tracks_stock)"
    " THEN (SELECT coalesce(sum(v.on_hand), 0)::bigint FROM suppliers_stocklevel v"
    " JOIN suppliers_lot l ON l.tenant_id = v.tenant_id AND l.id = v.lot_id"
    f" WHERE v.tenant_id = $1 AND {_ORIGIN}) END"
)
_RECEIVED = Statement.of(
    "SELECT coalesce(sum(m.quantity), 0)::bigint FROM suppliers_stockmovement m"
    " JOIN suppliers_lot l ON l.tenant_id = m.tenant_id AND l.id = m.lot_id AND l.product_id = m.product_id"
    f" WHERE m.tenant_id = $1 AND m.type = 'receipt' AND {_ORIGIN}"
)
_CLOSED: Final = "closed"


class Holding(NamedTuple):
    """What a buyer has received of a lot, and still holds of it; base units. None where it keeps no stock."""

    received: int = 0
    still_held: int | None = None


def walk_recalls(*, at: datetime, go_on: GoOn = ever) -> int:
    """Tell the buyers of all recalls what there is to be told; return how many notices were worked on."""
    return by_rounds(WALK, _walks, Recall.objects.filter(is_walked=False), walk_batch, at, go_on)


def walk_batch(tenant_id: UUID, at: datetime) -> int:
    """Work on some notices of a supplier; return their number. Where none is left, the recalls are done."""
    list_buyers(tenant_id, at)
    done = 0
    while done < BATCH and walk_one(tenant_id, at):
        done += 1
    if done < BATCH:
        with tenant_context(tenant_id):
            for key in Recall.objects.filter(tenant_id=tenant_id, is_walked=False).values_list("id", flat=True):
                _finish(tenant_id, key)
    return done


@needs_transaction
def _finish(tenant_id: UUID, recall_id: UUID) -> None:
    """Note that a recall has no notice left that is to be told of."""
    current = Recall.objects.filter(tenant_id=tenant_id, id=recall_id)
    if current.select_for_update().exists():
        run([Call(_FINISH, [str(tenant_id), str(recall_id)])])


def walk_one(tenant_id: UUID, at: datetime) -> bool:
    """Work on one notice of a supplier, in a transaction of its own; tell whether there was one."""
    with tenant_context(tenant_id):
        at = begin_batch(tenant_id, at)
        (found,) = run([Call(_CLAIM, [str(tenant_id)])])
        notice = next(iter(rows_of(RecallNotice, found)), None)
        if notice is None:
            return False
        # Before the recall: whoever receives goods holds order and delivery, and waits for the lot that a withdrawal holds,
        # which waits for the recall.
        carried = _carried(tenant_id, notice)
        shared, status = run(
            [
                Call(_SHARE, [str(tenant_id), str(notice.recall_id)]),
                Call(_STATUS, [str(notice.buyer_tenant_id)]),
            ]
        )
        recall = rows_of(Recall, shared)[0]
        _tell(Step(recall, notice, (status.value() or b"").decode() == _CLOSED, carried), at)
    return True


@needs_transaction
def _carried(tenant_id: UUID, notice: RecallNotice) -> list[UUID]:
    """Lock the buyer's orders that hold some of the lot, and the deliveries that have carried it; return the latter.

    The supplier is bound, before and afterwards.
    """
    (lot,) = run([Call(_LOT, [str(tenant_id), str(notice.recall_id)])])
    buyer_id, lot_id = notice.buyer_tenant_id, UUID((lot.value() or b"").decode())
    hold_orders(tenant_id, lot_id=lot_id, buyer_id=buyer_id)
    calls = carriers.locking_calls(buyer_id, tenant_id, lot_id)
    _, *found, _ = run([bind_call(buyer_id), *calls, bind_call(tenant_id)])
    return carriers.locked_of(found)


@dataclass(frozen=True, slots=True)
class Step:
    """A locked notice with its recall, whether the buyer's tenant is closed, and the deliveries that carried the lot."""

    recall: Recall
    notice: RecallNotice
    is_closed: bool
    deliveries: Sequence[UUID] = ()

    @property
    def status(self) -> LotStatus:
        """What becomes of the buyer's lots."""
        return LotStatus.QUARANTINED if self.recall.withdrawn_at else LotStatus.RECALLED


@needs_transaction
def _tell(step: Step, at: datetime) -> None:
    """Change both sides as the recall, or its end, demands, and tell the buyer."""
    recall, notice = step.recall, step.notice
    was_told = notice.status != NoticeStatus.PENDING
    is_silent = step.is_closed or bool(recall.withdrawn_at and not was_told)
    holding = Holding() if is_silent else _turn_lots(step, at)
    freed = _break(step, at)
    told: Mapping[UUID, Sequence[Occurrence]] = freed.told
    names = _note(step, at)
    if is_silent:
        told = {key: facts for key, facts in told.items() if key == recall.tenant_id or not step.is_closed}
    else:
        told = changes.joined({notice.buyer_tenant_id: [_fact(step, holding)]}, told)
    touched = [(RECALL_NOTICES, notice.id), *changes.touched(freed.rows)]
    own = organizations.Part(recall.tenant_id, touched, [save_call(notice, *names, at=at), *freed.calls])
    parts = [*_noted(step, at), *freed.parts, own]
    organizations.write_together(system_actor(recall.tenant_id), parts, notice.id, told=told, at=at)


def _noted(step: Step, at: datetime) -> list[organizations.Part]:
    """Return what the buyer's deliveries note of the recall; nothing where its tenant is closed."""
    recall = step.recall
    said = {
        "recall_id": str(recall.id),
        "recall_class": recall.recall_class,
        "reference": recall.reference or None,
        "issued_at": rfc3339(recall.issued_at),
    }
    given = step.notice.buyer_tenant_id, recall.tenant_id, recall.lot_id
    ids = [] if step.is_closed else step.deliveries
    return carriers.part(*given, ids, None if recall.withdrawn_at else said, at)


def _note(step: Step, at: datetime) -> list[str]:
    """Move the notice on; return the names of the columns that changed."""
    if step.recall.withdrawn_at:
        step.notice.withdraw()
        step.notice.withdrawn_at = at
        return ["status", "withdrawn_at"]
    if step.is_closed:
        step.notice.give_up()
        return ["status"]
    step.notice.tell()
    step.notice.told_at = at
    return ["status", "told_at"]


def _turn_lots(step: Step, at: datetime) -> Holding:
    """Turn the buyer's lots of this origin; return what it has received and holds of them."""
    recall, buyer_id = step.recall, step.notice.buyer_tenant_id
    lots = [str(buyer_id), str(recall.tenant_id), str(recall.lot_id)]
    reason = recall.withdrawal_reason if recall.withdrawn_at else recall.reason
    *_, received, held, _ = run(
        [
            bind_call(buyer_id),
            Call(_TRACE_LOT, [*lots, str(recall.product_id), recall.lot_number, at.isoformat()]),
            Call(_LOCK_LOTS, lots),
            Call(_TURN_LOTS, [*lots, step.status.value, reason, at.isoformat()]),
            Call(_MARK_LEVELS, lots),
            Call(_RECEIVED, lots),
            Call(_STILL_HELD, lots),
            bind_call(recall.tenant_id),
        ]
    )
    value = held.value()
    return Holding(int(received.value() or 0), None if value is None else int(value))


def _break(step: Step, at: datetime) -> Freed:
    """Break what the buyer has reserved of the recalled lot; nothing where the recall was withdrawn, which broke it."""
    recall = step.recall
    if recall.withdrawn_at:
        return NOTHING
    found = run(levels_of_products(recall.tenant_id, [recall.product_id], at))
    levels = read_levels(found[1], found[2])
    mine = [key for key, level in levels.items() if level.row.lot_id == recall.lot_id]
    freed = break_all(recall.tenant_id, levels, mine, at, reason="recall", buyer_id=step.notice.buyer_tenant_id)
    moved, news = changed(recall.tenant_id, levels.values(), at, by="system")
    told_all: Mapping[UUID, Sequence[Occurrence]] = {recall.tenant_id: news}
    return freed._replace(calls=[*moved, *freed.calls], told=changes.joined(told_all, freed.told))


def _fact(step: Step, holding: Holding) -> Occurrence:
    """Return what the buyer is told: of the recall, or that the lot is only held back."""
    recall, notice = step.recall, step.notice
    if not recall.withdrawn_at:
        event = recalled(recall, notice, received=holding.received, still_held=holding.still_held)
        return Occurrence(event, recall.lot_id, notice.version)
    held_back = LotQuarantined(
        product_id=str(recall.product_id),
        lot_number=recall.lot_number,
        status=LotStatus.QUARANTINED.value,
        expiry_date=recall.expiry_date.isoformat() if recall.expiry_date else None,
        by="supplier",
    )
    return Occurrence(held_back, recall.lot_id, notice.version)
