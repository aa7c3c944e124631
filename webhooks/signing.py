"""Standard Webhooks signatures. Source: Standard Webhooks 1.0.0, "Signature scheme" and "Secret"."""

import base64
import binascii
import hmac
import os
from collections.abc import Iterable, Mapping
from datetime import datetime

SECRET_PREFIX = "whsec_"  # noqa: S105  # the public mark of a key, not a key
KEY_BYTES = 32
_SHORTEST_KEY_BYTES, _LONGEST_KEY_BYTES = 24, 64


def new_key() -> bytes:
    """Make a signing key from the system's random source."""
    return os.urandom(KEY_BYTES)


def write_secret(key: bytes) -> str:
    """Write a key the way receivers expect it: `whsec_` and Base64."""
    return SECRET_PREFIX + base64.b64encode(key).decode()


def read_secret(secret: str) -> bytes:
    """Read a key from its `whsec_` form.

    :raises ValueError: not Base64, or not of 24 to 64 bytes.
    """
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("the secret is not Base64") from error
    if not _SHORTEST_KEY_BYTES <= len(key) <= _LONGEST_KEY_BYTES:
        raise ValueError("the secret must hold 24 to 64 bytes")
    return key


def sign(keys: Iterable[bytes], *, message_id: str, at: datetime, body: bytes) -> str:
    """Sign the exact bytes that are sent, once per live key, newest first.

    The signed content is `id.timestamp.body`, the timestamp in whole seconds since 1970.
    """
    signed = f"{message_id}.{int(at.timestamp())}.".encode() + body
    return " ".join("v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode() for key in keys)


def headers(keys: Iterable[bytes], *, message_id: str, at: datetime, body: bytes) -> Mapping[str, str]:
    """Make the three headers of a signed message."""
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": sign(keys, message_id=message_id, at=at, body=body),
    }
