"""Numbers of documents: claimed in the tenant whose number it is, one after the other, without a promise of no gaps."""

from typing import Final
from uuid import UUID

from core import budgets
from core.pipeline import Call, Rows, Statement

from .states import DocumentKind

_PREFIX: Final = {
    DocumentKind.PURCHASE_ORDER: "PO", DocumentKind.ORDER: "SO", DocumentKind.DELIVERY: "DN", DocumentKind.PAYMENT: "PM",
    DocumentKind.RETURN: "RT",
}  # fmt: skip
# Whoever numbers documents of one kind waits for the one before, so that the next statement sees the last number.
_LOCK = Statement.of("SELECT pg_advisory_xact_lock(hashtextextended('document numbers ' || $1 || ' ' || $2, 0))")
_CLAIM = Statement.of(
    "INSERT INTO suppliers_documentnumber (tenant_id, kind, sequence, number, document_id)"
    " SELECT $1::uuid, $2::text, n.next, $3::text || '-' || lpad(n.next::text, greatest(6, length(n.next::text)), '0'), $4::uuid"
    " FROM (SELECT coalesce(max(d.sequence), 0) + 1 AS next FROM suppliers_documentnumber d"
    " WHERE d.tenant_id = $1 AND d.kind = $2) n RETURNING number"
)


def claim_calls(tenant_id: UUID, kind: DocumentKind, document_id: UUID) -> list[Call]:
    """Return the statements that claim the next number of a kind for a document, bound to the tenant; `number_of` reads the last.

    The request hurries from then on: until it ends, nobody else gets a number.
    """
    budgets.hurry()
    own, named = str(tenant_id), kind.value
    return [Call(_LOCK, [own, named]), Call(_CLAIM, [own, named, _PREFIX[kind], str(document_id)])]


def number_of(found: Rows) -> str:
    """Return the number that was claimed."""
    return (found.value() or b"").decode()
