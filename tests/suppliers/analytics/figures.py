"""Short ways to ask for metrics, and to write roll-ups of another day as facts would have written them."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from core.pipeline import run
from suppliers.analytics.buckets import Period
from suppliers.analytics.filters import Asked
from suppliers.analytics.metrics import metric_calls, series_of
from suppliers.analytics.models import RollUp
from suppliers.analytics.reading import metric_call
from tests.factories import Api
from tests.suppliers.analytics.naive import Question

PATH = "/v1/analytics/metrics"


def around() -> dict[str, str]:
    """Return a span of three days around today, in a zone in which it is about noon: a test may last over any midnight."""
    present = now().astimezone(UTC)
    ahead = 12 - present.hour
    today = (present + timedelta(hours=ahead)).date()
    return {
        "from": (today - timedelta(days=1)).isoformat(),
        "to": (today + timedelta(days=2)).isoformat(),
        "timezone": f"Etc/GMT{-ahead:+d}",  # the sign of these names is that of POSIX
    }


def ask(api: Api, name: str | None, **given: Any) -> Any:
    """Ask for a metric."""
    asked = around() | {"metric": name} | given
    query = urlencode({name: value for name, value in asked.items() if value is not None})
    return api.get(f"{PATH}?{query}")


def metric(api: Api, name: str, **given: Any) -> dict[str, Any]:
    """Return a metric."""
    answer = ask(api, name, **given)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def values(api: Api, name: str, **given: Any) -> list[Any]:
    """Return the values of the buckets."""
    return [one["value"] for one in metric(api, name, **given)["buckets"]]


def amounts(*texts: str, currency: str = "EUR") -> list[dict[str, str]]:
    """Return amounts as metrics answer them."""
    return [{"amount": text, "currency": currency} for text in texts]


def answered(tenant_id: UUID, name: str, question: Question, at: datetime) -> list[tuple[int, str | None, Any]]:
    """Return the values of a metric in the database for a drawn question, each with the place of its bucket and its group."""
    asked = Asked(
        name, question.begin, question.end, question.interval, question.group, question.zone, question.currency, compare=False,
    )  # fmt: skip
    period = Period(question.begin, question.end, question.interval, ZoneInfo(question.zone))
    (rows,) = run(metric_calls(tenant_id, asked, [period], at))
    found = series_of(asked, period, rows)
    size = max(len(found) // len(question.buckets()), 1)
    return [(place // size, one["group"], one["value"]) for place, one in enumerate(found)]


def rolled(tenant_id: UUID, bucket: datetime | str, *, kind: str = "ordered", **values: Any) -> UUID:
    """Write a roll-up of a document; return the document's id."""
    given: dict[str, Any] = {
        "document_id": uuid7(), "line_no": 1, "category": "", "currency": "EUR", "entries": 1, "quantity": 10, "base": 0,
        "net": "12.50", "list_net": "0", "buyer_id": uuid7(),
    } | values  # fmt: skip
    at = datetime.fromisoformat(bucket) if isinstance(bucket, str) else bucket
    with tenant_context(tenant_id):
        RollUp.objects.create(tenant_id=tenant_id, kind=kind, bucket=at, **given)
    found: UUID = given["document_id"]
    return found


def kept(tenant_id: UUID) -> list[tuple[str, int, int, int, str]]:
    """Return the roll-ups summed by kind: entries, quantity, base, net."""
    found: dict[str, list[Any]] = {}
    with tenant_context(tenant_id):
        for row in RollUp.objects.filter(tenant_id=tenant_id).order_by("kind", "id"):
            sums = found.setdefault(row.kind, [0, 0, 0, 0])
            for place, name in enumerate(("entries", "quantity", "base", "net")):
                sums[place] += getattr(row, name)
    return [(kind, *sums[:3], f"{sums[3]:f}") for kind, sums in sorted(found.items())]


def rows_read(tenant_id: UUID, name: str, days: int, zone: str, group: str = "") -> int:
    """Return how many rows of roll-ups and their sums the statement of a metric reads, from March 2025 on."""
    begin = datetime(2025, 3, 1, tzinfo=ZoneInfo(zone))
    asked = Asked(name, begin, begin + timedelta(days=days), "day", group, zone, "EUR", compare=False)
    call = metric_call(tenant_id, name, group, asked.values(asked.period(zone), now()))
    with tenant_context(tenant_id), connection.cursor() as cursor:
        cursor.execute(f"PREPARE read_once AS {call.statement.sql.decode()}")
        given = ", ".join(f"'{one}'" for one in call.parameters)
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE read_once ({given})")
        (plan,) = cursor.fetchone()
        cursor.execute("DEALLOCATE read_once")
    return _rows_of(plan[0]["Plan"])


def _rows_of(node: dict[str, Any]) -> int:
    mine = 0
    if str(node.get("Relation Name", "")).startswith(("suppliers_rollup", "suppliers_dueday", "suppliers_acceptance")):
        left_out = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
        mine = round((node["Actual Rows"] + left_out) * node["Actual Loops"])
    return mine + sum(_rows_of(one) for one in node.get("Plans", ()))


def day(text: str) -> date:
    """Return a date."""
    return date.fromisoformat(text)
