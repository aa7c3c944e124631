"""Merging a managed supplier into a supplier on the platform, in one transaction.

Source: contract, supply-shelf.md 6 "Managed supplier" and supply.md 3.1.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.pipeline import run
from core.watermark import begin_batch
from organizations.public import merge_managed_tenant
from suppliers.orders.standing import serial_call
from suppliers.relationships.models import ManagedSupplier

from .handing import hand_documents
from .moving import move_documents, move_relationship
from .renumbering import lock_calls
from .survey import Survey, survey
from .tables import COLUMN, LOCKED


@needs_transaction
def merge_supplier(actor: Actor, row: ManagedSupplier, into_id: UUID, at: datetime) -> Survey:
    """Let a supplier on the platform take over all documents of the buyer with a managed supplier, which is closed.

    `actor` acts in the tenant of the buyer, which is bound. Documents keep their ids; the supplier reads copies of those that
    were handed over, with their files, from the time that they are of. Return what was moved.

    :raises MergeRefused: names all that stands against it; nothing is written then.
    """
    _lock(actor, row.supplier_id, into_id)
    found = survey(actor, row, into_id)
    found.require_free()
    at = begin_batch(actor.tenant_id, at)
    move_relationship(actor, found.parties, at)
    moved = move_documents(actor, row.supplier_id, into_id, at)
    merge_managed_tenant(actor, row.supplier_id, into_id, at)
    hand_documents(actor, into_id, moved, at)
    return found


@needs_transaction
def _lock(actor: Actor, managed_id: UUID, into_id: UUID) -> None:
    """Lock relationships, documents and numbers in the lock order, so that none begins or changes meanwhile."""
    run([serial_call(actor.tenant_id, supplier_id) for supplier_id in sorted((managed_id, into_id))])
    for model in LOCKED:
        rows: Any = model._default_manager
        [*rows.of(actor).filter(**{COLUMN: managed_id}).order_by("id").select_for_update().values_list("id")]
    run(lock_calls(into_id))
