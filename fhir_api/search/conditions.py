"""What makes a resource found, as conditions on the tables of entries; `compile` writes their SQL.

A condition knows nothing of where in a statement it stands, so that it may be a filter, the source of a page, or inside a chain.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

Table = Literal["fhir_api_dateentry", "fhir_api_stringentry", "fhir_api_quantityentry", "fhir_api_positionentry"]
DATES: Final[Table] = "fhir_api_dateentry"
STRINGS: Final[Table] = "fhir_api_stringentry"
QUANTITIES: Final[Table] = "fhir_api_quantityentry"
POSITIONS: Final[Table] = "fhir_api_positionentry"


@dataclass(frozen=True, slots=True)
class Test:
    """SQL on the columns of one row, which stands as `{row}`; each `{}` is a value, in order, with its PostgreSQL type."""

    sql: str
    values: tuple[tuple[Any, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Keyed:
    """A posting under one of the keys. `rare`: few resources share one, so that a search may begin here uncounted."""

    keys: tuple[int, ...]
    rare: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """A row of a table of entries under a key (None: the table has none) that passes the test; any of the choices will do.

    `broad`: most of the rows are read whatever is asked, so that a search does not begin here if it can begin elsewhere.
    """

    table: Table
    choices: tuple[tuple[int | None, Test], ...]
    broad: bool = False


@dataclass(frozen=True, slots=True)
class Own:
    """A test of the resource's own row."""

    test: Test
    rare: bool = False


@dataclass(frozen=True, slots=True)
class Sought:
    """Resources of one type that meet all conditions."""

    type: str
    conditions: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Link:
    """References whose keys are `target_key ^ constant`, to what is sought."""

    constant: int
    sought: Sought


@dataclass(frozen=True, slots=True)
class Kin:
    """References whose keys are `target_key ^ constant`, to the resources of a type with these ids and to all above or below them.

    `part_of` is the constant of the search parameter by which a resource names the one above it; its element is `partOf`.
    `conditions` hold of every resource on the way.
    Source: R4 search.html#hierarchy.
    """

    constant: int
    type: str
    ids: tuple[str, ...]
    part_of: int
    above: bool
    conditions: tuple["Condition", ...] = ()


@dataclass(frozen=True, slots=True)
class Chained:
    """A reference to one of what is sought. Source: R4 search.html#chaining."""

    links: tuple[Link | Kin, ...]


@dataclass(frozen=True, slots=True)
class Had:
    """One of what is sought refers to the resource. Source: R4 search.html#has."""

    link: Link


@dataclass(frozen=True, slots=True)
class Either:
    """Any of the conditions; none of them is never met."""

    conditions: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class Neither:
    """None of the conditions."""

    conditions: tuple["Condition", ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """Each of the conditions."""

    conditions: tuple["Condition", ...]


Condition = Keyed | Listed | Own | Chained | Had | Either | Neither | AllOf


def flat(condition: Condition) -> tuple[Condition, ...]:
    """The conditions that together say the same, so that a search may begin at any of them."""
    return condition.conditions if isinstance(condition, AllOf) else (condition,)


def either(conditions: list[Condition]) -> Condition:
    """Any of the conditions, with those of one table made one."""
    keyed = [one for one in conditions if isinstance(one, Keyed)]
    listed = [one for one in conditions if isinstance(one, Listed)]
    joined: list[Condition] = [one for one in conditions if not isinstance(one, Keyed | Listed)]
    if keyed:
        keys = tuple(dict.fromkeys(key for one in keyed for key in one.keys))
        joined.append(Keyed(keys, rare=all(one.rare for one in keyed)))
    for table in dict.fromkeys(one.table for one in listed):
        of_table = [one for one in listed if one.table == table]
        choices = tuple(choice for one in of_table for choice in one.choices)
        joined.append(Listed(table, choices, broad=any(one.broad for one in of_table)))
    return joined[0] if len(joined) == 1 else Either(tuple(joined))
