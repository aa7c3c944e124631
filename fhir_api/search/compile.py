"""Conditions into SQL for one statement. $1 is the tenant.

Every condition can be a filter of a row that is already there; most can be where the rows come from (`Source`). Only operators
that are leakproof reach an index under row security, so the keys of chains, which need XOR, are made in tables of their own
(`WITH … AS MATERIALIZED`) before anything is joined to them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from django.conf import settings

from core import arrays
from fhir_api.keys import target_key
from fhir_api.resources.types import NUMBERS

from .conditions import AllOf, Chained, Condition, Either, Had, Keyed, Kin, Link, Listed, Neither, Own, Sought, Test

# Keeps a look-up what it is: a probe of a full key for each candidate, a range of the index for each key. Joined instead, by a
# planner that takes both sides for some rows, two hundred candidates of each were compared with one another, and the postings
# of two keys were found by a merge with all of the tenant's.
_PROBE = " OFFSET 0"
BOUND: Final = 1_000  # rows of a condition are counted up to here
MANY_KEYS: Final = 50  # so many keys of a chain are no longer looked up for each candidate


@dataclass(frozen=True, slots=True)
class Place:
    """How a candidate is told in SQL: its number, its sort date, and the alias of its own row if that is at hand."""

    id: str
    date: str
    row: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Where candidates come from. `single`: no resource comes twice; `ordered`: the index gives them by sort date."""

    tables: str
    where: tuple[str, ...]
    place: Place
    single: bool = True
    keys: str = ""  # a table of keys, for each of which the newest shall be taken


class Compiler:
    """The parameters and the tables in front of one statement, while its parts are written."""

    def __init__(self, tenant_id: UUID) -> None:
        self.parameters: list[str | bytes | None] = [str(tenant_id)]
        self.tables: list[str] = []
        self._aliases = 0
        self._recursive = False
        self.tells = False  # the table `few` holds how many rows the driver has

    def bind(self, value: Any, kind: str) -> str:
        """A parameter of a PostgreSQL type; lists become arrays."""
        if isinstance(value, list | tuple):
            value = arrays.array_literal(value) if kind == "text[]" else arrays.numbers(value)
        self.parameters.append(None if value is None else str(value))
        return f"${len(self.parameters)}::{kind}"

    def alias(self) -> str:
        """A name no other table of the statement has."""
        self._aliases += 1
        return f"t{self._aliases}"

    def head(self) -> str:
        """The tables that stand before the statement."""
        begin = "WITH RECURSIVE" if self._recursive else "WITH"
        return f"{begin} {', '.join(self.tables)} " if self.tables else ""

    def source(self, type_name: str, driver: Condition | None, below: int = 0) -> Source:
        """Where the resources of a type come from that meet one condition; without one, all of the type.

        `below`: nothing, if so many rows pass or more; the table `few` tells how many do.
        """
        source = self._source(type_name, driver)
        if not below or driver is None:
            return source
        if not self.tells:
            self.tells = True
            self.tables.append(f"few AS MATERIALIZED ({self.counted(driver)})")
        return replace(source, where=(*source.where, f"(SELECT number FROM few) < {self.bind(below, 'bigint')}"))

    def counted(self, condition: Condition) -> str:
        """The `number` of rows that pass a condition to begin at, up to the bound."""
        row = self.alias()
        if isinstance(condition, Keyed):
            table, match = "fhir_api_posting", f"{row}.key = ANY({self.bind(condition.keys, 'bigint[]')})"
        else:
            assert isinstance(condition, Listed)
            table, match = condition.table, f"({self.entries(condition, row)})"
        found = f"SELECT 1 FROM {table} {row} WHERE {row}.tenant_id = $1 AND {match} LIMIT {BOUND}"
        return f"SELECT count(*) AS number FROM ({found}) AS bounded"

    def _source(self, type_name: str, driver: Condition | None) -> Source:
        match driver:
            case Keyed(keys=(key,)):
                return self._posted(f"{{c}}.key = {self.bind(key, 'bigint')}")
            case Keyed(keys):
                table = f"unnest({self.bind(keys, 'bigint[]')})"
                return self._posted("{c}.key = keys.key", keys=f"{table} AS keys (key)")
            case Chained():
                return self._posted("{c}.key = keys.key", keys=f"{self._keys(driver)} AS keys")
            case Listed():
                return self._listed(driver)
        row = self.alias()
        where = (f"{row}.tenant_id = $1", f"{row}.type = {NUMBERS[type_name]}", f"NOT {row}.deleted")
        return Source(f"fhir_api_resource {row}", where, Place(f"{row}.id", f"{row}.sort_date", row))

    def holds(self, condition: Condition, place: Place) -> str:
        """The condition as a filter of a candidate."""
        match condition:
            case Keyed(keys):
                return self._posting(keys, place)
            case Listed():
                return self._entry(condition, place)
            case Own(test):
                return f"({self.test(test, place.row)})" if place.row else self._own(test, place)
            case Chained():
                return self._refers(condition, place)
            case Had(link):
                return self._had(link, place)
            case Either() | Neither() | AllOf():
                return self._joined(condition, place)

    def _joined(self, condition: Either | Neither | AllOf, place: Place) -> str:
        if isinstance(condition, AllOf):
            return f"({' AND '.join(self.all_hold(condition.conditions, place))})"
        sign = "NOT " if isinstance(condition, Neither) else ""
        return f"{sign}({' OR '.join(self.holds(one, place) for one in condition.conditions) or 'FALSE'})"

    def all_hold(self, conditions: Iterable[Condition], place: Place) -> list[str]:
        """The conditions as filters; those that must fetch the candidate's own row are asked of what met all others.

        CASE keeps that order, where the planner would take every look-up for as dear as the next.
        """
        probes: list[str] = []
        fetches: list[str] = []
        for one in conditions:
            (fetches if not place.row and _fetches(one) else probes).append(self.holds(one, place))
        if not (probes and fetches):
            return probes + fetches
        return [f"CASE WHEN {' AND '.join(probes)} THEN {' AND '.join(fetches)} ELSE FALSE END"]

    def test(self, test: Test, row: str) -> str:
        """A test of a row, its values bound."""
        parts = test.sql.replace("{row}", row).split("{}")
        bound = [self.bind(value, kind) for value, kind in test.values]
        return parts[0] + "".join(value + part for value, part in zip(bound, parts[1:], strict=True))

    def entries(self, condition: Listed, row: str) -> str:
        """The choices of a table of entries as one filter of its row; keys with the same tests stand together."""
        by_key: dict[int | None, list[Test]] = {}
        for key, test in condition.choices:
            by_key.setdefault(key, []).append(test)
        by_tests: dict[tuple[Test, ...], list[int | None]] = {}
        for key, tests in by_key.items():
            by_tests.setdefault(tuple(tests), []).append(key)
        parts = []
        for tested, keys in by_tests.items():
            any_test = " OR ".join(f"({self.test(test, row)})" for test in tested)
            parts.append(f"{self._keyed(keys, row)}({any_test})")
        return " OR ".join(f"({part})" for part in parts) if len(parts) > 1 else parts[0]

    def _keyed(self, keys: Sequence[int | None], row: str) -> str:
        """The beginning of a filter of entries by their keys; positions have none."""
        if keys == [None]:
            return ""
        if len(keys) == 1:
            return f"{row}.key = {self.bind(keys[0], 'bigint')} AND "
        return f"{row}.key = ANY({self.bind(keys, 'bigint[]')}) AND "

    def _posted(self, match: str, *, keys: str = "") -> Source:
        row = self.alias()
        where = (f"{row}.tenant_id = $1", match.format(c=row))
        place = Place(f"{row}.resource_id", f"{row}.sort_date")
        return Source(f"fhir_api_posting {row}", where, place, single=not keys, keys=keys)

    def _listed(self, driver: Listed) -> Source:
        entry, row = self.alias(), self.alias()
        where = f"{entry}.tenant_id = $1 AND ({self.entries(driver, entry)})"
        found = f"(SELECT DISTINCT {entry}.resource_id FROM {driver.table} {entry} WHERE {where}) AS {entry}d"
        tables = f"{found} JOIN fhir_api_resource {row} ON {row}.id = {entry}d.resource_id AND {row}.tenant_id = $1"
        return Source(tables, (), Place(f"{row}.id", f"{row}.sort_date", row))

    def _posting(self, keys: Sequence[int], place: Place) -> str:
        if not keys:
            return "FALSE"
        row = self.alias()
        match = f"= {self.bind(keys[0], 'bigint')}" if len(keys) == 1 else f"= ANY({self.bind(keys, 'bigint[]')})"
        return (
            f"EXISTS (SELECT 1 FROM fhir_api_posting {row} WHERE {row}.tenant_id = $1 AND {row}.key {match}"
            f" AND {row}.sort_date = {place.date} AND {row}.resource_id = {place.id}{_PROBE})"
        )

    def _entry(self, condition: Listed, place: Place) -> str:
        row = self.alias()
        return (
            f"EXISTS (SELECT 1 FROM {condition.table} {row} WHERE {row}.tenant_id = $1"
            f" AND {row}.resource_id = {place.id} AND ({self.entries(condition, row)}){_PROBE})"
        )

    def _own(self, test: Test, place: Place) -> str:
        row = self.alias()
        return (
            f"EXISTS (SELECT 1 FROM fhir_api_resource {row} WHERE {row}.id = {place.id}"
            f" AND {row}.tenant_id = $1 AND ({self.test(test, row)}){_PROBE})"
        )

    def _refers(self, condition: Chained, place: Place) -> str:
        """A probe of each key for each candidate; of many keys, one look into all that refers to any of them.

        CASE keeps that a look into a hashed table, made when it is first asked, which a join may not be.
        """
        row, keys = self.alias(), self._keys(condition)
        posted = (
            f"SELECT {row}.resource_id FROM fhir_api_posting {row} WHERE {row}.tenant_id = $1 AND {row}.key = k.key"
        )
        found = f"SELECT one.resource_id FROM {keys} k CROSS JOIN LATERAL ({posted}{_PROBE}) AS one"
        self.tables.append(f"refer{row} AS MATERIALIZED ({found})")
        return (
            f"CASE WHEN (SELECT count(*) FROM (SELECT 1 FROM {keys} LIMIT {MANY_KEYS}) AS counted) < {MANY_KEYS}"
            f" THEN EXISTS (SELECT 1 FROM {keys} k{row} JOIN fhir_api_posting {row} ON {row}.key = k{row}.key"
            f" WHERE {row}.tenant_id = $1 AND {row}.sort_date = {place.date} AND {row}.resource_id = {place.id})"
            f" ELSE {place.id} IN (SELECT resource_id FROM refer{row}) END"
        )

    def _had(self, link: Link, place: Place) -> str:
        """Whether one of what is sought refers to the candidate; OFFSET 0 keeps the XOR out of the index's condition."""
        row, own, referring = self.alias(), self.alias(), self.alias()
        key = f"{own}.target_key # {self.bind(link.constant, 'bigint')}"
        inner = self.all_hold(link.sought.conditions, Place(f"{referring}.resource_id", f"{referring}.sort_date"))
        return (
            f"EXISTS (SELECT 1 FROM (SELECT {key} AS key FROM fhir_api_resource {own}"
            f" WHERE {own}.id = {place.id} AND {own}.tenant_id = $1 OFFSET 0) {row}"
            f" JOIN fhir_api_posting {referring} ON {referring}.key = {row}.key"
            f" WHERE {' AND '.join([f'{referring}.tenant_id = $1', *inner])})"
        )

    def _keys(self, condition: Chained) -> str:
        """The name of a table of the keys under which references to what is sought stand."""
        selects = [self._kin(link) if isinstance(link, Kin) else self._targets(link) for link in condition.links]
        name = f"keys{self.alias()}"
        found = " UNION ".join(selects) or "SELECT NULL::bigint AS key WHERE FALSE"
        self.tables.append(f"{name} AS MATERIALIZED ({found})")
        return name

    def _kin(self, kin: Kin) -> str:
        """The keys of references to a tree's part; UNION ends where the data go round in circles.

        The next step's key is made in the SELECT of the one before, so that each step is a look-up in an index.
        """
        self._recursive = True
        tree, row, number = f"tree{self.alias()}", self.alias(), NUMBERS[kin.type]
        held = "".join(
            f" AND {one}" for one in self.all_hold(kin.conditions, Place(f"{row}.id", f"{row}.sort_date", row))
        )
        if kin.above:
            text = f"^({re.escape(settings.FHIR_BASE_URL)}/)?{kin.type}/([A-Za-z0-9.\\-]{{1,64}})(/_history/.*)?$"
            named = f"{row}.body::jsonb #>> '{{partOf,reference}}'"
            step = f'(regexp_match({named}, {self.bind(text, "text")}))[2] COLLATE "C"'
            own = f"{row}.tenant_id = $1 AND {row}.type = {number} AND NOT {row}.deleted AND {row}.fhir_id"
            begin = f"FROM fhir_api_resource {row} WHERE {own} = ANY({self.bind(list(kin.ids), 'text[]')}){held}"
            joined = f"JOIN fhir_api_resource {row} ON {own} = {tree}.next{held}"
        else:
            entry = self.alias()
            step = f"{row}.target_key # {self.bind(kin.part_of, 'bigint')}"
            keys = [target_key(kin.type, one) for one in kin.ids]
            begin = f"FROM unnest({self.bind(keys, 'bigint[]')}) AS {row} (target_key)"
            joined = (
                f"JOIN fhir_api_posting {entry} ON {entry}.key = {tree}.next AND {entry}.tenant_id = $1"
                f" JOIN fhir_api_resource {row} ON {row}.id = {entry}.resource_id AND {row}.tenant_id = $1{held}"
            )
        shown = f"SELECT {row}.target_key, {step}"
        self.tables.append(f"{tree} (target_key, next) AS ({shown} {begin} UNION {shown} FROM {tree} {joined})")
        return f"SELECT {tree}.target_key # {self.bind(kin.constant, 'bigint')} AS key FROM {tree}"

    def _targets(self, link: Link) -> str:
        source, where = self.candidates(link.sought)
        row = source.place.row
        tables = source.tables
        if not row:
            row = self.alias()
            tables = f"{tables} JOIN fhir_api_resource {row} ON {row}.id = {source.place.id} AND {row}.tenant_id = $1"
        key = f"{row}.target_key # {self.bind(link.constant, 'bigint')}"
        return f"SELECT {key} AS key FROM {tables} WHERE {' AND '.join(where)}"

    def candidates(self, sought: Sought, driver: Condition | None = None, below: int = 0) -> tuple[Source, list[str]]:
        """Where what is sought comes from, a table of keys joined in, and the filters of all other conditions."""
        begin = driver or usual_driver(sought.conditions)
        source = self.source(sought.type, begin, below)
        place = source.place
        filters = self.all_hold((one for one in sought.conditions if one is not begin), place)
        if not source.keys:
            return source, [*source.where, *filters] or ["TRUE"]
        row = source.tables.split()[-1]
        each = f"SELECT {place.id}, {place.date} FROM {source.tables} WHERE {' AND '.join(source.where)}{_PROBE}"
        joined = f"{source.keys} CROSS JOIN LATERAL ({each}) AS {row}"
        return Source(joined, (), place, single=False), filters or ["TRUE"]


def usual_driver(conditions: Sequence[Condition]) -> Condition | None:
    """The condition to begin at when nothing was counted: what is rare by nature first, tables that must be read broadly last."""
    if any(isinstance(one, Own) and one.rare for one in conditions):
        return None
    return min(filter(drives, conditions), key=_rank, default=None)


def _fetches(condition: Condition) -> bool:
    """Tell whether a condition reads the row of a resource that is known by its number only."""
    if isinstance(condition, AllOf | Either | Neither):
        return any(map(_fetches, condition.conditions))
    return isinstance(condition, Own)


def drives(condition: Condition) -> bool:
    """Tell whether candidates can come from the condition."""
    return (isinstance(condition, Keyed) and bool(condition.keys)) or isinstance(condition, Listed | Chained)


def _rank(condition: Condition) -> int:
    match condition:
        case Keyed(rare=True):
            return 0
        case Chained():
            return 1
        case Listed(broad=True):
            return 4
        case Listed():
            return 2
    return 3
