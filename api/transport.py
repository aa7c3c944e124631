"""Refusals that the HTTP front decides before Django runs; the outermost middleware answers them."""

from core.errors import Malformed, PlatformError, Unavailable

REFUSAL = "platform.refusal"


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
