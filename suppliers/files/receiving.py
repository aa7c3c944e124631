"""Contents that clients send by themselves: taken by the platform's own address or found in the store, then measured.

What stands under the incoming key can still be overwritten by whoever has the link. So it is read once, digested, and stored
again under the file's own key; nobody reads it from where it came.
"""

import hashlib
import tempfile
from datetime import datetime, timedelta
from typing import IO, Any, Final
from uuid import UUID

from core import jobs
from core.actor import system_actor
from core.db import needs_transaction, tenant_context
from core.watermark import begin_batch

from . import storing
from .actions import LATE_FOR, RESERVED_FOR, SCAN, receive_content, reject_file
from .contents.recognising import recognise
from .links import Link
from .models import File, LooseObject
from .refusals import NoSuchContent, UnsupportedType, UploadDiffers
from .states import FileStatus, Rejection

LOOK_AGAIN: Final = timedelta(seconds=5)
LATEST: Final = timedelta(minutes=1)


def take_content(link: Link, content: Any, *, size: int, at: datetime) -> None:
    """Store a content that was sent to the platform's own address; workers measure it right after.

    :raises NoSuchContent: the file awaits no content.
    :raises UploadDiffers: it has another size than was announced.
    :raises StoreAway: the store does not answer.
    """
    with tenant_context(link.tenant_id):
        file = _awaiting(link.tenant_id, link.file_id)
    if file is None:
        raise NoSuchContent
    if size != file.size:
        raise UploadDiffers(f"{file.size} bytes were announced, {size} were sent.")
    storing.put(storing.incoming_key(link.tenant_id, link.file_id), content)
    with tenant_context(link.tenant_id):
        File.objects.filter(tenant_id=link.tenant_id, pk=link.file_id).update(check_at=at)
        jobs.enqueue(SCAN, expires_seconds=jobs.RING_SECONDS)


def measure(file: File, at: datetime) -> None:
    """Look whether the content of a file has come, and put it into quarantine if it is what was announced.

    :raises StoreAway: the store does not answer.
    """
    key = storing.incoming_key(file.tenant_id, file.id)
    size = storing.size_of(key)
    if size is None:
        _wait(file, at)
        return
    if size != file.size:
        _refuse(file, Rejection.WRONG_SIZE, at)
        return
    with storing.opened(key) as content, tempfile.TemporaryFile() as copy:
        if _copied(content, copy) != file.sha256:
            _refuse(file, Rejection.WRONG_CONTENT, at)
            return
        try:
            recognise(copy, name=file.name, declared=file.content_type, purpose=file.purpose)
        except UnsupportedType:
            _refuse(file, Rejection.UNSUPPORTED_TYPE, at)
            return
        _keep(file, copy, at)


def _copied(content: IO[bytes], copy: IO[bytes]) -> str:
    """Copy a content; return its SHA-256 (hex)."""
    digest = hashlib.sha256()
    for piece in storing.pieces(content):
        digest.update(piece)
        copy.write(piece)
    return digest.hexdigest()


def _keep(file: File, copy: IO[bytes], at: datetime) -> None:
    own = storing.object_key(file.tenant_id, file.sha256, file.id)
    with tenant_context(file.tenant_id):
        note = {"reserved_bytes": 0, "due_at": at + RESERVED_FOR, "created_at": at, "updated_at": at}
        LooseObject.objects.bulk_create(
            [LooseObject(tenant_id=file.tenant_id, object_key=own, **note)], ignore_conflicts=True
        )
    copy.seek(0)
    storing.put(own, copy)
    with tenant_context(file.tenant_id):
        _receive(file, own, due=at, at=begin_batch(file.tenant_id, at))


@needs_transaction
def _receive(file: File, own: str, *, due: datetime, at: datetime) -> None:
    """Let a content be scanned in the round that has received it, `due` its instant."""
    found = _awaiting(file.tenant_id, file.id)
    if found is None:  # another worker was faster, or it was deleted
        return
    receive_content(system_actor(file.tenant_id), found, own, due=due, at=at)


def _wait(file: File, at: datetime) -> None:
    """Look again a little later, or reject a file whose content did not come in time."""
    expires_at = file.upload_expires_at or file.created_at
    if at >= expires_at + LATE_FOR:
        _refuse(file, Rejection.UPLOAD_EXPIRED, at)
        return
    pause = min(LATEST, max(LOOK_AGAIN, (at - file.created_at) / 4))
    with tenant_context(file.tenant_id):
        File.objects.filter(tenant_id=file.tenant_id, pk=file.pk).update(check_at=at + pause)


def _refuse(file: File, reason: Rejection, at: datetime) -> None:
    with tenant_context(file.tenant_id):
        at = begin_batch(file.tenant_id, at)
        found = _awaiting(file.tenant_id, file.id)
        if found is not None:
            reject_file(system_actor(file.tenant_id), found, reason, at)


def _awaiting(tenant_id: UUID, file_id: UUID) -> File | None:
    """Return a file that awaits its content, locked until the transaction ends."""
    mine = File.objects.filter(tenant_id=tenant_id, pk=file_id, status=FileStatus.AWAITING_UPLOAD.value)
    found: File | None = mine.select_for_update(no_key=True).first()
    return found
