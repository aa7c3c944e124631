"""The keys that sign: sealed in PostgreSQL, cached in the process, rotated without interruption.

Each purpose has one active key, which signs. A replaced key for tokens verifies until every token it signed has long
expired; a replaced key of another purpose verifies for good. Each process reads the table again every minute, and at once,
though at most every few seconds, for a signature that names an unknown key.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from django.db import connection, transaction
from django.db.models import Q
from jwcrypto import jwk

from core import clock
from core.crypto import key_ring
from core.db import lasting_cursor, needs_transaction
from core.errors import NotFound

from .models import SigningKey

Purpose = SigningKey.Purpose
PrivateKey = RSAPrivateKey | EllipticCurvePrivateKey
PublicKey = RSAPublicKey | EllipticCurvePublicKey

ALGORITHM = "RS256"  # of tokens
ALGORITHMS: Final[Mapping[str, str]] = {
    Purpose.TOKEN: ALGORITHM,
    Purpose.SNAPSHOT: "ES256",
    Purpose.CHECKPOINT: "ES256",
}
KEY_BITS = 2048
OVERLAP = timedelta(hours=1)
REFRESH_SECONDS = 60.0
UNKNOWN_KID_SECONDS = 3.0

_SEALED_FOR = "signing-key"
_INSERT = """
INSERT INTO organizations_signingkey (kid, purpose, algorithm, status, public_pem, sealed_pem, created_at)
VALUES (%s, %s, %s, 'active', %s, %s, %s) ON CONFLICT DO NOTHING
"""


class UnknownSigningKey(NotFound):
    """The platform has no key with this id for this purpose."""

    code = "unknown_signing_key"
    title = "There is no such signing key."


@dataclass(frozen=True, slots=True)
class Key:
    """A key in memory; only an active key has its private half."""

    kid: str
    purpose: str
    public: PublicKey
    private: PrivateKey | None
    created_at: datetime
    retired_at: datetime | None = None
    compromised_at: datetime | None = None

    def public_jwk(self) -> dict[str, str]:
        """The public half for the key set document. Source: RFC 7517 section 4."""
        exported: dict[str, str] = jwk.JWK.from_pyca(self.public).export_public(as_dict=True)
        return exported | {"kid": self.kid, "use": "sig", "alg": ALGORITHMS[self.purpose]}


@dataclass(frozen=True, slots=True)
class _Ring:
    """The keys read from the table, by id, and the active ones by purpose; `read_at` is by the monotonic clock."""

    active: Mapping[str, Key] = field(default_factory=lambda: MappingProxyType({}))
    keys: Mapping[str, Key] = field(default_factory=lambda: MappingProxyType({}))
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


def active_key(purpose: str = Purpose.TOKEN, *, kid: str = "") -> Key:
    """Return the key that signs; the first call on a new platform creates it.

    :param kid: the id of the active key as the caller has just read it; a cached key with this id is taken whatever its age,
        without a query, and one with another id is read anew.
    """
    ring = _cache.ring if kid else _cache.fresh(REFRESH_SECONDS)
    found = ring.active.get(purpose)
    if found is None or (kid and found.kid != kid):
        _cache.drop()
        found = _cache.fresh(0).active.get(purpose)
    if found is None:
        _make_first(purpose)
        _cache.drop()
        found = _cache.fresh(0).active.get(purpose)
    if found is None:
        raise RuntimeError(f"no active signing key for {purpose}, and none could be created")
    return found


def ensure_keys() -> dict[str, str]:
    """Create the keys that are missing and return the id of the active key of each purpose."""
    return {purpose: active_key(purpose).kid for purpose in Purpose.values}


def sign(claims: dict[str, Any], *, typ: str) -> str:
    """Sign claims as a JSON Web Token with the active key; the header names the key and the type of token."""
    key = active_key()
    return jwt.encode(claims, private_half(key), algorithm=ALGORITHM, headers={"kid": key.kid, "typ": typ})


def private_half(key: Key) -> PrivateKey:
    """Return the private half of an active key."""
    if key.private is None:
        raise RuntimeError("the active signing key has no private half")
    return key.private


def verifying_key(kid: str) -> RSAPublicKey | None:
    """Return the public key for tokens with this id, or None; an unknown id reads the table at most every few seconds."""
    found = key_named(kid, purpose=Purpose.TOKEN)
    return found.public if found and isinstance(found.public, RSAPublicKey) else None


def key_named(kid: str, *, purpose: str) -> Key | None:
    """Return the key of a purpose with this id, compromised or not; None if it is unknown or no longer verifies."""
    found = _cache.fresh(REFRESH_SECONDS).keys.get(kid) or _cache.after_unknown_kid().keys.get(kid)
    return found if found and found.purpose == purpose else None


def published_keys(purpose: str = Purpose.TOKEN) -> list[Key]:
    """List the keys of a purpose whose signatures may be trusted, the active one first, compromised ones left out."""
    active_key(purpose)
    keys = _cache.fresh(REFRESH_SECONDS).keys.values()
    sound = [key for key in keys if key.purpose == purpose and key.compromised_at is None]
    return sorted(sound, key=lambda key: (key.private is None, key.kid))


def forget_cached_keys() -> None:
    """Drop the process's copy of the keys, after a rotation and in tests."""
    _cache.drop()


@needs_transaction
def rotate(*, at: datetime, max_age: timedelta = timedelta(0), purpose: str = Purpose.TOKEN) -> tuple[str, bool]:
    """Create a new signing key if the active one is older than `max_age`; the private half of the former is deleted.

    The former key goes on verifying: for `OVERLAP` where it signed tokens, otherwise for good.

    :returns: the id of the active key and whether it is new.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"signing key {purpose}"])
    current = SigningKey.objects.select_for_update().filter(status=SigningKey.Status.ACTIVE, purpose=purpose).first()
    if current is None:
        return active_key(purpose).kid, True
    if current.created_at > at - max_age:
        return current.kid, False
    ended: dict[str, Any] = {"status": SigningKey.Status.RETIRED}
    if purpose == Purpose.TOKEN:
        ended = {"status": SigningKey.Status.RETIRING, "verifies_until": at + OVERLAP}
    SigningKey.objects.filter(kid=current.kid).update(retired_at=at, sealed_pem=None, **ended)
    kid, values = _new(purpose, at)
    SigningKey.objects.create(kid=kid, status=SigningKey.Status.ACTIVE, **values)
    transaction.on_commit(_cache.drop)
    return kid, True


@needs_transaction
def withdraw(kid: str, *, at: datetime) -> bool:
    """Retire a replaced key for tokens at once; return whether it was retiring."""
    changed = SigningKey.objects.filter(kid=kid, status=SigningKey.Status.RETIRING).update(
        status=SigningKey.Status.RETIRED, verifies_until=at
    )
    transaction.on_commit(_cache.drop)
    return bool(changed)


@needs_transaction
def mark_compromised(kid: str, *, purpose: str, at: datetime) -> tuple[datetime, bool]:
    """Mark a key as compromised from `at`, or from an earlier mark, and replace it if it is the active one.

    A compromised key for tokens verifies nothing more.

    :returns: the instant from which the key counts as compromised, and whether the active key was replaced.
    :raises UnknownSigningKey: there is no such key.
    """
    row = SigningKey.objects.select_for_update().filter(kid=kid, purpose=purpose).first()
    if row is None:
        raise UnknownSigningKey
    if row.compromised_at is not None:
        return row.compromised_at, False
    was_active = row.status == SigningKey.Status.ACTIVE
    if was_active:
        rotate(at=at, purpose=purpose)
    ended = {"verifies_until": at} if purpose == Purpose.TOKEN else {}
    SigningKey.objects.filter(kid=kid).update(compromised_at=at, status=SigningKey.Status.RETIRED, **ended)
    transaction.on_commit(_cache.drop)
    return at, was_active


def retire_expired(*, at: datetime) -> int:
    """Mark the keys whose overlap has ended as retired; return their number."""
    ended = SigningKey.objects.filter(status=SigningKey.Status.RETIRING, verifies_until__lte=at)
    return ended.update(status=SigningKey.Status.RETIRED)


def _make_first(purpose: str = Purpose.TOKEN) -> None:
    """Create the first key of a purpose, unless another process was faster; then that key is used.

    The key is committed at once. If the caller's transaction rolls back, signatures that others hold already stay valid.
    """
    kid, values = _new(purpose, clock.now())
    row = [kid, *(values[name] for name in ("purpose", "algorithm", "public_pem", "sealed_pem", "created_at"))]
    with lasting_cursor() as cursor:
        cursor.execute(_INSERT, row)


def _new(purpose: str, at: datetime) -> tuple[str, dict[str, Any]]:
    """Generate a key; return its RFC 7638 thumbprint and the columns of its row."""
    private: PrivateKey
    if ALGORITHMS[purpose] == ALGORITHM:
        private = rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS)
    else:
        private = ec.generate_private_key(ec.SECP256R1())
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public_pem = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    kid: str = jwk.JWK.from_pyca(private.public_key()).thumbprint()
    return kid, {
        "purpose": purpose,
        "algorithm": ALGORITHMS[purpose],
        "public_pem": public_pem.decode(),
        "sealed_pem": key_ring().seal(pem, purpose=_SEALED_FOR, place=kid.encode()),
        "created_at": at,
    }


def _read() -> _Ring:
    status = SigningKey.Status
    verifies = Q(status=status.ACTIVE) | Q(status=status.RETIRING, verifies_until__gt=clock.now())
    rows = SigningKey.objects.filter(verifies | ~Q(purpose=Purpose.TOKEN)).order_by("kid")
    keys = {row.kid: _key_of(row) for row in rows}
    active = {key.purpose: key for key in keys.values() if key.private is not None}
    return _Ring(active=active, keys=keys, read_at=time.monotonic())


def _key_of(row: SigningKey) -> Key:
    sealed = bytes(row.sealed_pem) if row.status == SigningKey.Status.ACTIVE and row.sealed_pem else None
    return Key(
        kid=row.kid,
        purpose=row.purpose,
        public=_load_public(row.public_pem),
        private=_load_private(row.kid, sealed) if sealed else None,
        created_at=row.created_at,
        retired_at=row.retired_at,
        compromised_at=row.compromised_at,
    )


@lru_cache(maxsize=8)
def _load_private(kid: str, sealed: bytes) -> PrivateKey:
    pem = key_ring().open(sealed, purpose=_SEALED_FOR, place=kid.encode())
    loaded = serialization.load_pem_private_key(pem, password=None)
    if not isinstance(loaded, RSAPrivateKey | EllipticCurvePrivateKey):
        raise TypeError("signing keys are RSA keys or keys of an elliptic curve")
    return loaded


@lru_cache(maxsize=512)
def _load_public(pem: str) -> PublicKey:
    loaded = serialization.load_pem_public_key(pem.encode())
    if not isinstance(loaded, RSAPublicKey | EllipticCurvePublicKey):
        raise TypeError("signing keys are RSA keys or keys of an elliptic curve")
    return loaded
