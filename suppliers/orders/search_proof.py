"""The rules between documents and what their lists are searched and counted by, for `prove_invariants`.

Triggers keep search terms and counters; whatever goes past them is found here. Source: contract, supply.md 4 "Lists" and 9.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple
from uuid import UUID

from core.db import tenant_context
from core.invariants import Breach
from core.named_rows import fetch

RULE: Final = "searches"


class Worded(NamedTuple):
    """A table whose documents are searched: the kind of their terms, the column of the other party, and the texts as SQL."""

    kind: str
    table: str
    party: str
    texts: str


WORDED: Final = (
    Worded(
        "purchase_order", "suppliers_purchaseorder", "supplier_tenant_id",
        "t.number || ' ' || t.order_number || ' ' || t.external_reference",
    ),
    Worded("order", "suppliers_receivedorder", "owner_tenant_id", "t.number || ' ' || t.po_number"),
    *(
        Worded(
            "delivery", table, party,
            "t.number || ' ' || t.po_number || ' ' || t.order_number || ' ' || t.tracking_number",
        )
        for table, party in (
            ("suppliers_delivery", "supplier_tenant_id"), ("suppliers_receiveddelivery", "owner_tenant_id"),
        )
    ),
)  # fmt: skip
_KINDS: Final = ", ".join(f"'{kind}'" for kind in sorted({one.kind for one in WORDED}))
_WANTED: Final = " UNION ALL ".join(
    f"SELECT '{one.kind}' AS kind, n.word, t.id AS document_id, t.{one.party} AS party_id FROM {one.table} t"
    f" CROSS JOIN LATERAL unnest(suppliers_words({one.texts})) n(word) WHERE t.tenant_id = %(tenant)s"
    for one in WORDED
)
_TERMS: Final = f"""
SELECT coalesce(w.document_id, k.document_id) AS row_id, coalesce(w.kind, k.kind) || ': terms that are missing or of another'
  || ' party: ' || count(w.word) || ', that it has not: ' || count(k.word) AS what
FROM ({_WANTED}) w FULL JOIN (SELECT * FROM suppliers_documentword d WHERE d.tenant_id = %(tenant)s AND d.kind IN ({_KINDS})) k
  ON k.kind = w.kind AND k.word = w.word AND k.document_id = w.document_id AND k.party_id = w.party_id
WHERE w.word IS NULL OR k.word IS NULL GROUP BY 1, coalesce(w.kind, k.kind)
"""
_COUNTED: Final = """
SELECT %(tenant)s::uuid AS row_id, 'counts ' || coalesce(sum(c.orders), 0) || ' orders, there are ' || max(f.n) AS what
FROM (SELECT count(*) AS n FROM suppliers_receivedorder o WHERE o.tenant_id = %(tenant)s) f
LEFT JOIN suppliers_receivedordercounter c ON c.tenant_id = %(tenant)s HAVING coalesce(sum(c.orders), 0) <> max(f.n)
"""
_QUESTIONS: Final = (("suppliers_documentword", _TERMS), ("suppliers_receivedordercounter", _COUNTED))


class _Found(NamedTuple):
    row_id: UUID
    what: str


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield each document whose search terms are not those of its texts, and a total of orders that is not theirs."""
    with tenant_context(tenant_id):
        found = [(table, one) for table, sql in _QUESTIONS for one in fetch(_Found, sql, {"tenant": tenant_id})]
    for table, one in found:
        yield Breach(RULE, tenant_id, table, one.row_id, one.what)
