"""The SQL of the store: lock, write."""

from typing import Final

from core.keyed import keyed

# `sort_date` in UTC as the store writes it, so that the entries of a body that is read again are those that were written.
VERSION_COLUMNS: Final = (
    "r.id, r.type, r.fhir_id, r.version, to_json(r.last_updated)#>>'{}', r.method,"
    " to_char(r.sort_date AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"+00:00\"'), r.body"
)

# The numbers of the resources of tenant $1 with the types $2 and the ids $3. OFFSET 0 has PostgreSQL look each name up: a
# generic plan, which takes every tenant for a small one, would read all resources of the tenant and join them.
_NUMBERS_OF_NAMES: Final = """
  SELECT one.id FROM unnest($2::smallint[], $3::text[] COLLATE "C") AS wanted (type, fhir_id)
  CROSS JOIN LATERAL (
    SELECT f.id FROM fhir_api_resource f
    WHERE f.tenant_id = $1 AND f.type = wanted.type AND f.fhir_id = wanted.fhir_id OFFSET 0) AS one"""


def numbered(numbers: str, *, tenant: str = "$1", where: str = "", lock: str = "") -> str:
    """The FROM of resources `r` of a tenant whose numbers a query tells; `where` and `lock` as for `core.keyed`."""
    return keyed("fhir_api_resource", numbers, alias="r", tenant=tenant, where=where, lock=lock)


def named(*, where: str = "", lock: str = "") -> str:
    """The FROM of resources `r` of tenant $1 with the types $2 and the ids $3."""
    return numbered(_NUMBERS_OF_NAMES, where=where, lock=lock)


# Bounds that every number of a resource keeps: they have PostgreSQL expect few rows of a join, and look each up by its key.
_NUMBERS: Final = f"1 AND {2**63 - 1}"

# Who refers to a resource holds it with KEY SHARE (`integrity`): changing it may go on beside that, deleting it may not.
NAMED: Final = f"SELECT {VERSION_COLUMNS} FROM {named()} ORDER BY r.id"
LOCK_TO_CHANGE: Final = f"SELECT {VERSION_COLUMNS} FROM {named(lock='FOR NO KEY UPDATE')} ORDER BY r.id"
LOCK_TO_DELETE: Final = f"SELECT {VERSION_COLUMNS} FROM {named(lock='FOR UPDATE')} ORDER BY r.id"

LOCK_NAMES: Final = "SELECT pg_advisory_xact_lock(name) FROM unnest($1::bigint[]) AS name ORDER BY name"

_INSERT: Final = """
{name} AS (
  INSERT INTO {table} (tenant_id, {columns}, resource_id)
  SELECT $1, {values}, touched.id FROM unnest({arrays}) AS entry (owner, {names})
  JOIN touched ON touched.target_key = entry.owner{conflict} RETURNING 1)"""
_DELETE: Final = """
{name} AS (
  DELETE FROM {table} kept USING unnest({arrays}) AS entry (owner, {names})
  WHERE kept.tenant_id = $1 AND {match} AND kept.resource_id = entry.owner AND entry.owner BETWEEN {bounds})"""

# The tables of entries: a name, the table, its columns besides tenant and resource. Postings have the sort date as well.
TABLES: Final = (
    ("postings", "fhir_api_posting", (("key", "bigint"),)),
    ("dates", "fhir_api_dateentry", (("key", "bigint"), ("low", "timestamptz"), ("high", "timestamptz"))),
    ("strings", "fhir_api_stringentry", (("key", "bigint"), ("value", "text"))),
    ("quantities", "fhir_api_quantityentry", (("key", "bigint"), ("value", "float8"))),
    ("positions", "fhir_api_positionentry", (("latitude", "float8"), ("longitude", "float8"))),
)
# Their values are distinct in PostgreSQL where they are in Python, so no row can be there: looking first costs a third.
_DISTINCT: Final = frozenset({"postings", "dates", "strings", "quantities"})


def _entries(number: int, *kinds: bool, new: frozenset[str] = _DISTINCT) -> str:
    """The statements that add (False) or drop (True) entries; their columns are the parameters from `number` on.

    In the tables named by `new` no row that is added can be there before.
    """
    parts = []
    for removing in kinds:
        for name, table, columns in TABLES:
            dated = name == "postings"
            shown = (*columns, ("sort_date", "timestamptz")) if dated and removing else columns
            arrays = [f"${number}::bigint[]", *(f"${number + n}::{kind}[]" for n, (_, kind) in enumerate(shown, 1))]
            number += len(arrays)
            names = [column for column, _ in shown]
            parts.append(
                _DELETE.format(
                    name=f"no_{name}",
                    table=table,
                    arrays=", ".join(arrays),
                    names=", ".join(names),
                    match=" AND ".join(f"kept.{column} = entry.{column}" for column in names),
                    bounds=_NUMBERS,
                )
                if removing
                else _INSERT.format(
                    name=name,
                    table=table,
                    columns=", ".join([*names, *(["sort_date"] if dated else [])]),
                    values=", ".join(
                        [*(f"entry.{column}" for column in names), *(["touched.sort_date"] if dated else [])]
                    ),
                    arrays=", ".join(arrays),
                    names=", ".join(names),
                    conflict="" if name in new else " ON CONFLICT DO NOTHING",
                )
            )
    return ",".join(parts)


# JSON as the store writes it holds no line feed, so bodies travel as lines: nothing in them must be escaped. An empty one is NULL.
_LINES: Final = "string_to_array({}::text, E'\\n', '')"

_MADE: Final = f"""
  INSERT INTO fhir_api_resource
    (tenant_id, type, fhir_id, version, last_updated, method, sort_date, target_key, parameters, body)
  SELECT $1, made.type, made.fhir_id, 1, made.last_updated, made.method, made.sort_date, made.target_key, made.parameters, made.body
  FROM unnest($2::timestamptz[], $3::smallint[], $4::text[], $5::smallint[], $6::timestamptz[], $7::bigint[], $8::text[],
    {_LINES.format("$9")}) AS made (last_updated, type, fhir_id, method, sort_date, target_key, parameters, body)
  RETURNING id, target_key, sort_date"""

# Parameters: $1 tenant, $2-$9 new resources, then the columns of their entries.
CREATE: Final = f"""
WITH touched AS ({_MADE}),
{_entries(10, False)}
SELECT id, target_key FROM touched
"""

# Parameters: $1 tenant, $2-$9 new resources, $10-$15 changed ones, then the columns of entries to add and to drop.
WRITE: Final = f"""
WITH made AS ({_MADE}),
superseded AS (
  INSERT INTO fhir_api_resourceversion (tenant_id, type, fhir_id, version, last_updated, method, body)
  SELECT r.tenant_id, r.type, r.fhir_id, r.version, r.last_updated, r.method, r.body
  FROM {numbered("SELECT unnest($10::bigint[])")} RETURNING 1),
changed AS (
  UPDATE fhir_api_resource r
  SET version = r.version + 1, last_updated = now_so.last_updated, method = now_so.method, deleted = now_so.body IS NULL,
      sort_date = now_so.sort_date, parameters = now_so.parameters, body = now_so.body
  FROM unnest($10::bigint[], $11::timestamptz[], $12::smallint[], $13::timestamptz[], $14::text[], {_LINES.format("$15")})
    AS now_so (id, last_updated, method, sort_date, parameters, body)
  WHERE r.tenant_id = $1 AND r.id = now_so.id AND now_so.id BETWEEN {_NUMBERS} RETURNING r.id, r.target_key, r.sort_date),
touched AS (TABLE made UNION ALL TABLE changed),
{_entries(16, False, True)}
SELECT id, target_key FROM touched
"""

HOLD_NEXT: Final = """
SELECT r.id, r.body FROM fhir_api_resource r
WHERE r.tenant_id = $1 AND r.id > $2 AND NOT r.deleted ORDER BY r.id LIMIT $3 FOR NO KEY UPDATE OF r
"""

# Parameters: $1 tenant, $2 resources, $3 their search parameters, then the columns of entries to add; a resource is its own number here.
INDEX_AGAIN: Final = f"""
WITH touched AS (
  SELECT r.id, r.id AS target_key, r.sort_date FROM {numbered("SELECT unnest($2::bigint[])")}),
updated AS (
  UPDATE fhir_api_resource r SET parameters = now_so.parameters
  FROM unnest($2::bigint[], $3::text[]) AS now_so (id, parameters)
  WHERE r.tenant_id = $1 AND r.id = now_so.id AND now_so.id BETWEEN {_NUMBERS} AND r.parameters <> now_so.parameters),
{_entries(4, False, new=frozenset())}
SELECT count(*) FROM touched
"""
