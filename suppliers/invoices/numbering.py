"""The supplier's own number of an invoice, claimed in its tenant. Source: contract, supply.md 4 "Numbers"."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from core.arrays import array_literal
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Statement, run
from suppliers.files.states import FileStatus, Visibility
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
_FILES = Statement.of(
    "SELECT f.id::text FROM suppliers_file f WHERE f.tenant_id = $1 AND f.id = ANY($2::uuid[]) AND f.status = $3"
    " AND f.visibility = ANY($4::text[])"
)


@needs_transaction
def claim(
    supplier_id: UUID,
    author_id: UUID,
    buyer_id: UUID,
    number: str,
    key: UUID,
    products: Sequence[UUID],
    files: Sequence[UUID],
) -> set[UUID]:
    """Claim the number of a document at its supplier, and return which of the products are services; the buyer is bound then.

    `files` are those that the author's tenant hands over.

    :raises InvoiceNumberTaken: another document of the supplier has it.
    :raises InvalidFields: a file is none of the author's that the other party may see; names each.
    """
    own = str(supplier_id)
    shown = array_literal([Visibility.COUNTERPARTY.value, Visibility.CATALOG.value])
    _, _, claimed, services, _, held, _ = run(
        [
            bind_call(supplier_id), Call(_LOCK, [own, _KIND]), Call(_CLAIM, [own, _KIND, number, str(key)]),
            Call(_SERVICES, [own, array_literal(products)]), bind_call(author_id),
            Call(_FILES, [str(author_id), array_literal(files), FileStatus.READY.value, shown]), bind_call(buyer_id),
        ]
    )  # fmt: skip
    if not len(claimed):
        raise InvoiceNumberTaken
    there = {(held.value(place) or b"").decode() for place in range(len(held))}
    errors = [
        FieldError(f"file_ids.{place}", "unknown_file", "There is no such file that the other party may see.")
        for place, one in enumerate(files)
        if str(one) not in there
    ]
    if errors:
        raise InvalidFields(errors=errors)
    return {UUID((services.value(place) or b"").decode()) for place in range(len(services))}
