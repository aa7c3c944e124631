"""Suppliers that are not on the platform: a buyer describes them for itself.

Source: contract, supply-shelf.md "Managed supplier".
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core import rows
from core.actor import Actor
from core.db import needs_transaction
from core.pipeline import Call, Statement, run
from ledger import public as ledger
from organizations.public import create_managed_tenant

from .events import SupplierCreated
from .models import ManagedRegistration, ManagedSupplier

# What staff have closed keeps no registration from its successor.
_FREE = Statement.of(
    "DELETE FROM suppliers_managedregistration g USING organizations_tenant n"
    " WHERE g.tenant_id = $1 AND n.id = g.supplier_id AND n.status = 'closed'"
)


@needs_transaction
def create_managed_supplier(actor: Actor, data: Mapping[str, Any], at: datetime) -> ManagedSupplier:
    """Create a supplier that only the actor's tenant sees.

    :raises RegistrationTaken: the tenant manages another supplier with one of the registrations.
    """
    tenant = create_managed_tenant(actor, name=data["legal_name"], country=data["country"], at=at)
    supplier = ManagedSupplier(tenant_id=actor.tenant_id, supplier_id=tenant.id, created_at=at, updated_at=at, **data)
    numbers = [{"tenant_id": actor.tenant_id, "supplier_id": tenant.id, **number} for number in supplier.registrations]
    calls = [rows.insert(supplier)]
    if numbers:
        calls += [Call(_FREE, [str(actor.tenant_id)]), rows.insert_all(ManagedRegistration, numbers)]
    run(calls)
    ledger.record(
        actor=actor,
        event=SupplierCreated(country=supplier.country),
        resource_id=tenant.id,
        at=at,
        resource_version=supplier.version,
    )
    return supplier
