"""How the market is searched: by the audience's terms where they are few, by the products in their order where they are many.

Plans are made for any values, so the two are different statements; `few_call` tells which is to be chosen. Conditions
are over a row `t` with the product's `product_id` and its `supplier_id`. Source: contract, supply.md 9.
"""

import time
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from core.conditions import TENANT, Condition
from core.pipeline import Call, Rows, Statement
from core.search_terms import FIRST, bounds_of
from core.trees import Tree

from .queries import ACROSS
from .states import EVERYBODY

FEW: Final = 1_000
REFRESH_SECONDS: Final = 60.0
_KEPT_AT_MOST: Final = 4_096
# By buyer and words: whether there are few, and until when that is kept.
_kept: dict[tuple[UUID | str, ...], tuple[bool, float]] = {}
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
_RANGE = "{alias}.word >= {{{first}}} AND {alias}.word < {{{last}}}"
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


def few_call(buyer_id: UUID, words: Sequence[str]) -> Call:
    """Return the statement that counts the terms by which the buyer may find products, as far as `FEW`; for the market's role.

    Without words, each product of an audience counts once.
    """
    first, last = bounds_of(_rarest(words)) if words else ("", FIRST)
    return Call(_COUNT, [str(buyer_id), first, last])


def are_few(found: Rows) -> bool:
    """Tell whether there are few."""
    return int(found.value() or 0) <= FEW


def known_few(buyer_id: UUID, words: Sequence[str]) -> bool | None:
    """Tell whether there are few, as this process counted within a minute; None where it did not.

    It chooses between two statements with one answer, so an older count costs time at most.
    """
    few, until = _kept.get((buyer_id, *words), (None, 0.0))
    return few if until > time.monotonic() else None


def keep_few(buyer_id: UUID, words: Sequence[str], few: bool) -> None:
    """Keep what was counted for a minute."""
    if len(_kept) >= _KEPT_AT_MOST:
        _kept.clear()
    _kept[(buyer_id, *words)] = few, time.monotonic() + REFRESH_SECONDS


def few_products(words: Sequence[str]) -> Condition:
    """Return SQL for the keys of the products that the buyer's audiences see and that have all words, as a table `ids`.

    Whoever begins there looks each product up by its key (tenant_id, product_id).
    """
    ordered = sorted(words, key=len, reverse=True)
    bounds = [bound for word in ordered for bound in bounds_of(word)]
    first = _RANGE.format(alias="w", first=0, last=1) if ordered else "w.word = ''"
    others = "".join(
        " AND EXISTS (SELECT 1 FROM suppliers_marketword o WHERE o.tenant_id = w.tenant_id AND o.product_id = w.product_id AND "
        f"{_RANGE.format(alias='o', first=2 * number, last=2 * number + 1)} OFFSET 0)"
        for number in range(1, len(ordered))
    )
    audiences = _AUDIENCES.format(buyer=TENANT)
    sql = (
        "(SELECT DISTINCT w.tenant_id, w.product_id FROM suppliers_marketword w"
        f" WHERE w.audience_id = ANY({audiences}) AND {first}{others} OFFSET 0) ids"
    )
    return Condition(sql, tuple(bounds))


def numbered(condition: Condition, parameters: list[str | bytes | None]) -> str:
    """Return the SQL of a condition whose parameters follow those that a statement has; they are added."""
    first = len(parameters) + 1
    parameters += condition.parameters
    return condition.sql.format(*(f"${first + n}" for n in range(len(condition.parameters))))


def with_words(words: Sequence[str]) -> list[Condition]:
    """Return the conditions that a product has, for each word, a term that begins with it, for a walk by the products."""
    return [Condition(_BY_PRODUCT, bounds_of(word)) for word in words]


def _rarest(words: Sequence[str]) -> str:
    """The longest word, as `core.search_terms` begins with."""
    return max(words, key=len)
