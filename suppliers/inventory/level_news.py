"""What is told of a changed level: that it changed, at most once a second, and that it crossed its threshold.

Source: contract, supply.md section 8.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from ledger.public import Occurrence

from .events import StockDepleted, StockEvent, StockLevelChanged, StockLow, StockReplenished

if TYPE_CHECKING:
    from .levels import Level

AGAIN: Final = timedelta(seconds=1)


def is_due(told_at: datetime | None, at: datetime) -> bool:
    """Tell whether the level may be told of now; otherwise the sweep tells of it."""
    return told_at is None or at - told_at >= AGAIN


def news_of(level: "Level", *, is_told: bool, by: str, at: datetime) -> Iterator[Occurrence]:
    """Yield the facts of a level that an action has changed."""
    if is_told:
        yield level_changed(level, by=by, at=at)
    before = level.row.on_hand - level.row.reserved
    if crossed := _crossed(before, level.free, level.row.low_stock_threshold):
        yield Occurrence(crossed(**_quantities(level, by, at)), level.row.id)


def level_changed(level: "Level", *, by: str, at: datetime) -> Occurrence:
    """Return the fact that a level has changed to its present quantities."""
    return Occurrence(StockLevelChanged(**_quantities(level, by, at)), level.row.id)


def _quantities(level: "Level", by: str, at: datetime) -> dict[str, Any]:
    return {
        "level_id": str(level.row.id),
        "product_id": str(level.row.product_id),
        "location_id": str(level.row.location_id),
        "on_hand": level.on_hand,
        "reserved": level.reserved,
        "sellable": level.sellable(None, level.row.least_rest_days, at),
        "by": by,
    }


def _crossed(before: int, now: int, threshold: int | None) -> type[StockEvent] | None:
    """Return the event of a free quantity that has fallen to nothing, below the threshold, or risen to it again."""
    if now == 0 < before:
        return StockDepleted
    if threshold is None:
        return StockReplenished if before == 0 < now else None
    if now < threshold <= before:
        return StockLow
    return StockReplenished if before < threshold <= now else None
