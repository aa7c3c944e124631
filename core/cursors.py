"""Opaque cursors: where a list continues, sealed to the tenant, path, sort and filters of that list.

A cursor is base64url(version, key id, nonce, ChaCha20-Poly1305{sort values, id, direction, issued at}). It grants no
rights. Source: contract, conventions "Cursor".
"""

import base64
import binascii
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

import orjson

from .crypto import SealBroken, key_ring
from .errors import Malformed

Direction = Literal["next", "prev"]

LIFETIME = timedelta(hours=72)
CLOCK_SKEW = timedelta(minutes=5)
MAX_CHARACTERS = 8_192

_VERSION = b"\x01"
_PURPOSE = "cursor"


class InvalidCursor(Malformed):
    """The cursor was altered, has expired, or belongs to another list; the answer does not say which."""

    code = "invalid_cursor"
    title = "The cursor is not valid for this list; start again without it."


@dataclass(frozen=True, slots=True)
class Position:
    """The last row of a page: its sort values in text form (None is NULL), its id, and the direction to continue in."""

    values: tuple[str | None, ...]
    id: str
    direction: Direction = "next"


def digest_filters(pairs: Iterable[tuple[str, str]]) -> str:
    """Hash pairs of filter name and value; their order does not matter, and no value can be mistaken for a name."""
    return hashlib.sha256(orjson.dumps(sorted(pairs))).hexdigest()


def seal(position: Position, *, tenant_id: UUID | None, path: str, sort: str, filters_hash: str, at: datetime) -> str:
    """Write a position as a token that is valid only for this list of this tenant."""
    plain = orjson.dumps([position.values, position.id, position.direction, int(at.timestamp())])
    sealed = key_ring().seal(plain, purpose=_PURPOSE, place=_place(tenant_id, path, sort, filters_hash))
    return _write(_VERSION + sealed)


def open(text: str, *, tenant_id: UUID | None, path: str, sort: str, filters_hash: str, at: datetime) -> Position:
    """Read a token that `seal` wrote for the same list.

    :raises InvalidCursor: the token was altered, belongs to another list, is older than 72 hours, or its key is gone.
    """
    sealed = _read(text)
    try:
        plain = key_ring().open(sealed, purpose=_PURPOSE, place=_place(tenant_id, path, sort, filters_hash))
    except SealBroken:
        raise InvalidCursor from None
    values, row_id, direction, issued_at = orjson.loads(plain)
    age = timedelta(seconds=int(at.timestamp()) - issued_at)
    if not -CLOCK_SKEW <= age <= LIFETIME:
        raise InvalidCursor
    return Position(tuple(values), row_id, direction)


def _place(tenant_id: UUID | None, path: str, sort: str, filters_hash: str) -> bytes:
    """Return the associated data of the cipher; each part is preceded by its length, so no two lists share it."""
    parts = [part.encode("utf-8", "surrogatepass") for part in (str(tenant_id or ""), path, sort, filters_hash)]
    return _VERSION + b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def _write(token: bytes) -> str:
    return base64.urlsafe_b64encode(token).rstrip(b"=").decode()


def _read(text: str) -> bytes:
    if not text or len(text) > MAX_CHARACTERS or not text.isascii():
        raise InvalidCursor
    try:
        token = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidCursor from None
    if token[:1] != _VERSION or _write(token) != text:  # base64 allows several spellings of the same bytes
        raise InvalidCursor
    return token[1:]
