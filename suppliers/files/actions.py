"""Actions on files: keep an upload, announce one, describe, bind, delete, reject.

An upload is kept in three steps. A transaction reserves the quota and notes the object; the object is stored outside any
transaction; a second transaction makes the file. Whatever ends in between is found by the note (`LooseObject`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from core import jobs
from core.actor import Actor, system_actor
from core.db import needs_transaction, tenant_context
from core.errors import Busy, NotFound
from core.ids import uuid7
from core.results import Found, Revealed
from ledger import public as ledger
from organizations.public import consume_quota, release_quota

from . import storing
from .bindings import (
    add_bindings,
    check_bindings,
    check_no_evidence,
    check_not_handed_over,
    check_unbound,
    replace_bindings,
)
from .contents.recognising import check_announced, recognise
from .events import FileDeleted, FileEvent, FileUpdated, FileUploaded
from .links import WRITE_FOR
from .models import File, LooseObject
from .refusals import FileTooLarge, UploadDiffers
from .states import MOST_BYTES, FileStatus, Purpose, Rejection, Visibility
from .targets import shown_target

QUOTA: Final = "storage_bytes"
SCAN: Final = "suppliers.scan_files"
SWEEP: Final = "suppliers.sweep_files"
_SHOWING: Final = ("visibility", "bindings")
RESERVED_FOR: Final = timedelta(minutes=15)
LATE_FOR: Final = timedelta(minutes=5)  # how long after its link has expired an upload may still arrive


@dataclass(frozen=True, slots=True)
class Stored:
    """A content that stands in the store, and that no file holds yet; `reserved` are the bytes that the quota was charged."""

    file_id: UUID
    object_key: str
    content_type: str
    reserved: int


def store_upload(tenant_id: UUID, data: Mapping[str, Any], at: datetime) -> Stored | None:
    """Recognise an upload, reserve the quota for it and store it; None if the tenant has the same content already.

    A content that was announced has its quota, and is stored for the file that awaits it.

    :raises FileTooLarge, UnsupportedType, QuotaExceeded, StoreAway: as named; nothing is kept.
    """
    part = data["file"]
    check_size(part.size)
    media = recognise(part.file, name=data["name"], declared=part.content_type, purpose=data["purpose"])
    file_id = uuid7()
    with tenant_context(tenant_id):
        found = _same(tenant_id, part.sha256, data["purpose"])
        if found is not None and not _awaits(found):
            return None
        reserved = part.size if found is None else 0
        stored = Stored(file_id, storing.object_key(tenant_id, part.sha256, file_id), media, reserved)
        if reserved:
            consume_quota(actor=system_actor(tenant_id), key=QUOTA, amount=reserved, at=at)
        _note(tenant_id, stored.object_key, reserved=reserved, due_at=at + RESERVED_FOR, at=at)
    part.file.seek(0)
    storing.put(stored.object_key, part.file)
    return stored


def give_up(tenant_id: UUID, stored: Stored, at: datetime) -> None:
    """Let the sweep delete an object that no file came to hold; does nothing where one holds it."""
    with tenant_context(tenant_id):
        mine = LooseObject.objects.filter(tenant_id=tenant_id, object_key=stored.object_key)
        if mine.update_versions(at=at, due_at=at):
            jobs.enqueue(SWEEP, expires_seconds=jobs.RING_SECONDS)


def check_size(size: int) -> None:
    """Hold the size of a content against the greatest one.

    :raises FileTooLarge: it has more bytes.
    """
    if size > MOST_BYTES:
        raise FileTooLarge(f"A file has at most {MOST_BYTES} bytes.", limit_bytes=MOST_BYTES)


@needs_transaction
def add_file(actor: Actor, data: Mapping[str, Any], at: datetime, stored: Stored | None = None) -> Any:
    """Make a file of what was stored, or announce one that the client will send by itself.

    The same content for the same purpose is one file of the tenant: it is found, and nothing is made. If it awaits its
    content, it takes the one that was stored.

    :raises InvalidFields: a binding names something that is not there.
    :raises FileTooLarge, UnsupportedType, QuotaExceeded: as named.
    :raises UploadDiffers: another size was announced.
    """
    if "file" not in data:
        return _announce(actor, data, at)
    part = data["file"]
    found = _same(actor.tenant_id, part.sha256, data["purpose"])
    if found is not None:
        return Found(_supplied(actor, found, stored, part.size, at))
    check_bindings(actor, data["bindings"])
    if stored is None or not stored.reserved:  # the one that was found before the transaction has gone meanwhile
        raise Busy(headers={"Retry-After": "1"})
    file = _new(actor, data, stored.file_id, size=part.size, sha256=part.sha256, media=stored.content_type, at=at)
    file.object_key = stored.object_key
    file.receive()
    if not _inserted(file):
        found = _earlier(actor.tenant_id, part.sha256, data["purpose"])
        return Found(_supplied(actor, found, stored, part.size, at))
    LooseObject.objects.of(actor).filter(object_key=stored.object_key).delete()
    add_bindings(file, data["bindings"], at=at)
    _record(actor, file, FileUploaded, at)
    jobs.enqueue(SCAN, expires_seconds=jobs.RING_SECONDS)
    return file


def _supplied(actor: Actor, found: File, stored: Stored | None, size: int, at: datetime) -> File:
    """Give a file that awaits its content the one that was stored for it; return the file.

    :raises UploadDiffers: another size was announced.
    """
    if stored is None or not _awaits(found):
        return found
    file = locked_file(actor, found.id)
    if not _awaits(file):  # the content came the other way meanwhile
        return file
    if size != file.size:
        raise UploadDiffers(f"{file.size} bytes were announced, {size} were sent.")
    if stored.reserved:  # it was announced while it was stored
        release_quota(actor=actor, key=QUOTA, amount=stored.reserved, at=at)
    file.content_type = stored.content_type
    receive_content(actor, file, stored.object_key, due=at, at=at)
    jobs.enqueue(SCAN, expires_seconds=jobs.RING_SECONDS)
    return file


@needs_transaction
def receive_content(actor: Actor, file: File, object_key: str, *, due: datetime, at: datetime) -> None:
    """Put the stored content of a locked file that awaited it into quarantine, to be scanned from an instant on."""
    file.receive()
    file.object_key, file.check_at, file.attempts = object_key, due, 0
    file.save_version("status", "content_type", "object_key", "check_at", "attempts", at=at)
    LooseObject.objects.filter(tenant_id=file.tenant_id, object_key=object_key).delete()
    _record(actor, file, FileUpdated, at)


def _announce(actor: Actor, data: Mapping[str, Any], at: datetime) -> Any:
    check_size(data["size"])
    media = check_announced(name=data["name"], declared=data["content_type"], purpose=data["purpose"])
    found = _same(actor.tenant_id, data["sha256"], data["purpose"])
    if found is not None:
        return Found(found, shown_target(found, at=at))
    check_bindings(actor, data["bindings"])
    file = _new(actor, data, uuid7(), size=data["size"], sha256=data["sha256"], media=media, at=at)
    file.upload_expires_at = at + WRITE_FOR
    if not _inserted(file):
        found = _earlier(actor.tenant_id, data["sha256"], data["purpose"])
        return Found(found, shown_target(found, at=at))
    consume_quota(actor=actor, key=QUOTA, amount=file.size, at=at)
    gone_at = file.upload_expires_at + 2 * LATE_FOR
    _note(file.tenant_id, storing.incoming_key(file.tenant_id, file.id), reserved=0, due_at=gone_at, at=at)
    add_bindings(file, data["bindings"], at=at)
    _record(actor, file, FileUploaded, at)
    return Revealed(file, shown_target(file, at=at))


@needs_transaction
def locked_file(actor: Actor, file_id: UUID) -> File:
    """Return the tenant's file, locked until the transaction ends.

    :raises NotFound: the tenant has no such file.
    """
    found: File | None = File.objects.of(actor).select_for_update(no_key=True).filter(pk=file_id).first()
    if found is None:
        raise NotFound("No such file.")
    return found


@needs_transaction
def update_file(actor: Actor, file: File, data: Mapping[str, Any], at: datetime) -> File:
    """Describe or bind a locked file anew; `bindings` replaces all of them.

    :raises InvalidFields: a binding names something that is not there.
    :raises FileBound: a document hands the file over that is no longer among the bindings, or it would be private then; or
        it is that of a report, and would be shown to others.
    """
    if file.purpose == Purpose.REPORT and not data.keys().isdisjoint(_SHOWING):
        check_no_evidence(actor, file)  # what a report tells stays with those who may read it
    changed = file.assign({name: value for name, value in data.items() if name in File.WRITABLE})
    rebound = "bindings" in data and replace_bindings(actor, file, data["bindings"], at=at)
    if "visibility" in changed and file.visibility == Visibility.PRIVATE:
        check_not_handed_over(actor, file)
    if changed or rebound:
        file.save_version(*changed, at=at)
        _record(actor, file, FileUpdated, at)
    return file


@needs_transaction
def delete_file(actor: Actor, file: File, at: datetime) -> None:
    """Delete a locked file that nothing is bound to; its object follows.

    :raises FileBound: it is bound to something, or evidence of it.
    """
    check_unbound(actor, file)
    _let_go(actor, file, at)
    fact = FileDeleted(purpose=file.purpose)
    ledger.record(actor=actor, event=fact, resource_id=file.id, at=at, resource_version=file.version)
    file.delete()


@needs_transaction
def reject_file(actor: Actor, file: File, reason: Rejection, at: datetime, *, finding: str = "") -> File:
    """Reject a locked file for good: its object is deleted, and its bytes count no more.

    :raises InvalidTransition: it is rejected already.
    """
    file.reject()
    _let_go(actor, file, at)
    file.object_key, file.rejection_reason, file.finding = "", reason.value, finding
    file.save_version("status", "object_key", "rejection_reason", "finding", "scanned_by", at=at)
    _record(actor, file, FileUpdated, at)
    return file


@needs_transaction
def reject_by_staff(actor: Actor, file: File, at: datetime) -> File:
    """Reject a locked file because staff say so; what malware was found in is rejected whatever it is evidence of.

    :raises FileBound: it is evidence of something.
    :raises InvalidTransition: it is rejected already.
    """
    check_no_evidence(actor, file)
    return reject_file(actor, file, Rejection.STAFF, at)


@needs_transaction
def rescan_file(actor: Actor, file: File, at: datetime) -> File:
    """Put a locked file back into quarantine, to be scanned anew.

    :raises InvalidTransition: it has no content, or was rejected.
    """
    file.rescan()
    file.check_at, file.attempts = at, 0
    file.save_version("status", "check_at", "attempts", at=at)
    _record(actor, file, FileUpdated, at)
    jobs.enqueue(SCAN, expires_seconds=jobs.RING_SECONDS)
    return file


def _let_go(actor: Actor, file: File, at: datetime) -> None:
    """Give the file's bytes back, which a rejected one has given back already, and leave its object to the sweep."""
    if not file.rejection_reason:
        release_quota(actor=actor, key=QUOTA, amount=file.size, at=at)
    if file.object_key:
        _note(file.tenant_id, file.object_key, reserved=0, due_at=at, at=at)
        jobs.enqueue(SWEEP, expires_seconds=jobs.RING_SECONDS)


def _same(tenant_id: UUID, sha256: str, purpose: str) -> File | None:
    """Return the tenant's file of the same content and purpose, unless it was rejected."""
    same = File.objects.filter(tenant_id=tenant_id, sha256=sha256, purpose=purpose)
    found: File | None = same.exclude(status=FileStatus.REJECTED.value).first()
    return found


def _awaits(file: File) -> bool:
    return bool(file.status == FileStatus.AWAITING_UPLOAD)


def _earlier(tenant_id: UUID, sha256: str, purpose: str) -> File:
    """Return the file that another request has just made.

    :raises Busy: it is gone again.
    """
    found = _same(tenant_id, sha256, purpose)
    if found is None:
        raise Busy(headers={"Retry-After": "1"})
    return found


def _new(
    actor: Actor, data: Mapping[str, Any], file_id: UUID, *, size: int, sha256: str, media: str, at: datetime
) -> File:
    file = File(
        id=file_id, tenant_id=actor.tenant_id, name=data["name"], purpose=data["purpose"], size=size, sha256=sha256,
        content_type=media, check_at=at, created_at=at, updated_at=at,
    )  # fmt: skip
    file.assign({name: data[name] for name in File.WRITABLE})
    return file


def _inserted(file: File) -> bool:
    """Insert a file; False if another request has made one of the same content meanwhile."""
    File.objects.bulk_create([file], ignore_conflicts=True)
    return File.objects.filter(tenant_id=file.tenant_id, pk=file.pk).exists()


def _note(tenant_id: UUID, object_key: str, *, reserved: int, due_at: datetime, at: datetime) -> None:
    LooseObject.objects.create(
        tenant_id=tenant_id, object_key=object_key, reserved_bytes=reserved, due_at=due_at, created_at=at, updated_at=at
    )


def _record(actor: Actor, file: File, kind: type[FileEvent], at: datetime) -> None:
    ledger.record(actor=actor, event=kind.of(file), resource_id=file.id, at=at, resource_version=file.version)
