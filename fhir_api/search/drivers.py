"""Where each type's search begins: at what is rare by nature, or at the rarest as counted up to a bound.

Without row-wise statistics of each tenant the planner may take a frequent value for a rare one; counting a thousand rows of an
index costs less than the wrong plan. Above the bound the conditions are alike, and the planner's statistics decide.
"""

from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

from core.pipeline import Call, Statement

from .compile import BOUND, Compiler, drives, usual_driver
from .conditions import Condition, Keyed, Listed, Own, Sought
from .counts import counts
from .paging import Part

RARE: Final = 100  # of what is known to have no more rows, nobody looks for a rarer one
RARE_OF_ENTRIES: Final = 30  # nor for one in a table of entries, which costs more to ask of each candidate


def countable(sought: Sought) -> list[Condition]:
    """The conditions to begin at, of which the rarest is taken; none where it is plain. One alone needs no counting."""
    conditions = sought.conditions
    if any(isinstance(one, Own) and one.rare for one in conditions):
        return []
    candidates = [one for one in conditions if drives(one)]
    if len(candidates) < 2 or any(isinstance(one, Keyed) and one.rare and len(one.keys) == 1 for one in candidates):
        return []
    return [one for one in candidates if isinstance(one, Keyed) or (isinstance(one, Listed) and not one.broad)]


def counted(tenant_id: UUID, to_begin: Sequence[Sequence[Condition]]) -> list[Condition]:
    """Of each type's conditions to begin at, those whose numbers decide and are not known."""
    return [one for of_type in to_begin for one in _undecided(tenant_id, of_type)]


def _undecided(tenant_id: UUID, conditions: Sequence[Condition]) -> list[Condition]:
    """What must be counted: nothing if one is known to be rare, or if a posting alone is unknown beside frequent ones.

    Such a posting gives its rows in order, so at worst it is as frequent as the others; a table of entries would be read whole.
    """
    numbers = [counts.get(tenant_id, one) for one in conditions]
    known = [number for number in numbers if number is not None]
    unknown = [one for one, number in zip(conditions, numbers, strict=True) if number is None]
    enough = RARE if all(isinstance(one, Keyed) for one in unknown) else RARE_OF_ENTRIES
    if min(known, default=BOUND) <= enough or len(conditions) < 2:
        return []
    alone = len(unknown) == 1 and isinstance(unknown[0], Keyed) and min(known) == BOUND
    return [] if alone else unknown


def hoped(
    tenant_id: UUID, all_sought: Sequence[Sought], to_begin: Sequence[Sequence[Condition]], unknown: Sequence[Condition]
) -> Part | None:
    """The share as it is if the one condition whose number is unknown is rarer than all others; else it finds nothing.

    There is none where more than one is unknown, or more than one type is searched.
    """
    if len(all_sought) > 1 or len(unknown) != 1:
        return None
    numbers = (counts.get(tenant_id, one) for one in to_begin[0] if one is not unknown[0])
    return Part(all_sought[0], unknown[0], min((number or BOUND for number in numbers), default=BOUND))


def call(tenant_id: UUID, conditions: Sequence[Condition]) -> Call:
    """The statement that counts each condition's rows, up to the bound."""
    compiler = Compiler(tenant_id)
    numbers = ", ".join(f"({compiler.counted(one)})" for one in conditions)
    return Call(Statement.composed(f"SELECT {numbers}"), compiler.parameters)


def parts(
    tenant_id: UUID,
    all_sought: Sequence[Sought],
    to_begin: Sequence[Sequence[Condition]],
    answered: Iterable[tuple[Condition, int]],
) -> list[Part]:
    """Each type's share with the condition it begins at; what was counted is learned."""
    for condition, number in answered:
        counts.learn(tenant_id, condition, number)
    return [
        Part(sought, _rarest(tenant_id, conditions) if conditions else usual_driver(sought.conditions))
        for sought, conditions in zip(all_sought, to_begin, strict=True)
    ]


def _rarest(tenant_id: UUID, conditions: Sequence[Condition]) -> Condition:
    """The one with the fewest rows; of equals a posting, which gives them in order.

    What was not counted comes behind what is known to be rare and before all else.
    """
    numbers = [counts.get(tenant_id, one) for one in conditions]
    ranked = zip(
        (RARE + 1 if number is None else number for number in numbers),
        (not isinstance(one, Keyed) for one in conditions),
        range(len(conditions)),
        strict=True,
    )
    return conditions[min(ranked)[2]]
