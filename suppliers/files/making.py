"""Files that the platform itself writes, such as reports: stored as uploads are, and ready at once, since nobody sent them."""

from dataclasses import dataclass
from datetime import datetime
from typing import IO, Final
from uuid import UUID

from core import jobs
from core.actor import Actor, system_actor
from core.db import needs_transaction, tenant_context
from core.errors import Busy
from core.ids import uuid7
from ledger import public as ledger
from organizations.public import consume_quota

from . import storing
from .actions import QUOTA, RESERVED_FOR, SWEEP
from .events import FileUploaded
from .models import File, LooseObject
from .states import FileStatus, Purpose

MADE_BY: Final = "platform"


@dataclass(frozen=True, slots=True)
class Made:
    """A content that stands in the store, and that no file holds yet."""

    file_id: UUID
    object_key: str
    size: int
    sha256: str


def store_made(tenant_id: UUID, content: IO[bytes], *, size: int, sha256: str, at: datetime) -> Made:
    """Reserve the quota for a content and store it; not to be called inside a transaction.

    What no file comes to hold within 15 minutes is swept.

    :raises QuotaExceeded, StoreAway: as named; nothing is kept.
    """
    file_id = uuid7()
    made = Made(file_id, storing.object_key(tenant_id, sha256, file_id), size, sha256)
    with tenant_context(tenant_id):
        consume_quota(actor=system_actor(tenant_id), key=QUOTA, amount=size, at=at)
        LooseObject.objects.create(
            tenant_id=tenant_id, object_key=made.object_key, reserved_bytes=size, due_at=at + RESERVED_FOR,
            created_at=at, updated_at=at,
        )  # fmt: skip
    storing.put(made.object_key, content)
    return made


def give_up_made(tenant_id: UUID, made: Made, at: datetime) -> None:
    """Let the sweep delete a content that no file came to hold."""
    with tenant_context(tenant_id):
        _let_go(tenant_id, made, at)


@needs_transaction
def add_made(actor: Actor, made: Made, *, name: str, content_type: str, at: datetime) -> File:
    """Make the file of a stored content, or return the tenant's file of the same content.

    :raises Busy: the content was swept meanwhile, or the other file is not ready; try again.
    """
    file = File(
        id=made.file_id, tenant_id=actor.tenant_id, name=name, purpose=Purpose.REPORT.value, size=made.size,
        sha256=made.sha256, content_type=content_type, object_key=made.object_key, scanned_by=MADE_BY, check_at=at,
        created_at=at, updated_at=at,
    )  # fmt: skip
    file.receive()
    file.pass_scan()
    File.objects.bulk_create([file], ignore_conflicts=True)
    mine = File.objects.filter(tenant_id=actor.tenant_id, sha256=made.sha256, purpose=file.purpose)
    found: File | None = (
        mine.exclude(status=FileStatus.REJECTED.value).select_for_update(no_key=True).order_by("id").first()
    )
    if found is None or found.status != FileStatus.READY:
        raise Busy(headers={"Retry-After": "1"})
    if found.pk != file.pk:
        _let_go(actor.tenant_id, made, at)
        return found
    noted = LooseObject.objects.filter(tenant_id=actor.tenant_id, object_key=made.object_key)
    if not noted.delete()[0]:
        raise Busy(headers={"Retry-After": "1"})
    ledger.record(actor=actor, event=FileUploaded.of(file), resource_id=file.id, at=at, resource_version=file.version)
    return file


def _let_go(tenant_id: UUID, made: Made, at: datetime) -> None:
    mine = LooseObject.objects.filter(tenant_id=tenant_id, object_key=made.object_key)
    if mine.update_versions(at=at, due_at=at):
        jobs.enqueue(SWEEP, expires_seconds=jobs.RING_SECONDS)
