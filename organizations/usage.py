"""Last use of API keys: counted in the process, written at most once a minute, outside the request's transaction."""

import logging
import threading
import time
from ipaddress import ip_address

from django.db import Error, connection

from core import pipeline
from core.pipeline import Call, Statement

log = logging.getLogger(__name__)

EVERY_SECONDS = 60
_lock = threading.Lock()
_uses: dict[str, tuple[float, int]] = {}

_WRITE = Statement.of(
    "UPDATE organizations_apikey SET last_used_at = now(), last_used_ip = $2, usage_count = usage_count + $3::bigint WHERE id = $1"
)


def note(credential: str, address: str) -> None:
    """Count one use of `key:<id>` and write the count if the last write is a minute old."""
    key_id = credential.removeprefix("key:")
    now = time.monotonic()
    with _lock:
        written, count = _uses.get(key_id, (0.0, 0))
        due = now - written >= EVERY_SECONDS or written == 0.0
        _uses[key_id] = (now, 0) if due else (written, count + 1)
    if due and not connection.in_atomic_block:
        try:
            pipeline.run([Call(_WRITE, [key_id, _valid(address), str(count + 1)])])
        except Error:
            log.warning("API key usage not written")


def _valid(address: str) -> str | None:
    try:
        return str(ip_address(address))
    except ValueError:
        return None
