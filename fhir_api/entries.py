"""What one resource is found by, in the form of the tables' columns; made by `indexing`, kept by `store`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

OPEN_LOW, OPEN_HIGH = "-infinity", "infinity"


@dataclass(slots=True)
class Entries:
    """The rows of the five tables of entries, without tenant and resource.

    Times are texts that PostgreSQL reads, in UTC and always written alike, so that two sets can be compared.
    `sort_date` is the primary clinical date; None where the type has none or the resource does not tell it. `contained`, the
    types of what the resource contains by their ids, is known while the entries are made and no part of them.
    """

    postings: set[int] = field(default_factory=set)
    dates: set[tuple[int, str, str]] = field(default_factory=set)
    strings: set[tuple[int, str]] = field(default_factory=set)
    quantities: set[tuple[int, float]] = field(default_factory=set)
    positions: set[tuple[float, float]] = field(default_factory=set)
    parameters: set[int] = field(default_factory=set)
    sort_date: str | None = None
    contained: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def size(self) -> int:
        """How many rows these are."""
        entries = len(self.postings) + len(self.dates) + len(self.strings)
        return entries + len(self.quantities) + len(self.positions)
