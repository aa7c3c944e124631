"""The statement that reads the next batch of an export: resources as they were at its time, in bounded memory.

What was current at a time never changes afterwards: the current version while it is not newer, else the newest of the
past that is not. So batches are read in transactions of their own, by whoever goes on, and fit together all the same.
A filter is asked of the index for versions that are still current, and of the bodies of all others.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from core.clock import rfc3339
from core.db import needs_transaction
from core.pipeline import Call, Rows, Statement, run
from fhir_api.resources.types import NUMBERS
from fhir_api.search.compile import Compiler, Place
from fhir_api.search.filters import Filter
from fhir_api.search.given import meeting

from .models import ExportJob

RESOURCES: Final = 1_000
FILTERED: Final = (
    10  # so many times as many are looked at where a filter leaves few: what its chains lead to is found once
)
BYTES: Final = 4 * 1024 * 1024

_PLACE: Final = Place("was.id", "was.sort_date", "was")

# The page counts the rows that are looked at, the running total the bytes that are answered; the length of a body is
# known without reading it. At least one resource comes, however large. Of a deleted one the last body tells whose it was.
_PAGE: Final = """page AS MATERIALIZED (
  SELECT id, sort_date, parameters, fhir_id, version, last_updated, body FROM fhir_api_resource
  WHERE tenant_id = $1 AND type = $2 AND fhir_id > $3 ORDER BY fhir_id LIMIT $4::integer)"""
_WAS: Final = """was AS (
  SELECT id, sort_date, parameters, fhir_id, version, last_updated, body, body IS NOT NULL AS indexed
  FROM page WHERE last_updated <= $5::timestamptz
  UNION ALL
  SELECT page.id, page.sort_date, '', page.fhir_id, past.version, past.last_updated, past.body, false
  FROM page CROSS JOIN LATERAL (
    SELECT v.version, v.last_updated, v.body FROM fhir_api_resourceversion v
    WHERE v.tenant_id = $1 AND v.type = $2 AND v.fhir_id = page.fhir_id AND v.last_updated <= $5::timestamptz
    ORDER BY v.version DESC LIMIT 1) past
  WHERE page.last_updated > $5::timestamptz)"""
_WANTED: Final = """wanted AS (
  SELECT fhir_id, indexed, body IS NULL AS gone, coalesce(body, (
    SELECT v.body FROM fhir_api_resourceversion v
    WHERE v.tenant_id = $1 AND v.type = $2 AND v.fhir_id = was.fhir_id AND v.version = was.version - 1)) AS body
  FROM was WHERE CASE WHEN $6::timestamptz IS NULL THEN body IS NOT NULL ELSE last_updated > $6::timestamptz END
    AND (NOT indexed OR {held}))"""
_SIZED: Final = """sized AS (
  SELECT fhir_id, gone, indexed, body, coalesce(octet_length(body), 0) AS bytes,
         sum(coalesce(octet_length(body), 0)) OVER (ORDER BY fhir_id) AS total FROM wanted)"""
_FOUND: Final = """SELECT (SELECT count(*) FROM page), (SELECT max(fhir_id) FROM page), (SELECT count(*) FROM sized),
       found.fhir_id, found.gone, found.indexed, found.body
FROM (SELECT 1) one
LEFT JOIN (SELECT fhir_id, gone, indexed, body FROM sized WHERE total - bytes < $7::bigint) found ON true
ORDER BY found.fhir_id
"""


@dataclass(frozen=True, slots=True)
class Found:
    """A resource as it was at the export's time; where it had been deleted (`gone`), the body it had before.

    `indexed`: the index is of this very version. `whose`: patients whom only what it refers to names.
    """

    fhir_id: str
    gone: bool
    indexed: bool
    body: bytes
    whose: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Batch:
    """The next resources of one type, and the id behind which the next batch begins.

    `examined` is how many resources were looked at, `more` whether the type may have further ones.
    """

    found: list[Found]
    cursor_id: str
    examined: int
    more: bool


@needs_transaction
def read_batch(job: ExportJob, asked: Filter, after: str) -> Batch:
    """Read the batch of a type behind an id, in the bound tenant."""
    compiler = Compiler(job.tenant_id)
    most = RESOURCES * (FILTERED if asked.alternatives else 1)
    compiler.parameters += [
        str(NUMBERS[asked.type]),
        after,
        str(most),
        rfc3339(job.transaction_time),
        job.since.isoformat() if job.since else None,
        str(BYTES),
    ]
    held = asked.sql(compiler, _PLACE)
    compiler.tables += [_PAGE, _WAS, _WANTED.format(held=held), _SIZED]
    (rows,) = run([Call(Statement.composed(compiler.head() + _FOUND), compiler.parameters)])
    batch = _batch(rows, after, most)
    return Batch(_met(job, asked, batch.found), batch.cursor_id, batch.examined, batch.more)


def _met(job: ExportJob, asked: Filter, found: list[Found]) -> list[Found]:
    """Those that meet the filter, of which the index told all but the versions that it is not of."""
    bodies = {one.fhir_id: one.body for one in _unjudged(found)}
    met = meeting(job.tenant_id, asked, bodies)
    return [one for one in found if one.fhir_id in met or one.fhir_id not in bodies]


def _unjudged(found: Iterable[Found]) -> list[Found]:
    return [one for one in found if not one.indexed and one.body]


def _batch(rows: Rows, after: str, most: int) -> Batch:
    examined, last, wanted = rows.row()[:3]
    found = [_found(rows, n) for n in range(len(rows)) if rows.value(n, 3)]
    if len(found) < int(wanted or 0):  # the bytes were enough before the page was through
        return Batch(found, found[-1].fhir_id, len(found), more=True)
    return Batch(found, (last or b"").decode() or after, int(examined or 0), more=int(examined or 0) == most)


def _found(rows: Rows, n: int) -> Found:
    fhir_id, gone, indexed, body = rows.row(n)[3:]
    return Found((fhir_id or b"").decode(), gone == b"t", indexed == b"t", body or b"")
