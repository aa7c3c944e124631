"""What a side reports of a delivery that went wrong: records beside its state. Source: contract, supply-order.md 3."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from core import rows
from core.errors import FieldError, InvalidFields
from core.ids import uuid7
from core.pipeline import Call

from .filing import texts_of
from .models import Delivery, DeliveryException, DeliveryLine


def concerned(lines: Sequence[DeliveryLine], said: Mapping[str, Any]) -> list[DeliveryLine]:
    """Return the lines that a report is about: those that it names, or all."""
    return [one for one in lines if not said["line_nos"] or one.line_no in said["line_nos"]]


def report(
    row: Delivery,
    said: Mapping[str, Any],
    lines: Sequence[DeliveryLine],
    *,
    by: str,
    member: UUID | None,
    at: datetime,
) -> Call:
    """Return the statement that records an exception, bound to the buyer; `member` is who has reported it, of the buyer.

    :raises InvalidFields: it names a line that the delivery has not.
    """
    known = {one.line_no for one in lines}
    prefix = "exception.line_nos" if member is None else "line_nos"
    errors = [
        FieldError(f"{prefix}.{number}", "unknown_line", "The delivery has no such line.")
        for number, one in enumerate(said["line_nos"])
        if one not in known
    ]
    if errors:
        raise InvalidFields(errors=errors)
    return rows.insert(
        DeliveryException(
            id=uuid7(), tenant_id=row.tenant_id, delivery_id=row.id, type=said["type"], by=by, at=at,
            note=said["note"] or "", line_nos=sorted(set(said["line_nos"])), file_ids=texts_of(said["file_ids"]),
            reported_by_id=member, created_at=at, updated_at=at,
        )
    )  # fmt: skip
