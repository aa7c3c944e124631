"""Bars of the staff's charts, laid out for SVG: sizes in its units, y from the top down."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

WIDTH: Final = 720
HEIGHT: Final = 150
FOOT: Final = 18  # below the bars, for their labels


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a bar: its upper edge, its height and its colour."""

    y: float
    height: float
    colour: str


def stacked(shares: Iterable[tuple[float, str]]) -> tuple[Part, ...]:
    """Return the parts of one bar from the bottom up; a share is one of the whole height, with its colour."""
    parts, y = [], float(HEIGHT)
    for share, colour in shares:
        if share > 0:
            y -= HEIGHT * share
            parts.append(Part(round(y, 1), round(HEIGHT * share, 1), colour))
    return tuple(parts)
