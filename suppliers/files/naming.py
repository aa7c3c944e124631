"""Names of files as they are kept: the last part of a path, without characters that a reader cannot see."""

import unicodedata
from typing import Final

MOST_CHARACTERS: Final = 255

# Control and format characters (direction marks among them), surrogates, private and unassigned ones, line separators.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class InvalidName(ValueError):
    """Nothing is left of the name, or it is too long."""


def clean_name(given: str) -> str:
    """Return the name under which a file is kept.

    :raises InvalidName: nothing is left of it, or more than 255 characters are.
    """
    seen = "".join(letter for letter in given if unicodedata.category(letter) not in _UNSEEN)
    last = unicodedata.normalize("NFC", seen).replace("\\", "/").rpartition("/")[2].strip(" .")
    if not last:
        raise InvalidName("A file needs a name.")
    if len(last) > MOST_CHARACTERS:
        raise InvalidName(f"A name has at most {MOST_CHARACTERS} characters.")
    return last
