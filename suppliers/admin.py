"""The admin pages of this app, one module for each feature; importing them registers the pages."""

from .catalog import admin as catalog
from .inventory import admin as inventory
from .marketplace import admin as marketplace

__all__ = ["catalog", "inventory", "marketplace"]
