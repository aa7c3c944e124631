"""Files of shipments, deliveries, receipts and exceptions: held against their author's own, and bound to the delivery.

They are evidence from then on, and both sides read their ids with the document. Source: contract, supply.md 4 "Files".
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from core.db import bind_call, needs_transaction
from core.pipeline import Call, run
from suppliers.files.handing_over import Handed, Named, binding_calls, check_files, files_calls, received_calls
from suppliers.files.states import ResourceType

MEMBER = "file_ids"
Known = Mapping[UUID, Handed]


def named_by(data: Mapping[str, Any], prefix: str = "") -> Named:
    """Return the files that a body names."""
    return {f"{prefix}{MEMBER}": data.get(MEMBER) or ()}


def named_by_lines(lines: Sequence[Mapping[str, Any]]) -> Named:
    """Return the files that the lines of a body name."""
    return {f"lines.{number}.{MEMBER}": one[MEMBER] for number, one in enumerate(lines)}


def texts_of(ids: Sequence[UUID]) -> list[str]:
    """Return the ids of files as a document keeps them."""
    return [str(key) for key in ids]


@needs_transaction
def require_files(author_id: UUID, named: Named, bound_id: UUID) -> Known:
    """Lock files that a document names, and return them; nothing is asked where none is named.

    `bound_id` is the tenant that is bound.


    :raises InvalidFields: as `check_files`.
    """
    if not (calls := files_calls(author_id, named)):
        return {}
    found = run(calls if author_id == bound_id else [bind_call(author_id), *calls, bind_call(bound_id)])
    return check_files(named, found if author_id == bound_id else found[1:-1])


def filing_calls(author_id: UUID, named: Named, delivery_id: UUID, at: datetime) -> list[Call]:
    """Return the statement that binds files to a shipment or a delivery, where any are named; the author is bound."""
    return binding_calls(author_id, named, ResourceType.DELIVERY.value, delivery_id, at)


def sharing_calls(reader_id: UUID, author_id: UUID, known: Known, at: datetime, *, bound_id: UUID) -> list[Call]:
    """Return the statements by which the other side of a delivery may read files of the author that it names."""
    return received_calls(reader_id, author_id, [one.as_received() for one in known.values()], at, bound_id=bound_id)
