"""Text as it is searched: folded, and split into words."""

import re
import unicodedata


def folded(text: str) -> str:
    """This function will return text as it is compared in searches: lower case, without accents."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in parts if not unicodedata.combining(character))


def split_words(text: str) -> list[str]:
    """This function will split text into the words it is found by."""
    return re.findall(r"[^\W_]+", folded(text))
