"""HTTP of reports."""

from typing import ClassVar, Final

from api.operations import Operation
from api.views import ApiViewSet
from core.conditions import Condition
from core.errors import InvalidFields, QuotaExceeded
from suppliers.files.report_rights import REACHED

from .actions import request_report
from .filters import ReportFilters
from .refusals import DataScopeMissing
from .representations import ReportOut
from .serializers import ReportIn

_PATH: Final = "/v1/analytics/reports"


class ReportViewSet(ApiViewSet):
    """The reports of a supplier."""

    family = "supplier"
    tag = "Analytics"
    scope_prefix = "analytics:"
    tenant_kind = "supplier"
    feature = "analytics"
    serializer_class = ReportOut
    filterset_class = ReportFilters
    restriction = Condition(REACHED.format("t"))
    operation_ids: ClassVar = {"create": "startReport"}
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            "List reports",
            "The newest first. Whoever is limited to locations finds reports of stock and movements at these alone.",
        ),
        "create": Operation(
            "Start a report",
            "The rows are those as of now, whatever changes while they are written; the prices of a report are those at the "
            "moment when it begins. `Location` is where its progress is read. Besides `analytics:read` it needs the read scope of "
            "its data: `orders:read`, `inventory:read` (stock, movements, recall_trace) or `pricing:read`. Counts in "
            "`exports_per_day`. The file, `file_id`, holds for a week; its content is given to whoever holds the scope of its "
            "data. In CSV and XLSX a text that begins with `=`, `+`, `-`, `@`, a tab or a carriage return has an apostrophe in "
            "front; amounts and quantities have none. JSON holds texts as they are.",
            scope="analytics:read",
            body=ReportIn,
            run=request_report,
            status=202,
            policy="bulk",
            errors=(InvalidFields, DataScopeMissing, QuotaExceeded),
        ),
        "retrieve": Operation(
            "Get a report",
            "`rows_done` of `rows_total` tell how far it is; `file_id` is there once it is ready, and gone when it has expired.",
        ),
    }

    def location(self, key: object, status: int) -> str:
        """Where the progress is read."""
        return f"{_PATH}/{key}"
