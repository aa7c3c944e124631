"""GTINs that several suppliers have: a fault of one of them, or one article from two hands. Read over all tenants, by the staff."""

from itertools import groupby
from typing import Any, Final, NamedTuple

from django.db import connections, transaction

ALIAS: Final = "platform"  # the role that sees every tenant
PAGE: Final = 50
_SECONDS: Final = 5

_FOUND = """
WITH twice AS (
 SELECT k.gtin FROM suppliers_packaging k WHERE k.gtin > %(after)s AND k.state = 'current' AND k.gtin IS NOT NULL
 GROUP BY k.gtin HAVING count(DISTINCT k.tenant_id) > 1 ORDER BY k.gtin LIMIT %(page)s)
SELECT k.gtin, n.name, p.supplier_sku, p.name, p.status, k.level, k.units_per_pack
FROM twice JOIN suppliers_packaging k ON k.gtin = twice.gtin AND k.state = 'current'
JOIN suppliers_product p ON p.tenant_id = k.tenant_id AND p.id = k.product_id
JOIN organizations_tenant n ON n.id = k.tenant_id ORDER BY k.gtin, n.name, n.id
"""


class Holder(NamedTuple):
    """A supplier's product that has the GTIN."""

    supplier: str
    supplier_sku: str
    name: str
    status: str
    level: str
    units_per_pack: int


class Duplicate(NamedTuple):
    """A GTIN with all that have it."""

    gtin: str
    holders: list[Holder]


def duplicates(after: str = "") -> list[Duplicate]:
    """Return the first `PAGE` GTINs behind one that several suppliers have, in their order."""
    try:
        with transaction.atomic(using=ALIAS), connections[ALIAS].cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = '{_SECONDS}s'")
            cursor.execute(_FOUND, {"after": after, "page": PAGE})
            rows: list[tuple[Any, ...]] = cursor.fetchall()
    finally:
        connections[ALIAS].close()
    return [Duplicate(gtin, [Holder(*row[1:]) for row in same]) for gtin, same in groupby(rows, key=lambda row: row[0])]
