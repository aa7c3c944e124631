"""The settings in effect for a tenant: the defaults, then those of organizations from the root down, then its own."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import NotFound
from organizations import configuration_schema
from organizations.configuration_schema import SECTIONS, Sections
from organizations.models import ConfigurationVersion, Entitlement, OrganizationConfiguration, TenantConfiguration
from organizations.ownership import TenantQuerySet

from .tree import ORGANIZATIONS

_ABOVE = f"""
SELECT c.* FROM {ORGANIZATIONS.up("n.id = (SELECT organization_id FROM organizations_tenant WHERE id = %s)")} up
  JOIN organizations_organizationconfiguration c ON c.organization_id = up.id ORDER BY up.step DESC
"""


@dataclass(frozen=True, slots=True)
class Effective:
    """The settings in effect. `locked` and `own` hold dotted keys: locked by organizations above, set by the tenant."""

    values: Sections
    locked: frozenset[str]
    own: frozenset[str]
    version: int
    schema_version: int
    updated_at: datetime


@needs_transaction
def effective(tenant_id: UUID) -> Effective:
    """Return the settings in effect for the bound tenant.

    :raises NotFound: the tenant has no configuration, or is not the bound one.
    """
    row = TenantConfiguration.objects.filter(tenant_id=tenant_id).first()
    if row is None:
        raise NotFound("The tenant has no configuration.")
    values, locked, own = resolve(above(tenant_id), sections_of(row))
    entitled = Entitlement.objects.filter(tenant_id=tenant_id).values_list("features", flat=True).first() or []
    values["modules"] = {name: on and name in entitled for name, on in values["modules"].items()}
    return Effective(values, locked, own, row.version, row.schema_version, row.updated_at)


@needs_transaction
def locked_configuration(tenant_id: UUID) -> TenantConfiguration:
    """Lock and return the bound tenant's own settings.

    :raises NotFound: the tenant has no configuration, or is not the bound one.
    """
    row: TenantConfiguration | None = (
        TenantConfiguration.objects.select_for_update().filter(tenant_id=tenant_id).first()
    )
    if row is None:
        raise NotFound("The tenant has no configuration.")
    return row


def above(tenant_id: UUID) -> list[OrganizationConfiguration]:
    """List the settings of the organizations above a tenant, the root's first."""
    return list(OrganizationConfiguration.objects.raw(_ABOVE, [tenant_id]))


def resolve(
    ancestors: Iterable[OrganizationConfiguration], own: Sections
) -> tuple[Sections, frozenset[str], frozenset[str]]:
    """Apply the settings of the ancestors and the tenant's own to the defaults; a lock holds for all layers below.

    Returns the values, the locked keys, and the tenant's own keys that are in effect.
    """
    values, locked = configuration_schema.defaults(), set[str]()
    for layer in ancestors:
        _apply_layer(values, sections_of(layer), locked)
        locked.update(layer.locked)
    return values, frozenset(locked), frozenset(_apply_layer(values, own, locked))


def sections_of(row: OrganizationConfiguration | TenantConfiguration) -> Sections:
    """Return the settings of one row, section by section."""
    return {section: dict(getattr(row, section)) for section in SECTIONS}


def visible(values: Sections, *, to_configurers: bool) -> Sections:
    """Leave out the secret settings, except for members who may configure."""
    return {
        section: {
            key: value
            for key, value in keys.items()
            if to_configurers or not configuration_schema.is_secret(section, key)
        }
        for section, keys in values.items()
    }


def versions(actor: Actor) -> TenantQuerySet:
    """Return the changes of the tenant's settings, the newest first."""
    return ConfigurationVersion.objects.of(actor).order_by("-number", "id")


@needs_transaction
def policy(actor: Actor, key: str) -> Any:
    """Return one policy in effect for the actor's tenant, which must be bound.

    :raises KeyError: there is no such policy, which is a programming error.
    """
    return effective(actor.tenant_id).values["policies"][key]


def _apply_layer(values: Sections, layer: Sections, locked: set[str]) -> list[str]:
    applied = []
    for section, keys in layer.items():
        for key, value in keys.items():
            if key in values[section] and f"{section}.{key}" not in locked:
                values[section][key] = value
                applied.append(f"{section}.{key}")
    return applied
