"""Canonical JSON, which has exactly one byte form for a value, for digests and signatures. Source: RFC 8785 (JCS)."""

import hashlib
from typing import Any

import rfc8785


def canonical_json(value: Any) -> bytes:
    """Write JSON in UTF-8 with sorted keys and no spaces; integers beyond 2^53 must be given as strings.

    :raises ValueError: the value has no canonical form (larger integers, lone surrogates, NaN).
    """
    return rfc8785.dumps(value)


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 digest as 64 hexadecimal characters."""
    return hashlib.sha256(data).hexdigest()
