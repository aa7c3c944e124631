"""The key of each tenant, under which rows are sealed that nobody shall read once the tenant is closed.

The key is random and stored sealed by the platform's key ring. Closing the tenant destroys it, and with it all that it
sealed, in append-only tables and in backups of them too. A process keeps a key in memory for a minute at most.
"""

import os
import time
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from django.db import transaction

from core import clock
from core.crypto import KeyRing, SealBroken, key_ring
from core.db import lasting_cursor, needs_transaction
from core.pipeline import Call, Rows, Statement, run

from .models import TenantKey

REFRESH_SECONDS = 60.0

_SEALED_FOR = "tenant-key"
_NAME = "1"  # of the tenant's only key in what it seals
_KEPT_AT_MOST = 4_096
_INSERT = """
INSERT INTO organizations_tenantkey (tenant_id, sealed_key, created_at) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING
"""


class KeyDestroyed(SealBroken):
    """The tenant is closed, and its key was destroyed: what it sealed cannot be read again."""


class _Row(NamedTuple):
    """A tenant's key, sealed, in hexadecimal; None once it is destroyed."""

    sealed_key: str | None


_KEY = Statement.of(
    "SELECT encode(k.sealed_key, 'hex') AS sealed_key FROM organizations_tenantkey k WHERE k.tenant_id = $1", row=_Row
)

_kept: dict[UUID, tuple[float, KeyRing]] = {}


def seal(tenant_id: UUID, plain: bytes, *, purpose: str, place: bytes) -> bytes:
    """Encrypt a value under the tenant's key and bind it to tenant, purpose and place.

    The first call for a tenant creates its key. A key that the process has read within a minute costs no query; to read one
    in a trip that is made anyway, send `tenant_key_call` with it.

    :raises KeyDestroyed: the tenant is closed.
    """
    return _ring_of(tenant_id).seal(plain, purpose=purpose, place=tenant_id.bytes + place)


def unseal(tenant_id: UUID, sealed: bytes, *, purpose: str, place: bytes) -> bytes:
    """Decrypt a value that `seal` returned for the same tenant, purpose and place.

    :raises KeyDestroyed: the tenant is closed.
    :raises SealBroken: the value was altered, or sealed for another tenant, purpose or place.
    """
    return _ring_of(tenant_id).open(sealed, purpose=purpose, place=tenant_id.bytes + place)


def tenant_key_call(tenant_id: UUID) -> Call:
    """Return the call that reads a tenant's key, whichever tenant is bound; pass its rows to `keep_tenant_key`."""
    return Call(_KEY, [str(tenant_id)])


def keep_tenant_key(tenant_id: UUID, rows: Rows) -> None:
    """Keep the key that `tenant_key_call` read, so that the next `seal` or `unseal` needs no query.

    :raises KeyDestroyed: the tenant is closed.
    """
    _keep(tenant_id, rows)


def _keep(tenant_id: UUID, rows: Rows) -> KeyRing | None:
    """Keep the key that was read and return it; None where the tenant has none yet."""
    found = rows.of(_Row)
    if not found:
        return None
    sealed = found[0].sealed_key
    if sealed is None:
        _kept.pop(tenant_id, None)
        raise KeyDestroyed("The tenant's key was destroyed.")
    if len(_kept) > _KEPT_AT_MOST:
        _kept.clear()
    ring = _opened(tenant_id, sealed)
    _kept[tenant_id] = (time.monotonic(), ring)
    return ring


def forget_tenant_keys() -> None:
    """Drop the keys that the process has in memory."""
    _kept.clear()
    _opened.cache_clear()


@needs_transaction
def create_key(tenant_id: UUID, *, at: datetime) -> bool:
    """Create the key of a tenant that has none yet, in the open transaction; return whether it is new."""
    _, is_new = TenantKey.objects.get_or_create(
        tenant_id=tenant_id, defaults={"sealed_key": _new(tenant_id), "created_at": at}
    )
    return is_new


@needs_transaction
def destroy_key(tenant_id: UUID, *, at: datetime) -> None:
    """Destroy the tenant's key; the row stays, so that no other key is ever created for the tenant."""
    gone = {"sealed_key": None, "destroyed_at": at}
    changed = TenantKey.objects.filter(tenant_id=tenant_id, destroyed_at=None).update(**gone)
    if not changed:
        TenantKey.objects.get_or_create(tenant_id=tenant_id, defaults={**gone, "created_at": at})
    transaction.on_commit(forget_tenant_keys)


def _ring_of(tenant_id: UUID) -> KeyRing:
    kept = _kept.get(tenant_id)
    if kept is not None and time.monotonic() - kept[0] < REFRESH_SECONDS:
        return kept[1]
    _kept.pop(tenant_id, None)
    for make in (False, True):
        if make:
            with lasting_cursor() as cursor:  # what others seal meanwhile outlives the caller's transaction
                cursor.execute(_INSERT, [tenant_id, _new(tenant_id), clock.now()])
        (rows,) = run([tenant_key_call(tenant_id)])
        if ring := _keep(tenant_id, rows):
            return ring
    raise RuntimeError("the tenant has no key, and none could be created")


def _new(tenant_id: UUID) -> bytes:
    return key_ring().seal(os.urandom(32), purpose=_SEALED_FOR, place=tenant_id.bytes)


@lru_cache(maxsize=1_024)
def _opened(tenant_id: UUID, sealed: str) -> KeyRing:
    return KeyRing({_NAME: key_ring().open(bytes.fromhex(sealed), purpose=_SEALED_FOR, place=tenant_id.bytes)})
