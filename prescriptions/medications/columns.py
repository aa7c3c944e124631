"""How the cells of a table are read: each reader turns a text into the value that is stored, or says what is wrong."""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation

from .schedules import schedule_of
from .systems import uri_of

Value = str | bool | list[str] | None
Reader = Callable[[str], Value]

MOST_TOKENS = 30
LONGEST_TOKEN = 200
_SPACE = re.compile(r"\s+")
_TRUE, _FALSE = ("true", "yes", "1"), ("", "false", "no", "0")


def required(reader: Reader) -> Reader:
    """Refuse an empty cell."""

    def read(text: str) -> Value:
        found = reader(text)
        if found in ("", None):
            raise ValueError("A value is required.")
        return found

    return read


def text(longest: int) -> Reader:
    """Read a text of at most so many characters."""

    def read(given: str) -> Value:
        found = given.strip()
        if len(found) > longest:
            raise ValueError(f"At most {longest} characters.")
        return found

    return read


def system(given: str) -> Value:
    """Read a code system: its address, or one of the short names."""
    return text(255)(uri_of(given))


def token(given: str) -> str:
    """Read the name of an ingredient or class: in lower case, with single spaces, so that tables agree on it.

    :raises ValueError: the name is too long.
    """
    found = _SPACE.sub(" ", given).strip().lower()
    if len(found) > LONGEST_TOKEN:
        raise ValueError(f"At most {LONGEST_TOKEN} characters.")
    return found


def tokens(given: str) -> Value:
    """Read names separated by `;`, each once, in their order."""
    found = list(dict.fromkeys(name for part in given.split(";") if (name := token(part))))
    if len(found) > MOST_TOKENS:
        raise ValueError(f"At most {MOST_TOKENS} entries.")
    return found


def schedule(given: str) -> Value:
    """Read a schedule."""
    return schedule_of(given)


def choice(known: Sequence[str]) -> Reader:
    """Read one of a list of codes."""

    def read(given: str) -> Value:
        found = given.strip().lower()
        if found not in known:
            raise ValueError(f"{given[:32]!r} is not among {', '.join(known)}.")
        return found

    return read


def number(*, places: int, above_zero: bool = False) -> Reader:
    """Read a decimal number that is not negative; the empty text means none.

    It is returned in its plain form, so that `4`, `4.0` and `4.00` are the same value.
    """

    def read(given: str) -> Value:
        if not given.strip():
            return None
        try:
            found = Decimal(given.strip())
        except InvalidOperation:
            raise ValueError(f"{given[:32]!r} is not a number.") from None
        if not found.is_finite() or found < 0 or found >= 10**9 or (above_zero and not found):
            raise ValueError(f"{given[:32]!r} is not a number {'above' if above_zero else 'from'} 0.")
        if found != round(found, places):
            raise ValueError(f"At most {places} decimal places.")
        return format(found.normalize(), "f")

    return read


def flag(given: str) -> Value:
    """Read true or false; the empty text means false."""
    found = given.strip().lower()
    if found not in _TRUE + _FALSE:
        raise ValueError(f"{given[:32]!r} is neither true nor false.")
    return found in _TRUE
