"""Pages of the clinical record for the platform's staff, of the acting tenant alone and for looking only."""

from . import access, exports, resources, value_sets

__all__ = ["access", "exports", "resources", "value_sets"]
