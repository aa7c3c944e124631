"""The buyer's rows at a merge: they name the other supplier from now on. All documents are locked.

The buyer is bound; the numbers of the supplier are written bound to the two suppliers.
"""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.arrays import array_literal
from core.db import needs_transaction
from core.pipeline import Call, Statement, run
from ledger import public as ledger
from suppliers.relationships.events import RelationshipUpdated
from suppliers.relationships.models import ManagedRegistration, Relationship

from .parties import Parties
from .renumbering import renumber
from .tables import COLUMN, MOVED, NUMBERED, OF_RELATIONSHIP, SORTS

Moved = dict[str, dict[UUID, datetime]]  # by the name of the sort, the documents with the time of their handing over

_ORDERS = Statement.of(
    f"UPDATE suppliers_purchaseorder o SET {COLUMN} = $2, order_number = g.number, version = o.version + 1, updated_at = $3"
    " FROM unnest($4::uuid[], $5::text[]) AS g (id, number) WHERE o.tenant_id = $1 AND o.id = g.id"
)
_NUMBERED: Final = tuple(
    Statement.of(
        f"UPDATE {model._meta.db_table} t SET {COLUMN} = $3, order_number = o.order_number, version = t.version + 1,"
        " updated_at = $4 FROM suppliers_purchaseorder o WHERE t.tenant_id = $1"
        f" AND t.{COLUMN} = $2 AND o.tenant_id = $1 AND o.id = t.order_id"
    )
    for model in NUMBERED
)
_RECEIPTS = Statement.of("SELECT suppliers_merge_receipts($1::uuid, $2::uuid, $3::uuid)")


@needs_transaction
def move_documents(actor: Actor, managed_id: UUID, into_id: UUID, at: datetime) -> Moved:
    """Let all documents of the buyer name the other supplier; return those that were handed over before."""
    own, mine = actor.tenant_id, {COLUMN: managed_id}
    moved: Moved = {}
    for one in SORTS:
        rows = one.model.objects.of(actor).filter(**mine, **{f"{one.since}__isnull": False}).order_by(one.since, "id")
        moved[one.name] = dict(rows.values_list("id", one.since))
    numbers = renumber(own, managed_id, into_id, [*moved[SORTS[0].name]])
    given = [str(own), str(managed_id), str(into_id)]
    run(
        [
            Call(
                _ORDERS,
                [str(own), str(into_id), at.isoformat(), array_literal(numbers), array_literal(numbers.values())],
            ),
            *(Call(one, [*given, at.isoformat()]) for one in _NUMBERED),
            Call(_RECEIPTS, given),
        ]
    )
    for model in MOVED:
        manager: Any = model._default_manager
        manager.of(actor).filter(**mine).update_versions(at=at, **{COLUMN: into_id})
    return moved


@needs_transaction
def move_relationship(actor: Actor, parties: Parties, at: datetime) -> None:
    """Let the buyer's relationship lead to the other supplier, unless there is one: its settings stay then.

    What is registered of the managed supplier is free for another one.
    """
    managed_id, into_id = parties.managed.id, parties.into.id
    mine = {"tenant_id": actor.tenant_id, "supplier_id": managed_id}
    ManagedRegistration.objects.filter(**mine).delete()
    if parties.old is None:
        return
    is_kept = parties.new is None
    for model in OF_RELATIONSHIP:
        rows: Any = model._default_manager
        held = rows.filter(**mine)
        held.update(supplier_id=into_id) if is_kept else held.delete()
    if not is_kept:
        Relationship.objects.of(actor).filter(supplier_id=managed_id).delete()
        return
    row = parties.old
    row.supplier_id = into_id
    row.save_version("supplier_id", at=at)
    usual = Relationship()
    changed = sorted(name for name in Relationship.WRITABLE if getattr(row, name) != getattr(usual, name))
    fact = RelationshipUpdated(status=row.status, blocks=row.blocks, changed=changed)
    ledger.record(actor=actor, event=fact, resource_id=into_id, at=at, resource_version=row.version)
