"""The statement that reads the next batch of an export: resources as they were at its time, in bounded memory.

What was current at a time never changes afterwards: the current version while it is not newer, else the newest of the
past that is not. So batches are read in transactions of their own, by whoever goes on, and fit together all the same.
"""

from dataclasses import dataclass
from typing import Final

from core.clock import rfc3339
from core.db import needs_transaction
from core.pipeline import Call, Rows, Statement, run
from fhir_api.resources.types import NUMBERS

from .models import ExportJob

RESOURCES: Final = 1_000
BYTES: Final = 4 * 1024 * 1024

# The page counts the rows that are looked at, the running total the bytes that are answered; the length of a body is
# known without reading it. At least one resource comes, however large. Of a deleted one the last body tells whose it was.
_BATCH: Final = Statement.of(
    """
WITH page AS MATERIALIZED (
  SELECT fhir_id, version, last_updated, body FROM fhir_api_resource
  WHERE tenant_id = $1 AND type = $2 AND fhir_id > $3 ORDER BY fhir_id LIMIT $4::integer),
was AS (
  SELECT fhir_id, version, last_updated, body FROM page WHERE last_updated <= $5::timestamptz
  UNION ALL
  SELECT page.fhir_id, past.version, past.last_updated, past.body FROM page CROSS JOIN LATERAL (
    SELECT v.version, v.last_updated, v.body FROM fhir_api_resourceversion v
    WHERE v.tenant_id = $1 AND v.type = $2 AND v.fhir_id = page.fhir_id AND v.last_updated <= $5::timestamptz
    ORDER BY v.version DESC LIMIT 1) past
  WHERE page.last_updated > $5::timestamptz),
wanted AS (
  SELECT fhir_id, body IS NULL AS gone, coalesce(body, (
    SELECT v.body FROM fhir_api_resourceversion v
    WHERE v.tenant_id = $1 AND v.type = $2 AND v.fhir_id = was.fhir_id AND v.version = was.version - 1)) AS body
  FROM was WHERE CASE WHEN $6::timestamptz IS NULL THEN body IS NOT NULL ELSE last_updated > $6::timestamptz END),
sized AS (
  SELECT fhir_id, gone, body, coalesce(octet_length(body), 0) AS bytes,
         sum(coalesce(octet_length(body), 0)) OVER (ORDER BY fhir_id) AS total FROM wanted)
SELECT (SELECT count(*) FROM page), (SELECT max(fhir_id) FROM page), (SELECT count(*) FROM sized),
       found.fhir_id, found.gone, found.body
FROM (SELECT 1) one LEFT JOIN (SELECT fhir_id, gone, body FROM sized WHERE total - bytes < $7::bigint) found ON true
ORDER BY found.fhir_id
"""
)


@dataclass(frozen=True, slots=True)
class Found:
    """A resource as it was at the export's time; where it had been deleted (`gone`), the body it had before."""

    fhir_id: str
    gone: bool
    body: bytes


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
def read_batch(job: ExportJob, type_name: str, after: str) -> Batch:
    """Read the batch behind an id, in the bound tenant."""
    parameters = [
        str(job.tenant_id),
        str(NUMBERS[type_name]),
        after,
        str(RESOURCES),
        rfc3339(job.transaction_time),
        job.since.isoformat() if job.since else None,
        str(BYTES),
    ]
    (rows,) = run([Call(_BATCH, parameters)])
    return _batch(rows, after)


def _batch(rows: Rows, after: str) -> Batch:
    examined, last, wanted = rows.row()[:3]
    found = [_found(rows, n) for n in range(len(rows)) if rows.value(n, 3)]
    if len(found) < int(wanted or 0):  # the bytes were enough before the page was through
        return Batch(found, found[-1].fhir_id, len(found), more=True)
    return Batch(found, (last or b"").decode() or after, int(examined or 0), more=int(examined or 0) == RESOURCES)


def _found(rows: Rows, n: int) -> Found:
    return Found((rows.value(n, 3) or b"").decode(), rows.value(n, 4) == b"t", rows.value(n, 5) or b"")
