"""The webhooks in Prometheus: queues and circuits as they stand, and the dispatchers' sums, read when it asks.

The web process shows them, because dispatchers come and go. Only the worst endpoints are named, so that the number of
series is bounded.
"""

import logging
from collections.abc import Iterator
from typing import Any, Final

from django.db import DatabaseError, connection
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from core.db import role_context
from core.row_security import DISPATCHER

from . import meters, states, stats
from .backlogs import RESTING

log = logging.getLogger(__name__)

WORST: Final = 20
_STATE: Final = f"""
SELECT count(*) FILTER (WHERE NOT retrying AND NOT held), count(*) FILTER (WHERE retrying AND NOT held),
       count(*) FILTER (WHERE held),
       extract(epoch FROM now() - min(due_at) FILTER (WHERE NOT retrying AND NOT held)),
       extract(epoch FROM now() - min(due_at) FILTER (WHERE retrying AND NOT held)),
       (SELECT count(*) FROM webhooks_event_new),
       (SELECT extract(epoch FROM now() - min(created_at)) FROM webhooks_event_new),
       (SELECT count(*) FROM webhooks_delivery_due WHERE lease IS NOT NULL AND due_at > now()),
       (SELECT count(*) FROM webhooks_endpoint_health WHERE circuit_state <> '{states.CLOSED}'),
       (SELECT count(*) FROM webhooks_endpoint_health WHERE paused_until > now())
FROM (SELECT due.retrying, due.due_at, resting.endpoint_id IS NOT NULL AS held
      FROM webhooks_delivery_due due LEFT JOIN ({RESTING}) resting USING (endpoint_id) WHERE due.due_at <= now()) due
"""
_WORST: Final = """
SELECT health.endpoint_id::text, sum(hour.delivered)::float8 / sum(hour.attempts)
FROM (SELECT endpoint_id FROM webhooks_endpoint_health WHERE consecutive_failures > 0
      ORDER BY consecutive_failures DESC, endpoint_id LIMIT %s) health
JOIN webhooks_endpoint_hour hour
  ON hour.endpoint_id = health.endpoint_id AND hour.hour >= date_trunc('hour', now(), 'UTC') - interval '1 hour'
GROUP BY health.endpoint_id HAVING sum(hour.attempts) > 0
"""
_GAUGES: Final = (
    ("hp_webhooks_due", "Deliveries that are due, by kind of try.", "first"),
    ("hp_webhooks_due", "", "retry"),
    ("hp_webhooks_held_back", "Due deliveries whose endpoint rests or whose tenant is suspended.", ""),
    ("hp_webhooks_due_oldest_seconds", "Age of the oldest due delivery, by kind of try.", "first"),
    ("hp_webhooks_due_oldest_seconds", "", "retry"),
    ("hp_webhooks_fan_out_pending", "Events that are not queued for their endpoints yet.", ""),
    ("hp_webhooks_fan_out_lag_seconds", "Age of the oldest of them.", ""),
    ("hp_webhooks_in_flight", "Deliveries leased by a dispatcher.", ""),
    ("hp_webhooks_circuits_open", "Endpoints whose circuit is not closed.", ""),
    ("hp_webhooks_endpoints_paused", "Endpoints that rest by their own Retry-After.", ""),
)


class WebhookCollector(Collector):
    """Reads three small statements for each scrape."""

    def collect(self) -> Iterator[Metric]:
        """Yield the families; none while the database is away."""
        try:
            with role_context(DISPATCHER), connection.cursor() as cursor:
                cursor.execute(_STATE)
                state = cursor.fetchone()
                cursor.execute(_WORST, [WORST])
                worst = cursor.fetchall()
            with connection.cursor() as cursor:
                cursor.execute("SELECT name, value FROM webhooks_meter")
                sums = dict(cursor.fetchall())
        except DatabaseError as error:
            log.warning("webhook figures not readable", extra={"error": type(error).__name__})
            return
        finally:
            connection.close()  # the asking thread ends with its answer
        yield from _gauges(state)
        yield from _counters(sums)
        ratio = GaugeMetricFamily(
            "hp_webhooks_endpoint_success_ratio",
            "Share of 2xx in this and the last hour, of the endpoints that fail most.",
            labels=["endpoint"],
        )
        for endpoint, share in worst:
            ratio.add_metric([endpoint], share)
        yield ratio


def _gauges(state: tuple[Any, ...]) -> Iterator[Metric]:
    families: dict[str, GaugeMetricFamily] = {}
    for (name, text, label), value in zip(_GAUGES, state, strict=True):
        family = families.setdefault(name, GaugeMetricFamily(name, text, labels=["kind"] if label else []))
        family.add_metric([label] if label else [], float(value or 0))
    yield from families.values()


def _counters(sums: dict[str, int]) -> Iterator[Metric]:
    plain = {
        meters.CLAIMS: "Deliveries claimed by dispatchers.",
        meters.FINISHES: "Attempts written down.",
        meters.LEASES_LOST: "Claims of deliveries that an earlier claim never finished.",
    }
    for name, text in plain.items():
        yield CounterMetricFamily(f"hp_webhooks_{name}", text, value=sums.get(name, 0))
    for name, label, text in (
        (meters.DELIVERIES, "result", "Deliveries that ended."),
        (meters.ATTEMPTS, "class", "Attempts by kind of answer."),
    ):
        family = CounterMetricFamily(f"hp_webhooks_{name}", text, labels=[label])
        for key, value in sorted(sums.items()):
            if key.startswith(f"{name}."):
                family.add_metric([key.partition(".")[2]], value)
        yield family
    yield _latency(sums)


def _latency(sums: dict[str, int]) -> Metric:
    total, buckets = 0, []
    bounds = [str(bound / 1000) for bound in stats.BOUNDS_MS] + ["+Inf"]
    for number, bound in enumerate(bounds):
        total += sums.get(f"{meters.LATENCY}.{number}", 0)
        buckets.append((bound, total))
    seconds = sums.get(meters.LATENCY_SUM_MS, 0) / 1000
    return HistogramMetricFamily(
        "hp_webhooks_attempt_seconds", "Time of one attempt.", buckets=buckets, sum_value=seconds
    )
