"""Filters asked of bodies that are given, as past versions, in place of what the tables hold.

The entries of the bodies are made as for a write and stand beside those of the tables for one statement only: each table's
name is there a `WITH` query of the table and of what is given. So the SQL of a condition is the same as in any search.
"""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from core import arrays
from core.pipeline import Call, Statement, run
from fhir_api.entries import Entries
from fhir_api.indexing import index
from fhir_api.keys import target_key
from fhir_api.reading import read_stored
from fhir_api.resources.types import NUMBERS
from fhir_api.statements import TABLES
from fhir_api.store import columns, numbered

from .compile import Compiler, Place
from .filters import Filter

_PLACE: Final = Place("given.id", "given.sort_date", "given")
_GIVEN: Final = """given AS MATERIALIZED (
  SELECT one.* FROM unnest($2::bigint[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::bigint[], $7::text[])
    AS one (id, fhir_id, last_updated, sort_date, target_key, parameters))"""
_RESOURCES: Final = """fhir_api_resource AS NOT MATERIALIZED (
  SELECT tenant_id, id, type, fhir_id, last_updated, deleted, sort_date, target_key, parameters, body
  FROM public.fhir_api_resource WHERE tenant_id = $1
  UNION ALL
  SELECT $1::uuid, id, $8::smallint, fhir_id::varchar COLLATE "C", last_updated, false, sort_date, target_key, parameters,
    NULL FROM given)"""


def meeting(tenant_id: UUID, asked: Filter, bodies: Mapping[str, bytes]) -> set[str]:
    """The ids of those of a type whose bodies meet the filter; what it asks of other resources, these are asked as they are."""
    if not bodies or not asked.alternatives:
        return set(bodies)
    found = [(-number, _indexed(body)) for number, body in enumerate(bodies.values(), 1)]
    dates = [(entries.sort_date or updated, updated) for _, (entries, updated) in found]
    compiler = Compiler(tenant_id)
    compiler.parameters += [
        arrays.numbers(number for number, _ in found),
        arrays.array_literal(bodies),
        arrays.array_literal(updated for _, updated in dates),
        arrays.array_literal(sort_date for sort_date, _ in dates),
        arrays.numbers(target_key(asked.type, fhir_id) for fhir_id in bodies),
        arrays.array_literal(numbered(entries) for _, (entries, _) in found),
        str(NUMBERS[asked.type]),
        *columns([(number, entries) for number, (entries, _) in found]),
    ]
    compiler.tables += [_GIVEN, _RESOURCES, *_ENTRIES]
    held = asked.sql(compiler, _PLACE)
    sql = f"{compiler.head()}SELECT given.fhir_id FROM given WHERE {held}"
    (rows,) = run([Call(Statement.composed(sql), compiler.parameters)])
    return {(rows.value(n) or b"").decode() for n in range(len(rows))}


def _indexed(body: bytes) -> tuple[Entries, str]:
    resource = read_stored(body)
    return index(resource), resource["meta"]["lastUpdated"]


def _entries(number: int) -> list[str]:
    """The tables of entries with what is given; its columns are the parameters from `number` on."""
    found = []
    for name, table, kinds in TABLES:
        arrayed = [f"${number}::bigint[]", *(f"${number + n}::{kind}[]" for n, (_, kind) in enumerate(kinds, 1))]
        number += len(arrayed)
        names = [column for column, _ in kinds]
        shown = [f'entry.{one}::varchar COLLATE "C"' if kind == "text" else f"entry.{one}" for one, kind in kinds]
        dated = name == "postings"
        kept, more = ([*names, "sort_date"], [*shown, "given.sort_date"]) if dated else (names, shown)
        found.append(
            f"{table} AS NOT MATERIALIZED (\n"
            f"  SELECT tenant_id, {', '.join(kept)}, resource_id FROM public.{table} WHERE tenant_id = $1\n"
            f"  UNION ALL\n"
            f"  SELECT $1::uuid, {', '.join(more)}, entry.owner FROM unnest({', '.join(arrayed)})\n"
            f"    AS entry (owner, {', '.join(names)}) JOIN given ON given.id = entry.owner)"
        )
    return found


_ENTRIES: Final = _entries(9)
