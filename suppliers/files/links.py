"""Links to contents: sealed, so that they name tenant and file and cannot be made up; whoever holds one needs no credential."""

import base64
import binascii
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import orjson
from django.conf import settings

from core.crypto import SealBroken, key_ring

from .refusals import NoSuchContent

READ: Final = "read"
WRITE: Final = "write"
READ_FOR: Final = timedelta(minutes=5)
WRITE_FOR: Final = timedelta(minutes=15)

_PURPOSE = "file-links"
_PREFIX = "hpf_"  # the log of requests masks what begins so
_PATH = "/v1/files/content/"


@dataclass(frozen=True, slots=True)
class Link:
    """What a link is for, and until when."""

    use: str
    tenant_id: UUID
    file_id: UUID
    expires_at: datetime


def content_url(tenant_id: UUID, file_id: UUID, *, at: datetime) -> str:
    """Return the address of a ready file's content, which can be read for five minutes."""
    return address(Link(READ, tenant_id, file_id, at + READ_FOR))


def address(link: Link) -> str:
    """Return the address that a link stands for."""
    whole = [link.use, str(link.tenant_id), str(link.file_id), int(link.expires_at.timestamp())]
    sealed = key_ring().seal(orjson.dumps(whole), purpose=_PURPOSE)
    token = base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()
    return f"{(settings.FILES_BASE_URL or settings.BASE_URL).rstrip('/')}{_PATH}{_PREFIX}{token}"


def opened(token: str, use: str, *, at: datetime) -> Link:
    """Return the link that a token stands for.

    :raises NoSuchContent: the token is not one of the platform's, is for another use, or has expired.
    """
    try:
        text = token.removeprefix(_PREFIX)
        sealed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        meant, tenant_id, file_id, expires = orjson.loads(key_ring().open(sealed, purpose=_PURPOSE))
    except (binascii.Error, SealBroken, ValueError):
        raise NoSuchContent from None
    link = Link(meant, UUID(tenant_id), UUID(file_id), datetime.fromtimestamp(expires, UTC))
    if not token.startswith(_PREFIX) or meant != use or link.expires_at <= at:
        raise NoSuchContent
    return link
