"""Identifiers: UUIDv7 everywhere, ordered by time, so indexes grow at one end. Source: RFC 9562 section 5.7."""

import os
import time
from uuid import UUID


def uuid7() -> UUID:
    """Make a UUIDv7: 48 bits of Unix milliseconds, 12 bits of their fraction, then 62 random bits.

    The fraction keeps ids of one process in the order they were made. Source: RFC 9562 section 6.2, method 3.
    """
    return UUID(int=_number())


def uuid7_text() -> str:
    """Make a UUIDv7 in its canonical text form; cheaper than a UUID object where only the text is needed."""
    digits = f"{_number():032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def _number() -> int:
    stamp, rest = divmod(time.time_ns(), 1_000_000)
    random = int.from_bytes(os.urandom(8), "big") >> 2
    return (stamp << 80) | (0x7 << 76) | (rest * 4096 // 1_000_000) << 64 | (0x2 << 62) | random


def parse_uuid(text: str) -> UUID | None:
    """Read a UUID in its canonical 36-character form; None if the text has another form."""
    if len(text) != 36:
        return None
    try:
        return UUID(text)
    except ValueError:
        return None
