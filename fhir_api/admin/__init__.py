"""Pages of the clinical record for the platform's staff, of the acting tenant alone and for looking only."""

from . import access, resources

__all__ = ["access", "resources"]
