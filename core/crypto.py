"""Secrets under keys that can be rotated: digested where they are only compared, sealed where they are used again.

The keys come from `FIELD_ENCRYPTION_KEYS`, a comma-separated list of `id:base64(32 bytes)`. The first one seals; every
one opens.
"""

import base64
import hashlib
import hmac
import os
import secrets
import zlib
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class SealBroken(ValueError):
    """A sealed value was altered, was sealed for another place, or its key is no longer in the ring."""


class KeyRing:
    """Named 32-byte keys; the first is used for new values."""

    def __init__(self, keys: dict[str, bytes]) -> None:
        if not keys or any(len(key) != 32 for key in keys.values()):
            raise ValueError("FIELD_ENCRYPTION_KEYS needs id:base64 of 32 bytes each")
        self._keys = keys
        self.current = next(iter(keys))
        self._derived = lru_cache(maxsize=256)(self._derive)
        self._cipher = lru_cache(maxsize=256)(lambda key_id, purpose: ChaCha20Poly1305(self.key(purpose, key_id)))

    @classmethod
    def parse(cls, text: str) -> "KeyRing":
        """Read `id:base64,id:base64`.

        :raises ValueError: a part is not of that form.
        """
        pairs = (part.strip().split(":", 1) for part in text.split(",") if part.strip())
        return cls({name: base64.b64decode(key) for name, key in pairs})

    def _derive(self, key_id: str, purpose: str) -> bytes:
        kdf = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose.encode())
        return kdf.derive(self._keys[key_id])

    def key(self, purpose: str, key_id: str | None = None) -> bytes:
        """Derive a 32-byte key for one purpose with HKDF. Source: RFC 5869."""
        return self._derived(key_id or self.current, purpose)

    def seal(self, plain: bytes, *, purpose: str, place: bytes = b"") -> bytes:
        """Encrypt a value and bind it to `place`, where it is stored; returns key id, 0x00, nonce, ciphertext with tag.

        The cipher is ChaCha20-Poly1305. Source: RFC 8439.
        """
        nonce = os.urandom(12)
        head = self.current.encode() + b"\0"
        return head + nonce + self._cipher(self.current, purpose).encrypt(nonce, plain, head + place)

    def open(self, sealed: bytes, *, purpose: str, place: bytes = b"") -> bytes:
        """Decrypt a value that `seal` returned for the same purpose and place.

        :raises SealBroken: the value was altered, was sealed for another place, or its key is not in the ring.
        """
        name, _, rest = bytes(sealed).partition(b"\0")
        try:
            return self._cipher(name.decode(), purpose).decrypt(rest[:12], rest[12:], name + b"\0" + place)
        except (InvalidTag, KeyError, UnicodeDecodeError, ValueError) as error:
            raise SealBroken("The sealed value cannot be opened.") from error

    def is_current(self, sealed: bytes) -> bool:
        """Tell whether the value was sealed under the current key; a value that was not should be sealed again."""
        return bytes(sealed).partition(b"\0")[0].decode(errors="replace") == self.current

    def digest(self, secret: str, *, purpose: str, key_id: str | None = None) -> str:
        """Return the HMAC-SHA256 of a high-entropy secret as `keyid:hex`; stolen digests alone prove nothing."""
        name = key_id or self.current
        return f"{name}:{hmac.new(self.key(purpose, name), secret.encode(), hashlib.sha256).hexdigest()}"

    def matches(self, secret: str, digest: str, *, purpose: str) -> bool:
        """Compare a secret in constant time with a digest made under any key of the ring."""
        name = digest.partition(":")[0]
        if name not in self._keys:
            return False
        return hmac.compare_digest(self.digest(secret, purpose=purpose, key_id=name), digest)


@lru_cache(maxsize=1)
def key_ring() -> KeyRing:
    """Return the key ring of the settings, read once for each process."""
    from django.conf import settings

    return KeyRing.parse(settings.FIELD_ENCRYPTION_KEYS)


def random_text(length: int) -> str:
    """Return `length` random base62 characters from the system's random source."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def checksum(text: str) -> str:
    """Return the CRC-32 as six base62 characters, by which a secret scanner recognizes a real key without a look-up."""
    value, out = zlib.crc32(text.encode()), ""
    for _ in range(6):
        value, rest = divmod(value, 62)
        out = _ALPHABET[rest] + out
    return out
