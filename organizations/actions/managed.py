"""Tenants of suppliers that are not on the platform: each is private to the buyer that made it, and has no members.

Such a tenant is the other party of the buyer's documents. It has an organization of its own, which is in nobody's reach,
and neither plan nor configuration, location or key, since nobody works in it. It ends with its buyer.
Source: contract, supply-shelf.md "Managed supplier".
"""

from datetime import datetime
from typing import Final

from core.actor import Actor
from core.db import needs_transaction
from core.ids import uuid7
from organizations.models import Organization, Tenant

NAME_LENGTH: Final = 200  # of tenants and of organizations


@needs_transaction
def create_managed_tenant(actor: Actor, *, name: str, country: str, at: datetime) -> Tenant:
    """Create the tenant of a supplier that only the actor's tenant sees, active at once.

    Time zone, locale and currency are the buyer's. No fact is recorded: the caller tells its own tenant.

    :param name: at most `NAME_LENGTH` letters.
    :param country: by ISO 3166-1 alpha-2.
    """
    buyer = Tenant.objects.get(pk=actor.tenant_id)
    organization = Organization.objects.create(
        name=name, type=Organization.Type.SUPPLIER, address={"country": country}, created_at=at, updated_at=at
    )
    key = uuid7()
    tenant = Tenant(
        id=key,
        organization=organization,
        kinds=[Tenant.Kind.SUPPLIER.value],
        name=name,
        slug=f"managed-{key}",
        region=buyer.region,
        time_zone=buyer.time_zone,
        locale=buyer.locale,
        currency=buyer.currency,
        environment=buyer.environment,
        managed_by=buyer,
        created_at=at,
        updated_at=at,
    )
    tenant.save(force_insert=True)
    tenant.activate()
    tenant.save_version("status", at=at)
    return tenant


def managed_of(tenant: Tenant) -> list[Tenant]:
    """Lock and return the suppliers that a tenant manages and that are not closed, in the order of their ids."""
    rows = Tenant.objects.select_for_update(no_key=True).filter(managed_by=tenant)
    return list(rows.exclude(status=Tenant.Status.CLOSED).order_by("id"))
