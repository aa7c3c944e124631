"""When and how the versions of resources came about, without what stands in them; for the platform's staff."""

from collections.abc import Collection
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from core.arrays import array_literal, numbers
from core.db import run_bound
from core.pipeline import Call, Statement

from .resources.types import NAMES, NUMBERS
from .store import Name
from .store.models import Method

MOST: Final = 500


class PastVersion(NamedTuple):
    """One version of a resource; `row` is the key of its page in the admin."""

    row: int
    type: str
    id: str
    version: int
    at: datetime
    is_deletion: bool


class _Line(NamedTuple):
    row: int
    type: int
    fhir_id: str
    version: int
    last_updated: datetime
    method: int


_LINES: Final = Statement.of(
    f"""
WITH named AS MATERIALIZED (
  SELECT r.id, r.type, r.fhir_id, r.version, r.last_updated, r.method FROM fhir_api_resource r
  JOIN unnest($2::smallint[], $3::text[] COLLATE "C") AS wanted (type, fhir_id)
    ON r.type = wanted.type AND r.fhir_id = wanted.fhir_id
  WHERE r.tenant_id = $1)
SELECT n.id AS row, n.type, n.fhir_id, n.version, n.last_updated, n.method FROM named n
UNION ALL
SELECT n.id, v.type, v.fhir_id, v.version, v.last_updated, v.method FROM named n
JOIN fhir_api_resourceversion v ON v.type = n.type AND v.fhir_id = n.fhir_id
WHERE v.tenant_id = $1
ORDER BY last_updated DESC, type, fhir_id, version DESC LIMIT {MOST}
""",
    row=_Line,
)


def past_versions(tenant_id: UUID, names: Collection[Name]) -> list[PastVersion]:
    """List the versions of named resources of the bound tenant, the newest first, at most `MOST`.

    Nothing of their content is read, so no access record is left; the caller records what he shows.
    """
    wanted = sorted(set(names))
    if not wanted:
        return []
    parameters = [str(tenant_id), numbers(NUMBERS[kind] for kind, _ in wanted), array_literal(key for _, key in wanted)]
    (rows,) = run_bound(tenant_id, [Call(_LINES, parameters)])
    return [
        PastVersion(
            one.row, NAMES[one.type], one.fhir_id, one.version, one.last_updated, one.method == Method.DELETE.value
        )
        for one in rows.of(_Line)
    ]
