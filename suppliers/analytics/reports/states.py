"""The words of reports: their types, formats and states. Source: contract, supply-invoice.md 6."""

from typing import Final

from django.db.models import TextChoices


class ReportType(TextChoices):
    """What a report tells of."""

    ORDERS = "orders"
    STOCK = "stock"
    MOVEMENTS = "movements"
    PRICES = "prices"
    RECALL_TRACE = "recall_trace"


class Format(TextChoices):
    """How the file of a report is written."""

    CSV = "csv"
    XLSX = "xlsx"
    JSON = "json"


class ReportStatus(TextChoices):
    """How far a report is."""

    QUEUED = "queued"
    RUNNING = "running"
    READY = "ready"
    FAILED = "failed"
    EXPIRED = "expired"


OPEN: Final = (ReportStatus.QUEUED.value, ReportStatus.RUNNING.value)
OVER: Final = (ReportStatus.FAILED.value, ReportStatus.EXPIRED.value)

FILE_TOO_LARGE: Final = "file_too_large"
STORAGE_EXCEEDED: Final = "storage_quota_exceeded"
GAVE_UP: Final = "internal_error"
