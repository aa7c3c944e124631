"""The store of files: a folder or S3, as the setting `STORAGE_URL` says. Never called inside a transaction.

Each object has one key that is never used again: the tenant, the digest of the content, and the id of the file.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Final, cast
from uuid import UUID

from django.core.files import File as DjangoFile
from django.core.files.storage import Storage, storages
from django.db import connection

from .refusals import StoreAway

STORE: Final = "files"
RETRY_SECONDS: Final = 5
_PIECE: Final = 262_144


@dataclass(frozen=True, slots=True)
class Target:
    """Where a client sends a content itself, and the headers that it must send with it."""

    url: str
    headers: dict[str, str]


def object_key(tenant_id: UUID, sha256: str, file_id: UUID) -> str:
    """Return the key of a file's object."""
    return f"{tenant_id}/{sha256}.{file_id}"


def incoming_key(tenant_id: UUID, file_id: UUID) -> str:
    """Return the key under which a client stores a content itself; it is copied before anybody else reads it."""
    return f"{tenant_id}/incoming.{file_id}"


def put(key: str, content: Any) -> None:
    """Store a content, a readable file, under a key.

    :raises StoreAway: the store does not answer.
    """
    with _asked() as store:
        store.save(key, DjangoFile(content, name=key))


def opened(key: str) -> IO[bytes]:
    """Open the content of an object; the caller closes it.

    :raises FileNotFoundError: there is no such object.
    :raises StoreAway: the store does not answer.
    """
    with _asked() as store:
        if not store.exists(key):
            raise FileNotFoundError(key)
        return cast("IO[bytes]", store.open(key, "rb"))


def size_of(key: str) -> int | None:
    """Return the size of an object in bytes, None if there is none.

    :raises StoreAway: the store does not answer.
    """
    with _asked() as store:
        return int(store.size(key)) if store.exists(key) else None


def remove(key: str) -> None:
    """Delete an object; nothing happens if there is none.

    :raises StoreAway: the store does not answer.
    """
    with _asked() as store:
        store.delete(key)


def remove_all(tenant_id: UUID) -> int:
    """Delete every object of a tenant; return their number.

    :raises StoreAway: the store does not answer.
    """
    with _asked() as store:
        _, names = store.listdir(str(tenant_id))
        for name in names:
            store.delete(f"{tenant_id}/{name}")
        store.delete(str(tenant_id))  # the empty folder, where the store has folders
        return len(names)


def tenants() -> set[UUID]:
    """Return the tenants that have objects, or once had some.

    :raises StoreAway: the store does not answer.
    """
    with _asked() as store:
        try:
            folders, _ = store.listdir("")
        except FileNotFoundError:  # nothing was stored yet
            return set()
    return {UUID(name) for name in folders if _is_id(name)}


def pieces(content: IO[bytes]) -> Iterator[bytes]:
    """Yield a content piece by piece, from its beginning."""
    content.seek(0)
    while piece := content.read(_PIECE):
        yield piece


def own_target(key: str, *, content_type: str, size: int, seconds: int) -> Target | None:
    """Return where the store itself takes a content, signed; None if the platform has to take it.

    Type and size are part of the signature. What is stored there is not believed: it is measured and digested afterwards.
    """
    sign: Callable[..., tuple[str, dict[str, str]]] | None = getattr(storages[STORE], "signed_target", None)
    return Target(*sign(key, content_type=content_type, size=size, seconds=seconds)) if sign else None


def _is_id(name: str) -> bool:
    try:
        UUID(name)
    except ValueError:
        return False
    return True


@contextmanager
def _asked() -> Iterator[Storage]:
    """Lend the store, and turn what it raises into a refusal.

    :raises RuntimeError: a transaction is open, which would wait for the store; a programming error.
    """
    if connection.in_atomic_block:
        raise RuntimeError("the store of files is asked inside a transaction")
    store = storages[STORE]
    try:
        yield store
    except FileNotFoundError:
        raise
    except (OSError, *getattr(store, "faults", ())) as error:
        raise StoreAway(headers={"Retry-After": str(RETRY_SECONDS)}) from error
