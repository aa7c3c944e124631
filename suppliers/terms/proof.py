"""The rule between price lists and their entries, for `prove_invariants`."""

from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from core.db import tenant_context
from core.invariants import Breach
from core.named_rows import fetch

RULE = "price_lists"
_MISCOUNTED = """
SELECT l.id AS row_id, 'entry_count is ' || l.entry_count AS what FROM suppliers_pricelist l
WHERE l.tenant_id = %(tenant)s AND l.entry_count <> (
  SELECT count(*) FROM suppliers_pricelistentry e WHERE e.tenant_id = %(tenant)s AND e.price_list_id = l.id)
"""


class _Found(NamedTuple):
    row_id: UUID
    what: str


def breaches(tenant_id: UUID) -> Iterator[Breach]:
    """Yield each price list that counts other entries than it has."""
    with tenant_context(tenant_id):
        found = fetch(_Found, _MISCOUNTED, {"tenant": tenant_id})
    for one in found:
        yield Breach(RULE, tenant_id, "suppliers_pricelist", one.row_id, one.what)
