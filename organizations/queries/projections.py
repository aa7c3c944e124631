"""Organizations and locations as plain values, for other apps."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q

from organizations.models import Location, Organization, Tenant

from .tree import ORGANIZATIONS


@dataclass(frozen=True, slots=True)
class ShownOrganization:
    """An organization; `identifiers`, `contact` and `address` are as in the REST API."""

    id: UUID
    name: str
    type: str
    status: str
    parent_id: UUID | None
    identifiers: list[dict[str, Any]]
    contact: dict[str, Any]
    address: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ShownLocation:
    """A location; its members are as in the REST API."""

    id: UUID
    name: str
    type: str
    status: str
    organization_id: UUID | None
    parent_id: UUID | None
    identifiers: list[dict[str, Any]]
    contact: dict[str, Any] | None
    address: dict[str, Any] | None
    geo: dict[str, Any] | None
    opening_hours: list[dict[str, Any]]


_ORGANIZATION = tuple(ShownOrganization.__dataclass_fields__)
_LOCATION = tuple(ShownLocation.__dataclass_fields__)


def shown_organizations(tenant_id: UUID, ids: Iterable[UUID] | None = None) -> list[ShownOrganization]:
    """List the bound tenant's own organization and those of its locations; `ids` narrows the list."""
    own = Tenant.objects.filter(pk=tenant_id).values("organization_id")
    of_locations = Location.objects.filter(tenant_id=tenant_id, organization_id__isnull=False).values("organization_id")
    rows = Organization.objects.filter(Q(pk__in=own) | Q(pk__in=of_locations))
    rows = rows if ids is None else rows.filter(pk__in=list(ids))
    return [ShownOrganization(**row) for row in rows.order_by("pk").values(*_ORGANIZATION)]


def shown_locations(tenant_id: UUID, ids: Iterable[UUID] | None = None) -> list[ShownLocation]:
    """List the bound tenant's locations; `ids` narrows the list."""
    rows = Location.objects.filter(tenant_id=tenant_id)
    rows = rows if ids is None else rows.filter(pk__in=list(ids))
    return [ShownLocation(**row) for row in rows.order_by("pk").values(*_LOCATION)]


def tenants_with(feature: str, *, ids: Iterable[UUID] | None = None) -> list[UUID]:
    """List the tenants that have a feature and are not closed; `ids` narrows the list."""
    rows = Tenant.objects.filter(features__contains=[feature]).exclude(status=Tenant.Status.CLOSED)
    rows = rows if ids is None else rows.filter(pk__in=list(ids))
    return list(rows.order_by("pk").values_list("pk", flat=True))


def organizations_above(ids: Iterable[UUID]) -> list[UUID]:
    """List organizations and those above them, each once."""
    sql = f"SELECT above.id FROM {ORGANIZATIONS.above('n.id = ANY(%(ids)s)')} AS above(id)"
    with connection.cursor() as cursor:
        cursor.execute(sql, {"ids": list(ids)})
        return sorted(found for (found,) in cursor.fetchall())


def tenants_below_sql(organizations: str) -> str:
    """Write the condition that a tenant `n` is run by one of some organizations, given as SQL, or by one below them."""
    return f"n.organization_id IN {ORGANIZATIONS.within(f'n.id = ANY({organizations})')}"


def tenants_by_distance_sql(organization: str) -> str:
    """Write a sub-select of the tenants of an organization, which is given as SQL, and of those below it.

    `id` is the tenant, `organization_id` its own, `distance` the step from that up to the organization; its own is step 1.
    """
    down = ORGANIZATIONS.down(f"n.id = {organization}")
    return (
        f"(SELECT n.id, n.organization_id, down.step AS distance FROM {down} down"
        " JOIN organizations_tenant n ON n.organization_id = down.id WHERE n.managed_by_id IS NULL)"
    )


def tenants_above(organization_id: UUID) -> list[UUID]:
    """List the tenants of an organization and of those above it: only these can have locations of the organization."""
    found, above = [organization_id], organization_id
    while parent := Organization.objects.filter(pk=above).values_list("parent_id", flat=True).first():
        if parent in found:
            break  # the tree has a cycle
        found.append(parent)
        above = parent
    return list(Tenant.objects.filter(organization_id__in=found).order_by("pk").values_list("pk", flat=True))
