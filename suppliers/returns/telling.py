"""What both parties are told of returns. Source: contract, supply.md 3.4, 8 and 10."""

from collections.abc import Iterable, Sequence
from typing import Any, Final
from uuid import UUID

from core.money import minor_units
from ledger.public import Occurrence

from .events import EVENTS
from .models import COUNTED, Return, ReturnLine
from .states import ReturnStatus

BUYER, SUPPLIER, SYSTEM = "buyer", "supplier", "system"
_PASSED: Final = {"return.inspected": ReturnStatus.INSPECTED.value}  # on the way from received to completed


def told(
    row: Return,
    names: Sequence[str],
    lines: Iterable[ReturnLine],
    *,
    was: str | None,
    by: str,
    reason: str = "",
    heard: bool = True,
) -> dict[UUID, list[Occurrence]]:
    """Return what the parties are told of a return that has just changed, by the names of the types of events.

    It is to be called once the new versions stand in the row. Of several facts each begins where the one before ended.
    Without `heard` the supplier is told nothing: it is managed.
    """
    of = [*lines]
    given: dict[str, Any] = {
        "supplier_id": str(row.supplier_tenant_id), "buyer_id": str(row.tenant_id), "purchase_order_id": str(row.order_id),
        "delivery_id": str(row.delivery_id), "return_number": row.number, "return_type": row.type,
        "resolution": row.resolution, "lines": [line_of(one) for one in of], "reason": reason, "currency": row.currency,
        "credit_note_id": _text(row.credit_note_id), "replacement_order_id": _text(row.replacement_order_id),
        "credited": [{"line_no": one.line_no, "net": f"{round(one.credited_amount, minor_units(row.currency)):f}"} for one in of if one.credited_amount is not None],
        "delivery_location_id": str(row.delivery_location_id),
    }  # fmt: skip
    facts = []
    for name in names:
        is_last = name == names[-1]
        status = str(row.status) if is_last else _PASSED.get(name, ReturnStatus.REQUESTED.value)
        who = SYSTEM if name == "return.authorized" and by == BUYER else by
        facts.append(EVENTS[name](**given, status=status, was=was, by=who))
        was = status
    found = {row.tenant_id: [Occurrence(one, row.pk, row.version) for one in facts]}
    if heard:
        found[row.supplier_tenant_id] = [Occurrence(one, row.pk, row.shared_version) for one in facts]
    return found


def line_of(line: ReturnLine) -> dict[str, Any]:
    """Return what is told of a line: its number, product, lot, base units and what became of them."""
    return {
        "line_no": line.line_no, "product_id": _text(line.product_id), "lot_number": line.lot_number or None,
        "base_quantity": line.base_quantity, "reason_code": line.reason_code,
        "dispositions": {key: many for key, name in COUNTED.items() if (many := getattr(line, name))},
    }  # fmt: skip


def _text(key: UUID | None) -> str | None:
    return None if key is None else str(key)
