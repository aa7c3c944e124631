"""Pages of prescriptions for the platform's staff, of the acting tenant. Importing registers them."""

from . import checkpoints, prescriptions, received, recurring, tables

__all__ = ["checkpoints", "prescriptions", "received", "recurring", "tables"]
