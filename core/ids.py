"""Identifiers. UUIDv7 everywhere: ordered by time, so indexes grow at one end. Source: RFC 9562 section 5.7."""

import os
import time
from uuid import UUID


def uuid7() -> UUID:
    """Make a UUIDv7: 48 bits of Unix milliseconds, then 74 random bits."""
    stamp = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (stamp << 80) | (0x7 << 76) | ((random >> 68) & 0xFFF) << 64 | (0x2 << 62) | (random & (1 << 62) - 1)
    return UUID(int=value)


def parse_uuid(text: str) -> UUID | None:
    """Read a UUID in its canonical 36-character form, or None."""
    if len(text) != 36:
        return None
    try:
        return UUID(text)
    except ValueError:
        return None
