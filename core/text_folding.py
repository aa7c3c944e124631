"""Text folded for searches, and its words. Stored search terms follow these rules, so a change needs a new index."""

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")


def folded(text: str) -> str:
    """Return a text in lower case without accents."""
    return text.lower() if text.isascii() else without_accents(text.casefold())


def words(text: str) -> list[str]:
    """Return the words of a text in their order, folded; a word consists of letters and digits."""
    return _WORD.findall(folded(text))


def without_accents(text: str) -> str:
    """Decompose a text and drop its combining characters. Source: Unicode Standard Annex 15, NFKD."""
    apart = unicodedata.normalize("NFKD", text)
    return "".join(character for character in apart if not unicodedata.combining(character))
