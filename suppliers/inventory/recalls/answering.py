"""A buyer's answer to a recall: what it found, what it disposed of, whether it has finished.

Source: contract, supply-shelf.md "Recall".
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.model_rows import save_call
from core.pipeline import ReadBack
from ledger.public import Occurrence
from organizations.public import Party, SharedDocument, TwoParty
from suppliers.inventory.events import LotRecallAnswered
from suppliers.inventory.states import NoticeStatus

from .models import RECALL_NOTICES, Recall, RecallNotice

HELD_NOTICE: Final = TwoParty(RECALL_NOTICES, acts=Party.OTHER)  # the `find` of an operation that answers


@needs_transaction
def answer_recall(
    actor: Actor, target: SharedDocument, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> RecallNotice:
    """Keep what a buyer answers; members that are not given stay. `closed` says that the buyer has finished.

    :raises InvalidFields: more is disposed of than was found, or a finished answer does not say what was found or is taken back.
    :raises InvalidTransition: the recall was withdrawn.
    """
    row: RecallNotice = target.row
    closed = data.get("closed")
    was_closed = row.status == NoticeStatus.CLOSED
    if was_closed and closed is False:
        message = "A finished answer is not taken back; its quantities may still be corrected."
        raise InvalidFields(errors=[FieldError("closed", "invalid", message)])
    is_closed = was_closed if closed is None else closed
    given = {name: data[name] for name in RecallNotice.WRITABLE if name in data}
    names = row.assign(given | ({"note": given["note"] or ""} if "note" in given else {}))
    _check(row, is_closed=is_closed)
    (row.close if is_closed else row.answer)()
    row.answered_at = at
    calls = [save_call(row, *names, "status", "answered_at", at=at)]
    recall = Recall.objects.get(tenant_id=row.tenant_id, id=row.recall_id)
    fact = Occurrence(_event(recall, row, is_closed=is_closed), recall.lot_id, row.version)
    target.write(calls, told={row.tenant_id: [fact]}, at=at, reading=reading)
    return row


def _check(row: RecallNotice, *, is_closed: bool) -> None:
    found, disposed = row.quantity_found, row.quantity_disposed
    errors = []
    if disposed is not None and disposed > (found or 0):
        errors.append(FieldError("quantity_disposed", "max_value", "More than was found."))
    if is_closed and found is None:
        errors.append(FieldError("quantity_found", "required", "Say how much was found, if only 0."))
    if errors:
        raise InvalidFields(errors=errors)


def _event(recall: Recall, row: RecallNotice, *, is_closed: bool) -> LotRecallAnswered:
    return LotRecallAnswered(
        product_id=str(recall.product_id),
        lot_number=recall.lot_number,
        recall_id=str(recall.id),
        notice_id=str(row.id),
        buyer_id=str(row.buyer_tenant_id),
        quantity_found=row.quantity_found,
        quantity_disposed=row.quantity_disposed,
        closed=is_closed,
        by="buyer",
    )
