"""The probe of life, answered in the event loop: it waits for no thread, no database and no limit."""

from typing import Any

from granian.rsgi import HTTPProtocol

from api.transport import request_id_of
from api.url_areas import HEALTH

LIVE, READY = "/health/live", "/health/ready"

_BODY = b'{"status":"live"}'
_HEADERS = [("Content-Type", "application/json"), *HEALTH.headers]


def answer_live(protocol: HTTPProtocol, environ: dict[str, Any]) -> None:
    """Answer that the process is alive."""
    headers = [*_HEADERS, ("X-Request-Id", request_id_of(environ))]
    protocol.response_bytes(200, headers, b"" if environ["REQUEST_METHOD"] == "HEAD" else _BODY)
