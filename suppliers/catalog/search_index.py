"""The search terms of products: how they are stored, and the condition that finds products by them."""

from collections.abc import Sequence

from core.arrays import array_literal
from core.conditions import Condition
from core.pipeline import Call, Statement, run
from core.row_security import BOUND

from .models import Product
from .search_terms import FIRST, LAST, words_of_product

_ADD = Statement.of(
    "INSERT INTO suppliers_productword (tenant_id, word, product_id)"
    " SELECT $1::uuid, word, $2::uuid FROM unnest($3::text[]) word ON CONFLICT DO NOTHING"
)
_DROP = Statement.of(
    "DELETE FROM suppliers_productword WHERE tenant_id = $1 AND product_id = $2 AND word <> ALL($3::text[])"
)

# The ids are found once, in the posting table's keys alone, and each product is then fetched by key. Written as plain joins,
# PostgreSQL guesses at the numbers and may walk all rows of a big tenant instead; hence the array and the OFFSET 0. A range
# rather than `^@`, because a plan made without knowing the parameters can use it.
_FOUND = f"""t."id" IN (SELECT unnest(ARRAY(
SELECT w.product_id FROM suppliers_productword w WHERE w.tenant_id = {BOUND} AND {{range}}{{others}})))"""
_WITH = (
    " AND EXISTS (SELECT FROM suppliers_productword o WHERE o.tenant_id = w.tenant_id AND o.product_id = w.product_id"
    " AND {range} OFFSET 0)"
)
_RANGE = "{alias}.word >= {first} AND {alias}.word < {last}"


def words_call(product: Product, gtins: Sequence[str]) -> Call:
    """File a new product under its words."""
    return _words_call(_ADD, product, gtins)


def replace_words(product: Product, gtins: Sequence[str]) -> None:
    """File a changed product under its words of now, and no others."""
    run([_words_call(_DROP, product, gtins), _words_call(_ADD, product, gtins)])


def _words_call(statement: Statement, product: Product, gtins: Sequence[str]) -> Call:
    words = words_of_product(name=product.name, supplier_sku=product.supplier_sku, brand=product.brand, gtins=gtins)
    return Call(statement, [str(product.tenant_id), str(product.id), array_literal(words)])


def with_terms(words: Sequence[str]) -> Condition:
    """Products that have, for each word, one that begins with it; the longest word, likely the rarest, leads.

    A single letter or digit is a word of its own ("size M"), since as a beginning it would find half the catalog.
    """
    bounds: list[str] = []
    ranges: list[str] = []
    for word in sorted(words, key=len, reverse=True):
        alias = "o" if ranges else "w"
        ranges.append(_RANGE.format(alias=alias, first=f"{{{len(bounds)}}}", last=f"{{{len(bounds) + 1}}}"))
        single = len(word) == 1 and word.isascii()
        bounds += [word, word + (FIRST if single else LAST)]
    others = "".join(_WITH.format(range=one) for one in ranges[1:])
    return Condition(_FOUND.format(range=ranges[0], others=others), tuple(bounds))
