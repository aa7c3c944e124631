"""Where a client sends a content that it has announced: the store's own signed address, or one of the platform's."""

from datetime import datetime
from typing import Any

from core.clock import rfc3339

from . import links, storing
from .models import File
from .states import FileStatus


def shown_target(file: File, *, at: datetime) -> dict[str, Any]:
    """Return the member `upload` of a file: null unless it awaits its content.

    Signing asks nobody: it is arithmetic over the store's key.
    """
    if file.status != FileStatus.AWAITING_UPLOAD or file.upload_expires_at is None or file.upload_expires_at <= at:
        return {"upload": None}
    seconds = int((file.upload_expires_at - at).total_seconds())
    key = storing.incoming_key(file.tenant_id, file.id)
    own = storing.own_target(key, content_type=file.content_type, size=file.size, seconds=max(1, seconds))
    target = own or storing.Target(
        links.address(links.Link(links.WRITE, file.tenant_id, file.id, file.upload_expires_at)),
        {"Content-Type": file.content_type},
    )
    return {
        "upload": {
            "method": "PUT",
            "url": target.url,
            "headers": target.headers,
            "expires_at": rfc3339(file.upload_expires_at),
        }
    }
