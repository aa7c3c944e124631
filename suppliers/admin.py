"""Pages of the staff's admin for this app, feature by feature; importing them registers them."""

from .catalog import admin as catalog

__all__ = ["catalog"]
