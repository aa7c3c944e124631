"""History of a resource, a type or all: newest first (of one resource: by version), in pages. Source: R4 http.html#history.

The current versions and those of the past are read by the same index order and merged; a page goes on behind the last
version of the one before, however many were written meanwhile.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final
from uuid import UUID

from core import arrays
from core.pipeline import Call, Rows, Statement

from . import compartments
from .resources.types import NAMES, NUMBERS
from .statements import numbered

COUNTED_AT_MOST: Final = 10_000
_SIZES: Final = (1, 11, 21, 51, 101, 201, 1_001)  # few statements, each planned for its size

_MOMENT: Final = "to_char(last_updated AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
_SHOWN: Final = "type, fhir_id, version, moment, method, body"
_ORDER: Final = "last_updated DESC, type DESC, fhir_id DESC, version DESC"
_ORDER_OF_ONE: Final = "version DESC"  # whatever clock the times came from
_TABLES: Final = ("fhir_api_resource", "fhir_api_resourceversion")
_EXISTS: Final = Statement.of("SELECT 1 FROM fhir_api_resource WHERE tenant_id = $1 AND type = $2 AND fhir_id = $3")

_NUMBERS_OF_KEYS: Final = (
    "SELECT p.resource_id FROM fhir_api_posting p WHERE p.tenant_id = $1 AND p.key = ANY($3::bigint[])"
)
# What is in a patient's compartment now, and what was when it was deleted; $2 his id, $3 the keys that name him, $4 JSON paths.
_MINE: Final = f"""WITH mine AS MATERIALIZED (
 SELECT r.type, r.fhir_id FROM {numbered(_NUMBERS_OF_KEYS)}
 UNION SELECT r.type, r.fhir_id FROM fhir_api_resource r WHERE r.tenant_id = $1 AND r.type = 1 AND r.fhir_id = $2
 UNION SELECT d.type, d.fhir_id FROM fhir_api_resource d JOIN fhir_api_resourceversion b ON b.tenant_id = $1
    AND b.type = d.type AND b.fhir_id = d.fhir_id AND b.version = d.version - 1
  WHERE d.tenant_id = $1 AND d.deleted AND jsonb_path_exists(b.body::jsonb, ($4::jsonb ->> d.type::text)::jsonpath)) """
_OWN_EXISTS: Final = Statement.of(f"{_MINE}SELECT 1 FROM mine WHERE type = $5 AND fhir_id = $6")

# A version was current in a span if it was written before its end and none had replaced it before its begin.
_REPLACED: Final = """NOT EXISTS (SELECT 1 FROM {table} n WHERE n.tenant_id = $1 AND n.type = v.type
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

    `types` narrows a history of all to some types; `at` is a span of time, begin and end; `until` ends a feed. `patient` holds any of them to
    his compartment: to resources that are in it, and of those to the versions that were.
    """

    type: str = ""
    fhir_id: str = ""
    types: tuple[str, ...] | None = None
    since: datetime | None = None
    at: tuple[datetime, datetime] | None = None
    patient: str = ""
    until: datetime | None = None


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
    return Call(Statement.composed(_page(parts, read)), [str(tenant_id), *parameters])


def count_call(tenant_id: UUID, query: HistoryQuery) -> Call:
    """The statement that counts the versions, up to one more than `COUNTED_AT_MOST`."""
    parts, parameters = _conditions(query, None)
    return Call(Statement.composed(_count(parts)), [str(tenant_id), *parameters])


def exists_call(tenant_id: UUID, query: HistoryQuery) -> Call:
    """The statement that has a row if the resource was ever there."""
    name = [str(NUMBERS[query.type]), query.fhir_id]
    if query.patient:
        return Call(_OWN_EXISTS, [str(tenant_id), *_compartment(query.patient), *name])
    return Call(_EXISTS, [str(tenant_id), *name])


def entries_of(rows: Rows) -> list[Entry]:
    """The versions that were read."""
    return [_entry(rows.row(number)) for number in range(len(rows))]


def _entry(row: Sequence[bytes | None]) -> Entry:
    kind, fhir_id, version, moment, method, body = row
    name = NAMES[int(kind or 0)]
    return Entry(name, (fhir_id or b"").decode(), int(version or 0), (moment or b"").decode(), int(method or 0), body)


def _compartment(patient: str) -> tuple[str, str, str]:
    return patient, arrays.numbers(compartments.all_keys(patient)), compartments.paths(patient)


def _conditions(query: HistoryQuery, after: Spot | None) -> tuple[tuple[str, ...], list[str]]:
    """The conditions on a version besides its tenant, by name, and their parameters from $2 on."""
    parts: list[str] = []
    values: list[str] = []

    def add(part: str, *more: object) -> None:
        parts.append(part)
        values.extend(map(str, more))

    _add_names(query, add)
    if query.since:
        add("since", query.since.isoformat())
    if query.at:
        add("at", query.at[0].isoformat(), query.at[1].isoformat())
    if query.until:
        add("until", query.until.isoformat())
    if after and query.fhir_id:
        add("before", after.version)
    elif after:
        add("after", after.moment, after.type, after.fhir_id, after.version)
    return tuple(parts), values


def _add_names(query: HistoryQuery, add: Callable[..., None]) -> None:
    """The conditions on which resources are meant."""
    if query.patient:
        add(_PATIENT, *_compartment(query.patient))
    if query.type:
        add("type", NUMBERS[query.type])
    elif query.types is not None:
        add("types", arrays.numbers(NUMBERS[name] for name in query.types))
    if query.fhir_id:
        add("id", query.fhir_id)


_PATIENT: Final = "patient"
_SQL: Final = {
    _PATIENT: (
        "(v.type, v.fhir_id) IN (SELECT m.type, m.fhir_id FROM mine m)"
        " AND (v.body IS NULL OR jsonb_path_exists(v.body::jsonb, (${2}::jsonb ->> v.type::text)::jsonpath))"
    ),
    "type": "type = ${0}::smallint",
    "types": "type = ANY(${0}::smallint[])",
    "id": "fhir_id = ${0}",
    "since": "last_updated >= ${0}::timestamptz",
    "at": "last_updated < ${1}::timestamptz",
    "until": "last_updated < ${0}::timestamptz",
    "before": "version < ${0}::integer",
    "after": (
        "last_updated <= ${0}::timestamptz"
        " AND (last_updated, type, fhir_id, version) < (${0}::timestamptz, ${1}::smallint, ${2}, ${3}::integer)"
    ),
}
_PARAMETERS: Final = {_PATIENT: 3, "at": 2, "after": 4}


def _where(parts: Iterable[str], *, past: bool) -> str:
    found, number = ["tenant_id = $1"], 2
    for part in parts:
        count = _PARAMETERS.get(part, 1)
        found.append(_SQL[part].format(*range(number, number + count)))
        if part == "at" and past:
            found.extend(_REPLACED.format(table=table, number=number) for table in _TABLES)
        number += count
    return " AND ".join(found)


def _head(parts: tuple[str, ...]) -> str:
    return _MINE if _PATIENT in parts else ""


@lru_cache(maxsize=256)
def _page(parts: tuple[str, ...], limit: int) -> str:
    order = _ORDER_OF_ONE if "id" in parts else _ORDER
    halves = [
        f"(SELECT type, fhir_id, version, {_MOMENT} AS moment, method, body, last_updated FROM {table} v WHERE {_where(parts, past=table == _TABLES[1])}"
        f" ORDER BY {order} LIMIT {limit})"
        for table in _TABLES
    ]
    found = f"SELECT {_SHOWN} FROM ({' UNION ALL '.join(halves)}) v ORDER BY {order} LIMIT {limit}"
    return f"{_head(parts)}{found}"


@lru_cache(maxsize=64)
def _count(parts: tuple[str, ...]) -> str:
    halves = [
        f"(SELECT 1 FROM {table} v WHERE {_where(parts, past=table == _TABLES[1])} LIMIT {COUNTED_AT_MOST + 1})"
        for table in _TABLES
    ]
    return f"{_head(parts)}SELECT count(*) FROM ({' UNION ALL '.join(halves)}) v"
