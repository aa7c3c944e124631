"""The admin pages of this app, one module for each feature; importing them registers the pages."""

from .approvals import admin as approvals
from .budgets import admin as budgets
from .purchasing import admin as purchasing

__all__ = ["approvals", "budgets", "purchasing"]
