"""An endpoint's figures as clients read them, and the statements behind them, which never count the history."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
from rest_framework import serializers

from api.representation_sql import INSTANT
from api.representations import OpenChoice
from core.clock import rfc3339
from core.pipeline import Call, Rows, Statement
from webhooks import states, stats

# An hour belongs to the figures when it began within them, the current one included.
_HOURS = Statement.of(
    "SELECT coalesce(json_agg(json_build_object('hour', " + INSTANT.format("h.hour") + ", 'attempts', h.attempts,"
    " 'delivered', h.delivered, 'failed', h.failed, 'buckets', h.duration_buckets) ORDER BY h.hour), '[]')::text"
    " FROM webhooks_endpoint_hour h WHERE h.tenant_id = $1 AND h.endpoint_id = $2 AND h.hour >= $3"
)
_ENDPOINT = Statement.of(
    "SELECT json_build_object("
    " 'backlog', (SELECT json_build_object('waiting', count(*), 'due', count(*) FILTER (WHERE due_at <= now()),"
    "   'oldest_due_seconds', floor(extract(epoch FROM now() - min(due_at) FILTER (WHERE due_at <= now()))))"
    "   FROM webhooks_delivery_due d WHERE d.tenant_id = $1 AND d.endpoint_id = e.id),"
    " 'health', json_build_object('active', e.active, 'consecutive_failures', coalesce(h.consecutive_failures, 0),"
    f"   'failing_since', {INSTANT.format('h.failing_since')},"
    f"   'circuit_state', coalesce(h.circuit_state, '{states.CLOSED}'),"
    f"   'circuit_until', {INSTANT.format('h.circuit_until')}, 'paused_until', {INSTANT.format('h.paused_until')}))::text"
    " FROM webhooks_endpoint e LEFT JOIN webhooks_endpoint_health h ON h.endpoint_id = e.id AND h.tenant_id = $1"
    " WHERE e.tenant_id = $1 AND e.id = $2"
)


class WebhookCountsOut(serializers.Serializer[None]):
    """Attempts and deliveries of a time, and how long attempts took."""

    attempts = serializers.IntegerField(help_text="Requests that were sent.")
    delivered = serializers.IntegerField(help_text="Those answered with 2xx.")
    failed = serializers.IntegerField(help_text="Deliveries that were given up.")
    success_ratio = serializers.FloatField(allow_null=True, help_text="delivered / attempts; null without attempts.")
    p50_ms = serializers.IntegerField(
        allow_null=True, help_text="Half of the attempts took less than this, in steps; null without attempts."
    )
    p95_ms = serializers.IntegerField(allow_null=True, help_text="As `p50_ms`, for 95 % of the attempts.")

    class Meta:
        example = {
            "attempts": 120, "delivered": 119, "failed": 0, "success_ratio": 0.9917, "p50_ms": 60, "p95_ms": 250,
        }  # fmt: skip


class WebhookHourOut(WebhookCountsOut):
    """The figures of one hour."""

    hour = serializers.DateTimeField(help_text="When the hour began.")


class WebhookBacklogOut(serializers.Serializer[None]):
    """What waits to be sent."""

    waiting = serializers.IntegerField(help_text="Deliveries that are queued, due now or later.")
    due = serializers.IntegerField(help_text="Those due now.")
    oldest_due_seconds = serializers.IntegerField(
        allow_null=True, help_text="For how long the oldest of those has been due."
    )

    class Meta:
        example = {"waiting": 2, "due": 0, "oldest_due_seconds": None}


class WebhookHealthOut(serializers.Serializer[None]):
    """How the endpoint does now."""

    active = serializers.BooleanField()
    consecutive_failures = serializers.IntegerField()
    failing_since = serializers.DateTimeField(allow_null=True)
    circuit_state = OpenChoice(choices=states.CIRCUIT)
    circuit_until = serializers.DateTimeField(allow_null=True)
    paused_until = serializers.DateTimeField(allow_null=True)

    class Meta:
        example = {"consecutive_failures": 0, "failing_since": None, "circuit_until": None, "paused_until": None}


class WebhookStatsOut(serializers.Serializer[None]):
    """An endpoint's figures: success, latency, backlog, health."""

    hours = serializers.IntegerField()
    totals = WebhookCountsOut()
    by_hour = WebhookHourOut(many=True, help_text="Oldest first; hours without an attempt are left out.")
    backlog = WebhookBacklogOut()
    health = WebhookHealthOut()

    class Meta:
        example = {"hours": 24}


def calls(tenant_id: UUID, endpoint_id: UUID, *, hours: int, at: datetime) -> list[Call]:
    """The two statements; the first answers nothing where there is no such endpoint."""
    owner = [str(tenant_id), str(endpoint_id)]
    first = at.replace(minute=0, second=0, microsecond=0) - timedelta(hours=hours - 1)
    return [Call(_ENDPOINT, owner), Call(_HOURS, [*owner, rfc3339(first)])]


def write(endpoint: Rows, rows: Rows, *, hours: int) -> bytes:
    """Write the figures; hours without an attempt are left out."""
    found: list[dict[str, Any]] = orjson.loads(rows.value() or b"[]")
    total = [sum(column) for column in zip(*(hour["buckets"] for hour in found), strict=True)]
    sums = {name: sum(hour[name] for hour in found) for name in ("attempts", "delivered", "failed")}
    answer = {
        "hours": hours,
        "totals": _figures(sums, total),
        "by_hour": [{"hour": hour["hour"], **_figures(hour, hour["buckets"])} for hour in found],
    }
    return orjson.dumps(answer | orjson.loads(endpoint.value() or b"{}"))


def _figures(counts: dict[str, Any], buckets: list[int]) -> dict[str, Any]:
    attempts, delivered = counts["attempts"], counts["delivered"]
    return {
        "attempts": attempts,
        "delivered": delivered,
        "failed": counts["failed"],
        "success_ratio": round(delivered / attempts, 4) if attempts else None,
        "p50_ms": stats.percentile_ms(buckets, 0.5),
        "p95_ms": stats.percentile_ms(buckets, 0.95),
    }
