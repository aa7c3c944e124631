"""What a key has signed, over all tenants: asked for when a key is found to be compromised."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from core.clock import rfc3339
from core.db import bind_call
from core.pipeline import Call, Statement, run
from organizations import public as organizations

Signed = Mapping[str, Any]


class _Snapshot(NamedTuple):
    """A snapshot that the key has signed."""

    prescription_id: UUID
    digest: str
    signed_at: datetime


class _Checkpoint(NamedTuple):
    """A checkpoint that the key has signed."""

    number: int
    root: str
    at: datetime


_SNAPSHOTS: Final = Statement.of(
    "SELECT s.prescription_id, s.digest, s.signed_at FROM prescriptions_snapshot s"
    " WHERE s.tenant_id = $1 AND s.kid = $2 ORDER BY s.signed_at, s.id",
    row=_Snapshot,
)
_CHECKPOINTS: Final = Statement.of(
    "SELECT c.number, c.root, c.at FROM prescriptions_checkpoint c WHERE c.tenant_id = $1 AND c.kid = $2 ORDER BY c.number",
    row=_Checkpoint,
)


def snapshots_by(kid: str) -> Iterator[Signed]:
    """Yield the snapshots that a key has signed, by tenant and time."""
    return _listed(_SNAPSHOTS, _Snapshot, kid)


def checkpoints_by(kid: str) -> Iterator[Signed]:
    """Yield the checkpoints that a key has signed, by tenant and number."""
    return _listed(_CHECKPOINTS, _Checkpoint, kid)


def _listed(statement: Statement, kind: type[Any], kid: str) -> Iterator[Signed]:
    for tenant_id in organizations.tenants_with("prescriptions"):
        _, rows = run([bind_call(tenant_id), Call(statement, [str(tenant_id), kid])])
        for row in rows.of(kind):
            yield {"tenant_id": str(tenant_id), **{name: _text(value) for name, value in row._asdict().items()}}


def _text(value: Any) -> Any:
    if isinstance(value, datetime):
        return rfc3339(value)
    return str(value) if isinstance(value, UUID) else value
