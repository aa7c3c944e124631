"""Logs: a JSON object per line on standard error, without local variables, query strings, bodies or exception texts.

An exception's text often quotes data ("Failing row contains …"), so only the exception's kind and frames are logged.
"""

import contextlib
import logging
import re
import sys
import traceback
from collections.abc import Iterable
from contextvars import ContextVar
from datetime import UTC, datetime
from types import NoneType, TracebackType
from typing import Any, TextIO

import orjson
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None]

MAX_FRAMES = 30
_QUIET = {
    "django.request": logging.CRITICAL,  # views of the API log their errors themselves, `log_uncaught` those of pages
    "django.server": logging.CRITICAL,
    "asyncio": logging.WARNING,
    # At DEBUG these write values: parameters of statements, tokens, redirections.
    "django.db.backends": logging.INFO,
    "oauthlib": logging.INFO,
    "oauth2_provider": logging.INFO,
}
_PLAIN = (str, int, float, NoneType)


def configure(level: str = "INFO", *, stream: TextIO | None = None) -> None:
    """Send every log of the process, structlog's and the standard library's, through one JSON renderer."""
    global _out
    shared: list[Processor] = [
        _add_context,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        _plain_only,
        _without_referer,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        _exception_kind,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = _out = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _render],
        )
    )
    handler.name = __name__
    root = logging.getLogger()
    for other in [found for found in root.handlers if found.name == __name__]:
        root.removeHandler(other)
    root.addHandler(handler)
    root.setLevel(level.upper())
    for name, quiet in _QUIET.items():
        logging.getLogger(name).setLevel(quiet)


def access(**members: Any) -> None:
    """Log one answered request."""
    if not _access.isEnabledFor(logging.INFO):
        return
    at = datetime.now(UTC).isoformat()
    line = {"at": at, "level": "info", "logger": _access.name, "event": "request", **_context.get(), **members}
    # Written without the logging module, which would cost more than the rest of the middleware. One write is one line.
    with contextlib.suppress(OSError, ValueError):  # a full or closed pipe must not fail the request
        _out.stream.write(orjson.dumps(line).decode() + "\n")


def begin(**members: str) -> None:
    """Set the members of every line of a request, and drop those of an earlier request."""
    _context.set(members)


def bind(**members: str) -> None:
    """Add members to every line of this request or task."""
    _context.set(_context.get() | members)


def clear() -> None:
    """Drop the members that `begin` and `bind` have set."""
    _context.set({})


def log_uncaught(**_: Any) -> None:
    """Log an exception of a page's view; views of the API raise none. A receiver of `got_request_exception`."""
    _uncaught.error("unexpected error", exc_info=True)


def _add_context(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    for name, value in _context.get().items():
        event.setdefault(name, value)
    return event


def _plain_only(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """Keep plain values only: Django adds requests, whose text holds the query, and Celery adds arguments of tasks."""
    kept = {name: value for name, value in event.items() if name[0] == "_" or name == "exc_info" or _is_plain(value)}
    kept.pop("message", None)  # a copy of the event that another handler has formatted
    return kept


def _without_referer(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """Leave out the Referer and its query, which Django writes into the lines of refused forms."""
    record: logging.LogRecord | None = event.get("_record")
    if record is not None and record.name == "django.security.csrf":
        event["event"] = record.msg
    return event


def _is_plain(value: Any) -> bool:
    return isinstance(value, _PLAIN) or (isinstance(value, list) and all(isinstance(one, _PLAIN) for one in value))


def _exception_kind(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    info = event.pop("exc_info", None)
    if info is True:
        info = sys.exc_info()
    if isinstance(info, BaseException):
        info = (type(info), info, info.__traceback__)
    if info and info[1] is not None:
        event["exception"] = list(_chain(info[1]))
        event["event"] = _without_text(str(event["event"]), info[1])
    event.pop("stack_info", None)
    return event


def _without_text(message: str, error: BaseException) -> str:
    """Replace the exception's text in a message by its kind; Django and Celery write the text into their messages."""
    for text in filter(None, (repr(error), str(error))):
        message = re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", _kind(error), message)
    return message


def _kind(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}"


def _chain(error: BaseException | None) -> Iterable[dict[str, Any]]:
    """Describe an exception and its causes: kind, SQLSTATE if there is one, and frames without their variables."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        frames = traceback.extract_tb(error.__traceback__)[-MAX_FRAMES:]
        found: dict[str, Any] = {
            "kind": _kind(error),
            "frames": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
        }
        if sqlstate := getattr(error, "sqlstate", None):
            found["sqlstate"] = sqlstate
        yield found
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _render(_logger: WrappedLogger, _name: str, event: EventDict) -> str:
    return orjson.dumps(event, default=lambda value: type(value).__name__, option=orjson.OPT_NON_STR_KEYS).decode()


_access = logging.getLogger("api.access")
_uncaught = logging.getLogger("api.list_responses")
_out: logging.StreamHandler[TextIO] = logging.StreamHandler(sys.stderr)
_context: ContextVar[dict[str, str]] = ContextVar("log_context", default={})  # noqa: B039 - never changed in place
