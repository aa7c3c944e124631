"""What a recall of a lot asks of deliveries: whom it went to, and the notice that their lines keep of it.

Source: contract, supply-shelf.md "Recall".
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson

from core.pipeline import Call, Statement
from suppliers.inventory.recalls.carriers import Carried, Questions

from .models import DELIVERIES

# The supplier's copies say whom a lot went to, also what is on its way.
_BUYERS = Statement.of(
    "SELECT d.owner_tenant_id AS buyer_tenant_id, o.name, coalesce(sum(l.accepted), 0)::bigint AS received"
    " FROM suppliers_receiveddeliveryline l"
    " JOIN suppliers_receiveddelivery d ON d.tenant_id = l.tenant_id AND d.id = l.document_id AND d.tenant_id = $1"
    " JOIN organizations_tenant o ON o.id = d.owner_tenant_id WHERE l.tenant_id = $1 AND l.lot_id = $2"
    " GROUP BY l.tenant_id, d.owner_tenant_id, o.name ORDER BY d.owner_tenant_id",
    row=Carried,
)
# Of the buyer $1: the deliveries of the supplier $2 with lines of its lot $3.
_CARRIED: Final = (
    "SELECT d.id FROM suppliers_delivery d WHERE d.tenant_id = $1 AND d.supplier_tenant_id = $2 AND d.id IN"
    " (SELECT l.delivery_id FROM suppliers_deliveryline l WHERE l.tenant_id = $1 AND l.lot_id = $3)"
)
_LOCKED = Statement.of(f"{_CARRIED} ORDER BY d.id FOR UPDATE".replace("SELECT d.id", "SELECT d.id::text", 1))
_NOTE_LINES = Statement.of(
    "UPDATE suppliers_deliveryline t SET recall_notice = $4::jsonb, version = t.version + 1, updated_at = $5"
    f" WHERE t.tenant_id = $1 AND t.lot_id = $3 AND t.delivery_id IN ({_CARRIED}) RETURNING t.id::text"
)
_RAISE = Statement.of(
    "UPDATE suppliers_delivery t SET version = t.version + 1, shared_version = t.shared_version + 1, updated_at = $4"
    f" WHERE t.tenant_id = $1 AND t.id IN ({_CARRIED}) RETURNING t.id::text"
)


def _buyers(supplier_id: UUID, lot_id: UUID) -> Call:
    return Call(_BUYERS, [str(supplier_id), str(lot_id)])


def _locked(buyer_id: UUID, supplier_id: UUID, lot_id: UUID) -> Call:
    return Call(_LOCKED, [str(buyer_id), str(supplier_id), str(lot_id)])


def _noted(
    buyer_id: UUID, supplier_id: UUID, lot_id: UUID, notice: dict[str, Any] | None, at: datetime
) -> Sequence[Call]:
    given = [str(buyer_id), str(supplier_id), str(lot_id)]
    said = None if notice is None else orjson.dumps(notice)
    return [Call(_NOTE_LINES, [*given, said, at.isoformat()]), Call(_RAISE, [*given, at.isoformat()])]


QUESTIONS: Final = Questions(DELIVERIES, _buyers, _locked, _noted)
