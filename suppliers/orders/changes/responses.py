"""The supplier's answers to lines as a proposed change, which the buyer confirms. Source: contract, supply-order.md 2 "Item response".

What a line does not accept, has come later or replaced by a substitute, is cancelled once the buyer confirms. A line without
an answer stands as it was ordered.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields, NotFound
from core.model_rows import save_call
from core.pipeline import Call, ReadBack, Rows, run
from organizations.public import write_documents
from suppliers.inventory.refusals import InsufficientStock
from suppliers.inventory.reservations.changes import joined
from suppliers.inventory.states import Unit
from suppliers.orders.course import BY_SUPPLIER, Step, Who
from suppliers.orders.item_events import OrderItemUpdated, told_of_items
from suppliers.orders.models import ORDERS, PurchaseOrder, PurchaseOrderLine
from suppliers.orders.other_prices import has_other_price
from suppliers.orders.peeks import OrderPeek
from suppliers.orders.pricing import Terms, reading_calls
from suppliers.orders.progress import asked_for, counted, drop_dates
from suppliers.orders.proposals.content import (
    added_of,
    as_changed,
    entry_of,
    number_added,
    open_of,
    take_totals,
)
from suppliers.orders.proposals.finding import proposing_call
from suppliers.orders.proposals.models import OrderChange
from suppliers.orders.sending import BOTH
from suppliers.orders.states import Backorders, OrderStatus, Party
from suppliers.orders.telling import told
from suppliers.quoting.candidates import goods_of

from . import substitutes
from .substitutes import Replaced

_COLUMNS: Final = ("status", "approval_for", "proposed_by", "before_change", "revision", "authors", "price_differs")
_CHANGES: Final = ("backorder_quantity", "cancel_quantity", "substitute", "note", "reason_code")
PRICE_DIFFERS: Final = "purchase_order.price_differs"


@dataclass(slots=True)
class Answered:
    """The lines that the supplier has answered, as they would be, with what he says of each; and what replaces them."""

    lines: list[tuple[PurchaseOrderLine, Mapping[str, Any]]] = field(default_factory=list)
    replaced: list[Replaced] = field(default_factory=list)


@needs_transaction
def propose(
    actor: Actor,
    target: OrderPeek,
    step: Step,
    answers: Sequence[Mapping[str, Any]],
    at: datetime,
    reading: ReadBack | None = None,
) -> PurchaseOrder:
    """Propose that lines are accepted otherwise than ordered, or extend what was proposed before.

    :raises NotFound: the order has no such line; of several answers, `InvalidFields` names those.
    :raises InvalidFields: quantities do not fit the line; a substitute is no other product of the supplier.
    :raises SubstitutionNotAllowed, InsufficientStock: the buyer takes no such substitute, or nothing that comes later.
    :raises Busy: somebody else has changed the order meanwhile.
    """
    row, lines = target.row, target.lines
    answered = _answered(row, lines, answers)
    change = open_of(target.changes, Party.SUPPLIER) or _begun(row)
    added = _read(target, answered, at)
    _take(change, lines, answered, added)
    as_proposed = as_changed(lines, change)
    take_totals(row, change, as_proposed)
    was = row.status
    row.before_change = row.before_change or OrderStatus.SENT.value
    row.become(BY_SUPPLIER)
    row.revision += 1
    row.authors = []
    row.price_differs = has_other_price(as_proposed)
    change.revision = row.revision
    calls = [save_call(row, *_COLUMNS, at=at, versions=BOTH), proposing_call(change, at)]
    names = [*step.buyer[:1], *([PRICE_DIFFERS] if has_other_price(added) else [])]
    facts = told(row, names, step.supplier[:1], was=was, by=Who.SUPPLIER, lines=[vars(one) for one in as_proposed])
    told_items = told_of_items(OrderItemUpdated, row, [line for line, _ in answered.lines], by=Who.SUPPLIER)
    write_documents(
        actor, row.tenant_id, [(ORDERS, row.pk)], calls, told=joined(facts, told_items), at=at, reading=reading
    )
    return row


def are_as_ordered(
    row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], answers: Sequence[Mapping[str, Any]]
) -> bool:
    """Tell whether answers change nothing: whole quantities of lines, each once, for the days that were asked for, without a note."""
    known = {one.id: one for one in lines}
    if len({one["item_id"] for one in answers} & known.keys()) < len(answers):
        return False
    return all(_is_as_ordered(row, known[one["item_id"]], one) for one in answers)


def _is_as_ordered(row: PurchaseOrder, line: PurchaseOrderLine, answer: Mapping[str, Any]) -> bool:
    if any(answer.get(name) for name in _CHANGES):
        return False
    accepted, day = base_of(line, answer, "accepted_quantity"), answer.get("promised_date")
    return accepted in (None, counted(line)) and day in (None, asked_for(row, line))


def _begun(row: PurchaseOrder) -> OrderChange:
    return OrderChange(tenant_id=row.tenant_id, order_id=row.pk, proposed_by=Party.SUPPLIER.value)


def _answered(row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], answers: Sequence[Mapping[str, Any]]) -> Answered:
    """Hold each answer to its line.

    :raises InvalidFields: names each answer whose line there is not or twice, or whose quantities do not fit.
    :raises InsufficientStock: names each answer by which something comes later, which the buyer does not take.
    """
    known, seen = {one.id: one for one in lines}, set[UUID]()
    found, errors, later = Answered(), list[FieldError](), list[FieldError]()
    for number, answer in enumerate(answers):
        place, key = answer.get("place", f"lines.{number}."), answer["item_id"]
        if key not in known or key in seen:
            code, message = ("duplicate", "The line is named twice.") if key in seen else _UNKNOWN
            errors.append(FieldError(f"{place}item_id", code, message))
            continue
        seen.add(key)
        line = copy.copy(known[key])
        if fault := _fill(line, answer):
            errors.append(FieldError(f"{place}{fault[0]}", fault[1], fault[2]))
            continue
        if line.backordered and row.backorder_policy == Backorders.REFUSE:
            later.append(FieldError(f"{place}backorder_quantity", InsufficientStock.code, _NOT_LATER))
        found.lines.append((line, answer))
        if answer.get("substitute"):
            found.replaced.append(Replaced(known[key], answer["substitute"], f"{place}substitute"))
    if errors:
        raise InvalidFields(errors=errors)
    if later:
        raise InsufficientStock(errors=later)
    return found


_UNKNOWN: Final = ("unknown_item", "The order has no such line.")
_NOT_LATER: Final = "The buyer takes nothing that comes later."


def base_of(line: PurchaseOrderLine, answer: Mapping[str, Any], name: str) -> int | None:
    """Return a quantity of an answer in base units; None where it says nothing of it."""
    given: int | None = answer.get(name)
    if given is None:
        return None
    return given * (1 if answer.get("unit") == Unit.BASE else int(line.units_per_pack))


def _fill(line: PurchaseOrderLine, answer: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Let a line be as answered; return the member at fault, its code and a message where it cannot."""
    wanted = counted(line)
    accepted = base_of(line, answer, "accepted_quantity")
    later, gone = base_of(line, answer, "backorder_quantity") or 0, base_of(line, answer, "cancel_quantity") or 0
    substitute = answer.get("substitute")
    if accepted is None:
        accepted = 0 if substitute else max(0, wanted - later - gone)
    left = wanted - accepted - later
    if left < gone:
        return "accepted_quantity", "max_value", f"The line has {wanted} base units to be answered."
    if substitute and not left:
        return "substitute", "invalid", "The whole line is accepted, so that nothing is to be replaced."
    line.accepted, line.backordered, line.cancelled = accepted, later, line.cancelled + left
    line.backorder_date = answer.get("backorder_date")
    drop_dates(line)
    line.promised_date = answer.get("promised_date") or line.promised_date
    return None


def terms_of(row: PurchaseOrder) -> Terms:
    """Return the terms of an order, by the country that its goods go to."""
    address = (row.delivery_address or {}).get("address") or {}
    return Terms(
        row.tenant_id, row.supplier_tenant_id, row.currency, address.get("country") or None, row.price_agreement_id
    )


@needs_transaction
def _read(target: OrderPeek, answered: Answered, at: datetime) -> list[PurchaseOrderLine]:
    """Lock the order, and read what replaces lines; the buyer or the supplier is bound then.

    :raises Busy, InvalidFields, SubstitutionNotAllowed: as `propose`.
    """
    row, wanted = target.row, answered.replaced
    if not wanted:
        (locked,) = run([target.lock_call()])
        target.check(locked)
        return []
    replaced, terms = [one.line for one in wanted], terms_of(row)
    own: list[Call] = [target.lock_call(), substitutes.approved_call(row, replaced)]
    theirs = [
        bind_call(row.supplier_tenant_id),
        substitutes.equivalent_call(row, replaced),
        *reading_calls(terms, substitutes.asked_of(wanted), at),
    ]
    locked, approved, _, equivalent, goods, sold = run([*own, *theirs])
    target.check(locked)
    added = substitutes.lines_of(terms, wanted, goods_of(goods), sold)
    pairs: tuple[Rows, Rows] = (approved, equivalent)
    substitutes.check_allowed(row, wanted, added, *pairs)
    return added


def _take(
    change: OrderChange,
    lines: Sequence[PurchaseOrderLine],
    answered: Answered,
    added: Sequence[PurchaseOrderLine],
) -> None:
    """Put the answers into a change, in the place of earlier ones to the same lines.

    :raises InvalidFields: the order would have too many lines.
    """
    named = {str(line.id) for line, _ in answered.lines}
    kept = [one for one in change.lines if one["id"] not in named]
    change.lines = [*kept, *(entry_of(line, said) for line, said in answered.lines)]
    change.lines.sort(key=lambda one: one["line_no"])
    others = [one for one in change.added if one["substitutes_line_id"] not in named]
    why = [one.asked["reason_code"] for one in answered.replaced]
    made = [added_of(line) | {"reason_code": code} for line, code in zip(added, why, strict=True)]
    change.added = [*others, *made]
    number_added(change, lines)


def line_named(lines: Sequence[PurchaseOrderLine], item_id: UUID) -> PurchaseOrderLine:
    """Return a line of an order by its id.

    :raises NotFound: there is none.
    """
    found = next((one for one in lines if one.id == item_id), None)
    if found is None:
        raise NotFound("The order has no such item.")
    return found
