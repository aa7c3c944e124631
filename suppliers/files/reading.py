"""What a link reads: the content of a ready file, and nothing else."""

from dataclasses import dataclass
from typing import IO

from core.db import tenant_context

from . import storing
from .links import Link
from .models import File
from .refusals import NoSuchContent
from .states import FileStatus


@dataclass(frozen=True, slots=True)
class Content:
    """An open content, with what its reader is told of it."""

    file: IO[bytes]
    name: str
    content_type: str
    size: int


def read_content(link: Link) -> Content:
    """Open the content that a link names; the caller closes it.

    :raises NoSuchContent: the file is not ready, was deleted, or its tenant was closed.
    :raises StoreAway: the store does not answer.
    """
    with tenant_context(link.tenant_id):
        mine = File.objects.filter(tenant_id=link.tenant_id, pk=link.file_id, status=FileStatus.READY.value)
        found: File | None = mine.first()
    if found is None:
        raise NoSuchContent
    try:
        return Content(storing.opened(found.object_key), found.name, found.content_type, found.size)
    except FileNotFoundError:
        raise NoSuchContent from None
