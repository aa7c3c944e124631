"""The admin pages of this app, one module for each feature; importing them registers the pages."""

from .catalog import admin as catalog

__all__ = ["catalog"]
