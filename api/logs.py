"""Logs as one JSON object a line on standard error: no local variables, query strings, bodies or exception texts.

An exception's text often quotes the data that broke ("Failing row contains …"), so only its kind and frames are kept.
"""

import contextlib
import logging
import sys
import traceback
from collections.abc import Iterable
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO

import orjson
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType | None]

MAX_FRAMES = 30
_QUIET = {"django.request": logging.CRITICAL, "django.server": logging.CRITICAL, "asyncio": logging.WARNING}


def configure(level: str = "INFO", *, stream: TextIO | None = None) -> None:
    """Send every log of the process, structlog's and the standard library's, through one JSON renderer."""
    global _out
    shared: list[Processor] = [
        _add_context,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
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
    """Write the line of one answered request."""
    if not _access.isEnabledFor(logging.INFO):
        return
    at = datetime.now(UTC).isoformat()
    line = {"at": at, "level": "info", "logger": _access.name, "event": "request", **_context.get(), **members}
    # Written past the logging machinery, which would cost more than the rest of the edge; one write is one line.
    with contextlib.suppress(OSError, ValueError):  # a full or closed pipe must not fail the request
        _out.stream.write(orjson.dumps(line).decode() + "\n")


def begin(**members: str) -> None:
    """Start the lines of a request: these members and none of an earlier one."""
    _context.set(members)


def bind(**members: str) -> None:
    """Add members to every line of this request or task."""
    _context.set(_context.get() | members)


def clear() -> None:
    """Forget what `bind` added."""
    _context.set({})


def _add_context(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    for name, value in _context.get().items():
        event.setdefault(name, value)
    return event


def _exception_kind(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    info = event.pop("exc_info", None)
    if info is True:
        info = sys.exc_info()
    if isinstance(info, BaseException):
        info = (type(info), info, info.__traceback__)
    if info and info[1] is not None:
        event["exception"] = list(_chain(info[1]))
    event.pop("stack_info", None)
    return event


def _chain(error: BaseException | None) -> Iterable[dict[str, Any]]:
    """The exception and what caused it: kind, SQLSTATE where there is one, and frames without their variables."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        frames = traceback.extract_tb(error.__traceback__)[-MAX_FRAMES:]
        found: dict[str, Any] = {
            "kind": f"{type(error).__module__}.{type(error).__qualname__}",
            "frames": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
        }
        if sqlstate := getattr(error, "sqlstate", None):
            found["sqlstate"] = sqlstate
        yield found
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _render(_logger: WrappedLogger, _name: str, event: EventDict) -> str:
    return orjson.dumps(event, default=repr, option=orjson.OPT_NON_STR_KEYS).decode()


_access = logging.getLogger("api.access")
_out: logging.StreamHandler[TextIO] = logging.StreamHandler(sys.stderr)
_context: ContextVar[dict[str, str]] = ContextVar("log_context", default={})  # noqa: B039 - never changed in place
