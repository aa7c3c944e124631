"""Which tables hold the webhooks' history, and how long their ranges are."""

from typing import Final

from core.history.partitions import History
from core.history.ranges import Step

ATTEMPTS: Final = History("webhooks_attempt", Step.WEEK)
DELIVERIES: Final = History("webhooks_delivery", Step.MONTH)
BODIES: Final = History("webhooks_event_body", Step.MONTH)
EVENTS: Final = History("webhooks_event", Step.MONTH)
HISTORIES: Final = (ATTEMPTS, DELIVERIES, BODIES, EVENTS)  # in the order in which they are dropped
TURN: Final = 7_206_030  # the lock that keeps two runs of the upkeep apart
