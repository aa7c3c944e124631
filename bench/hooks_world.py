"""What the webhook benchmark does in the database: endpoints, due work, history, a trickle of events, and the figures.

    python -m bench.hooks_world queue --count 20000

Each verb prints JSON. Rows are written by SQL as the owner, as fan-out would have left them.
"""

import argparse
import json
import time
from typing import Any

from .place import setup_django

_BODY_BYTES = 900

_CLEAR = (
    "UPDATE webhooks_endpoint SET active = false WHERE active",
    "DELETE FROM webhooks_delivery_due",
    "DELETE FROM webhooks_event_new",
    "DELETE FROM webhooks_endpoint_health",
)
_QUEUE = """
WITH places AS (SELECT id, tenant_id, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS total
                FROM webhooks_endpoint WHERE active AND url LIKE %(like)s),
stored AS (
  INSERT INTO webhooks_event (id, created_at, tenant_id, type, resource_type, resource_id, sequence, api_version, request_id, body)
  SELECT uuidv7(), %(at)s, places.tenant_id, 'product.created', 'product', uuidv7(), 1, '2026-01-01', 'bench', %(body)s
  FROM generate_series(0, %(count)s - 1) n JOIN places ON places.place = n %% places.total
  RETURNING id, created_at, tenant_id, type),
numbered AS (SELECT *, row_number() OVER () - 1 AS n FROM stored),
made AS (
  INSERT INTO webhooks_delivery (id, created_at, tenant_id, event_id, event_type, endpoint_id, state, attempts, next_attempt_at,
                                 done_at)
  SELECT md5(numbered.id::text || places.id::text)::uuid, numbered.created_at, numbered.tenant_id, numbered.id, numbered.type,
         places.id, %(state)s, CASE %(state)s WHEN 'pending' THEN 0 ELSE 1 END, now(),
         CASE %(state)s WHEN 'pending' THEN NULL ELSE %(at)s END
  FROM numbered JOIN places ON places.place = numbered.n %% places.total
  RETURNING id, created_at, tenant_id, event_id, endpoint_id),
tried AS (
  INSERT INTO webhooks_attempt (id, created_at, tenant_id, delivery_id, endpoint_id, number, status, duration_ms,
                                response_headers, lease)
  SELECT uuidv7(), created_at, tenant_id, id, endpoint_id, 1, 200, 5, '{}', uuidv7() FROM made WHERE %(state)s <> 'pending')
INSERT INTO webhooks_delivery_due (delivery_id, created_at, tenant_id, event_id, endpoint_id, due_at)
SELECT id, created_at, tenant_id, event_id, endpoint_id, now() FROM made WHERE %(state)s = 'pending'
"""
_EMIT = """
WITH stored AS (
  INSERT INTO webhooks_event (id, created_at, tenant_id, type, resource_type, resource_id, sequence, api_version, request_id, body)
  VALUES (uuidv7(), clock_timestamp(), %s, 'product.created', 'product', uuidv7(), 1, '2026-01-01', 'bench', %s)
  RETURNING id, created_at, tenant_id, type, resource_id)
INSERT INTO webhooks_event_new (id, created_at, tenant_id, type, resource_id) SELECT * FROM stored
"""
_THROUGHPUT = """
SELECT count(*), count(*) FILTER (WHERE state = 'delivered'),
       coalesce(extract(epoch FROM max(done_at) - (SELECT min(created_at) FROM webhooks_attempt WHERE created_at >= %s)), 0)
FROM webhooks_delivery WHERE created_at >= %s AND done_at IS NOT NULL
"""
_LATENCY = """
SELECT count(*), coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY took), 0),
       coalesce(percentile_cont(0.99) WITHIN GROUP (ORDER BY took), 0)
FROM (SELECT 1000 * extract(epoch FROM d.done_at - d.created_at) AS took
      FROM webhooks_delivery d JOIN webhooks_endpoint e ON e.id = d.endpoint_id
      WHERE d.created_at >= %s AND d.state = 'delivered' AND e.url LIKE %s) found
"""


def _run(sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall() if cursor.description else []


def _tenant() -> Any:
    from organizations.models import Tenant

    return Tenant.objects.using("owner").filter(slug__startswith="bench-supplier-").order_by("slug")[0]


def _body() -> bytes:
    body = {"id": "evt_bench", "type": "product.created", "data": {"object": {"type": "product"}}, "filler": ""}
    return json.dumps(body | {"filler": "x" * (_BODY_BYTES - len(json.dumps(body)))}).encode()


def endpoints(wanted: argparse.Namespace) -> dict[str, Any]:
    """Retire all endpoints and make new ones, the addresses in turn; `{n}` in one is the endpoint's number."""
    from core.ids import uuid7
    from webhooks import sealing, signing
    from webhooks.models import Endpoint, Secret

    tenant = _tenant()
    for statement in _CLEAR:
        _run(statement)
    made = [
        Endpoint(
            tenant_id=tenant.id,
            url=wanted.url[number % len(wanted.url)].replace("{n}", str(number)),
            events=["product.created"],
            max_inflight=wanted.inflight,
        )
        for number in range(wanted.count)
    ]
    Endpoint.objects.using("owner").bulk_create(made, batch_size=1000)
    keys = []
    for endpoint in made:
        secret_id, key = uuid7(), signing.new_key()
        sealed = sealing.seal_key(key, endpoint_id=endpoint.id, secret_id=secret_id)
        keys.append(Secret(id=secret_id, tenant_id=tenant.id, endpoint=endpoint, sealed_key=sealed))
    Secret.objects.using("owner").bulk_create(keys, batch_size=1000)
    return {"endpoints": len(made)}


def queue(wanted: argparse.Namespace) -> dict[str, Any]:
    """Make due deliveries, or delivered ones of the past, for the active endpoints in turn; tell since when."""
    at = _run("SELECT now() - %s * interval '1 day'", [wanted.days])[0][0]
    left = wanted.count
    while left:
        batch = min(left, 50_000)
        state = "delivered" if wanted.days else "pending"
        _run(_QUEUE, {"at": at, "body": _body(), "count": batch, "state": state, "like": wanted.like})
        left -= batch
    _run("ANALYZE webhooks_delivery_due")
    if wanted.days:
        for table in ("webhooks_event", "webhooks_delivery", "webhooks_attempt"):
            _run(f"ANALYZE {table}")
    return {"since": at.isoformat()}


def emit(wanted: argparse.Namespace) -> dict[str, Any]:
    """Commit events one by one at a pace, each in a transaction of its own; tell since when."""
    tenant, body = _tenant(), _body()
    since = _run("SELECT clock_timestamp()")[0][0]
    following = time.monotonic()
    for _ in range(wanted.count):
        _run(_EMIT, [tenant.id, body])
        following += 1 / wanted.per_second
        time.sleep(max(0.0, following - time.monotonic()))
    return {"since": since.isoformat()}


def figures(wanted: argparse.Namespace) -> dict[str, Any]:
    """What became of the deliveries since a moment: how many, how fast, how late."""
    ended, delivered, seconds = _run(_THROUGHPUT, [wanted.since, wanted.since])[0]
    count, p50, p99 = _run(_LATENCY, [wanted.since, wanted.like])[0]
    waiting = _run("SELECT count(*) FROM webhooks_delivery_due")[0][0]
    return {
        "ended": ended,
        "delivered": delivered,
        "seconds": float(seconds),
        "count": count,
        "p50": float(p50),
        "p99": float(p99),
        "waiting": waiting,
    }


def main() -> None:
    """Carry out one verb."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("verb", choices=["endpoints", "queue", "emit", "figures"])
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--url", action="append", default=[])
    parser.add_argument("--inflight", type=int, default=64)
    parser.add_argument("--days", type=int, default=0, help="make history of so many days ago")
    parser.add_argument("--per-second", type=float, default=20)
    parser.add_argument("--since", default="")
    parser.add_argument("--like", default="%")
    wanted = parser.parse_args()
    setup_django()
    verbs = {"endpoints": endpoints, "queue": queue, "emit": emit, "figures": figures}
    print(json.dumps(verbs[wanted.verb](wanted)))


if __name__ == "__main__":
    main()
