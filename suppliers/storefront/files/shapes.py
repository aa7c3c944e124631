"""The statement that reads a file of any supplier for one buyer. Source: contract, supply-shelf.md "Files".

A buyer may read a file of visibility `catalog` as long as it is ready and bound to an offer that the buyer may see, or to
the product of one. What else it is bound to is not told.
"""

from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from rest_framework import serializers

from api.representations import Computed
from api.shapes import Selection
from core.conditions import TENANT
from core.pipeline import Call, Statement
from suppliers.files.representations import FileBindingOut, FileOut
from suppliers.marketplace.queries import ACROSS, visible_sql


class SeenFileOut(FileOut):
    """A file of the market: the members of a file, without what is its owner's matter alone."""

    bindings: Any = Computed("'[]'::json", FileBindingOut(many=True))
    rejection_reason = Computed("NULL::text", serializers.CharField(allow_null=True))

    class Meta(FileOut.Meta):
        blank_as_null: Any = ("title",)


_OFFERED: Final = f"""
SELECT 1 FROM suppliers_filebinding b
JOIN suppliers_offer o ON o.tenant_id = b.tenant_id AND o.{{column}} = b.resource_id
JOIN suppliers_product p ON p.tenant_id = o.tenant_id AND p.id = o.product_id
WHERE b.tenant_id = t.tenant_id AND b.file_id = t.id AND b.resource_type = '{{kind}}' AND {visible_sql(buyer="$1")}
"""
_BOUND: Final = " OR ".join(
    f"EXISTS ({_OFFERED.replace('{column}', column).replace('{kind}', kind)})"
    for kind, column in (("offer", "id"), ("product", "product_id"))
)


def seen_file_call(buyer_id: UUID, file_id: UUID, selection: Selection) -> Call:
    """Return the statement that reads a file as JSON, with its version, for the market's role."""
    return Call(Statement.composed(_sql(selection), across=ACROSS), [str(buyer_id), str(file_id)])


@lru_cache(maxsize=256)
def _sql(selection: Selection) -> str:
    shape = SeenFileOut.shape
    members = shape.select(selection).replace(TENANT, 't."tenant_id"')
    return (
        f"SELECT row_to_json(r)::text, t.version::text || coalesce(';' || {shape.unversioned}, '')"
        f" FROM suppliers_file t CROSS JOIN LATERAL (SELECT {members}) r"
        f" WHERE t.id = $2 AND t.on_market AND ({_BOUND})"
    )
