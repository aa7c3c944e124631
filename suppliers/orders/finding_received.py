"""Finding an order for its supplier's answer: the buyer's row, locked, with its lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from core.pipeline import Call
from organizations.public import Party, TwoParty

from .finding import lines_call
from .models import ORDERS


@dataclass(frozen=True, slots=True, eq=False)
class ReceivedOrderLocked(TwoParty):
    """The `find` of a supplier's action that takes nothing which the lock order puts before an order.

    Its lines are what `finding.lines_of` makes of the first rows of `read`.
    """

    def reads_behind(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Read the lines behind the lock."""
        return [lines_call(owner_id, path[0])]


RECEIVED: Final = ReceivedOrderLocked(ORDERS, acts=Party.OTHER)
