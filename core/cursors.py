"""Opaque cursors: where a list goes on, sealed to the tenant, path, sort and filters it was made for.

base64url(version, key id, nonce, ChaCha20-Poly1305{sort values, id, direction, issued at}). They carry no rights.
Source: contract, conventions "Cursor".
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
    """Altered, expired, or made for another list; all look alike."""

    code = "invalid_cursor"
    title = "The cursor is not valid for this list; start again without it."


@dataclass(frozen=True, slots=True)
class Position:
    """The row a page ended at: its sort values in text form (None is NULL), its id, and which way to go on."""

    values: tuple[str | None, ...]
    id: str
    direction: Direction = "next"


def digest_filters(pairs: Iterable[tuple[str, str]]) -> str:
    """Hash filters so that their order does not matter and no value can pass for a name."""
    return hashlib.sha256(orjson.dumps(sorted(pairs))).hexdigest()


def seal(position: Position, *, tenant_id: UUID | None, path: str, sort: str, filters_hash: str, at: datetime) -> str:
    """Write a position as a token that only this list of this tenant opens."""
    plain = orjson.dumps([position.values, position.id, position.direction, int(at.timestamp())])
    sealed = key_ring().seal(plain, purpose=_PURPOSE, place=_place(tenant_id, path, sort, filters_hash))
    return _write(_VERSION + sealed)


def open(text: str, *, tenant_id: UUID | None, path: str, sort: str, filters_hash: str, at: datetime) -> Position:
    """Read a token that `seal` wrote for the same list.

    :raises InvalidCursor: altered, of another list, older than 72 hours, or its key is gone.
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
    """The associated data, each part with its length before it, so that no two lists share one."""
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
    if token[:1] != _VERSION or _write(token) != text:  # one token has one spelling
        raise InvalidCursor
    return token[1:]
