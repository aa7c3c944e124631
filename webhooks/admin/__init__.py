"""Pages of webhooks: the acting tenant's endpoints, events, deliveries and replays; never a secret. Importing registers them."""

from . import traces
from .deliveries import DeliveryAdmin
from .endpoints import EndpointAdmin
from .events import EventAdmin
from .replays import ReplayAdmin

__all__ = ["DeliveryAdmin", "EndpointAdmin", "EventAdmin", "ReplayAdmin", "traces"]
