"""How a buyer is told of a quantity in stock. Source: contract, supply-shelf.md "Stock display"."""

from bisect import bisect_right
from typing import Final

from .states import StockDisplay

_BANDS: Final = ((0, "0"), (1, "1-9"), (10, "10-99"), (100, "100+"))
HIDDEN_WORDS: Final = "less than that"


def told(packs: int, *, display: str, cap: int | None) -> dict[str, int | str | None]:
    """Return the members by which a number of packs is told: a number, a band, or neither."""
    if display in (StockDisplay.EXACT, StockDisplay.CAPPED):
        return {"quantity": int(shown(packs, display=display, cap=cap)), "band": None}
    band = shown(packs, display=display, cap=cap) if display == StockDisplay.BAND else None
    return {"quantity": None, "band": band}


def shown(packs: int, *, display: str, cap: int | None) -> str:
    """Write a number of packs as the offer tells it."""
    if display == StockDisplay.EXACT:
        return str(packs)
    if display == StockDisplay.CAPPED:
        return str(min(packs, cap or 0))
    if display == StockDisplay.BAND:
        return _BANDS[bisect_right([least for least, _ in _BANDS], packs) - 1][1]
    return HIDDEN_WORDS
