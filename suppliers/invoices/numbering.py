"""The supplier's own number of an invoice, claimed in its tenant, and the files that are evidence of it.

Source: contract, supply.md 4 "Numbers" and "Files".
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.db import bind_call, needs_transaction
from core.pipeline import Call, Statement, run
from suppliers.files.handing_over import binding_calls, check_files, files_calls
from suppliers.files.states import ResourceType
from suppliers.orders.states import DocumentKind

from .refusals import InvoiceNumberTaken

_KIND: Final = DocumentKind.INVOICE.value
# As `orders.numbers`: whoever numbers documents of one kind waits for the one before.
_LOCK = Statement.of("SELECT pg_advisory_xact_lock(hashtextextended('document numbers ' || $1 || ' ' || $2, 0))")
_CLAIM = Statement.of(
    "INSERT INTO suppliers_documentnumber (tenant_id, kind, sequence, number, document_id)"
    " SELECT $1::uuid, $2::text, (SELECT coalesce(max(d.sequence), 0) + 1 FROM suppliers_documentnumber d"
    " WHERE d.tenant_id = $1 AND d.kind = $2), $3::text, $4::uuid WHERE NOT EXISTS (SELECT 1 FROM suppliers_documentnumber d"
    " WHERE d.tenant_id = $1 AND d.kind = $2 AND d.number = $3) RETURNING number"
)
_SERVICES = Statement.of(
    "SELECT p.id::text FROM suppliers_product p WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[]) AND p.kind = 'service'"
)
MEMBER: Final = "file_ids"


class Claimed(NamedTuple):
    """What was found while a number was claimed: whether it was free, and which of the products are services."""

    is_free: bool
    services: set[UUID]

    def require_free(self) -> None:
        """Require that the number was free.

        :raises InvoiceNumberTaken: another document of the supplier has it.
        """
        if not self.is_free:
            raise InvoiceNumberTaken


@needs_transaction
def claim(
    supplier_id: UUID,
    author_id: UUID,
    buyer_id: UUID,
    number: str,
    key: UUID,
    products: Sequence[UUID] = (),
    files: Sequence[UUID] = (),
) -> Claimed:
    """Claim the number of a document at its supplier, and look which of the products are services; the buyer is bound then.

    `files` are those that the author's tenant hands over; they are locked, so that they stay until they are bound.

    :raises InvalidFields: a file is none of the author's that the other party may see; names each.
    """
    own, named = str(supplier_id), {MEMBER: files}
    handed = files_calls(author_id, named)
    _, _, claimed, services, *held = run(
        [
            bind_call(supplier_id), Call(_LOCK, [own, _KIND]), Call(_CLAIM, [own, _KIND, number, str(key)]),
            Call(_SERVICES, [own, array_literal(products)]), *([bind_call(author_id), *handed] if handed else []),
            bind_call(buyer_id),
        ]
    )  # fmt: skip
    check_files(named, held[1:-1])
    keys = {UUID((services.value(place) or b"").decode()) for place in range(len(services))}
    return Claimed(bool(len(claimed)), keys)


def evidence_calls(author_id: UUID, buyer_id: UUID, files: Sequence[UUID], key: UUID, at: datetime) -> list[Call]:
    """Return the statements that bind the files of a document as evidence of it, in the author's tenant; the buyer is bound then."""
    bound = binding_calls(author_id, {MEMBER: files}, ResourceType.INVOICE.value, key, at)
    return [bind_call(author_id), *bound, bind_call(buyer_id)] if bound else []
