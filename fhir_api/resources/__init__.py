"""Resources as JSON, and the types that are kept."""

from .json import Json, canonical, instant, pretty, stamped, written

__all__ = ["Json", "canonical", "instant", "pretty", "stamped", "written"]
