"""Reading exports in the trip that proves who asks: how far one is, its files, and the content of one of them."""

import base64
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import orjson

from core.pipeline import Call, Rows, Statement

from . import states

_MINE: Final = "j.tenant_id = $1 AND j.id = $2 AND j.subject_id = $3"
_MOMENT: Final = "to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"

_JOB: Final = Statement.of(
    f"""
SELECT json_build_object('state', j.state, 'request', j.request_url, 'since', j.since IS NOT NULL, 'error', j.error,
  'transaction_time', {_MOMENT.format("j.transaction_time")}, 'expires_at', extract(epoch FROM j.expires_at),
  'done', coalesce(array_position(j.types, NULLIF(j.cursor_type, '')) - 1, 0), 'types', cardinality(j.types),
  'exported', j.exported)
FROM fhir_api_exportjob j WHERE {_MINE}"""
)
_FILES: Final = Statement.of(
    f"""
SELECT f.kind, f.type, f.name, f.lines FROM fhir_api_exportjob j
JOIN fhir_api_exportfile f ON f.tenant_id = $1 AND f.job_id = j.id
WHERE {_MINE} AND j.state = '{states.COMPLETED}' ORDER BY f.created_at, f.id"""
)
_HEAD: Final = Statement.of(
    f"""
SELECT json_build_object('kind', f.kind, 'type', f.type, 'lines', f.lines, 'size', f.size, 'checksum', f.checksum,
  'patients', ARRAY(SELECT DISTINCT patient FROM fhir_api_exportpart p, unnest(p.patients) AS patient
                    WHERE p.tenant_id = $1 AND p.file_id = f.id))
FROM fhir_api_exportjob j JOIN fhir_api_exportfile f ON f.tenant_id = $1 AND f.job_id = j.id
WHERE {_MINE} AND f.name = $4 AND j.state = '{states.COMPLETED}' AND j.expires_at > now()"""
)
_PARTS: Final = Statement.of(
    f"""
SELECT encode(p.content, 'base64') FROM fhir_api_exportjob j
JOIN fhir_api_exportfile f ON f.tenant_id = $1 AND f.job_id = j.id
JOIN fhir_api_exportpart p ON p.tenant_id = $1 AND p.file_id = f.id
WHERE {_MINE} AND f.name = $4 AND j.state = '{states.COMPLETED}' AND j.expires_at > now() ORDER BY p.number"""
)


@dataclass(frozen=True, slots=True)
class Status:
    """How far an export is; `files` are kind, type, name and lines of each."""

    state: str
    request: str
    since: bool
    error: str
    transaction_time: str
    expires_at: float | None
    done: int
    types: int
    exported: int
    files: tuple[tuple[str, str, str, int], ...]

    def is_over(self, at: datetime) -> bool:
        """Tell whether its files have expired, cleared or not."""
        return self.state == states.EXPIRED or (self.expires_at is not None and self.expires_at <= at.timestamp())


@dataclass(frozen=True, slots=True)
class Content:
    """One file: what it holds, of which patients, and its deflated parts."""

    kind: str
    type: str
    lines: int
    size: int
    checksum: int
    patients: list[str]
    parts: tuple[bytes, ...]


def status_calls(tenant_id: UUID, job_id: UUID, subject_id: UUID) -> list[Call]:
    """The statements that read how far an export of a subject is."""
    mine = [str(tenant_id), str(job_id), str(subject_id)]
    return [Call(_JOB, mine), Call(_FILES, mine)]


def status_of(job: Rows, files: Rows) -> Status | None:
    """The answers to `status_calls`; None where there is no such export."""
    if not len(job):
        return None
    rows = (files.row(n) for n in range(len(files)))
    told = [((a or b"").decode(), (b or b"").decode(), (c or b"").decode(), int(d or 0)) for a, b, c, d in rows]
    return Status(**orjson.loads(job.value() or b""), files=tuple(told))


def content_calls(tenant_id: UUID, job_id: UUID, subject_id: UUID, name: str) -> list[Call]:
    """The statements that read a file of a completed export of a subject."""
    named = [str(tenant_id), str(job_id), str(subject_id), "" if "\0" in name else name]  # no file is called so
    return [Call(_HEAD, named), Call(_PARTS, named)]


def content_of(head: Rows, parts: Rows) -> Content | None:
    """The answers to `content_calls`; None where there is no such file."""
    if not len(head):
        return None
    found = tuple(base64.b64decode(parts.value(n) or b"") for n in range(len(parts)))
    told = orjson.loads(head.value() or b"")
    return Content(**{**told, "patients": sorted(told["patients"])}, parts=found)
