"""The search terms of medications, and the conditions that find medications by them."""

from collections.abc import Mapping, Sequence
from typing import Any

from core import search_terms
from core.conditions import TENANT, Condition
from core.search_terms import LONGEST, Postings, words_of

MOST_WORDS = 60
_CLASS = "#"  # no word of a text begins with it, so classes never meet a search

_POSTINGS = (
    Postings(
        ids=f"SELECT w.medication_id FROM prescriptions_tenantmedicationword w WHERE w.tenant_id = {TENANT} AND {{range}}",
        other=(
            f" AND EXISTS (SELECT 1 FROM prescriptions_tenantmedicationword o WHERE o.tenant_id = {TENANT}"
            " AND o.medication_id = w.medication_id AND {range} OFFSET 0)"
        ),
    ),
    Postings(
        ids="SELECT w.medication_id FROM prescriptions_platformmedicationword w WHERE {range}",
        other=(
            " AND EXISTS (SELECT 1 FROM prescriptions_platformmedicationword o"
            " WHERE o.medication_id = w.medication_id AND {range} OFFSET 0)"
        ),
    ),
)


def words_of_medication(row: Mapping[str, Any]) -> list[str]:
    """Return the search terms of a medication: those of its code and display, and one for each class."""
    found = dict.fromkeys([*words_of(row["code"]), *words_of(row["display"])])
    return [*list(found)[:MOST_WORDS], *dict.fromkeys(_class_term(name) for name in row["classes"])]


def with_terms(words: Sequence[str]) -> Condition:
    """Return the condition that a medication has, for each word, a search term that begins with it."""
    return search_terms.with_terms(words, *_POSTINGS)


def of_class(name: str) -> Condition:
    """Return the condition that a medication is of a class."""
    return search_terms.with_whole_term(_class_term(name), *_POSTINGS)


def _class_term(name: str) -> str:
    return _CLASS + name[:LONGEST]
