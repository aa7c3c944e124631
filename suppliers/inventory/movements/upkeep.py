"""Months of the ledger of movements, made ahead; none is ever dropped. Source: contract, supply.md section 9."""

from datetime import datetime
from typing import Final

from django.db import connections

from core.history.partitions import ALIAS, History, make_ahead, turn
from core.history.ranges import Step

HISTORY: Final = History("suppliers_stockmovement", Step.MONTH)
TURN: Final = 7_206_041


def make_months(*, at: datetime) -> list[str]:
    """Make the months ahead that are not there yet; return their names. Safe to run at any time.

    :raises Busy: another run is under way, or a lock was held all the time.
    """
    try:
        with turn(TURN):
            return make_ahead(HISTORY, at=at)
    finally:
        connections[ALIAS].close()
