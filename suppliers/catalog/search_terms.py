"""Search terms: how the texts of a product and the text of a search are split into words, by the same rules."""

from collections.abc import Iterable

from core.identifiers import gtin_forms
from core.text_folding import words

LONGEST = 64
MAX_PRODUCT_WORDS = 80
MAX_SEARCH_WORDS = 16

# Sorts after every character in UTF-8, so that prefix <= word < prefix + LAST are the words with that prefix.
LAST = "\U0010ffff"
# Sorts before every character, so that word <= word < word + FIRST is the word alone.
FIRST = "\x01"


def words_of(text: str) -> list[str]:
    """Return the words of a text in their order, without case and accents, each once."""
    return list(dict.fromkeys(word[:LONGEST] for word in words(text)))


def words_of_product(*, name: str, supplier_sku: str, brand: str, gtins: Iterable[str]) -> list[str]:
    """Return the search terms of a product: SKU and GTINs first, because the limit may cut off a very long name."""
    forms = [form for gtin in gtins for form in sorted(gtin_forms(gtin))]
    found = dict.fromkeys([*words_of(supplier_sku), *forms, *words_of(brand), *words_of(name)])
    return list(found)[:MAX_PRODUCT_WORDS]
