"""How the market is searched: by the audience's terms where they are few, by the products in their order where they are many.

Plans are made for any values, so the two are different statements; `few_call` tells which is to be chosen. Conditions
are over a row `t` with the product's `product_id` and its `supplier_id`. Source: contract, supply.md 9.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from core.conditions import TENANT, Condition
from core.pipeline import Call, Rows, Statement
from core.search_terms import FIRST, Postings, bounds_of, with_terms
from core.trees import Tree

from .queries import ACROSS
from .states import EVERYBODY

FEW: Final = 1_000
# The audiences of the buyer {buyer}; the policy shows its own rows alone.
_AUDIENCES = (
    f"ARRAY(SELECT '{EVERYBODY}'::uuid UNION ALL SELECT m.audience_id FROM suppliers_audiencemember m"
    " WHERE m.member_tenant_id = {buyer})"
)
_COUNT = Statement.of(
    "SELECT count(*)::text FROM (SELECT 1 FROM suppliers_marketword w"
    f" WHERE w.audience_id = ANY({_AUDIENCES.format(buyer='$1')}) AND w.word >= $2 AND w.word < $3 LIMIT {FEW + 1}) found",
    across=ACROSS,
)
_BY_AUDIENCE = Postings(
    ids=(
        "SELECT w.product_id FROM suppliers_marketword w"
        f" WHERE w.audience_id = ANY({_AUDIENCES.format(buyer=TENANT)}) AND {{range}}"
    ),
    other=(
        " AND EXISTS (SELECT 1 FROM suppliers_marketword o WHERE o.tenant_id = w.tenant_id"
        " AND o.product_id = w.product_id AND {range} OFFSET 0)"
    ),
    column="product_id",
)
_BY_PRODUCT = (
    "EXISTS (SELECT 1 FROM suppliers_marketword w WHERE w.tenant_id = t.supplier_id AND w.product_id = t.product_id"
    " AND w.word >= {0} AND w.word < {1} OFFSET 0)"
)
_NODES = (
    "(SELECT id, code, parent_id, NULL::uuid AS owner_id FROM suppliers_platformcategory"
    " UNION ALL SELECT id, code, parent_id, tenant_id FROM suppliers_category)"
)
_WITHIN = Tree(_NODES, most=16).within("n.code = {0}", column="id")
# Own categories are those of the product's supplier: two suppliers may have the same code.
WITHIN_CATEGORY: Final = (
    "(t.category = ANY(ARRAY(SELECT f.code FROM suppliers_platformcategory f WHERE f.id IN " + _WITHIN + "))"
    " OR EXISTS (SELECT 1 FROM suppliers_category f WHERE f.tenant_id = t.supplier_id AND f.code = t.category"
    " AND f.id = ANY(ARRAY(SELECT u.id FROM " + _WITHIN + " AS u(id)))))"
)


def found_sql(*, product: str, supplier: str, buyer: str) -> str:
    """Write the condition that a product is offered to an audience of the buyer; all are given as SQL."""
    return (
        f"EXISTS (SELECT 1 FROM suppliers_marketword w WHERE w.audience_id = ANY({_AUDIENCES.format(buyer=buyer)})"
        f" AND w.word = '' AND w.tenant_id = {supplier} AND w.product_id = {product})"
    )


def few_call(buyer_id: UUID, words: Sequence[str]) -> Call:
    """Return the statement that counts the terms by which the buyer may find products, as far as `FEW`; for the market's role.

    Without words, each product of an audience counts once.
    """
    first, last = bounds_of(_rarest(words)) if words else ("", FIRST)
    return Call(_COUNT, [str(buyer_id), first, last])


def are_few(found: Rows) -> bool:
    """Tell whether there are few."""
    return int(found.value() or 0) <= FEW


def narrowed(words: Sequence[str], *, few: bool) -> list[Condition]:
    """Return the conditions that find products by the beginnings of words, or all that an audience sees."""
    if few:
        if words:
            return [with_terms(words, _BY_AUDIENCE)]
        ids = _BY_AUDIENCE.ids.format(range="w.word = ''")
        return [Condition(f't."product_id" IN (SELECT unnest(ARRAY({ids})))')]
    return [Condition(_BY_PRODUCT, bounds_of(word)) for word in words]


def _rarest(words: Sequence[str]) -> str:
    """The longest word, as `core.search_terms` begins with."""
    return max(words, key=len)
