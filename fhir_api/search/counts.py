"""How many rows conditions had of late, up to the bound, so that a search much like an earlier one need not count again.

What is known decides only where a search begins, so an old number makes it slower at worst. Each process learns by itself.
"""

import time
from typing import Final
from uuid import UUID

from .conditions import Condition

SECONDS: Final = 60.0
MOST: Final = 8_192


class Counts:
    """Numbers by tenant and condition, under hashes: what was searched for is not kept."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, float]] = {}

    def get(self, tenant_id: UUID, condition: Condition) -> int | None:
        """The number, if it was learned within a minute."""
        number, learned_at = self._known.get(hash((tenant_id, condition)), (None, 0.0))
        return number if time.monotonic() - learned_at < SECONDS else None

    def learn(self, tenant_id: UUID, condition: Condition, number: int) -> None:
        """Keep a number; of too many all are forgotten."""
        if len(self._known) >= MOST:
            self._known = {}
        self._known[hash((tenant_id, condition))] = (number, time.monotonic())


counts: Final = Counts()
