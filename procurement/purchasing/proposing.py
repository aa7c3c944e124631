"""The buyer proposes a change of an order that was sent. Source: contract, supply-order.md 2 "propose-changes" and "Limits".

What is more is taken at once, what is less is given back when the supplier accepts. Where the total rises and a step of the
approvals applies, the supplier reads of the change once it is approved.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.model_rows import save_call
from core.pipeline import Call, ReadBack, Rows, run
from organizations.public import Part, write_together
from procurement.approvals.steps import approvals_needed, begin_call
from suppliers.public import (
    BOTH,
    BY_BUYER,
    FOR_BUYERS,
    AlreadyShipped,
    ChangeEnding,
    Need,
    OrderChange,
    Party,
    PurchaseOrder,
    PurchaseOrderLine,
    Seller,
    Share,
    Standing,
    Terms,
    Who,
    accept_change,
    added_of,
    aliases_call,
    as_changed,
    asked_of,
    check_kind,
    check_licenses,
    check_more,
    check_relationship,
    check_revision,
    check_takes_orders,
    counted,
    entry_of,
    fit,
    further_lines,
    goods_calls,
    gtins_call,
    held_by,
    joined,
    judge_more,
    move,
    named_as,
    need_of,
    number_added,
    order_part,
    prepared_calls,
    prepared_of,
    proposing_call,
    rates_call,
    rates_of,
    reprice,
    require,
    seller_call,
    seller_of,
    serial_call,
    standing_call,
    standing_of,
    take_totals,
    told,
    used_calls,
)

from .amounts import with_gross
from .finding import place_call, place_of
from .peeking import Peeked

_COLUMNS: Final = ("status", "approval_for", "proposed_by", "before_change", "revision", "authors")


@dataclass(slots=True)
class Asked:
    """What a buyer asks for: lines that change, with the place at which the request names each, and those that grow."""

    changed: list[tuple[str, PurchaseOrderLine]] = field(default_factory=list)
    grown: list[tuple[str, PurchaseOrderLine]] = field(default_factory=list)
    added: Sequence[Mapping[str, Any]] = ()
    header: dict[str, Any] = field(default_factory=dict)

    @property
    def places(self) -> list[str]:
        """Where the request names what is ordered more: further lines, then those that grow."""
        return [*(f"add_lines.{number}" for number in range(len(self.added))), *(place for place, _ in self.grown)]


@dataclass(slots=True)
class Read:
    """What was read of the buyer and the supplier for a change; `found` are the rows of its goods.

    `rates` are by tax category where the goods go to another country.
    """

    standing: Standing
    seller: Seller
    terms: Terms
    found: Sequence[Rows]
    rates: Mapping[str, Decimal | None] = field(default_factory=dict)


@needs_transaction
def propose_changes(
    actor: Actor, target: Peeked, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PurchaseOrder:
    """Propose a change of an order, for the supplier to answer.

    :raises InvalidTransition, RevisionChanged: the state does not allow it; it is another revision.
    :raises AlreadyShipped: something is shipped or in preparation.
    :raises InvalidFields: a line or a place there is not, or nothing would change.
    :raises RelationshipBlocked, SupplierNotQualified, NotOnFormulary, OfferNotAvailable, OrderQuantityInvalid: as named.
    :raises PriceNotAvailable, LicenseMissing, SpendLimitExceeded, BudgetExceeded: as named.
    :raises AgreementExhausted, PromotionExhausted, AllocationExceeded: as named.
    :raises Busy: somebody else has changed the order meanwhile.
    """
    row, lines = target.row, target.lines
    step = require(row.place, "propose-changes", Who.BUYER)
    check_revision(row, data["revision"])
    if any(line.shipped for line in lines):
        raise AlreadyShipped
    change, shares, read = _made(actor, target, data, at)
    standing = read.standing
    as_proposed = as_changed(lines, change)
    take_totals(row, change, as_proposed)
    held = held_by(row, lines, target.changes)
    is_more = change.gross > row.gross - row.given_back
    is_pending = is_more and approvals_needed(target.policies, with_gross(row, change), target.standing.currency) > 0
    if read.seller.is_managed and not is_pending:
        _check_at_once(target, standing, shares, held, need_of(change.gross, as_proposed), at, as_proposed)
        return _accept_at_once(actor, target, change, at, reading)
    needed = need_of(row.gross - row.given_back, lines).most(need_of(change.gross, as_proposed))
    keep(change, row, lines, needed)
    settled, copies = _taken(target, standing, shares, held, needed, at, as_proposed)
    was = row.status
    own = _going(actor, target, change, at, is_pending=is_pending)
    buyer, supplier = (["purchase_order.submitted"], ()) if is_pending else (step.buyer[:1], step.supplier)
    facts = told(
        row, buyer, supplier, was=was, by=Who.BUYER, reason=change.reason, lines=[vars(one) for one in as_proposed]
    )
    parts = [order_part(row, own), Part(row.supplier_tenant_id, [], copies)]
    write_together(actor, parts, row.pk, told=joined(settled, facts), at=at, reading=reading)
    return row


def _going(actor: Actor, target: Peeked, change: OrderChange, at: datetime, *, is_pending: bool) -> list[Call]:
    """Let the order wait for its approvers, or for the supplier; return the statements that store it with the change."""
    row = target.row
    was = row.status
    row.become(FOR_BUYERS if is_pending else BY_BUYER)
    row.before_change, row.revision, row.authors = was, change.revision, [str(actor.subject_id)]
    waits = [begin_call(row, target.policies, at)] if is_pending else []
    return [proposing_call(change, at), save_call(row, *_COLUMNS, at=at, versions=BOTH), *waits]


@needs_transaction
def _accept_at_once(
    actor: Actor, target: Peeked, change: OrderChange, at: datetime, reading: ReadBack | None
) -> PurchaseOrder:
    """Accept a change of an order to a managed supplier, where nobody answers; limits move once, to what is needed then."""
    row = target.row
    target.changes.append(change)
    row.revision, row.authors = change.revision, [str(actor.subject_id)]
    ends = ChangeEnding(
        Who.BUYER, ["purchase_order.accepted"], [], str(row.status), change.reason, columns=("revision", "authors"),
        ahead=[proposing_call(change, at)],
    )  # fmt: skip
    return accept_change(actor, target, change, ends, at, reading)


@needs_transaction
def _check_at_once(  # what is held, what is needed, and who orders
    target: Peeked,
    standing: Standing,
    shares: Sequence[Share],
    held: Need,
    needed: Need,
    at: datetime,
    lines: Sequence[PurchaseOrderLine],
) -> None:
    """Hold what is needed more to the limits that count orders; whoever accepts moves the others, and locks the order.

    :raises SpendLimitExceeded, AllocationExceeded, AlreadyShipped: as named.
    """
    row = target.row
    used = [bind_call(row.tenant_id), *used_calls(row, standing, shares, at, with_own=True)]
    found = run([*used, bind_call(row.supplier_tenant_id), *prepared_calls(row), bind_call(row.tenant_id)])
    check_more(
        row, lines, standing, shares, found[1:3], more_gross=needed.gross - held.gross, more=needed.more_shares(held),
    )  # fmt: skip
    if prepared_of(found[4:-1]):
        raise AlreadyShipped("Something of the order is in preparation.")


@needs_transaction
def _made(
    actor: Actor, target: Peeked, data: Mapping[str, Any], at: datetime
) -> tuple[OrderChange, Sequence[Share], Read]:
    """Make the change that a body asks for, held to what may be ordered; return the offers that are short, and what was read."""
    row, lines = target.row, target.lines
    asked = _asked(lines, data)
    read = _read(actor, target, asked, at)
    _tax(asked, lines, read.rates)
    change = OrderChange(
        tenant_id=row.tenant_id, order_id=row.pk, proposed_by=Party.BUYER.value, author_id=actor.subject_id,
        revision=row.revision + 1, reason=data["reason"], header=asked.header,
        lines=[entry_of(line) for _, line in asked.changed],
    )  # fmt: skip
    return change, _judged(row, asked, read, change, lines), read


def keep(change: OrderChange, row: PurchaseOrder, lines: Sequence[PurchaseOrderLine], needed: Need) -> None:
    """Let the change hold what it needs beyond the order."""
    stands = need_of(row.gross - row.given_back, lines)
    change.more_gross, change.more = needed.gross - stands.gross, needed.more_than(stands)


def _asked(lines: Sequence[PurchaseOrderLine], data: Mapping[str, Any]) -> Asked:
    """Hold what the body asks for to the lines of the order.

    :raises InvalidFields: names each line that there is not, that is named twice, or that has less to be cancelled.
    """
    found, errors = Asked(added=data.get("add_lines", ())), list[FieldError]()
    known, seen = {one.line_no: one for one in lines}, set[int]()
    for number, wanted in enumerate(data.get("lines", ())):
        place, line = f"lines.{number}", known.get(wanted["line_no"])
        if line is None or line.line_no in seen:
            code, message = (
                ("duplicate", "The line is named twice.") if line else ("unknown_line", "There is no such line.")
            )
            errors.append(FieldError(f"{place}.line_no", code, message))
            continue
        seen.add(line.line_no)
        changed, before = copy.copy(line), counted(line)
        if message := _change(changed, wanted):
            errors.append(FieldError(f"{place}.cancel_quantity", "max_value", message))
            continue
        found.changed.append((place, changed))
        if counted(changed) > before:
            found.grown.append((place, changed))
    if errors:
        raise InvalidFields(errors=errors)
    found.header = _header(data)
    return found


def _header(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of the order that the body names, as a change stores them."""
    found: dict[str, Any] = {}
    if "requested_delivery_date" in data:
        day = data["requested_delivery_date"]
        found["requested_delivery_date"] = None if day is None else day.isoformat()
    if "notes_to_supplier" in data:
        found["notes_to_supplier"] = data["notes_to_supplier"] or ""
    if "delivery_location_id" in data:
        found["delivery_location_id"] = str(data["delivery_location_id"])
    return found


def _change(line: PurchaseOrderLine, wanted: Mapping[str, Any]) -> str:
    """Let a line be as asked; return why it cannot, "" where it can."""
    units, before = (line.units_per_pack if line.unit == "pack" else 1), line.ordered
    if "quantity" in wanted:
        line.quantity, line.ordered = wanted["quantity"], wanted["quantity"] * units
    if "requested_date" in wanted:
        line.requested_date = wanted["requested_date"]
        line.promised_date = line.promised_date and (line.requested_date or line.promised_date)
    line.cancelled += wanted.get("cancel_quantity", 0) * units
    if counted(line) < 0:
        return f"Of the line {line.ordered} base units are ordered."
    fit(line)
    reprice(line, before)
    return ""


@needs_transaction
def _read(actor: Actor, target: Peeked, asked: Asked, at: datetime) -> Read:
    """Read the buyer's standing, the place that the change names, the supplier, and the goods that are ordered more.

    :raises InvalidFields: there is no such place or product.
    :raises RelationshipBlocked, SupplierNotQualified: as named; only what is ordered more asks for it.
    """
    row = target.row
    own, supplier = row.tenant_id, row.supplier_tenant_id
    key = asked.header.get("delivery_location_id") or row.delivery_location_id
    mine = [
        serial_call(own, supplier), standing_call(own, row.pk, at, key), place_call(own, key),
        aliases_call(own, supplier, asked.added),
    ]  # fmt: skip
    _, standing, place, aliases, _, sold_by, gtins = run(
        [*mine, bind_call(supplier), seller_call(supplier, own), gtins_call(supplier, asked.added)]
    )
    if "delivery_location_id" in asked.header:
        asked.header["delivery_address"] = place_of(actor, place, key).address
        asked.header["delivery_location_id"] = str(key)
    seller, now = seller_of(sold_by), standing_of(standing)
    terms = Terms(own, supplier, row.currency, now.country or None, row.price_agreement_id)
    calls: Sequence[Call] = []
    if asked.places:
        check_relationship(now)
        check_takes_orders(seller)
        with named_as(asked.places):
            check_kind(seller, asked.added)
            products = [] if seller.is_managed else asked_of(asked.added, aliases, gtins)
        grown = [line for _, line in asked.grown]
        calls = goods_calls(terms, products, [] if seller.is_managed else grown, at)
    is_abroad = "delivery_location_id" in asked.header and now.country != _country(row)
    rates = [rates_call(terms, target.lines, at)] if is_abroad and not seller.is_managed else []
    found = run([*calls, *rates]) if calls or rates else []
    return Read(now, seller, terms, found[: len(calls)], rates_of(found[-1]) if rates else {})


def _country(row: PurchaseOrder) -> str:
    """Return the country that the goods go to so far; empty where it is not known."""
    place = (row.delivery_address or {}).get("address") or {}
    return str(place.get("country") or "")


def _tax(asked: Asked, lines: Sequence[PurchaseOrderLine], rates: Mapping[str, Decimal | None]) -> None:
    """Let lines be taxed as in the country that the change names; the rates are empty where it is the same."""
    changed = {line.id: line for _, line in asked.changed}
    for line in lines:
        rate = rates.get(line.tax_category, line.tax_rate)
        if rate == line.tax_rate:
            continue
        if line.id not in changed:
            changed[line.id] = copy.copy(line)
            asked.changed.append(("", changed[line.id]))
        changed[line.id].tax_rate = rate


def _judged(
    row: PurchaseOrder, asked: Asked, read: Read, change: OrderChange, lines: Sequence[PurchaseOrderLine]
) -> Sequence[Share]:
    """Price further lines, hold what is ordered more to what may be ordered, and put the further lines into the change."""
    grown: list[PurchaseOrderLine] = [line for _, line in asked.grown]
    shares: Sequence[Share] = ()
    with named_as(asked.places):
        added = further_lines(read.terms, row, asked.added, read.found, is_managed=read.seller.is_managed)
        if asked.places:
            shares = judge_more(read.standing, added, grown, read.found, is_managed=read.seller.is_managed)
        check_licenses(read.standing, [*added, *grown])
    if "delivery_location_id" in asked.header:
        check_licenses(read.standing, lines)
    change.added = [added_of(one) for one in added]
    number_added(change, lines)
    return shares


@needs_transaction
def _taken(  # what is held, what is needed, and who orders
    target: Peeked,
    standing: Standing,
    shares: Sequence[Share],
    held: Need,
    needed: Need,
    at: datetime,
    lines: Sequence[PurchaseOrderLine],
) -> tuple[Mapping[Any, Any], Sequence[Call]]:
    """Take what is needed more, with the order locked behind it; return what is told, and the statements of copies."""
    row = target.row
    moving = move(row, held, needed, at, lines)
    limits = moving.calls()
    used = [bind_call(row.tenant_id), *used_calls(row, standing, shares, at, with_own=True)]
    locked = [bind_call(row.tenant_id), target.lock_call(), bind_call(row.supplier_tenant_id), *prepared_calls(row)]
    found = run([*used, *limits, *locked])
    check_more(
        row, lines, standing, shares, found[1:3], more_gross=needed.gross - held.gross, more=needed.more_shares(held),
    )  # fmt: skip
    news = moving.moved(found[3 : 3 + len(limits)])
    behind = found[3 + len(limits) :]
    target.check(behind[1])
    if prepared_of(behind[3:]):
        raise AlreadyShipped("Something of the order is in preparation.")
    return news, moving.copy_calls()
