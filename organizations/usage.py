"""Last use of API keys: counted in the process, written at most once a minute, outside the request's transaction."""

import logging
import threading
import time
from ipaddress import ip_address
from uuid import UUID

from django.db import Error, connection

from core import clock, pipeline
from core.pipeline import Call, Statement

log = logging.getLogger(__name__)

EVERY_SECONDS = 60
_lock = threading.Lock()
_uses: dict[str, tuple[float, int]] = {}

_WRITE = Statement.of(
    "INSERT INTO organizations_apikeyuse AS u (api_key_id, tenant_id, last_used_at, last_used_ip, usage_count)"
    " VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tenant_id, api_key_id) DO UPDATE"
    " SET last_used_at = EXCLUDED.last_used_at, last_used_ip = EXCLUDED.last_used_ip,"
    " usage_count = u.usage_count + EXCLUDED.usage_count"
)


def note(credential: str, tenant_id: UUID, address: str) -> None:
    """Count one use of `key:<id>` and write the count if the last write is a minute old."""
    key_id = credential.removeprefix("key:")
    now = time.monotonic()
    with _lock:
        written, count = _uses.get(key_id, (0.0, 0))
        due = now - written >= EVERY_SECONDS or written == 0.0
        _uses[key_id] = (now, 0) if due else (written, count + 1)
    if due and not connection.in_atomic_block:
        try:
            pipeline.run(
                [Call(_WRITE, [key_id, str(tenant_id), clock.now().isoformat(), _valid(address), str(count + 1)])]
            )
        except Error:
            log.warning("API key usage not written")


def _valid(address: str) -> str | None:
    try:
        return str(ip_address(address))
    except ValueError:
        return None
