"""Search terms of products: which of a product's texts a search finds, in the order of their worth."""

from collections.abc import Iterable

from core.identifiers import gtin_forms
from core.search_terms import words_of

MAX_PRODUCT_WORDS = 80


def words_of_product(*, name: str, supplier_sku: str, brand: str, gtins: Iterable[str]) -> list[str]:
    """Return the search terms of a product: SKU and GTINs first, because the limit may cut off a very long name."""
    forms = [form for gtin in gtins for form in sorted(gtin_forms(gtin))]
    found = dict.fromkeys([*words_of(supplier_sku), *forms, *words_of(brand), *words_of(name)])
    return list(found)[:MAX_PRODUCT_WORDS]
