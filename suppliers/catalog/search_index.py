"""The stored search terms of products, and the condition that finds products by them."""

from collections.abc import Sequence

from core.arrays import array_literal
from core.conditions import TENANT, Condition
from core.pipeline import Call, Statement, run

from .models import Product
from .search_terms import FIRST, LAST, words_of_product

_ADD = Statement.of(
    "INSERT INTO suppliers_productword (tenant_id, word, product_id)"
    " SELECT $1::uuid, word, $2::uuid FROM unnest($3::text[]) word ON CONFLICT DO NOTHING RETURNING 1"
)
_DROP = Statement.of(
    "DELETE FROM suppliers_productword WHERE tenant_id = $1 AND product_id = $2 AND word <> ALL($3::text[])"
)

# The ids are found first, in the keys of the search terms alone; each product is then fetched by its key. With plain
# joins PostgreSQL misjudges the row counts and may scan all products of a big tenant; hence the array and the OFFSET 0.
# A range is used rather than `^@`, because a generic plan can use an index for a range.
_FOUND = f"""t."id" IN (SELECT unnest(ARRAY(
SELECT w.product_id FROM suppliers_productword w WHERE w.tenant_id = {TENANT} AND {{range}}{{others}})))"""
_WITH = (
    f" AND EXISTS (SELECT 1 FROM suppliers_productword o WHERE o.tenant_id = {TENANT} AND o.product_id = w.product_id"
    " AND {range} OFFSET 0)"
)
_RANGE = "{alias}.word >= {first} AND {alias}.word < {last}"


def words_call(product: Product, gtins: Sequence[str]) -> Call:
    """Return the statement that adds the search terms of a new product."""
    return _words_call(_ADD, product, gtins)


def replace_words(product: Product, gtins: Sequence[str]) -> None:
    """Replace the product's search terms."""
    run([_words_call(_DROP, product, gtins), _words_call(_ADD, product, gtins)])


def _words_call(statement: Statement, product: Product, gtins: Sequence[str]) -> Call:
    words = words_of_product(name=product.name, supplier_sku=product.supplier_sku, brand=product.brand, gtins=gtins)
    return Call(statement, [str(product.tenant_id), str(product.id), array_literal(words)])


def with_terms(words: Sequence[str]) -> Condition:
    """Return the condition that a product has, for each word, a search term that begins with it.

    The longest word, probably the rarest, comes first. A single letter or digit must match a whole term ("size M"):
    half the catalog has a term that begins with it.
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
