"""Prefixes of ordered values. Source: R4 search.html#prefix."""

import re
from typing import Final

EQUAL: Final = "eq"
_PREFIXED: Final = re.compile(r"(eq|ne|gt|lt|ge|le|sa|eb|ap)?(.*)", re.DOTALL)


def prefixed(text: str) -> tuple[str, str]:
    """The prefix of a value, `eq` where none is written, and the rest."""
    found = _PREFIXED.fullmatch(text)
    assert found  # any text matches
    return found[1] or EQUAL, found[2]
