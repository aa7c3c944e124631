"""Search: query strings into SQL over the tables of entries, and pages of Bundles. Source: R4 search.html."""

from .matching import matches, matching_call

__all__ = ["matches", "matching_call"]
