"""Signing keys at rest: sealed under the platform's key ring, each bound to its endpoint and row."""

from uuid import UUID

from core.crypto import key_ring

_PURPOSE = "webhooks.secret"


def seal_key(key: bytes, *, endpoint_id: UUID, secret_id: UUID) -> bytes:
    """Encrypt a signing key so that it opens only in its own row."""
    return key_ring().seal(key, purpose=_PURPOSE, place=endpoint_id.bytes + secret_id.bytes)


def open_key(sealed: bytes, *, endpoint_id: UUID, secret_id: UUID) -> bytes:
    """Decrypt a signing key.

    :raises SealBroken: altered, moved to another row, or its platform key is gone.
    """
    return key_ring().open(sealed, purpose=_PURPOSE, place=endpoint_id.bytes + secret_id.bytes)
