"""Search: query strings into SQL over the tables of entries, and pages of Bundles. Source: R4 search.html."""

from .asking import Ask, patients_named
from .everything import run_everything
from .latest import run_latest
from .matching import matches, matches_each, matching_call, names_of
from .refusals import InvalidSearch
from .running import run_search

__all__ = [
    "Ask",
    "InvalidSearch",
    "matches",
    "matches_each",
    "matching_call",
    "names_of",
    "patients_named",
    "run_everything",
    "run_latest",
    "run_search",
]
