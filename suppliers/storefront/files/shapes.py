"""The statements that read a file of somebody else for one tenant. Source: contract, supply-shelf.md "Files".

A buyer may read a file of visibility `catalog` as long as it is ready and bound to an offer that the buyer may see, or to
the product of one. The other party of a document reads what the document has handed over. What a file is bound to is not told.
"""

from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from rest_framework import serializers

from api.representations import Computed
from api.shapes import Selection
from core.conditions import TENANT
from core.pipeline import Call, Statement
from suppliers.files.representations import LINKED, FileBindingOut, FileOut
from suppliers.marketplace.queries import ACROSS, visible_sql


class SeenFileOut(FileOut):
    """A file of the market: the members of a file, without what is its owner's matter alone."""

    bindings: Any = Computed("'[]'::json", FileBindingOut(many=True))
    rejection_reason = Computed("NULL::text", serializers.CharField(allow_null=True))
    content_url = Computed(LINKED, serializers.URLField(allow_null=True))

    class Meta(FileOut.Meta):
        blank_as_null: Any = ("title",)


_OFFERED: Final = f"""
SELECT 1 FROM suppliers_filebinding b
JOIN suppliers_offer o ON o.tenant_id = b.tenant_id AND o.{{column}} = b.resource_id
JOIN suppliers_product p ON p.tenant_id = o.tenant_id AND p.id = o.product_id
JOIN suppliers_packaging k ON k.tenant_id = o.tenant_id AND k.id = o.packaging_id
WHERE b.tenant_id = t.tenant_id AND b.file_id = t.id AND b.resource_type = '{{kind}}' AND {visible_sql(buyer="$1")}
"""
_BOUND: Final = " OR ".join(
    f"EXISTS ({_OFFERED.replace('{column}', column).replace('{kind}', kind)})"
    for kind, column in (("offer", "id"), ("product", "product_id"))
)


# With the columns of a file of its owner, whose content a link names.
_RECEIVED: Final = (
    "SELECT f.file_id AS id, f.owner_tenant_id AS tenant_id, f.name, f.purpose, 'ready' AS status, f.content_type, f.size,"
    " f.sha256, f.title, 'counterparty' AS visibility, f.expires_on, f.created_at, f.updated_at, f.version"
    " FROM suppliers_receivedfile f WHERE f.tenant_id = $1 AND f.file_id = $2"
)


def seen_file_call(buyer_id: UUID, file_id: UUID, selection: Selection) -> Call:
    """Return the statement that reads a file as JSON, with its version, for the market's role."""
    return Call(Statement.composed(_sql(selection), across=ACROSS), [str(buyer_id), str(file_id)])


def received_file_call(reader_id: UUID, file_id: UUID, selection: Selection) -> Call:
    """Return the statement that reads a file which a document has handed over to the bound tenant."""
    return Call(Statement.composed(_received_sql(selection)), [str(reader_id), str(file_id)])


@lru_cache(maxsize=256)
def _sql(selection: Selection) -> str:
    return f"{_shown(selection, 'suppliers_file')} WHERE t.id = $2 AND t.on_market AND ({_BOUND})"


@lru_cache(maxsize=256)
def _received_sql(selection: Selection) -> str:
    return _shown(selection, f"({_RECEIVED})")


def _shown(selection: Selection, source: str) -> str:
    shape = SeenFileOut.shape
    members = shape.select(selection).replace(TENANT, 't."tenant_id"')
    return (
        f"SELECT row_to_json(r)::text, t.version::text || coalesce(';' || {shape.unversioned}, '')"
        f" FROM {source} t CROSS JOIN LATERAL (SELECT {members}) r"
    )
