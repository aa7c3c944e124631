"""The usual design to compare with: one Celery task for each delivery, with requests and psycopg, on the same tables.

    celery -A bench.hooks_baseline worker     python -m bench.hooks_baseline

The second form sends a task for each due delivery. Keys are opened once, connections to PostgreSQL and the receiver are kept.
"""

import json
import os
import time
from typing import Any

import psycopg
import requests
from celery import Celery

from .place import setup_django

setup_django()

app = Celery(
    "hooks_baseline",
    broker=os.environ["REDIS_URL"].replace("unix://", "redis+socket://").replace("?db=", "?virtual_host="),
)
app.conf.update(task_ignore_result=True, worker_hijack_root_logger=False, task_default_queue="hooks_baseline")
_kept: dict[str, Any] = {}
_keys: dict[Any, Any] = {}

_READ = """
SELECT d.created_at, d.tenant_id, d.event_id, d.endpoint_id, e.url, s.id, s.kind, s.sealed_key, v.body
FROM webhooks_delivery_due d JOIN webhooks_endpoint e ON e.id = d.endpoint_id
JOIN webhooks_secret s ON s.tenant_id = e.tenant_id AND s.endpoint_id = e.id
JOIN webhooks_event v ON v.created_at = d.created_at AND v.id = d.event_id WHERE d.delivery_id = %s
"""
_ATTEMPT = """
INSERT INTO webhooks_attempt (id, created_at, tenant_id, delivery_id, endpoint_id, number, status, duration_ms,
                              response_excerpt, response_headers, lease)
VALUES (uuidv7(), now(), %s, %s, %s, 1, %s, %s, %s, %s, uuidv7())
"""
_DELIVERED = """
UPDATE webhooks_delivery SET state = 'delivered', attempts = 1, last_status = %s, done_at = now(), next_attempt_at = NULL
WHERE created_at = %s AND id = %s
"""


def _connection() -> psycopg.Connection[Any]:
    if "connection" not in _kept:
        from django.db import connections

        found = connections["owner"].get_connection_params()
        wanted = {name: found[name] for name in ("dbname", "host", "port", "user", "password") if found.get(name)}
        _kept["connection"] = psycopg.connect(**wanted, autocommit=True)
        _kept["session"] = requests.Session()
    found_connection: psycopg.Connection[Any] = _kept["connection"]
    return found_connection


@app.task(name="hooks_baseline.deliver")
def deliver(delivery_id: str) -> None:
    """Send one delivery and write down what came of it."""
    from core.clock import now
    from webhooks import envelope, sealing, signing

    connection = _connection()
    row = connection.execute(_READ, [delivery_id]).fetchone()
    if row is None:
        return
    created_at, tenant_id, event_id, endpoint_id, url, secret_id, kind, sealed, body = row
    if secret_id not in _keys:
        key = sealing.open_key(bytes(sealed), endpoint_id=endpoint_id, secret_id=secret_id)
        _keys[secret_id] = signing.SigningKey(kind, key)
    headers = signing.headers([_keys[secret_id]], message_id=envelope.message_id(event_id), at=now(), body=bytes(body))
    began = time.perf_counter()
    answer = _kept["session"].post(
        url, data=bytes(body), headers={**headers, "content-type": "application/json"}, timeout=15
    )
    took = int((time.perf_counter() - began) * 1000)
    with connection.transaction():
        connection.execute(
            _ATTEMPT,
            [tenant_id, delivery_id, endpoint_id, answer.status_code, took, answer.text[:4096], json.dumps({})],
        )
        connection.execute(_DELIVERED, [answer.status_code, created_at, delivery_id])
        connection.execute("DELETE FROM webhooks_delivery_due WHERE delivery_id = %s", [delivery_id])


def main() -> None:
    """Send a task for each due delivery; print how long that took."""
    ids = [str(row[0]) for row in _connection().execute("SELECT delivery_id FROM webhooks_delivery_due").fetchall()]
    began = time.perf_counter()
    for delivery_id in ids:
        deliver.delay(delivery_id)
    print(json.dumps({"sent": len(ids), "seconds": time.perf_counter() - began}))


if __name__ == "__main__":
    main()
