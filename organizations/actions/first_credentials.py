"""The first machine credentials of a tenant: an API key and an OAuth client, created once and shown once."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.actor import Actor, system_actor
from core.db import needs_transaction, tenant_context
from organizations.models import ProvisioningStep, ServiceAccount, Tenant
from organizations.oauth import clients
from organizations.oauth.client_keys import ClientKeys
from organizations.roles import PLATFORM_ROLES, SUPPLIER_ADMIN

from .keys import create_key
from .memberships import Terms, add_service

SERVICE_ROLE = "integration_service"


@dataclass(frozen=True, slots=True)
class Client:
    """An OAuth client with its secret, which is shown only once; "" for a client with keys."""

    client_id: str
    client_secret: str


def key_role(tenant: Tenant) -> str:
    """Return the role of a tenant's first key: supplier administrator for suppliers, else integration service."""
    return SUPPLIER_ADMIN if "supplier" in tenant.kinds else SERVICE_ROLE


@needs_transaction
def first_key(*, tenant: Tenant, at: datetime) -> str | None:
    """Create the tenant's first API key; None if an earlier call did."""
    if not _claim_step(tenant, "api_key", at):
        return None
    values: dict[str, Any] = {"name": "First key", "partner": tenant.slug, "roles": [key_role(tenant)]}
    with tenant_context(tenant.id):
        return create_key(actor=system_actor(tenant.id), data=values, at=at).text


@needs_transaction
def first_client(*, tenant: Tenant, at: datetime) -> Client | None:
    """Create and approve the tenant's first OAuth client; None if an earlier call did."""
    if not _claim_step(tenant, "oauth_client", at):
        return None
    return new_client(actor=system_actor(tenant.id), tenant=tenant, name=f"{tenant.slug} service", at=at)


@needs_transaction
def new_client(
    *,
    actor: Actor,
    tenant: Tenant,
    name: str,
    at: datetime,
    scopes: list[str] | None = None,
    keys: ClientKeys | None = None,
    approved: bool = True,
) -> Client:
    """Create a machine client with a service account that is a member of the tenant.

    :param scopes: the scopes it may ask for; None allows all scopes of its role.
    :param keys: with which the client signs in place of a secret.
    :raises UngrantableScope: a scope is unknown, or cannot be given to a machine.
    """
    account = ServiceAccount.objects.create(name=name, partner=tenant.slug, tenant=tenant, created_at=at)
    with tenant_context(tenant.id):
        add_service(actor=actor, account=account, terms=Terms(roles=(SERVICE_ROLE,)), at=at)
    client, secret = clients.register_machine(
        name=name,
        service_account=account,
        tenant=tenant,
        allowed_scopes=scopes or PLATFORM_ROLES[SERVICE_ROLE],
        keys=keys,
        at=at,
    )
    if approved:
        clients.approve(client, by=None, at=at)
    return Client(client.client_id, secret)


def _claim_step(tenant: Tenant, name: str, at: datetime) -> bool:
    _, made = ProvisioningStep.objects.get_or_create(tenant=tenant, name=name, defaults={"finished_at": at})
    return made
