"""What has carried goods of a lot to buyers, for recalls: deliveries, which stand above this room and are asked by `ask`.

Lock order: deliveries stand before lots and levels (supply.md 5). Source: contract, supply-shelf.md "Recall".
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from core.pipeline import Call, Rows
from organizations.public import Part, ReceivedKind


class Carried(NamedTuple):
    """A buyer to whom goods of a lot were delivered, or are on their way, and how much it has accepted; base units."""

    buyer_tenant_id: UUID
    name: str
    received: int


class Questions(NamedTuple):
    """What is asked of deliveries.

    `buyers` (supplier, lot) returns the statement that gives rows of `Carried`, bound to the supplier. `locked` (buyer,
    supplier, lot) returns the statement that locks the documents, bound to the buyer, and gives their ids. `noted` (buyer,
    supplier, lot, notice, instant) returns the statements that write a notice into their lines, or with None take it away.
    `kind` is that of the documents.
    """

    kind: ReceivedKind
    buyers: Callable[[UUID, UUID], Call]
    locked: Callable[[UUID, UUID, UUID], Call]
    noted: Callable[[UUID, UUID, UUID, dict[str, Any] | None, datetime], Sequence[Call]]


_asked: list[Questions] = []


def ask(questions: Questions) -> None:
    """Register what is asked of deliveries; the last registration holds."""
    _asked[:] = [questions]


def buyers_calls(supplier_id: UUID, lot_id: UUID) -> list[Call]:
    """Return the statement that finds the buyers to whom a lot was delivered, bound to the supplier; see `buyers_of`."""
    return [one.buyers(supplier_id, lot_id) for one in _asked]


def buyers_of(found: Sequence[Rows]) -> list[Carried]:
    """Return the buyers that `buyers_calls` has found."""
    return [one for rows in found for one in rows.of(Carried)]


def locking_calls(buyer_id: UUID, supplier_id: UUID, lot_id: UUID) -> list[Call]:
    """Return the statement that locks the documents of a buyer that have carried a lot, bound to the buyer; see `locked_of`."""
    return [one.locked(buyer_id, supplier_id, lot_id) for one in _asked]


def locked_of(found: Sequence[Rows]) -> list[UUID]:
    """Return the ids of the documents that `locking_calls` has locked."""
    return [UUID((rows.value(number) or b"").decode()) for rows in found for number in range(len(rows))]


def part(
    buyer_id: UUID, supplier_id: UUID, lot_id: UUID, ids: Sequence[UUID], notice: dict[str, Any] | None, at: datetime
) -> list[Part]:
    """Return what a notice of a recall, or its end, writes in the locked documents of a buyer."""
    if not ids:
        return []
    calls = [call for one in _asked for call in one.noted(buyer_id, supplier_id, lot_id, notice, at)]
    return [Part(buyer_id, [(one.kind, key) for one in _asked for key in ids], calls)]
