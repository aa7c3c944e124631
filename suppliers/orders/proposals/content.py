"""What a change says: lines as they would be, further lines, and the header, with the totals of all of it.

Entries are JSON, so that a change can be stored and laid over the order's lines at any time. Lines keep their price; in another country they are taxed as there. The net of
a line is that of what is ordered; the totals of a change leave out what is cancelled, as limits do. Source: contract, supply-order.md 2 "propose-changes" and "Item response".
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any, Final
from uuid import UUID

from core.errors import FieldError, InvalidFields
from core.money import minor_units
from suppliers.orders.models import MOST_LINES, PurchaseOrder, PurchaseOrderLine
from suppliers.orders.pricing import MOST, OrderedLine, Terms, totals
from suppliers.orders.progress import counted
from suppliers.orders.states import Party
from suppliers.pricing.amounts import line_total, sum_of

from .models import OrderChange

# The columns of a line that a change may move, and what it says beside them.
MOVED: Final = (
    "quantity", "ordered", "accepted", "backordered", "cancelled", "requested_date", "promised_date", "backorder_date",
    "net", "list_net", "redeemed", "tolerance", "tax_rate",
)  # fmt: skip
_ANSWERED: Final = ("accepted", "backordered", "promised_date", "backorder_date")
SAID: Final = ("reason_code", "note")
HEADER: Final = ("requested_delivery_date", "delivery_location_id", "delivery_address", "notes_to_supplier")
_FIELDS: Final = {one.attname: one for one in PurchaseOrderLine._meta.concrete_fields}
_OWN: Final = ("created_at", "updated_at", "version")


def reprice(line: PurchaseOrderLine, before: int) -> None:
    """Let a line cost what is ordered, at its price; `before` are the base units that its amounts stand for."""
    now = line.ordered
    if now == before:
        return
    packs = Fraction(int(now), line.units_per_pack)
    line.net = line_total(line.unit_price, packs, line.price_base_quantity, line.currency)
    if line.list_price is not None:
        line.list_net = line_total(line.list_price, packs, line.price_base_quantity, line.currency)
    line.tolerance = line.tolerance * int(now) // before
    step = Decimal(1).scaleb(-minor_units(line.currency))
    saved = [(key, Decimal(amount) * now / before) for key, amount in line.redeemed]
    line.redeemed = [[key, f"{amount.quantize(step, ROUND_HALF_UP):f}"] for key, amount in saved]


def entry_of(line: PurchaseOrderLine, said: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a line as a change stores it."""
    values = {name: as_json(getattr(line, name)) for name in MOVED}
    more = {name: as_json((said or {}).get(name)) for name in SAID}
    return {"id": str(line.id), "line_no": line.line_no, **values, **more}


def added_of(line: PurchaseOrderLine) -> dict[str, Any]:
    """Return a further line as a change stores it: all its columns."""
    return {name: as_json(getattr(line, name)) for name in _FIELDS if name not in _OWN}


def as_json(value: Any) -> Any:
    """Return a value of a column as JSON; amounts become texts."""
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, UUID):
        return str(value)
    return value.isoformat() if isinstance(value, date) else value


def _python(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _FIELDS[name].to_python(value) for name, value in values.items() if name in _FIELDS}


def lines_added(change: OrderChange) -> list[PurchaseOrderLine]:
    """Return the further lines of a change as rows that are not stored yet."""
    return [PurchaseOrderLine(**_python(one)) for one in change.added]


def lay_over(lines: Sequence[PurchaseOrderLine], change: OrderChange) -> None:
    """Let lines be as a change says, in memory; its further lines are not among them.

    How much of a line is accepted or comes later, and when, a change of the buyer does not say.
    """
    entries = {UUID(one["id"]): one for one in change.lines}
    names = [one for one in MOVED if change.proposed_by == Party.SUPPLIER or one not in _ANSWERED]
    for line in lines:
        if entry := entries.get(line.id):
            for name, value in _python({name: entry[name] for name in names if name in entry}).items():
                setattr(line, name, value)


def as_changed(lines: Sequence[PurchaseOrderLine], change: OrderChange) -> list[PurchaseOrderLine]:
    """Return copies of lines as a change says, with its further lines behind them."""
    found = [copy.copy(one) for one in lines]
    lay_over(found, change)
    return [*found, *lines_added(change)]


def number_added(change: OrderChange, lines: Sequence[PurchaseOrderLine]) -> None:
    """Number the further lines of a change behind those of the order.

    :raises InvalidFields: there would be more lines than an order may have.
    """
    first = max((one.line_no for one in lines), default=0) + 1
    change.added = [{**one, "line_no": first + number} for number, one in enumerate(change.added)]
    if len(lines) + len(change.added) > MOST_LINES:
        message = f"An order has at most {MOST_LINES} lines."
        raise InvalidFields(errors=[FieldError("lines", "max_length", message)])


def take_totals(row: PurchaseOrder, change: OrderChange, lines: Sequence[PurchaseOrderLine]) -> None:
    """Let a change have the totals of the order as it would be; `lines` are those of `as_changed`.

    :raises InvalidFields: nothing would be left, or the amount is too large.
    """
    if not any(map(counted, lines)):
        message = "Nothing would be left of the order: cancel or reject it."
        raise InvalidFields(errors=[FieldError("lines", "nothing_left", message)])
    if sum_of(one.net for one in lines) * 2 >= MOST:
        message = "The amount of the order would be too large."
        raise InvalidFields(errors=[FieldError("lines", "max_value", message)])
    found = kept_totals(row, lines)
    change.net, change.tax, change.gross, change.taxes = (found[name] for name in ("net", "tax", "gross", "taxes"))


def kept_totals(row: PurchaseOrder, lines: Iterable[PurchaseOrderLine]) -> dict[str, Any]:
    """Return the columns of the totals of an order with some lines: of what is not cancelled, each by its share of the net."""
    terms = Terms(row.tenant_id, row.supplier_tenant_id, row.currency, None, None)
    values = [
        {
            "net": line_total(one.net, Fraction(counted(one), one.ordered), 1, row.currency),
            "tax_category": one.tax_category,
            "tax_rate": one.tax_rate,
        }
        for one in lines
    ]
    return totals(terms, [OrderedLine(one, None) for one in values])


def open_of(changes: Iterable[OrderChange], party: str) -> OrderChange | None:
    """Return the change that one side has proposed and that is not answered; None for none."""
    return next((one for one in changes if one.proposed_by == party), None)
