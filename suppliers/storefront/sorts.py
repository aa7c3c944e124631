"""How a list that the market's role reads is sorted."""

from typing import NamedTuple


class Sort(NamedTuple):
    """An order of the list: the column, the type of its values in a cursor, and whether it falls."""

    column: str
    cast: str
    down: bool
