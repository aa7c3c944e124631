"""Where each type's search begins: at what is rare by nature, or at the rarest as counted up to a bound.

Without row-wise statistics of each tenant the planner may take a frequent value for a rare one; counting a thousand rows of an
index costs less than the wrong plan. Above the bound the conditions are alike, and the planner's statistics decide.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from core.pipeline import Call, Rows, Statement

from .compile import Compiler, drives, usual_driver
from .conditions import Condition, Keyed, Listed, Own, Sought
from .paging import Part

BOUND: Final = 1_000


def countable(sought: Sought) -> list[Condition]:
    """The conditions to begin at, of which the rarest is taken; none where it is plain. One alone needs no counting."""
    conditions = sought.conditions
    if any(isinstance(one, Own) and one.rare for one in conditions):
        return []
    candidates = [one for one in conditions if drives(one)]
    if len(candidates) < 2 or any(isinstance(one, Keyed) and one.rare and len(one.keys) == 1 for one in candidates):
        return []
    return [one for one in candidates if isinstance(one, Keyed) or (isinstance(one, Listed) and not one.broad)]


def counted(to_begin: Sequence[Sequence[Condition]]) -> list[Condition]:
    """Of each type's conditions to begin at, those whose numbers decide."""
    return [one for of_type in to_begin if len(of_type) > 1 for one in of_type]


def call(tenant_id: UUID, conditions: Sequence[Condition]) -> Call:
    """The statement that counts each condition's rows, up to the bound."""
    compiler = Compiler(tenant_id)
    counts = ", ".join(f"({_count(compiler, one)})" for one in conditions)
    return Call(Statement.composed(f"SELECT {counts}"), compiler.parameters)


def parts(all_sought: Sequence[Sought], to_begin: Sequence[Sequence[Condition]], rows: Rows | None) -> list[Part]:
    """Each type's share with the condition it begins at."""
    counts = [int(number or 0) for number in rows.row()] if rows is not None else []
    found = []
    for sought, conditions in zip(all_sought, to_begin, strict=True):
        if len(conditions) > 1:
            own, counts = counts[: len(conditions)], counts[len(conditions) :]
            found.append(Part(sought, _rarest(conditions, own)))
        else:
            found.append(Part(sought, conditions[0] if conditions else usual_driver(sought.conditions)))
    return found


def _rarest(conditions: Sequence[Condition], counts: Sequence[int]) -> Condition:
    """The one with the fewest rows; of equals a posting, which gives them in order."""
    ranked = zip(counts, (not isinstance(one, Keyed) for one in conditions), range(len(conditions)), strict=True)
    return conditions[min(ranked)[2]]


def _count(compiler: Compiler, condition: Condition) -> str:
    row = compiler.alias()
    if isinstance(condition, Keyed):
        table, match = "fhir_api_posting", f"{row}.key = ANY({compiler.bind(condition.keys, 'bigint[]')})"
    else:
        assert isinstance(condition, Listed)
        table, match = condition.table, f"({compiler.entries(condition, row)})"
    found = f"SELECT 1 FROM {table} {row} WHERE {row}.tenant_id = $1 AND {match} LIMIT {BOUND}"
    return f"SELECT count(*) FROM ({found}) AS bounded"
