"""What alerts tell of recalls: to the supplier, of a recall that it has issued; to a buyer, of the notice that it was given."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from core.arrays import array_literal
from core.pipeline import Call, Statement, run

from .alerts import Cause
from .preferences import Preferences
from .sources import RECALL, RECALL_NOTICE
from .states import Severity

_SEVERITIES = {"I": Severity.CRITICAL, "II": Severity.CRITICAL, "III": Severity.WARNING}


class _Issued(NamedTuple):
    """A recall that the supplier has issued and not withdrawn, with the buyers concerned and those who have finished."""

    id: UUID
    lot_number: str
    recall_class: str
    reason: str
    buyers: int
    finished: int


class _Told(NamedTuple):
    """A notice that the buyer was given."""

    id: UUID
    lot_number: str
    recall_class: str
    supplier: str
    instructions: str


_ISSUED = Statement.of(
    "SELECT r.id, r.lot_number, r.recall_class, r.reason, count(n.id) AS buyers,"
    " count(n.id) FILTER (WHERE n.status IN ('closed', 'unreachable')) AS finished FROM suppliers_recall r"
    " LEFT JOIN suppliers_recallnotice n ON n.tenant_id = r.tenant_id AND n.recall_id = r.id AND n.tenant_id = $1"
    " WHERE r.tenant_id = $1 AND r.id = ANY($2::uuid[]) AND r.withdrawn_at IS NULL GROUP BY r.tenant_id, r.id",
    row=_Issued,
)
_TOLD = Statement.of(
    "SELECT c.id, c.number AS lot_number, coalesce(c.representation -> 'recall' ->> 'class', '') AS recall_class, o.name AS supplier,"
    " coalesce(c.representation -> 'recall' ->> 'instructions', '') AS instructions FROM suppliers_receivedrecall c"
    " JOIN organizations_tenant o ON o.id = c.owner_tenant_id"
    " WHERE c.tenant_id = $1 AND c.id = ANY($2::uuid[]) AND c.status IN ('told', 'answered')",
    row=_Told,
)
# Of a lot $2 of a supplier: the recalls that this tenant has issued, and the notices that it was given.
_OF_LOT = Statement.of(
    "SELECT r.id::text FROM suppliers_recall r WHERE r.tenant_id = $1 AND r.lot_id = $2"
    " UNION ALL SELECT c.id::text FROM suppliers_receivedrecall c WHERE c.tenant_id = $1 AND c.lot_id = $2"
)


def subjects_of_lot(tenant_id: UUID, lot_id: UUID) -> list[str]:
    """Return the recalls and notices of a lot that the bound tenant knows."""
    (found,) = run([Call(_OF_LOT, [str(tenant_id), str(lot_id)])])
    return [(found.value(number) or b"").decode() for number in range(len(found))]


def recalls(tenant_id: UUID, subjects: Sequence[str], preferences: Preferences, at: datetime) -> Iterator[Cause]:
    """Yield the recalls that are not withdrawn, and not finished by every buyer; and the notices to which that applies."""
    given = [str(tenant_id), array_literal(subjects)]
    issued, told = run([Call(_ISSUED, given), Call(_TOLD, given)])
    for recall in issued.of(_Issued):
        if recall.buyers and recall.finished == recall.buyers:
            continue
        yield Cause(
            resource_type=RECALL,
            resource_id=str(recall.id),
            severity=_SEVERITIES.get(recall.recall_class, Severity.CRITICAL),
            title=f"Recall of lot {recall.lot_number}, class {recall.recall_class}",
            body=f"Lot {recall.lot_number} is recalled: {recall.reason}",
        )
    for notice in told.of(_Told):
        yield Cause(
            resource_type=RECALL_NOTICE,
            resource_id=str(notice.id),
            severity=_SEVERITIES.get(notice.recall_class, Severity.CRITICAL),
            title=f"Recall of lot {notice.lot_number}, class {notice.recall_class}",
            body=f"{notice.supplier} has recalled lot {notice.lot_number}. {notice.instructions}".strip(),
        )
