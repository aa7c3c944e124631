"""Figures of the last 90 days of one tenant, out of its own rows; nothing of a patient is read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from core.pipeline import Call, Statement, run

SPAN: Final = timedelta(days=90)


class Made(NamedTuple):
    """How many prescriptions of a day (UTC) are in a status now."""

    day: str
    status: str
    number: int


class Lag(NamedTuple):
    """How long a stretch of the course took: seconds below which half and nine tenths lie, out of how many."""

    stretch: str
    number: int
    half: float | None
    tenth: float | None


class Overridden(NamedTuple):
    """How often an issue of a rule that needed something was overridden or acknowledged, in the last runs."""

    code: str
    raised: int
    overridden: int


class Counted(NamedTuple):
    """How often a word occurred."""

    word: str
    number: int


_MINE: Final = "t.tenant_id = $1 AND t.created_at >= $2"

_MADE: Final = Statement.of(
    "SELECT to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, t.status, count(*) AS number"
    f" FROM prescriptions_prescription t WHERE {_MINE} GROUP BY t.tenant_id, 1, 2 ORDER BY 1, 2",
    row=Made,
)
# The first acknowledgement of a prescription counts, and the first time that all of it was dispensed.
_LAGS: Final = Statement.of(
    f"""
WITH course AS (
  SELECT t.created_at, t.signed_at, t.dispensed_at,
    (SELECT min(r.acknowledged_at) FROM prescriptions_route r
     WHERE r.tenant_id = $1 AND r.prescription_id = t.id) AS acknowledged_at
  FROM prescriptions_prescription t WHERE {_MINE} AND t.signed_at IS NOT NULL),
stretches AS (
  SELECT 1 AS place, 'draft to signature' AS stretch, extract(epoch FROM signed_at - created_at) AS seconds FROM course
  UNION ALL SELECT 2, 'signature to acknowledgement', extract(epoch FROM acknowledged_at - signed_at) FROM course
  UNION ALL SELECT 3, 'acknowledgement to dispensed', extract(epoch FROM dispensed_at - acknowledged_at) FROM course)
SELECT stretch, count(seconds) AS number, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds)::float8 AS half,
  percentile_cont(0.9) WITHIN GROUP (ORDER BY seconds)::float8 AS tenth
FROM stretches GROUP BY place, stretch ORDER BY place
""",
    row=Lag,
)
_OVERRIDDEN: Final = Statement.of(
    f"""
SELECT issue->>'code' AS code, count(*) AS raised,
  count(*) FILTER (WHERE jsonb_typeof(issue->'override') = 'object') AS overridden
FROM prescriptions_prescription t, jsonb_array_elements(t.validation->'issues') AS issue
WHERE {_MINE} AND t.validation IS NOT NULL AND issue->>'needs' <> 'none'
GROUP BY t.tenant_id, 1 ORDER BY raised DESC, code LIMIT 40
""",
    row=Overridden,
)
_NOT_DISPENSED: Final = Statement.of(
    f"""
SELECT i.not_dispensed_reason AS word, count(*) AS number FROM prescriptions_prescription t
JOIN prescriptions_prescriptionitem i ON i.tenant_id = $1 AND i.prescription_id = t.id AND i.not_dispensed_reason <> ''
WHERE {_MINE} GROUP BY t.tenant_id, 1 ORDER BY number DESC, word
""",
    row=Counted,
)
_REVERSED: Final = Statement.of(
    f"""
SELECT d.reversal_reason_code AS word, count(*) AS number FROM prescriptions_prescription t
JOIN prescriptions_dispensation d ON d.tenant_id = $1 AND d.prescription_id = t.id AND d.status = 'reversed'
WHERE {_MINE} GROUP BY t.tenant_id, 1 ORDER BY number DESC, word
""",
    row=Counted,
)
_DISPENSATIONS: Final = Statement.of(
    f"""
SELECT d.status AS word, count(*) AS number FROM prescriptions_prescription t
JOIN prescriptions_dispensation d ON d.tenant_id = $1 AND d.prescription_id = t.id
WHERE {_MINE} GROUP BY t.tenant_id, 1 ORDER BY word
""",
    row=Counted,
)


@dataclass(frozen=True, slots=True)
class Figures:
    """All of them; `since` is the first day."""

    since: date
    made: Sequence[Made]
    lags: Sequence[Lag]
    overridden: Sequence[Overridden]
    not_dispensed: Sequence[Counted]
    reversed: Sequence[Counted]
    dispensations: int


def read_figures(tenant_id: UUID, at: datetime) -> Figures:
    """Read the figures of the prescriptions that the bound tenant made in the 90 days before `at`, in one trip."""
    since = (at - SPAN).replace(hour=0, minute=0, second=0, microsecond=0)
    parameters = [str(tenant_id), since.isoformat()]
    statements = (_MADE, _LAGS, _OVERRIDDEN, _NOT_DISPENSED, _REVERSED, _DISPENSATIONS)
    made, lags, overridden, missing, back, given = run([Call(one, parameters) for one in statements])
    return Figures(
        since.date(),
        made.of(Made),
        lags.of(Lag),
        overridden.of(Overridden),
        missing.of(Counted),
        back.of(Counted),
        sum(one.number for one in given.of(Counted)),
    )
