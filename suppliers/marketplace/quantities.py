"""Which quantities of an offer can be ordered. Source: contract, supply-shelf.md "Marketplace"."""

from typing import NamedTuple


class Orderable(NamedTuple):
    """The packs that can be ordered at once: the least, the most, and the step."""

    least: int
    most: int | None
    step: int


def fitting(packs: int, orderable: Orderable) -> int:
    """Return the packs nearest to those asked for that can be ordered, rounded up where that is possible; 0 if none can."""
    step = orderable.step
    up = -(-max(packs, orderable.least) // step) * step
    if orderable.most is None or up <= orderable.most:
        return up
    down = orderable.most // step * step
    return down if down >= orderable.least else 0


def corrected(base_quantity: int, units_per_pack: int, orderable: Orderable) -> int | None:
    """Return the packs to ask for instead of a quantity that cannot be ordered; None where it can, 0 if none can.

    With a step of one pack a quantity in base units may break a pack, above the least and below the most (decision 92).
    """
    packs, rest = divmod(base_quantity, units_per_pack)
    off_step = orderable.step > 1 and base_quantity % (orderable.step * units_per_pack)
    too_much = orderable.most is not None and packs + bool(rest) > orderable.most
    if packs < orderable.least or too_much or off_step:
        return fitting(packs + bool(rest), orderable)
    return None
