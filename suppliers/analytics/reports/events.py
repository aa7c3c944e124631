"""Event types of reports, told to the tenant that has asked for them. Source: contract, supply.md 8."""

from dataclasses import dataclass, field
from typing import ClassVar

from ledger.public import EventType, register


@dataclass(frozen=True)
class ReportEvent(EventType):
    """What became of a report."""

    resource: ClassVar[str] = "report"
    href: ClassVar[str] = "/v1/analytics/reports/{id}"

    report_type: str = field(metadata={"example": "orders"})
    format: str = field(metadata={"example": "csv"})


@register
@dataclass(frozen=True)
class ReportCompleted(ReportEvent):
    """The file of a report is there, with so many rows."""

    type: ClassVar[str] = "report.completed"

    rows: int
    file_id: str


@register
@dataclass(frozen=True)
class ReportFailed(ReportEvent):
    """A report has no file; `code` says why."""

    type: ClassVar[str] = "report.failed"

    code: str = field(metadata={"example": "file_too_large"})
