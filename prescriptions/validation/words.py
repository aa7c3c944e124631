"""Numbers in words, as a prescription of a controlled item repeats its quantity."""

import re
import unicodedata
from decimal import Decimal
from typing import Final

from num2words import CONVERTER_CLASSES, num2words

ENGLISH: Final = "en"
_ASIDE: Final = re.compile(r"[\s,\-‐‑‒–—'’]+")  # spaces, commas, hyphens and dashes, apostrophes
_AND: Final = re.compile(r"\band\b")
_LONGEST: Final = 400  # characters; longer texts are no quantity
_LANGUAGES: Final = frozenset(CONVERTER_CLASSES) - {"am"}  # num2words 0.5.14 never ends for 1,138,201 in Amharic


def is_number_in_words(text: str, number: Decimal, language: str) -> bool:
    """Whether a text is the number in words, in English or another language that num2words knows.

    Case, spaces, hyphens and commas are left aside, in English the word "and" too.
    """
    if len(text) > _LONGEST:
        return False
    given = _folded(text)
    return any(given == _folded(words) for words in _written(number, language))


def _written(number: Decimal, language: str) -> list[str]:
    found = []
    for name in (ENGLISH, language.replace("-", "_")):
        code = name if name in _LANGUAGES else name[:2].lower()
        if code in _LANGUAGES and (words := _in_words(number, code)):
            found += [words, _AND.sub(" ", words)] if code.startswith(ENGLISH) else [words]
    return found


def _in_words(number: Decimal, code: str) -> str:
    """The words of a number; fractions digit by digit, since num2words would go through a float.

    Empty where the language's table does not reach.
    """
    whole, _, digits = f"{number.normalize():f}".partition(".")
    point = getattr(CONVERTER_CLASSES[code], "pointword", "")
    if digits and not (isinstance(point, str) and point.strip()):
        return ""
    try:
        parts = [num2words(int(part), lang=code) for part in (whole, *digits)]
    except (NotImplementedError, OverflowError, ValueError, TypeError, IndexError, KeyError):
        return ""
    return " ".join([parts[0], point, *parts[1:]] if digits else parts)


def _folded(text: str) -> str:
    return _ASIDE.sub("", unicodedata.normalize("NFKC", text).casefold())
