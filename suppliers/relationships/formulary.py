"""Whether a buyer wants a product to be ordered, as SQL. Source: contract, supply-shelf.md "Relationship"."""

from collections.abc import Collection
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.pipeline import Call, Rows, Statement
from core.trees import Tree

# The platform's categories, and the own ones of the supplier {supplier}: two suppliers may have the same code.
_NODES: Final = (
    "(SELECT id, code, parent_id FROM suppliers_platformcategory"
    " UNION ALL SELECT id, code, parent_id FROM suppliers_category WHERE tenant_id = {supplier})"
)


def on_formulary_sql(*, product: str, buyer: str, codes: str) -> str:
    """Write the condition that a buyer's relationship approves the category of a product and does not block it.

    `product` names a row with `supplier_id`, `product_id` and `category`; `codes` is SQL for the category with those above it.
    """
    supplier = f"{product}.supplier_id"
    return (
        f"(coalesce((SELECT r.approved_categories = '{{}}' OR {product}.category = ANY(r.approved_categories)"
        f" OR r.approved_categories::text[] && coalesce({codes}, '{{}}')"
        f" FROM suppliers_relationship r WHERE r.tenant_id = {buyer} AND r.supplier_id = {supplier}), true)"
        f" AND NOT EXISTS (SELECT 1 FROM suppliers_blockedproduct x WHERE x.tenant_id = {buyer}"
        f" AND x.supplier_id = {supplier} AND x.product_id = {product}.product_id))"
    )


class _Path(NamedTuple):
    """A product with the codes of its category and of those above it."""

    product_id: UUID
    codes: Any


_ABOVE: Final = Tree(_NODES.format(supplier="$1"), most=16).above("n.code = p.category", column="code")
_PATHS = Statement.of(
    f"SELECT p.id AS product_id, to_json(ARRAY(SELECT p.category::text UNION SELECT f.code FROM {_ABOVE} f)) AS codes"
    " FROM suppliers_product p WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[])",
    row=_Path,
)


def paths_call(supplier_id: UUID, products: Collection[UUID]) -> Call:
    """Return the statement that reads the categories of products of a supplier, which is bound; see `paths_of`."""
    return Call(_PATHS, [str(supplier_id), array_literal(products)])


def paths_of(found: Rows) -> dict[UUID, frozenset[str]]:
    """Return the codes of each product's category and of those above it."""
    return {one.product_id: frozenset(one.codes) for one in found.of(_Path)}
