"""SQL conditions that narrow the rows of a list or of a single read."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Condition:
    """A SQL condition on the row `t`; `{0}`, `{1}` … stand for its parameters, which are given in text form."""

    sql: str
    parameters: tuple[str, ...] = ()


def all_of(conditions: Sequence[Condition]) -> Condition | None:
    """Join conditions with AND; None if there are none."""
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    pieces, parameters = [], list[str]()
    for one in conditions:
        pieces.append(one.sql.format(*(f"{{{len(parameters) + n}}}" for n in range(len(one.parameters)))))
        parameters += one.parameters
    return Condition(" AND ".join(f"({piece})" for piece in pieces), tuple(parameters))
