"""Numbers of documents: claimed in the tenant whose number it is, one after the other, without a promise of no gaps."""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from core import budgets
from core.arrays import array_literal
from core.pipeline import Call, Rows, Statement

from .states import DocumentKind


class Claimed(NamedTuple):
    """A number of a document."""

    number: str
    document_id: UUID


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
_CLAIM_ALL = Statement.of(
    "INSERT INTO suppliers_documentnumber (tenant_id, kind, sequence, number, document_id)"
    " SELECT $1::uuid, $2::text, n.next, $3::text || '-' || lpad(n.next::text, greatest(6, length(n.next::text)), '0'), n.id"
    " FROM (SELECT g.id, g.place + coalesce((SELECT max(d.sequence) FROM suppliers_documentnumber d"
    " WHERE d.tenant_id = $1 AND d.kind = $2), 0) AS next FROM unnest($4::uuid[]) WITH ORDINALITY AS g (id, place)) n"
    " RETURNING number, document_id",
    row=Claimed,
)


def lock_call(tenant_id: UUID, kind: DocumentKind) -> Call:
    """Return the statement after which nobody else numbers documents of a kind of the tenant."""
    return Call(_LOCK, [str(tenant_id), kind.value])


def claim_all_call(tenant_id: UUID, kind: DocumentKind, documents: Sequence[UUID]) -> Call:
    """Return the statement that claims the next numbers of a kind for several documents, behind `lock_call`; the tenant is bound."""
    return Call(_CLAIM_ALL, [str(tenant_id), kind.value, _PREFIX[kind], array_literal(documents)])


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
