"""Pages of prescriptions for the platform's staff, of the acting tenant. Importing registers them."""

from . import checkpoints, prescriptions, recurring, tables

__all__ = ["checkpoints", "prescriptions", "recurring", "tables"]
