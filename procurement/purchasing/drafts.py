"""Drafts of orders: created, copied and changed, each time at today's prices. Source: contract, supply-order.md 2 "Create and PATCH"."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from core import rows
from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields, NotFound
from core.ids import uuid7
from core.model_rows import row_of, save_call
from core.pipeline import Call, ReadBack, Rows, Statement, run
from organizations.public import SharedDocument, write_unshared
from procurement.budgets.commitments import Choice, budget_call, budget_for
from suppliers.public import (
    DocumentKind,
    FileResource,
    NamedFiles,
    OrderedLine,
    PurchaseOrder,
    PurchaseOrderLine,
    SelfTrade,
    Seller,
    Terms,
    Who,
    aliases_call,
    as_asked,
    asked_of,
    beginning_call,
    binding_calls,
    check_files,
    check_kind,
    claim_calls,
    differ,
    files_calls,
    goods_of,
    gtins_call,
    insert_lines_call,
    lines_call,
    lines_of,
    manual_lines,
    number_of,
    numbered,
    priced_lines,
    reading_calls,
    rebinding_calls,
    replace_lines_calls,
    require,
    seller_call,
    seller_of,
    told,
    totals,
)

from .finding import WITHIN, place_call, place_of

_COLUMNS: Final = ", ".join(f'"{one.column}"' for one in PurchaseOrder._meta.concrete_fields)
_SOURCE = Statement.of(f"SELECT {_COLUMNS} FROM suppliers_purchaseorder WHERE tenant_id = $1 AND id = $2")
# What a copy takes: lines, supplier, places and terms; never dates, numbers, reservations, or what belongs to one occasion.
_COPIED: Final = (
    "currency", "delivery_location_id", "price_agreement_id", "payment_terms", "incoterm", "priority",
    "substitution_policy", "backorder_policy", "min_remaining_shelf_life_days", "notes_to_supplier", "internal_note",
    "budget_code", "cost_center",
)  # fmt: skip
_MEMBER: Final = "file_ids"
_ORDER: Final = FileResource.ORDER.value
_BLANK: Final = ("incoterm", "notes_to_supplier", "internal_note", "external_reference")


@dataclass(slots=True)
class Draft:
    """An order as it is to be: its row with the header, and its lines as asked."""

    row: PurchaseOrder
    lines: Sequence[Mapping[str, Any]]
    stored: Sequence[PurchaseOrderLine] = field(default_factory=list)
    files: NamedFiles = field(default_factory=dict)


@needs_transaction
def create_order(actor: Actor, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None) -> PurchaseOrder:
    """Create a draft, which the supplier cannot see.

    :raises NotFound: there is no such order to copy.
    :raises SelfTrade: the supplier is the buyer itself.
    :raises InvalidFields: there is no such supplier, location, budget, agreement, product or packaging; or a currency that it
        does not have.
    :raises CurrencyMismatch: the budget is in another currency.
    :raises PriceNotAvailable, AgreementExhausted: name each line without a price.
    """
    draft = _copied(actor, data) if data["copy_of"] else _begun(data)
    row, draft.files = draft.row, _files(data)
    if row.supplier_tenant_id == actor.tenant_id:
        raise SelfTrade
    row.id, row.tenant_id, row.created_at, row.updated_at = uuid7(), actor.tenant_id, at, at
    row.requester_id = actor.subject_id
    row.authors = [str(actor.subject_id)]
    _take_header(row, data)
    claims = [
        beginning_call(actor.tenant_id, row.supplier_tenant_id),
        *claim_calls(actor.tenant_id, DocumentKind.PURCHASE_ORDER, row.id),
    ]
    *_, lines = _priced(actor, draft, at, claims=claims)
    calls = [rows.insert(row), insert_lines_call(row.id, row.tenant_id, lines, at)]
    calls += binding_calls(row.tenant_id, draft.files, _ORDER, row.id, at)
    facts = told(row, ["purchase_order.created"], was=None, by=Who.BUYER, lines=numbered(lines))
    write_unshared(actor, row.tenant_id, row.id, calls, told=facts, at=at, reading=reading)
    return row


@needs_transaction
def update_order(
    actor: Actor, target: SharedDocument, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> PurchaseOrder:
    """Change a draft and price it anew; its revision is then a new one. If nothing differs, nothing is written.

    :raises InvalidTransition: it is no draft any more.
    :raises InvalidFields, CurrencyMismatch, PriceNotAvailable, AgreementExhausted: as `create_order`.
    """
    row: PurchaseOrder = target.row
    require(row.place, "update", Who.BUYER)
    (found,) = run([lines_call(row.tenant_id, row.id)])
    stored = lines_of(found)
    draft = Draft(row, data["lines"] if "lines" in data else [as_asked(one) for one in stored], stored, _files(data))
    changed = _take_header(row, data)
    more, lines = _priced(actor, draft, at)
    changed += more
    calls: list[Call] = []
    if differ(stored, lines):
        calls = replace_lines_calls(row.id, row.tenant_id, lines, at)
    if "files" in changed:
        calls += rebinding_calls(row.tenant_id, draft.files, _ORDER, row.id, at)
    if not (changed or calls):
        return row
    row.revision += 1
    row.authors = [str(actor.subject_id)]
    columns = dict.fromkeys([*changed, "revision", "authors"])
    calls.append(save_call(row, *columns, at=at))
    facts = told(row, ["purchase_order.updated"], was=row.status, by=Who.BUYER, lines=numbered(lines))
    write_unshared(actor, row.tenant_id, row.id, calls, told=facts, at=at, reading=reading)
    return row


def _files(data: Mapping[str, Any]) -> NamedFiles:
    """Return the files that a body names, none where it says nothing of files."""
    return {_MEMBER: data[_MEMBER]} if _MEMBER in data else {}


def _begun(data: Mapping[str, Any]) -> Draft:
    return Draft(PurchaseOrder(supplier_tenant_id=data["supplier_id"]), data["lines"])


@needs_transaction
def _copied(actor: Actor, data: Mapping[str, Any]) -> Draft:
    """Begin with what another order has; what the body says comes on top of it.

    :raises NotFound: the tenant has no such order in the actor's reach.
    :raises InvalidFields: the body names another supplier, or lines of its own.
    """
    own, key = actor.tenant_id, data["copy_of"]
    found, lines = run([Call(_SOURCE, [str(own), str(key)]), lines_call(own, key)])
    source = row_of(PurchaseOrder, found)
    if source is None or not WITHIN.holds(actor, source.delivery_location_id):
        raise NotFound("No such order to copy.")
    if data.get("supplier_id", source.supplier_tenant_id) != source.supplier_tenant_id:
        message = "A copy is an order to the same supplier."
        raise InvalidFields(errors=[FieldError("supplier_id", "invalid", message)])
    row = PurchaseOrder(supplier_tenant_id=source.supplier_tenant_id, copy_of=source.id)
    for name in _COPIED:
        setattr(row, name, getattr(source, name))
    asked = [{**as_asked(one), "offer_id": None, "requested_date": None} for one in lines_of(lines)]
    return Draft(row, data.get("lines", asked))


def _take_header(row: PurchaseOrder, data: Mapping[str, Any]) -> list[str]:
    """Lay the header of a body over the row; return the columns that changed."""
    given = {name: data[name] for name in PurchaseOrder.HEADER if name in data}
    for name in _BLANK:
        if name in given:
            given[name] = given[name] or ""
    if "reservation_ids" in given:
        given["reservation_ids"] = [str(one) for one in dict.fromkeys(given["reservation_ids"])]
    if "budget" in data:
        budget = data["budget"] or {"code": "", "cost_center": ""}
        given |= {"budget_code": budget["code"], "cost_center": budget["cost_center"] or ""}
    return row.assign(given)


@needs_transaction
def _priced(
    actor: Actor, draft: Draft, at: datetime, *, claims: Sequence[Call] = ()
) -> tuple[list[str], list[OrderedLine]]:
    """Price the lines of a draft, and take totals, address and number into its row; return the columns that changed."""
    row = draft.row
    own, supplier = row.tenant_id, row.supplier_tenant_id
    named = [budget_call(own, Choice(row.budget_code, row.cost_center), at)] if row.budget_code else []
    files = files_calls(own, draft.files)
    mine = [
        place_call(own, row.delivery_location_id),
        aliases_call(own, supplier, draft.lines),
        *named,
        *files,
        *claims,
    ]
    theirs = [bind_call(supplier), seller_call(supplier, own), gtins_call(supplier, draft.lines), bind_call(own)]
    at_place, aliases, *found, _, sold_by, gtins, _ = run([*mine, *theirs])
    place = place_of(actor, at_place, row.delivery_location_id)
    seller = seller_of(sold_by)
    budget = budget_for(found[0], row.currency) if named else None
    known = check_files(draft.files, found[len(named) : len(named) + len(files)])
    if claims:
        row.number = number_of(found[-1])
    terms = Terms(own, supplier, row.currency, place.country or None, row.price_agreement_id)
    lines = _lines(terms, seller, draft, at, aliases=aliases, gtins=gtins)
    columns = {
        "delivery_address": place.address,
        "budget_id": budget.id if budget else None,
        **totals(terms, lines),
    }
    if draft.files:
        columns["files"] = [known[key].as_received() for key in draft.files[_MEMBER]]
    return row.assign(columns), lines


@needs_transaction
def _lines(
    terms: Terms, seller: Seller, draft: Draft, at: datetime, *, aliases: Rows, gtins: Rows
) -> list[OrderedLine]:
    """Price the lines: at a managed supplier goods in words, at any other its products.

    :raises InvalidFields: names each line that is of the other kind.
    """
    check_kind(seller, draft.lines)
    if seller.is_managed:
        return manual_lines(terms, draft.lines)
    asked = asked_of(draft.lines, aliases, gtins)
    _, goods, sold, _ = run([bind_call(terms.supplier_id), *reading_calls(terms, asked, at), bind_call(terms.buyer_id)])
    return priced_lines(terms, goods_of(goods), sold, draft.lines)
