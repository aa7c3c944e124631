"""The signed snapshot as the pharmacy keeps it, sealed with a key of its own tenant."""

from core import rows
from core.db import bind_call
from core.pipeline import Call, Statement

from .models import Route
from .sealing import seal
from .targets import LockedPrescription

_KEEP = Statement.of(
    "INSERT INTO prescriptions_receivedsnapshot (id, tenant_id, owner_tenant_id, jws, schema, received_at)"
    " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (tenant_id, id) DO NOTHING"
)


def snapshot_calls(target: LockedPrescription, route: Route) -> list[Call]:
    """Return the statements that hand the snapshot to the pharmacy of a route; its tenant stays bound."""
    row, reader = target.row, route.dispenser_tenant_id
    values = [
        str(row.id),
        str(reader),
        str(row.tenant_id),
        seal(reader, row.id, target.jws),
        "hp.prescription.snapshot/1",
        rows.text(route.routed_at),
    ]
    return [bind_call(reader), Call(_KEEP, values)]
