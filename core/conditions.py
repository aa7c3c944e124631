"""Pieces of SQL that narrow a read; floors below and above HTTP hand them to the statements of lists and single objects."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Condition:
    """A piece of SQL over `t` with `{0}`, `{1}` … where its parameters go (text form)."""

    sql: str
    parameters: tuple[str, ...] = ()


def all_of(conditions: Sequence[Condition]) -> Condition | None:
    """One condition that holds where all do; None of none."""
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    pieces, parameters = [], list[str]()
    for one in conditions:
        pieces.append(one.sql.format(*(f"{{{len(parameters) + n}}}" for n in range(len(one.parameters)))))
        parameters += one.parameters
    return Condition(" AND ".join(f"({piece})" for piece in pieces), tuple(parameters))
