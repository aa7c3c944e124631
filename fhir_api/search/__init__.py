"""Search: query strings into SQL over the tables of entries, and pages of Bundles. Source: R4 search.html."""

from .asking import Ask
from .matching import matches, matching_call
from .running import run_search

__all__ = ["Ask", "matches", "matching_call", "run_search"]
