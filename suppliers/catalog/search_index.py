"""Search terms and counters of products, stored so that searches and totals stay cheap."""

from collections.abc import Sequence

from core.arrays import array_literal
from core.pipeline import Call, Statement, run

from .models import Product
from .search_terms import words_of_product
from .states import Status

_ADD = Statement.of(
    "INSERT INTO suppliers_productword (tenant_id, word, product_id)"
    " SELECT $1::uuid, word, $2::uuid FROM unnest($3::text[]) word ON CONFLICT DO NOTHING"
)
_DROP = Statement.of(
    "DELETE FROM suppliers_productword WHERE tenant_id = $1 AND product_id = $2 AND word <> ALL($3::text[])"
)
_COUNT_CREATED = {
    status: Statement.of(
        f"INSERT INTO suppliers_productcounter AS c (tenant_id, draft, active, discontinued, archived)"
        f" VALUES ($1, {int(status == 'draft')}, {int(status == 'active')}, 0, 0)"
        f" ON CONFLICT (tenant_id) DO UPDATE SET {status} = c.{status} + 1"
    )
    for status in (Status.DRAFT.value, Status.ACTIVE.value)
}
_COUNT_MOVED = {
    (before, after): Statement.of(
        f"UPDATE suppliers_productcounter SET {before} = {before} - 1, {after} = {after} + 1 WHERE tenant_id = $1"
    )
    for before in Status.values
    for after in Status.values
    if before != after
}


def words_call(product: Product, gtins: Sequence[str]) -> Call:
    """Return the statement that adds the search terms of a new product."""
    return _words_call(_ADD, product, gtins)


def count_call(product: Product) -> Call:
    """Return the statement that counts a new product; send it last, since other writes of the tenant wait for it."""
    return Call(_COUNT_CREATED[product.status], [str(product.tenant_id)])


def replace_words(product: Product, gtins: Sequence[str]) -> None:
    """Replace the product's search terms."""
    run([_words_call(_DROP, product, gtins), _words_call(_ADD, product, gtins)])


def count_moved(product: Product, before: str) -> None:
    """Count a product under its present status instead of the status `before`."""
    if product.status != before:
        run([Call(_COUNT_MOVED[before, product.status], [str(product.tenant_id)])])


def _words_call(statement: Statement, product: Product, gtins: Sequence[str]) -> Call:
    words = words_of_product(name=product.name, supplier_sku=product.supplier_sku, brand=product.brand, gtins=gtins)
    return Call(statement, [str(product.tenant_id), str(product.id), array_literal(words)])
