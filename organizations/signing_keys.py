"""The keys that sign tokens: sealed in PostgreSQL, cached in the process, rotated without interruption.

One key is active and signs. The key before it verifies until every token it signed has long expired. Each process reads
the table again every minute, and at once, though at most every few seconds, for a token that names an unknown key.
"""

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey, generate_private_key
from django.db import IntegrityError, transaction
from django.db.models import Q
from jwcrypto import jwk

from core import clock
from core.crypto import key_ring
from core.db import needs_transaction

from .models import SigningKey

ALGORITHM = "RS256"
KEY_BITS = 2048
OVERLAP = timedelta(hours=1)
REFRESH_SECONDS = 60.0
UNKNOWN_KID_SECONDS = 3.0

_PURPOSE = "signing-key"


@dataclass(frozen=True, slots=True)
class Key:
    """A key in memory; only the active key has its private half."""

    kid: str
    public: RSAPublicKey
    private: RSAPrivateKey | None

    def public_jwk(self) -> dict[str, str]:
        """The public half for the key set document. Source: RFC 7517 section 4."""
        exported: dict[str, str] = jwk.JWK.from_pyca(self.public).export_public(as_dict=True)
        return exported | {"kid": self.kid, "use": "sig", "alg": ALGORITHM}


@dataclass(frozen=True, slots=True)
class _Ring:
    """The keys read from the table; `read_at` is by the monotonic clock."""

    active: Key | None = None
    keys: dict[str, Key] = field(default_factory=dict)
    read_at: float = float("-inf")


class _Cache:
    """The process's copy of the keys; one thread at a time reads them anew."""

    def __init__(self) -> None:
        self.ring = _Ring()
        self.lock = threading.Lock()
        self.unknown_kid_at = float("-inf")

    def fresh(self, max_age_seconds: float) -> _Ring:
        """Return the keys, read anew if the copy is older than `max_age_seconds`."""
        if time.monotonic() - self.ring.read_at > max_age_seconds:
            with self.lock:
                if time.monotonic() - self.ring.read_at > max_age_seconds:
                    self.ring = _read()
        return self.ring

    def after_unknown_kid(self) -> _Ring:
        """Return the keys, read anew at most every few seconds: forged key ids must not become queries."""
        with self.lock:
            if time.monotonic() - self.unknown_kid_at > UNKNOWN_KID_SECONDS:
                self.unknown_kid_at = time.monotonic()
                self.ring = _read()
        return self.ring

    def drop(self) -> None:
        """Drop the copy, so that the next use reads the table."""
        self.ring = _Ring()


_cache = _Cache()


def active_key() -> Key:
    """Return the key that signs; the first call on a new platform creates it."""
    ring = _cache.fresh(REFRESH_SECONDS)
    if ring.active is None:
        _make_first()
        _cache.drop()
        ring = _cache.fresh(0)
    if ring.active is None:
        raise RuntimeError("no active signing key, and none could be created")
    return ring.active


def sign(claims: dict[str, Any], *, typ: str) -> str:
    """Sign claims as a JSON Web Token with the active key; the header names the key and the type of token."""
    key = active_key()
    if key.private is None:
        raise RuntimeError("the active signing key has no private half")
    return jwt.encode(claims, key.private, algorithm=ALGORITHM, headers={"kid": key.kid, "typ": typ})


def verifying_key(kid: str) -> RSAPublicKey | None:
    """Return the public key with this id, or None; an unknown id reads the table at most every few seconds."""
    found = _cache.fresh(REFRESH_SECONDS).keys.get(kid) or _cache.after_unknown_kid().keys.get(kid)
    return found.public if found else None


def published_keys() -> list[Key]:
    """List the keys whose signatures are still valid, the active one first."""
    active_key()
    ring = _cache.fresh(REFRESH_SECONDS)
    return sorted(ring.keys.values(), key=lambda key: (key.private is None, key.kid))


def forget_cached_keys() -> None:
    """Drop the process's copy of the keys, after a rotation and in tests."""
    _cache.drop()


@needs_transaction
def rotate(*, at: datetime, max_age: timedelta = timedelta(0)) -> tuple[str, bool]:
    """Create a new signing key if the active one is older than `max_age`.

    The former key goes on verifying for `OVERLAP`; its private half is deleted at once.

    :returns: the id of the active key and whether it is new.
    """
    current = SigningKey.objects.select_for_update().filter(status=SigningKey.Status.ACTIVE).first()
    if current is not None and current.created_at > at - max_age:
        return current.kid, False
    if current is not None:
        SigningKey.objects.filter(kid=current.kid).update(
            status=SigningKey.Status.RETIRING, verifies_until=at + OVERLAP, sealed_pem=None
        )
    made = _insert_new(at)
    _cache.drop()
    transaction.on_commit(_cache.drop)
    return made, True


@needs_transaction
def withdraw(kid: str, *, at: datetime) -> bool:
    """Retire a replaced key at once, for example after a leak; return whether it was retiring."""
    changed = SigningKey.objects.filter(kid=kid, status=SigningKey.Status.RETIRING).update(
        status=SigningKey.Status.RETIRED, verifies_until=at
    )
    transaction.on_commit(_cache.drop)
    return bool(changed)


def retire_expired(*, at: datetime) -> int:
    """Mark the keys whose overlap has ended as retired; return their number."""
    ended = SigningKey.objects.filter(status=SigningKey.Status.RETIRING, verifies_until__lte=at)
    return ended.update(status=SigningKey.Status.RETIRED)


def _make_first() -> None:
    try:
        with transaction.atomic():
            _insert_new(clock.now())
    except IntegrityError:
        return  # another process was faster; its key is used


def _insert_new(at: datetime) -> str:
    private = generate_private_key(public_exponent=65537, key_size=KEY_BITS)
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public_pem = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    kid: str = jwk.JWK.from_pyca(private.public_key()).thumbprint()
    SigningKey.objects.create(
        kid=kid,
        algorithm=ALGORITHM,
        status=SigningKey.Status.ACTIVE,
        public_pem=public_pem.decode(),
        sealed_pem=key_ring().seal(pem, purpose=_PURPOSE, place=kid.encode()),
        created_at=at,
    )
    return kid


def _read() -> _Ring:
    good = Q(status=SigningKey.Status.ACTIVE) | Q(status=SigningKey.Status.RETIRING, verifies_until__gt=clock.now())
    keys = {row.kid: _key_of(row) for row in _rows(good)}
    active = next((key for key in keys.values() if key.private is not None), None)
    return _Ring(active=active, keys=keys, read_at=time.monotonic())


def _rows(condition: Q) -> Iterable[SigningKey]:
    return SigningKey.objects.filter(condition, algorithm=ALGORITHM).order_by("kid")


def _key_of(row: SigningKey) -> Key:
    sealed = bytes(row.sealed_pem) if row.status == SigningKey.Status.ACTIVE and row.sealed_pem else None
    return Key(
        kid=row.kid, public=_load_public(row.public_pem), private=_load_private(row.kid, sealed) if sealed else None
    )


@lru_cache(maxsize=8)
def _load_private(kid: str, sealed: bytes) -> RSAPrivateKey:
    pem = key_ring().open(sealed, purpose=_PURPOSE, place=kid.encode())
    loaded = serialization.load_pem_private_key(pem, password=None)
    if not isinstance(loaded, RSAPrivateKey):
        raise TypeError("signing keys are RSA keys")
    return loaded


@lru_cache(maxsize=32)
def _load_public(pem: str) -> RSAPublicKey:
    loaded = serialization.load_pem_public_key(pem.encode())
    if not isinstance(loaded, RSAPublicKey):
        raise TypeError("signing keys are RSA keys")
    return loaded
