"""How text becomes the words it is searched by; products and questions go through the same door."""

from collections.abc import Iterable

from core.identifiers import gtin_forms
from core.text_folding import words

LONGEST = 64
MOST_OF_A_PRODUCT = 80
MOST_OF_A_QUESTION = 16

# Sorts behind every character in UTF-8, so that prefix <= word < prefix + LAST are the words with that prefix.
LAST = "\U0010ffff"
# Sorts before every character, so that word <= word < word + FIRST is the word alone.
FIRST = "\x01"


def words_of(text: str) -> list[str]:
    """The words of a text in their order: letters and digits, without case or accents, each once."""
    return list(dict.fromkeys(word[:LONGEST] for word in words(text)))


def words_of_product(*, name: str, supplier_sku: str, brand: str, gtins: Iterable[str]) -> list[str]:
    """The words a product is found by: SKU and GTINs first, since a very long name is cut off at the end."""
    forms = [form for gtin in gtins for form in sorted(gtin_forms(gtin))]
    found = dict.fromkeys([*words_of(supplier_sku), *forms, *words_of(brand), *words_of(name)])
    return list(found)[:MOST_OF_A_PRODUCT]
