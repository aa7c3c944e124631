"""One byte form for one value, so that it can be digested and signed. Source: RFC 8785 (JCS)."""

import hashlib
from typing import Any

import rfc8785


def canonical_json(value: Any) -> bytes:
    """Write JSON with sorted keys, no spaces, UTF-8; numbers beyond 2^53 must come as strings.

    :raises ValueError: the value has no canonical form (big integers, lone surrogates, NaN).
    """
    return rfc8785.dumps(value)


def sha256_hex(data: bytes) -> str:
    """SHA-256 as 64 hexadecimal characters."""
    return hashlib.sha256(data).hexdigest()
