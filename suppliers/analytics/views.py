"""HTTP of metrics and insights."""

from typing import Any, ClassVar, Final

import orjson
from django.http import HttpRequest, HttpResponse

from api.families import PAGES
from api.list_responses import items_answer
from api.operations import Operation
from api.page_numbers import InvalidPage
from api.views import ApiViewSet
from core import clock
from core.errors import InvalidFields
from organizations.public import places_call, places_of

from .filters import asked_metric
from .insights import insights_calls, insights_of
from .measures import GROUPS, INTERVALS, MEASURES
from .metrics import answer_of, metric_calls
from .representations import InsightOut, MetricOut


def _query(name: str, text: str, schema: dict[str, Any] | None = None, *, required: bool = False) -> dict[str, Any]:
    found = {"name": name, "in": "query", "description": text, "schema": schema or {"type": "string"}}
    return found | ({"required": True} if required else {})


_METRICS: Final = (
    _query("metric", "Which metric.", {"type": "string", "enum": [*MEASURES]}, required=True),
    _query("from", "The begin: a date in the time zone, or an instant, which counts from its quarter of an hour on.", required=True),
    _query("to", "The end, which is not part of it, at most 400 days later.", required=True),
    _query("interval", "How long a bucket is; weeks begin on Monday.", {"type": "string", "enum": [*INTERVALS], "default": "day"}),
    _query("group_by", "A series for each; `location` for stock and `return_rate`, `buyer` not for stock and offers.", {"type": "string", "enum": [*GROUPS]}),
    _query("timezone", "A name of the IANA database; by default the tenant's."),
    _query("currency", "Needed by `orders_value`, `stock_value`, `expiring_value` and `price_vs_list`."),
    _query("compare", "`previous` adds the span of the same length before it.", {"type": "string", "enum": ["previous"]}),
)  # fmt: skip


class MetricsViewSet(ApiViewSet):
    """Figures of a supplier over time."""

    family = "supplier"
    tag = "Analytics"
    scope_prefix = "analytics:"
    tenant_kind = "supplier"
    feature = "analytics"
    singleton = True
    operation_ids: ClassVar = {"retrieve": "getMetrics"}
    operations: ClassVar[dict[str, Operation]] = {
        "retrieve": Operation(
            "Get a metric",
            "Buckets begin at the start of the local day. One in which nothing was has 0 for counts and amounts, null for "
            "rates. `fill_rate` and `on_time_in_full` are about the lines that are due on the days, `acceptance_hours` is a "
            "median, stock and offers are those at the end of a bucket. Locations of a membership narrow the stock.",
            answer=MetricOut,
            parameters=_METRICS,
            errors=(InvalidFields,),
        ),
    }

    def retrieve(self, request: HttpRequest) -> HttpResponse:
        """Answer the series."""
        at = clock.now()
        _, (found,) = self.read(lambda tenant_id: [places_call(tenant_id, ())])
        asked = asked_metric(request.GET)
        period = asked.period(places_of(found)[None].time_zone)
        periods = [period, period.before()] if asked.compare else [period]
        _, rows = self.read(lambda tenant_id: metric_calls(tenant_id, asked, periods, at))
        return self.answer(orjson.dumps(answer_of(asked, periods, rows)))


class InsightsViewSet(ApiViewSet):
    """What needs a look."""

    family = "supplier"
    tag = "Analytics"
    scope_prefix = "analytics:"
    tenant_kind = "supplier"
    feature = "analytics"
    operation_ids: ClassVar = {"list": "listInsights"}
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            "List insights",
            "What is so now, the gravest first, each with the numbers that show it; an insight is gone when its cause is.",
            items=InsightOut,
            errors=(InvalidPage,),
        ),
    }

    def list(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer a page of insights."""
        at = clock.now()
        _, rows = self.read(lambda tenant_id: insights_calls(tenant_id, at))
        items = [orjson.dumps(one) for one in insights_of(rows)]
        return items_answer(request, items, paging=PAGES, sort="severity")
