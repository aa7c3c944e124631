"""Text folded for searches, in Python and in SQL, and its words. Stored search terms follow these rules, so a change needs a new index."""

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


def folded_sql(text: str) -> str:
    """Write the words of a text, which is given as SQL: folded, each behind a blank. It depends on the text alone."""
    return (
        f"' ' || regexp_replace(regexp_replace(replace(normalize(lower({text}), NFKD), 'ß', 'ss'),"
        r" '[\u0300-\u036f]', '', 'g'), '[^[:alnum:]]+', ' ', 'g')"
    )
