"""Text as it is compared in searches, and the words of it. Stored words were made by these rules: a change means to index anew."""

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")


def folded(text: str) -> str:
    """A text in lower case without accents."""
    return text.lower() if text.isascii() else without_accents(text.casefold())


def words(text: str) -> list[str]:
    """The words of a text in their order: letters and digits, folded."""
    return _WORD.findall(folded(text))


def without_accents(text: str) -> str:
    """A text taken apart, without its combining characters. Source: Unicode Standard Annex 15, NFKD."""
    apart = unicodedata.normalize("NFKD", text)
    return "".join(character for character in apart if not unicodedata.combining(character))
