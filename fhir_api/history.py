"""History of a resource, a type or all: newest first, in pages. Source: R4 http.html#history.

The current versions and those of the past are read by the same index order and merged; a page goes on behind the last
version of the one before, however many were written meanwhile.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final
from uuid import UUID

from core.pipeline import Call, Rows, Statement

from .types import NAMES, NUMBERS

COUNTED_AT_MOST: Final = 10_000
_SIZES: Final = (1, 11, 21, 51, 101, 201)  # few statements, each planned for its size

_MOMENT: Final = "to_char(last_updated AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
_SHOWN: Final = "type, fhir_id, version, moment, method, body"
_ORDER: Final = "last_updated DESC, type DESC, fhir_id DESC, version DESC"
_TABLES: Final = ("fhir_api_resource", "fhir_api_resourceversion")
_EXISTS: Final = Statement.of("SELECT 1 FROM fhir_api_resource WHERE tenant_id = $1 AND type = $2 AND fhir_id = $3")

# A version was current in a span if it was written before its end and none had replaced it before its begin.
_REPLACED: Final = """NOT EXISTS (SELECT FROM {table} n WHERE n.tenant_id = v.tenant_id AND n.type = v.type
 AND n.fhir_id = v.fhir_id AND n.version = v.version + 1 AND n.last_updated <= ${number}::timestamptz)"""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a page ended: the last version shown."""

    moment: str
    type: int
    fhir_id: str
    version: int


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """Which versions are asked for: of one resource, of one type (`fhir_id` ""), or of all (`type` "").

    `types` narrows a history of all to some types; `at` is a span of time, begin and end.
    """

    type: str = ""
    fhir_id: str = ""
    types: tuple[str, ...] | None = None
    since: datetime | None = None
    at: tuple[datetime, datetime] | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One version in a history; `body` None is a deletion."""

    type: str
    fhir_id: str
    version: int
    moment: str
    method: int
    body: bytes | None

    @property
    def spot(self) -> Spot:
        """Where a page that ends with it ended."""
        return Spot(self.moment, NUMBERS[self.type], self.fhir_id, self.version)


def page_call(tenant_id: UUID, query: HistoryQuery, *, after: Spot | None, limit: int) -> Call:
    """The statement that reads at least one version more than the page shows."""
    parts, parameters = _conditions(query, after)
    read = next(size for size in _SIZES if size > limit)
    return Call(_page(parts, read), [str(tenant_id), *parameters])


def count_call(tenant_id: UUID, query: HistoryQuery) -> Call:
    """The statement that counts the versions, up to one more than `COUNTED_AT_MOST`."""
    parts, parameters = _conditions(query, None)
    return Call(_count(parts), [str(tenant_id), *parameters])


def exists_call(tenant_id: UUID, query: HistoryQuery) -> Call:
    """The statement that has a row if the resource was ever there."""
    return Call(_EXISTS, [str(tenant_id), str(NUMBERS[query.type]), query.fhir_id])


def entries_of(rows: Rows) -> list[Entry]:
    """The versions that were read."""
    return [_entry(rows.row(number)) for number in range(len(rows))]


def _entry(row: Sequence[bytes | None]) -> Entry:
    kind, fhir_id, version, moment, method, body = row
    name = NAMES[int(kind or 0)]
    return Entry(name, (fhir_id or b"").decode(), int(version or 0), (moment or b"").decode(), int(method or 0), body)


def _conditions(query: HistoryQuery, after: Spot | None) -> tuple[tuple[str, ...], list[str]]:
    """The conditions on a version besides its tenant, by name, and their parameters from $2 on."""
    parts: list[str] = []
    values: list[str] = []

    def add(part: str, *more: object) -> None:
        parts.append(part)
        values.extend(map(str, more))

    if query.type:
        add("type", NUMBERS[query.type])
    elif query.types is not None:
        add("types", "{" + ",".join(str(NUMBERS[name]) for name in query.types) + "}")
    if query.fhir_id:
        add("id", query.fhir_id)
    if query.since:
        add("since", query.since.isoformat())
    if query.at:
        add("at", query.at[0].isoformat(), query.at[1].isoformat())
    if after:
        add("after", after.moment, after.type, after.fhir_id, after.version)
    return tuple(parts), values


_SQL: Final = {
    "type": "type = ${0}::smallint",
    "types": "type = ANY(${0}::smallint[])",
    "id": "fhir_id = ${0}",
    "since": "last_updated >= ${0}::timestamptz",
    "at": "last_updated < ${1}::timestamptz",
    "after": (
        "last_updated <= ${0}::timestamptz"
        " AND (last_updated, type, fhir_id, version) < (${0}::timestamptz, ${1}::smallint, ${2}, ${3}::integer)"
    ),
}
_PARAMETERS: Final = {"at": 2, "after": 4}


def _where(parts: Iterable[str], *, past: bool) -> str:
    found, number = ["tenant_id = $1"], 2
    for part in parts:
        count = _PARAMETERS.get(part, 1)
        found.append(_SQL[part].format(*range(number, number + count)))
        if part == "at" and past:
            found.extend(_REPLACED.format(table=table, number=number) for table in _TABLES)
        number += count
    return " AND ".join(found)


@lru_cache(maxsize=256)
def _page(parts: tuple[str, ...], limit: int) -> Statement:
    halves = [
        f"(SELECT type, fhir_id, version, {_MOMENT} AS moment, method, body, last_updated FROM {table} v WHERE {_where(parts, past=table == _TABLES[1])}"
        f" ORDER BY {_ORDER} LIMIT {limit})"
        for table in _TABLES
    ]
    return Statement.of(f"SELECT {_SHOWN} FROM ({' UNION ALL '.join(halves)}) v ORDER BY {_ORDER} LIMIT {limit}")


@lru_cache(maxsize=64)
def _count(parts: tuple[str, ...]) -> Statement:
    halves = [
        f"(SELECT 1 FROM {table} v WHERE {_where(parts, past=table == _TABLES[1])} LIMIT {COUNTED_AT_MOST + 1})"
        for table in _TABLES
    ]
    return Statement.of(f"SELECT count(*) FROM ({' UNION ALL '.join(halves)}) v")
