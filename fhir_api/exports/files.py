"""Files of an export: lines are deflated part by part, and the parts one after the other are the content of one gzip.

Each part ends on a whole byte and knows nothing of those before it. Source: RFC 1951 section 3.2.4, RFC 1952.
"""

import struct
import zlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from core.actor import system_actor
from core.db import needs_transaction
from organizations.public import consume_quota

from . import states
from .models import ExportFile, ExportJob, ExportPart

QUOTA: Final = "storage_bytes"
LARGEST: Final = 8 * 1024 * 1024
_LEVEL: Final = 5
_HEAD: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_LAST_BLOCK: Final = b"\x03\x00"


@needs_transaction
def append(
    job: ExportJob, kind: str, type_name: str, lines: Sequence[bytes], *, at: datetime, patients: Sequence[str] = ()
) -> None:
    """Put lines into the newest file of a kind and type, or into a new one once that is full; the job is locked.

    :raises QuotaExceeded: the tenant's files would be larger than its plan allows; nothing is written.
    """
    if not lines:
        return
    content = b"\n".join(lines) + b"\n"
    consume_quota(actor=system_actor(job.tenant_id), key=QUOTA, amount=len(content), at=at)
    same = ExportFile.objects.filter(tenant_id=job.tenant_id, job=job, kind=kind, type=type_name)
    file: ExportFile | None = same.order_by("-created_at", "-id").first()
    if file is None or file.size >= LARGEST:
        file = ExportFile(
            tenant_id=job.tenant_id, job=job, kind=kind, type=type_name, name=_name(kind, type_name, same.count() + 1)
        )
    file.parts += 1
    file.lines += len(lines)
    file.size += len(content)
    file.checksum = zlib.crc32(content, file.checksum)
    file.save()
    ExportPart.objects.create(
        tenant_id=job.tenant_id, file=file, number=file.parts, content=deflated(content), patients=list(patients)
    )


def _name(kind: str, type_name: str, number: int) -> str:
    head = "" if kind == states.OUTPUT else f"{kind}-"
    return f"{head}{type_name}-{number}.ndjson"


def deflated(content: bytes) -> bytes:
    """One part: deflate without a last block, flushed to a whole byte."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush(zlib.Z_FULL_FLUSH)


def plain(parts: Iterable[bytes]) -> bytes:
    """The lines of a file."""
    return b"".join(zlib.decompressobj(-zlib.MAX_WBITS).decompress(part) for part in parts)


def gzipped(parts: Iterable[bytes], *, size: int, checksum: int) -> bytes:
    """The file as gzip, made of its parts as they are."""
    return b"".join([_HEAD, *parts, _LAST_BLOCK, struct.pack("<II", checksum, size & 0xFFFFFFFF)])
