"""What keeps notifications in order: their months, made ahead, and alerts whose cause has gone without a fact.

Source: contract, supply.md section 9.
"""

from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import connections

from core.db import role_context, tenant_context
from core.history.partitions import ALIAS, History, make_ahead, turn
from core.history.ranges import Step
from core.lanes import in_turn
from core.rounds import GoOn, Rounds, ever
from core.row_security import DISPATCHER

from .following import review
from .models import OpenAlert
from .sources import expiring_lots
from .states import Type

HISTORY: Final = History("suppliers_notification", Step.MONTH)
TURN: Final = 7_206_042
_QUEUE: Final = "suppliers.review_alerts"
_rounds = Rounds()


def make_months(*, at: datetime) -> list[str]:
    """Make the months ahead that are not there yet; return their names. Safe to run at any time.

    :raises Busy: another run is under way, or a lock was held all the time.
    """
    try:
        with turn(TURN):
            return make_ahead(HISTORY, at=at)
    finally:
        connections[ALIAS].close()


def review_alerts(*, at: datetime, go_on: GoOn = ever) -> None:
    """Look again at the open alerts of lots: nobody tells that the last unit of a lot has left, or how near its end is."""

    def step(tenant_id: UUID, _: bool) -> None:
        with tenant_context(tenant_id):
            review(tenant_id, Type.EXPIRING_LOT, expiring_lots, at)

    for lane in in_turn(_QUEUE):
        with role_context(DISPATCHER):
            found = lane.filter(OpenAlert.objects.filter(type=Type.EXPIRING_LOT)).order_by("tenant_id")
            tenants = list(found.values_list("tenant_id", flat=True).distinct())
        _rounds.drain(dict.fromkeys(tenants, True), step, go_on=go_on)
