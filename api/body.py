"""Strict reading of JSON bodies: ambiguous, unstorable or hostile input is refused, never guessed at.

Python's parser accepts duplicate keys, NaN, lone surrogates and any depth; PostgreSQL cannot store U+0000.
Source: RFC 8259, RFC 7493.
"""

import json
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from itertools import accumulate
from typing import Any, NoReturn

from core.errors import Malformed, TooLarge

LIMIT_BYTES = 1_048_576
MAX_DEPTH = 64
MAX_INTEGER_DIGITS = 20
MAX_DECIMAL_CHARACTERS = 64
MAX_DECIMAL_EXPONENT = 64

_BRACKETS = b"[]{}"
_NOT_MARKS = bytes(byte for byte in range(256) if byte not in _BRACKETS + b'"')
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


class InvalidJson(Malformed):
    """The body is not JSON in UTF-8."""

    code = "invalid_json"
    title = "The body is not valid JSON."


class DuplicateKey(Malformed):
    """An object holds the same key twice, so two readers could see two values."""

    code = "duplicate_key"
    title = "A key occurs twice in one object."


class NulCharacter(Malformed):
    """The text holds U+0000, which cannot be stored."""

    code = "nul_character"
    title = "Text must not contain the NUL character."


class LoneSurrogate(Malformed):
    """The text holds half of a surrogate pair, which is not a character."""

    code = "lone_surrogate"
    title = "Text must not contain an unpaired surrogate."


class NestingTooDeep(Malformed):
    """The body is nested deeper than the platform accepts."""

    code = "nesting_too_deep"
    title = "The body is nested too deeply."
    extensions = {"max_depth": 64}


class NumberOutOfRange(Malformed):
    """A number is longer or larger than the platform accepts."""

    code = "number_out_of_range"
    title = "A number is out of range."


class NotAnObject(Malformed):
    """The body is JSON, but its outermost value is not an object."""

    code = "not_an_object"
    title = "The body must be a JSON object."


class BodyTooLarge(TooLarge):
    """The body has more bytes than the operation accepts."""

    code = "body_too_large"
    title = "The body is too large."
    extensions = {"limit_bytes": 1_048_576}


def parse_object(raw: bytes, *, limit_bytes: int = LIMIT_BYTES, max_depth: int = MAX_DEPTH) -> dict[str, Any]:
    """Read a body whose outermost value is an object; fractions become Decimal and keep their digits.

    :raises BodyTooLarge: the body has more than `limit_bytes`.
    :raises Malformed: any other fault, each with a code of its own.
    """
    value = parse(raw, limit_bytes=limit_bytes, max_depth=max_depth)
    if not isinstance(value, dict):
        raise NotAnObject
    return value


def parse(
    raw: bytes,
    *,
    limit_bytes: int = LIMIT_BYTES,
    max_depth: int = MAX_DEPTH,
    max_exponent: int = MAX_DECIMAL_EXPONENT,
    integers: range | None = None,
) -> Any:
    """Read a body of any outermost type (JSON Patch is a list).

    :param integers: the range of integers to accept; None accepts any.
    :raises BodyTooLarge: the body has more than `limit_bytes`.
    :raises Malformed: any other fault, each with a code of its own.
    """
    if len(raw) > limit_bytes:
        raise BodyTooLarge(f"The body has {len(raw)} bytes; {limit_bytes} are allowed.", limit_bytes=limit_bytes)
    _check_depth(raw, max_depth)
    text = _decode(raw)
    try:
        value = _decoder(max_exponent, integers).decode(text)
    except json.JSONDecodeError as error:
        raise InvalidJson(f"{error.msg} at line {error.lineno}, column {error.colno}.") from None
    if "\\u" in text and ("\\u0000" in text or "\\ud" in text or "\\uD" in text):
        _check_strings(value)
    return value


def check_text(value: str) -> str:
    """Return text of a query string or a path if it can be stored.

    :raises NulCharacter: the text holds U+0000.
    :raises LoneSurrogate: the text holds half of a surrogate pair.
    """
    if "\0" in value:
        raise NulCharacter
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise LoneSurrogate from None
    return value


def _decode(raw: bytes) -> str:
    if raw.startswith(b"\xef\xbb\xbf"):
        raise InvalidJson("The body must not start with a byte order mark.")
    try:
        return str(raw, "utf-8")
    except UnicodeDecodeError as error:
        raise InvalidJson(f"The body is not UTF-8: byte {error.start} is invalid.") from None


def _check_depth(raw: bytes, max_depth: int) -> None:
    """Refuse deep nesting before parsing, because the parser recurses once per level."""
    if raw.count(b"[") + raw.count(b"{") <= max_depth:
        return
    marks = raw.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _NOT_MARKS)
    # A string without brackets is now a pair of quotes. Without the pair all other marks stay inside or outside text.
    brackets = b"".join(marks.replace(b'""', b"").split(b'"')[::2])
    if any(map(max_depth.__lt__, accumulate(map(_STEP.__getitem__, brackets)))):
        raise NestingTooDeep(f"The body is nested deeper than {max_depth} levels.", max_depth=max_depth)


def _check_strings(value: Any) -> None:
    """Check every string of a body with a suspicious escape; the parser has refused raw NUL and raw surrogates."""
    for text in _strings(value):
        check_text(text)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from _strings(member)
    elif isinstance(value, list):
        for member in value:
            yield from _strings(member)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        _refuse_duplicate(pairs)
    return found


def _refuse_duplicate(pairs: list[tuple[str, Any]]) -> NoReturn:
    seen: set[str] = set()
    twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    raise DuplicateKey(f"The key {twice[:80]!a} occurs twice in one object.")


def whole(text: str) -> int | Decimal:
    """Read an integer; `-0` becomes a Decimal, because an int cannot hold its sign."""
    return Decimal(text) if text == "-0" else int(text)


def _integer(text: str, allowed: range | None) -> int | Decimal:
    if len(text) > MAX_INTEGER_DIGITS and len(text.lstrip("-")) > MAX_INTEGER_DIGITS:
        raise NumberOutOfRange(f"An integer has more than {MAX_INTEGER_DIGITS} digits.")
    value = whole(text)
    if allowed is not None and not allowed.start <= value < allowed.stop:  # `in` walks through a range for a Decimal
        raise NumberOutOfRange(f"An integer is not between {allowed.start} and {allowed.stop - 1}.")
    return value


def _decimal(text: str, max_exponent: int) -> Decimal:
    if len(text) > MAX_DECIMAL_CHARACTERS:
        raise NumberOutOfRange(f"A number has more than {MAX_DECIMAL_CHARACTERS} characters.")
    try:
        value = Decimal(text)
    except InvalidOperation:  # the exponent itself is beyond what Decimal holds
        raise NumberOutOfRange from None
    if not -max_exponent <= value.adjusted() <= max_exponent:
        raise NumberOutOfRange(f"A number's exponent is beyond {max_exponent}.")
    return value


def _constant(_text: str) -> NoReturn:
    raise InvalidJson("NaN and Infinity are not JSON.")


@lru_cache
def _decoder(max_exponent: int, integers: range | None) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_object,
        parse_float=lambda text: _decimal(text, max_exponent),
        parse_int=lambda text: _integer(text, integers),
        parse_constant=_constant,
    )
