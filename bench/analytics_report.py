"""The marks of `./dev bench analytics`. Source: performance.md, "Trade"."""

from typing import Final

from .prescriptions_report import Mark
from .supply_report import Table

LONG, SHORT = "400 days", "30 days"


def table_of(metrics: tuple[str, ...]) -> Table:
    """Return what is told: each metric of 400 days beside 30, and beside itself where there are more rows."""
    marks = tuple(Mark(f"{name}, {LONG}", "cost", f"{name}, {SHORT}", 3.0) for name in metrics)
    spans = tuple(f"{name}, {span}" for name in metrics for span in (SHORT, LONG))
    alike: Final = tuple((f"{name}, {SHORT}", f"{name}, {LONG}") for name in metrics)
    return Table(marks=marks, alike=alike, growing=("product list, large", *spans, "insights"), rows="orders")
