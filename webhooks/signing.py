"""Standard Webhooks signatures. Source: Standard Webhooks 1.0.0, "Signature scheme" and "Secret"."""

import base64
import binascii
import hmac
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

HMAC, ED25519 = "hmac", "ed25519"
SECRET_PREFIX = "whsec_"  # noqa: S105  # the public marks of keys, not keys
SIGNING_KEY_PREFIX = "whsk_"
PUBLIC_KEY_PREFIX = "whpk_"
KEY_BYTES = 32
_SHORTEST_KEY_BYTES, _LONGEST_KEY_BYTES = 24, 64


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key and how it signs: an HMAC key, or the 32 bytes of an Ed25519 private key."""

    kind: str
    key: bytes


def new_key() -> bytes:
    """Make an HMAC key from the system's random source."""
    return os.urandom(KEY_BYTES)


def new_signing_key() -> bytes:
    """Make an Ed25519 private key: any 32 bytes are one. Source: RFC 8032 section 5.1.5."""
    return os.urandom(KEY_BYTES)


def write_secret(key: bytes) -> str:
    """Write an HMAC key the way receivers expect it: `whsec_` and Base64."""
    return SECRET_PREFIX + base64.b64encode(key).decode()


def read_secret(secret: str) -> bytes:
    """Read an HMAC key from its `whsec_` form.

    :raises ValueError: not Base64, or not of 24 to 64 bytes.
    """
    key = _read(SECRET_PREFIX, secret)
    if not _SHORTEST_KEY_BYTES <= len(key) <= _LONGEST_KEY_BYTES:
        raise ValueError("the secret must hold 24 to 64 bytes")
    return key


def signing_key_text(key: bytes) -> str:
    """Write an Ed25519 private key: `whsk_` and Base64 of it with its public key behind, as libraries keep the pair."""
    return SIGNING_KEY_PREFIX + base64.b64encode(key + _public(key)).decode()


def read_signing_key(text: str) -> bytes:
    """Read an Ed25519 private key from its `whsk_` form, with or without the public key behind it.

    :raises ValueError: not Base64, not of 32 or 64 bytes, or the public half belongs to another key.
    """
    found = _read(SIGNING_KEY_PREFIX, text)
    key, public = found[:KEY_BYTES], found[KEY_BYTES:]
    if len(key) != KEY_BYTES or public not in (b"", _public(key)):
        raise ValueError("the signing key must hold 32 bytes, or 64 that belong together")
    return key


def public_key_text(key: bytes) -> str:
    """Write the public half of an Ed25519 private key for receivers: `whpk_` and Base64."""
    return PUBLIC_KEY_PREFIX + base64.b64encode(_public(key)).decode()


def sign(keys: Iterable[SigningKey], *, message_id: str, at: datetime, body: bytes) -> str:
    """Sign the exact bytes that are sent, once per live key, newest first.

    The signed content is `id.timestamp.body`, the timestamp in whole seconds since 1970.

    :raises KeyError: a key's kind is unknown.
    """
    signed = f"{message_id}.{int(at.timestamp())}.".encode() + body
    return " ".join(_SIGNERS[key.kind](key.key, signed) for key in keys)


def headers(keys: Iterable[SigningKey], *, message_id: str, at: datetime, body: bytes) -> Mapping[str, str]:
    """Make the three headers of a signed message."""
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": sign(keys, message_id=message_id, at=at, body=body),
    }


def _read(prefix: str, text: str) -> bytes:
    try:
        return base64.b64decode(text.removeprefix(prefix), validate=True)
    except binascii.Error as error:
        raise ValueError("the key is not Base64") from error


def _public(key: bytes) -> bytes:
    return _private(key).public_key().public_bytes_raw()


@lru_cache(maxsize=1024)
def _private(key: bytes) -> Ed25519PrivateKey:
    """Making the object costs more than signing with it."""
    return Ed25519PrivateKey.from_private_bytes(key)


def _sign_hmac(key: bytes, signed: bytes) -> str:
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()


def _sign_ed25519(key: bytes, signed: bytes) -> str:
    return "v1a," + base64.b64encode(_private(key).sign(signed)).decode()


_SIGNERS: Mapping[str, Callable[[bytes, bytes], str]] = {HMAC: _sign_hmac, ED25519: _sign_ed25519}
