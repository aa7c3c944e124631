"""Search terms: how stored texts and the text of a search are split into words, and the SQL that finds rows by them.

Each row has its terms in a posting table with the key (tenant, word, row): under row security a B-tree key answers a
search, a GIN index could not. Source: contract, organizations.md "Documents of two parties".
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .conditions import Condition, SoleTerm
from .text_folding import words

LONGEST = 64
MAX_SEARCH_WORDS = 16

# Sorts after every character in UTF-8, so that prefix <= word < prefix + LAST are the words with that prefix.
LAST = "\U0010ffff"
# Sorts before every character, so that word <= word < word + FIRST is the word alone.
FIRST = "\x01"

# The ids are found first, in the keys of the search terms alone; each row is then fetched by its key. With plain joins
# PostgreSQL misjudges the row counts and may scan all rows of a big tenant; hence the array.
# A range is used rather than `^@`, because a generic plan can use an index for a range.
_FOUND = 't."id" IN (SELECT unnest(ARRAY({arms})))'
_RANGE = "{alias}.word >= {first} AND {alias}.word < {last}"


@dataclass(frozen=True, slots=True)
class Postings:
    """A posting table: the SELECT of the rows' ids by the alias `w`, and the condition that a row has another word.

    `{range}` stands in both for the condition on the word; the other word's row has the alias `o`. `is_whole` says that the
    rows of a list are all rows of one table, which are never deleted, so that each posting has its row. `terms` is then the SELECT
    of the terms that they have, and `has` the condition that the row `t` of the list has one, by the alias `w`.
    """

    ids: str
    other: str
    is_whole: bool = False
    terms: str = ""
    has: str = ""


def words_of(text: str) -> list[str]:
    """Return the words of a text in their order, without case and accents, each once."""
    return list(dict.fromkeys(word[:LONGEST] for word in words(text)))


def with_terms(words: Sequence[str], *postings: Postings) -> Condition:
    """Return the condition that a row has, for each word, a search term that begins with it.

    The longest word, probably the rarest, comes first. A single letter or digit must match a whole term ("size M"):
    half of all rows have a term that begins with it.
    """
    bounds: list[str] = []
    ranges: list[str] = []
    for word in sorted(words, key=len, reverse=True):
        alias = "o" if ranges else "w"
        ranges.append(_RANGE.format(alias=alias, first=f"{{{len(bounds)}}}", last=f"{{{len(bounds) + 1}}}"))
        bounds += bounds_of(word)
    arms = " UNION ALL ".join(
        one.ids.format(range=ranges[0]) + "".join(one.other.format(range=other) for other in ranges[1:])
        for one in postings
    )
    ids = arms if all(one.is_whole for one in postings) else ""
    sole = _sole(postings[0], ranges[0]) if ids and len(ranges) == 1 and postings[0].terms else None
    return Condition(_FOUND.format(arms=arms), tuple(bounds), is_costly=True, ids=ids, sole=sole)


def _sole(posting: Postings, found: str) -> SoleTerm:
    """Tell whether the first term of a range is its last one, too, and how rows are found by it."""
    first, last = (f"({posting.terms.format(range=found)} ORDER BY w.word{way} LIMIT 1)" for way in ("", " DESC"))
    exactly = "w.word = {term}"
    return SoleTerm(
        f"SELECT CASE WHEN a.word = z.word THEN a.word END FROM {first} a, {last} z",
        posting.ids.format(range=exactly),
        posting.has.format(range=exactly),
    )


def bounds_of(word: str) -> tuple[str, str]:
    """Return the first term that begins with a word, and the first one behind them; a single letter or digit is a whole term."""
    single = len(word) == 1 and word.isascii()
    return word, word + (FIRST if single else LAST)


def with_whole_term(term: str, *postings: Postings) -> Condition:
    """Return the condition that a row has exactly this search term."""
    found = _RANGE.format(alias="w", first="{0}", last="{1}")
    arms = " UNION ALL ".join(one.ids.format(range=found) for one in postings)
    return Condition(_FOUND.format(arms=arms), (term, term + FIRST))
