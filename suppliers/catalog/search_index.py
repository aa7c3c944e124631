"""The stored search terms of products, and the condition that finds products by them."""

from collections.abc import Sequence
from uuid import UUID

from core import search_terms
from core.arrays import array_literal
from core.conditions import TENANT, Condition
from core.pipeline import Call, Statement, run
from core.search_terms import Postings

from .models import Product
from .search_terms import words_of_product

_ADD = Statement.of(
    "INSERT INTO suppliers_productword (tenant_id, word, product_id)"
    " SELECT $1::uuid, word, $2::uuid FROM unnest($3::text[]) word ON CONFLICT DO NOTHING RETURNING 1"
)
_DROP = Statement.of(
    "DELETE FROM suppliers_productword WHERE tenant_id = $1 AND product_id = $2 AND word <> ALL($3::text[])"
)
_ADD_ALL = Statement.of(
    "INSERT INTO suppliers_productword (tenant_id, word, product_id)"
    " SELECT $1::uuid, n.word, n.product_id FROM unnest($2::text[], $3::uuid[]) AS n(word, product_id)"
    " ON CONFLICT DO NOTHING RETURNING 1"
)
_DROP_ALL = Statement.of(
    "DELETE FROM suppliers_productword w WHERE w.tenant_id = $1 AND w.product_id = ANY($4::uuid[])"
    " AND (w.word, w.product_id) NOT IN (SELECT n.word, n.product_id FROM unnest($2::text[], $3::uuid[]) AS n(word, product_id))"
)

_POSTINGS = Postings(
    ids=f"SELECT w.product_id FROM suppliers_productword w WHERE w.tenant_id = {TENANT} AND {{range}}",
    other=(
        f" AND EXISTS (SELECT 1 FROM suppliers_productword o WHERE o.tenant_id = {TENANT}"
        " AND o.product_id = w.product_id AND {range} OFFSET 0)"
    ),
    is_whole=True,
    terms=f"SELECT w.word FROM suppliers_productword w WHERE w.tenant_id = {TENANT} AND {{range}}",
    has=(
        f"EXISTS (SELECT 1 FROM suppliers_productword w WHERE w.tenant_id = {TENANT} AND w.product_id = t.id"
        " AND {range} OFFSET 0)"
    ),
)


def words_call(product: Product, gtins: Sequence[str]) -> Call:
    """Return the statement that adds the search terms of a new product."""
    return _words_call(_ADD, product, gtins)


def replace_words(product: Product, gtins: Sequence[str]) -> None:
    """Replace the product's search terms."""
    run([_words_call(_DROP, product, gtins), _words_call(_ADD, product, gtins)])


def replace_all_calls(tenant_id: UUID, products: Sequence[tuple[Product, Sequence[str]]]) -> list[Call]:
    """Return the statements that replace the search terms of many products, each given with its GTINs."""
    pairs = [(word, product.id) for product, gtins in products for word in _words(product, gtins)]
    words, ids = array_literal(word for word, _ in pairs), array_literal(product_id for _, product_id in pairs)
    changed = array_literal(product.id for product, _ in products)
    mine = str(tenant_id)
    return [Call(_DROP_ALL, [mine, words, ids, changed]), Call(_ADD_ALL, [mine, words, ids])]


def _words(product: Product, gtins: Sequence[str]) -> list[str]:
    return words_of_product(name=product.name, supplier_sku=product.supplier_sku, brand=product.brand, gtins=gtins)


def _words_call(statement: Statement, product: Product, gtins: Sequence[str]) -> Call:
    return Call(statement, [str(product.tenant_id), str(product.id), array_literal(_words(product, gtins))])


def with_terms(words: Sequence[str]) -> Condition:
    """Return the condition that a product has, for each word, a search term that begins with it."""
    return search_terms.with_terms(words, _POSTINGS)
