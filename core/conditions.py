"""Pieces of SQL that narrow a read; floors below and above HTTP hand them to the statements of lists and single objects."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Condition:
    """A piece of SQL over `t` with `{0}`, `{1}` … where its parameters go (text form)."""

    sql: str
    parameters: tuple[str, ...] = ()
