"""Pages of prescriptions for the platform's staff, of the acting tenant. Importing registers them."""

from . import prescriptions, recurring

__all__ = ["prescriptions", "recurring"]
