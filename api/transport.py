"""Refusals of the HTTP front, made before Django runs and answered by its outermost middleware."""

from core.errors import Malformed, PlatformError, Unavailable

REFUSAL = "platform.refusal"


class HeaderNotAscii(Malformed):
    """A header that the platform acts upon holds bytes beyond ASCII; to pass over it would drop what it asks for."""

    code = "header_not_ascii"
    title = "A header is not in ASCII."


class DuplicateHeader(Malformed):
    """A header that can mean one thing only came twice, so that two readers may see two values."""

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
