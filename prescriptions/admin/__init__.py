"""Pages of prescriptions for the platform's staff, of the acting tenant. Importing registers them."""

from . import prescriptions

__all__ = ["prescriptions"]
