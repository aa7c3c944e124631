"""What the HTTP front and the middleware tell each other in the environ: refusals that the front decides before Django
runs, which the outermost middleware answers; and whom a request has proved to be of, which orders the caller's next ones.
"""

import re
from collections.abc import Mapping
from typing import Any

from core.errors import Malformed, PlatformError, Unavailable
from core.ids import uuid7_text

REFUSAL = "platform.refusal"
TENANT = "platform.tenant"
CREDENTIAL = "platform.credential"
MULTIPART = "multipart/form-data"

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")


class HeaderNotAscii(Malformed):
    """A header that the platform acts upon holds bytes beyond ASCII; ignoring the header would ignore its demand."""

    code = "header_not_ascii"
    title = "A header is not in ASCII."


class DuplicateHeader(Malformed):
    """A header that has one value was sent twice, so two readers could see two values."""

    code = "duplicate_header"
    title = "A header occurs more than once."


class HeadersTooLarge(PlatformError):
    """The header fields are larger than the platform reads (431)."""

    code = "headers_too_large"
    title = "The header fields are too large."


class RequestTimedOut(PlatformError):
    """The body did not arrive in time (408)."""

    code = "request_timeout"
    title = "The body did not arrive in time."


class Overloaded(Unavailable):
    """Too many requests are waiting (503)."""

    code = "overloaded"
    title = "The service is busy; try again."


def request_id_of(meta: Mapping[str, Any]) -> str:
    """Return the request id that was sent, if it is one, or a new one."""
    sent = meta.get("HTTP_X_REQUEST_ID", "")
    return sent if sent and _REQUEST_ID.fullmatch(sent) else uuid7_text()
