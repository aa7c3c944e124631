"""Pages of webhooks: the acting tenant's endpoints, events, deliveries and replays; never a secret. Importing registers them."""

from .deliveries import DeliveryPages
from .endpoints import EndpointPages
from .events import EventPages
from .replays import ReplayPages

__all__ = ["DeliveryPages", "EndpointPages", "EventPages", "ReplayPages"]
