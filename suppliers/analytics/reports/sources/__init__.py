"""What each type of report reads."""

from collections.abc import Mapping
from typing import Final

from suppliers.analytics.reports.states import ReportType

from .base import Column, Kind, Source
from .orders import ORDERS
from .prices import PRICES
from .recalls import RECALL_TRACE
from .stock import MOVEMENTS, STOCK

__all__ = ["SOURCES", "Column", "Kind", "Source"]

SOURCES: Final[Mapping[str, Source]] = {
    ReportType.ORDERS.value: ORDERS,
    ReportType.STOCK.value: STOCK,
    ReportType.MOVEMENTS.value: MOVEMENTS,
    ReportType.PRICES.value: PRICES,
    ReportType.RECALL_TRACE.value: RECALL_TRACE,
}
